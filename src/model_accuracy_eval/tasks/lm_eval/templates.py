"""doc_to_text, doc_to_target and doc_to_choice of a task → templates of ours.

lm-eval takes each for a column's name if there is such a column, else for a template, and looks at the type of what
comes out: a number is a position, a text in brackets a list. A TaskSpec says the same with words of `template_words`.
"""

from typing import Any

import msgspec

from model_accuracy_eval.records import RequestKind
from model_accuracy_eval.tasks.lm_eval import metric_pipelines
from model_accuracy_eval.tasks.lm_eval.import_findings import ImportFindings
from model_accuracy_eval.tasks.lm_eval.yaml_files import PythonReference, TaskFields

_JINJA = ("{{", "{%", "{#")


def _is_template(value: str) -> bool:
    return any(mark in value for mark in _JINJA)


def _expression(place: str, value: Any, findings: ImportFindings) -> str | None:
    """A Jinja expression for what is no template: a column, or a value made by Python."""
    if isinstance(value, PythonReference):
        return findings.column(place, value)
    if isinstance(value, str) and value and not _is_template(value):
        return f"column({msgspec.json.encode(value).decode()})"
    return None


def text(place: str, value: Any, findings: ImportFindings) -> str:
    """A template of a text."""
    expression = _expression(place, value, findings)
    return f"{{{{ {expression} }}}}" if expression else str(value)


def wording(place: str, value: Any, findings: ImportFindings) -> str:
    """As `text`, where prose is likelier than the name of a column."""
    plain = isinstance(value, str) and not value.isidentifier()
    return str(value) if plain else text(place, value, findings)


def options(value: Any, findings: ImportFindings, place: str = "doc_to_choice") -> str | None:
    """A template of a list of texts."""
    if value is None:
        return None
    if isinstance(value, dict):
        value = list(value.values())
    if isinstance(value, list):
        return _each(value)
    expression = _expression(place, value, findings)
    return f"{{{{ {expression} | tojson }}}}" if expression else str(value)


def _each(values: list[Any]) -> str:
    """A template of a list whose entries may be templates, as 0.5 reads them; 0.4 takes their braces for text."""
    texts = list(map(str, values))
    if not any(map(_is_template, texts)):
        return msgspec.json.encode(texts).decode()
    entries = {f"_entry{place}": entry for place, entry in enumerate(texts)}
    captures = "".join(captured(name, entry) for name, entry in entries.items())
    return captures + f"{{{{ [{', '.join(entries)}] | tojson }}}}"


def position(value: Any, findings: ImportFindings) -> str:
    """A template of the right option: its position, several positions, or its text."""
    if isinstance(value, int | list):
        return repr(value)
    if isinstance(value, str) and value.isdigit():
        return value
    expression = _expression("doc_to_target", value, findings)
    return f"{{{{ {expression} | literal }}}}" if expression else str(value)


def answers(value: Any, findings: ImportFindings) -> str:
    """A template of the JSON list of all right answers."""
    if isinstance(value, list):
        return _each(value)
    expression = _expression("doc_to_target", value, findings)
    if expression:
        return f"{{{{ {expression} | answers | tojson }}}}"
    return f"{captured('_target', str(value))}{{{{ _target | answers | tojson }}}}"


def chosen(target: Any, choices: Any, findings: ImportFindings) -> str:
    """A template of the JSON list of the one right answer, where the target is its position among choices."""
    place = captured("_target", position(target, findings))
    listing = captured("_choices", options(choices, findings) or "[]")
    return f"{place}{listing}{{{{ [(_choices | options)[_target | int]] | tojson }}}}"


def captured(name: str, template: str) -> str:
    return f"{{% set {name} %}}{template}{{% endset %}}"


def escaped(source: str) -> str:
    """A text that a template gives as it is."""
    return f"{{% raw %}}{source}{{% endraw %}}" if _is_template(source) else source


class TaskTemplates(msgspec.Struct, frozen=True):
    """The templates of a task's question, options and right answers."""

    kind: RequestKind
    question: str
    answer: str
    reference: str
    references: str | None
    choices: str | None


def task_templates(fields: TaskFields, kind: RequestKind, findings: ImportFindings) -> TaskTemplates:
    question, target, choices = (fields.get(f"doc_to_{part}") for part in ("text", "target", "choice"))
    listing = options(choices, findings)
    if kind == "choice" and fields.get("multiple_inputs"):
        return _schema(question, target, choices, findings)
    if kind == "choice":
        return _choice(question, target, listing, findings)
    if kind == "generate":
        if listing is None and any(step.name == "multi_choice_regex" for step in _filters(fields)):
            listing = "{{ choices | list | tojson }}"
        right = answers(target, findings) if choices is None else chosen(target, choices, findings)
        several = None if choices is None and fields.get("multiple_targets") is False else right
        reference = text("doc_to_target", target, findings)
        return TaskTemplates(kind, text("doc_to_text", question, findings), "", reference, several, listing)
    reference = text("doc_to_target", target, findings)
    if kind == "rolling":
        return TaskTemplates(kind, reference, "", reference, None, None)
    return TaskTemplates(kind, text("doc_to_text", question, findings), "", reference, None, None)


def _choice(question: Any, target: Any, listing: str | None, findings: ImportFindings) -> TaskTemplates:
    """If doc_to_text is a number, it is the position of the right context among several."""
    if listing is None:
        findings.refuse("it compares likelihoods of options, but has no doc_to_choice")
    if isinstance(question, int):
        ending = text("doc_to_target", target, findings)
        return TaskTemplates("schema", "", ending, str(question), None, listing)
    reference = position(target, findings)
    return TaskTemplates("choice", text("doc_to_text", question, findings), "", reference, None, listing)


def _schema(question: Any, target: Any, choices: Any, findings: ImportFindings) -> TaskTemplates:
    """lm-eval 0.5's multiple_inputs: doc_to_text lists the contexts, and doc_to_choice the one ending."""
    contexts, endings = options(question, findings, "doc_to_text"), options(choices, findings)
    if contexts is None or endings is None:
        findings.refuse(
            "it compares likelihoods after contexts (multiple_inputs), but lacks doc_to_text or doc_to_choice"
        )
    ending = captured("_endings", endings or "[]") + "{{ (_endings | options)[0] }}"
    return TaskTemplates("schema", "", ending, position(target, findings), None, contexts)


def with_images(question: str, images: Any, findings: ImportFindings) -> str:
    """The template of the question with the pictures of doc_to_image where it has `<image>`: a column, several, or what
    Python returns."""
    if not images:
        return question
    columns = [
        _expression("doc_to_image", image, findings) for image in (images if isinstance(images, list) else [images])
    ]
    if None in columns:
        findings.refuse(f"its doc_to_image is neither a column nor Python, but {images!r}")
    return f"{{% filter in_order([{', '.join(map(str, columns))}]) %}}{question}{{% endfilter %}}"


def _filters(fields: TaskFields) -> list[Any]:
    unused = ImportFindings(trusted=True)
    return [step for pipeline in metric_pipelines.pipelines(fields, "generate", unused) for step in pipeline.filters]
