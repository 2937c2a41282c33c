"""`formats` of lm-eval 0.5: the fields of a task that asks its question and options in one of four manners.

A format takes doc_to_text, doc_to_target and doc_to_choice as what they name in a row, and gives templates of them.
Its words are lm-eval's (docs: Prompt Formats Guide), and each may be replaced. Replies are read as sentences, because
few services go on behind a beginning of the reply: a gen_prefix or scorer is taken where the file names it.
"""

from collections.abc import Mapping
from typing import Any

from model_accuracy_eval.tasks.importers.lm_eval_files import ImportFindings, TaskFields

_MCQA: Mapping[str, Any] = {
    "output_type": "multiple_choice",
    "instruction": "",
    "question_prefix": "Question: ",
    "choice_labels": "letters",
    "choice_delimiter": "\n",
    "section_separator": "\n",
    "answer_instruction": "",
    "answer_prompt": "Answer:",
    "gen_prefix": None,
    "target_delimiter": " ",
    "fewshot_delimiter": "\n\n",
    "scorer": None,
}
_GENERATE = {
    **_MCQA,
    "output_type": "generate_until",
    "instruction": "Given the following question and {{ _num_choices }} candidate answers ({{ _choice_list_and }}), "
    "choose the best answer.\n",
    "answer_prompt": 'Your response should end with "The best answer is [answer_letter]" where the [answer_letter] is '
    "one of {{ _choice_list_or }}.",
    "target_delimiter": "\n",
}
FORMATS: Mapping[str, Mapping[str, Any]] = {
    "mcqa": _MCQA,
    "cloze": {**_MCQA, "choice_labels": None},
    "generate": _GENERATE,
    "cot": {
        **_GENERATE,
        "instruction": "Given the following problem, reason step by step to find the final answer.\n",
        "question_prefix": "Problem: ",
        "choice_labels": None,
        "answer_prompt": 'Your response should end with "The final answer is [answer]" where [answer] is the response '
        "to the problem.",
    },
}
LISTED = "its question lists its options"
"""In the field `formats` of a task whose format has been applied."""
_SAID = r"(?i:(?:best|final) answer is)[:\s*(\[]*(\w[^\n]*?)[\s*)\]]*\.?[\s*]*(?:\n|$)"


def applied(fields: TaskFields, findings: ImportFindings, form: str = "") -> TaskFields:
    """The fields with what the format says; those of a file without one, as they are. `form`: the one that was asked
    for by `name@form`; empty: the file's only or first one."""
    given = fields.get("formats") or form
    if not given:
        return fields
    listed = [given] if isinstance(given, str) else given
    table: dict[str, Any] = given if isinstance(given, dict) else dict.fromkeys(listed)
    table = {table["type"]: table} if "type" in table else table
    name = form or next(iter(table))
    own = table.get(name) or {}
    if isinstance(own, str):
        name, own = own, {}
    if name not in FORMATS:
        findings.refuse(f"its format '{name}' is none of {', '.join(FORMATS)}")
        return fields
    words = {**FORMATS[name], **{key: value for key, value in own.items() if key != "type"}}
    if unknown := sorted(words.keys() - _MCQA.keys()):
        findings.refuse(f"its format '{name}' has fields that are not known here ({', '.join(unknown)})")
    if (words["choice_labels"] or words["output_type"] == "multiple_choice") and not fields.get("doc_to_choice"):
        findings.refuse(f"its format '{name}' is about options, but it has no doc_to_choice")
        return fields
    return {**fields, **_fields(fields, words), "formats": LISTED if words["choice_labels"] else None}


def _fields(fields: TaskFields, words: Mapping[str, Any]) -> TaskFields:
    target, choices = fields.get("doc_to_target"), fields.get("doc_to_choice")
    right, options, labels = _expression(target), _expression(choices) if choices else "", words["choice_labels"]
    shared = {name: words[name] for name in ("output_type", "target_delimiter", "fewshot_delimiter")}
    found = {**shared, "doc_to_text": _question(fields, words, options)}
    found |= {name: words[name] for name in ("gen_prefix", "scorer") if words[name] is not None}
    if words["output_type"] == "multiple_choice":
        listed = _labels(labels, f"{options} | length") if labels else options
        place = _if_number(right, right, f"{options}.index({right})")
        return {**found, "doc_to_target": place, "doc_to_choice": f"{{{{ {listed} | tojson }}}}"}
    among = _labels(labels, f"{options} | length") if labels else options
    target = _if_number(right, f"{among}[{right}]" if among else right, right)
    found |= {"doc_to_target": target, "doc_to_choice": None}
    if words["scorer"] is None and "filter_list" not in fields:
        said = {"function": "regex", "regex_pattern": _SAID, "group_select": -1}
        found["filter_list"] = [{"name": "none", "filter": [said, {"function": "take_first"}]}]
        found["metric_list"] = [{"metric": "exact_match", "ignore_case": True, "ignore_punctuation": True}]
    if fields.get("num_fewshot") and words["gen_prefix"] is None:
        lead = "The best answer is " if labels else "The final answer is "
        found["fewshot_config"] = {"doc_to_target": f"{lead}{target}.", **(fields.get("fewshot_config") or {})}
    return found


def _if_number(value: str, then: str, otherwise: str) -> str:
    return f"{{% if {value} is number %}}{{{{ {then} }}}}{{% else %}}{{{{ {otherwise} }}}}{{% endif %}}"


def _question(fields: TaskFields, words: Mapping[str, Any], options: str) -> str:
    labels = words["choice_labels"]
    listing = ""
    if labels and options:
        label = _label(labels, "loop.index0")
        between = f"{{% if not loop.last %}}{words['choice_delimiter']}{{% endif %}}"
        listing = f"{{% for choice in {options} %}}{{{{ {label} }}}}. {{{{ choice }}}}{between}{{% endfor %}}"
        listing = words["section_separator"] + listing
    question = fields.get("doc_to_text")
    shown = question if isinstance(question, str) and "{{" in question else f"{{{{ {question} }}}}"
    template = "".join(
        [
            words["instruction"] or "", words["question_prefix"] or "", shown, listing, words["section_separator"],
            words["answer_instruction"] or "", words["answer_prompt"],
        ]
    )  # fmt: skip
    return _variables(labels, options) + template if "_choice" in template or "_num_choices" in template else template


def _variables(labels: Any, options: str) -> str:
    if not labels or not options:
        return ""
    joined = "_choice_labels[:-1] | join(', ') ~ ' {word} ' ~ _choice_labels[-1]"
    values = {
        "_num_choices": f"{options} | length",
        "_choice_labels": _labels(labels, "_num_choices"),
        **{f"_choice_list_{word}": joined.format(word=word) for word in ("and", "or")},
    }
    return "".join(f"{{% set {name} = {value} %}}" for name, value in values.items())


_LETTERS = "'ABCDEFGHIJKLMNOPQRSTUVWXYZ'"


def _label(labels: Any, place: str) -> str:
    if labels == "numbers":
        return f"{place} + 1"
    return f"{_LETTERS if labels == 'letters' else list(map(str, labels))}[{place}]"


def _labels(labels: Any, count: str) -> str:
    if labels == "numbers":
        return f"(range(1, ({count}) + 1) | map('string') | list)"
    return f"({_LETTERS if labels == 'letters' else list(map(str, labels))}[:{count}] | list)"


def _expression(value: Any) -> str:
    """What a doc_to_ field names, as an expression."""
    if not isinstance(value, str):
        return repr(value)
    return f"({value.replace('{{', '').replace('}}', '').strip()})" if "{{" in value else value
