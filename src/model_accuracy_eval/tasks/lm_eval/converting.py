"""The fields of one task → a TaskSpec, or all reasons against it."""

import re
from dataclasses import dataclass
from difflib import get_close_matches

from msgspec.structs import replace

from model_accuracy_eval.errors import Unsupported
from model_accuracy_eval.records import WHOLE_ROW, DataFile, Kind, Prompt, Recipe, TaskSpec
from model_accuracy_eval.tasks.lm_eval import asking, judging, rows, templates
from model_accuracy_eval.tasks.lm_eval.findings import Findings
from model_accuracy_eval.tasks.lm_eval.reading import CODE_EVAL, Fields

_KINDS: dict[str, Kind] = {
    "generate_until": "generate",
    "multiple_choice": "choice",
    "loglikelihood": "target",
    "loglikelihood_rolling": "rolling",
}
_TAKEN = {
    "task", "dataset_path", "dataset_name", "dataset_kwargs", "training_split", "validation_split", "test_split",
    "fewshot_split", "fewshot_config", "fewshot_delimiter", "num_fewshot", "process_docs", "doc_to_text",
    "doc_to_target", "doc_to_choice", "description", "target_delimiter", "gen_prefix", "output_type",
    "generation_kwargs", "repeats", "metric_list", "filter_list", "process_results", "scorer", "multiple_inputs",
    "multiple_targets",
    "unsafe_code", "custom_dataset",
}  # fmt: skip
_IGNORED = {"tag", "task_alias", "metadata", "group", "group_alias"}
"""Names and remarks, which change nothing about the questions."""
_NOTED = {"should_decontaminate", "doc_to_decontamination_query"}
_REFUSED = {
    "doc_to_image": "it shows images",
    "doc_to_audio": "it plays sounds",
    "use_prompt": "its prompts are fetched from promptsource (use_prompt)",
    "class": "it is a Python class",
}
_HUGGING_FACE_ONLY = {"do_sample", "num_beams", "early_stopping", "use_cache"}


@dataclass(frozen=True, slots=True)
class Imported:
    """A task, and what of its file was left aside."""

    task: TaskSpec
    ignored: tuple[str, ...]


def convert(fields: Fields, *, trusted: bool = False) -> Imported:
    findings = Findings(trusted, programs=fields.get("unsafe_code") == CODE_EVAL)
    name = _name(fields)
    _check_fields(fields, findings)
    kind = _KINDS.get(str(fields.get("output_type", "generate_until")), "generate")
    asked = asking.templates_of(fields, kind, findings)
    task = _made(_task(fields, kind, asked, findings), fields, findings)
    if findings.reasons:
        raise Unsupported(name, findings.reasons)
    return Imported(task, tuple(findings.ignored))


def _name(fields: Fields) -> str:
    """The task's name as a file name can have it, because reports are files."""
    return re.sub(r"[^\w.+-]", "_", str(fields.get("task")))


def _check_fields(fields: Fields, findings: Findings) -> None:
    for field, reason in _REFUSED.items():
        if fields.get(field):
            findings.refuse(reason)
    if fields.get("unsafe_code") and not findings.programs:
        findings.refuse("its replies are programs that its own Python runs (unsafe_code)")
    for field in fields.keys() & _NOTED:
        if fields[field]:
            findings.ignore(field)
    for field in sorted(fields.keys() - _TAKEN - _IGNORED - _NOTED - _REFUSED.keys()):
        near = get_close_matches(field, _TAKEN, n=1)
        findings.refuse(f"its field '{field}' is not known here" + (f" (did you mean {near[0]}?)" if near else ""))
    if fields.get("output_type", "generate_until") not in _KINDS:
        findings.refuse(f"its output_type is '{fields['output_type']}'")


def _task(fields: Fields, kind: Kind, asked: asking.Asked, findings: Findings) -> TaskSpec:
    split = rows.questions(fields, findings)
    return TaskSpec(
        name=_name(fields),
        about=f"lm-eval's task {fields.get('task')}, rows of {split.file.name}.",
        data=split.file,
        slice=split.part,
        fields=(),
        prompt=_prompt(fields, kind, asked, findings),
        reference=asked.reference,
        references=asked.references,
        choices=asked.choices,
        kind=asked.kind,
        repeats=int(fields.get("repeats") or 1) if kind == "generate" else None,
        scorer=judging.scorer(fields, findings),
        pipelines=judging.pipelines(fields, kind, findings),
        extras=WHOLE_ROW if judging.looks_at_rows(fields) else (),
        **(_generation(fields, findings) if kind == "generate" else {}),
    )


def _prompt(fields: Fields, kind: Kind, asked: asking.Asked, findings: Findings) -> Prompt:
    if kind == "rolling":
        return Prompt(question=asked.question)
    delimiter = fields.get("target_delimiter", " ")
    shown = rows.examples(fields, findings)
    answer = asked.answer
    override = (fields.get("fewshot_config") or {}).get("doc_to_target")
    if override is not None and shown.count:
        if kind != "generate":
            findings.refuse("fewshot_config has a doc_to_target of its own where options are weighed")
        # An empty one shows no answer at all, but an empty template would mean the right one.
        answer = templates.text("fewshot_doc_to_target", override, findings) or "{{ '' }}"
    if kind == "target":  # a text that is weighed begins as its template does; only examples have the delimiter
        delimiter = ""
    return Prompt(
        question=asked.question,
        answer=answer,
        description=templates.wording("description", fields.get("description") or "", findings),
        prefix=templates.wording("gen_prefix", fields.get("gen_prefix") or "", findings),
        delimiter=delimiter,
        fewshot=shown,
    )


def _made(task: TaskSpec, fields: Fields, findings: Findings) -> TaskSpec:
    """The task whose files are changed by the author's Python, if there is some."""
    recipe, shown = findings.recipe(fields.get("process_docs")), task.prompt.fewshot
    if recipe is None:
        return task
    if shown and shown.rows and recipe.columns:
        findings.refuse("its examples stand in the file, but are to be worded by Python")
    if shown and shown.data:
        shown = replace(shown, data=_changed(shown.data, recipe))
        asked = {name: made for name, made in recipe.columns.items() if not name.startswith("fewshot_")}
        recipe = replace(recipe, columns=asked)
    return replace(task, data=_changed(task.data, recipe), prompt=replace(task.prompt, fewshot=shown))


def _changed(data: DataFile, recipe: Recipe) -> DataFile:
    """The recipe over whatever gives the rows; process_docs is for those of splits, not for written examples."""
    own = data.recipe
    if own is None:
        return replace(data, recipe=recipe)
    return replace(data, recipe=replace(own, rows=recipe.rows if own.split else None, columns=recipe.columns))


def _generation(fields: Fields, findings: Findings) -> Fields:
    given = dict(fields.get("generation_kwargs") or {})
    stop = given.pop("until", fields.get("fewshot_delimiter", "\n\n"))
    longest = [given.pop(name, None) for name in ("max_tokens", "max_gen_toks", "max_new_tokens")]
    for name in sorted(given.keys() & _HUGGING_FACE_ONLY):
        given.pop(name)
        if name != "do_sample":
            findings.ignore(f"generation_kwargs.{name}")
    return {
        "stop": tuple(one for one in ([stop] if isinstance(stop, str) else stop or []) if one),
        "max_tokens": next((int(value) for value in longest if value is not None), 256),
        "temperature": float(given.pop("temperature", 0.0)),
        "top_p": given.pop("top_p", None),
        "generation": given,
    }
