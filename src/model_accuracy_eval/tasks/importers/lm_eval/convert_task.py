"""The fields of one task → a TaskSpec, or all reasons against it."""

import re
from difflib import get_close_matches

import msgspec
from msgspec.structs import replace

from model_accuracy_eval.errors import Unsupported
from model_accuracy_eval.records import WHOLE_ROW, DataFile, Prompt, Recipe, RequestKind, TaskSpec
from model_accuracy_eval.tasks.importers.lm_eval import metric_pipelines, templates
from model_accuracy_eval.tasks.importers.lm_eval.yaml_files import CODE_EVAL, ImportFindings, TaskFields
from model_accuracy_eval.tasks.option_questions import FORMATS

_KINDS: dict[str, RequestKind] = {
    "generate_until": "generate",
    "multiple_choice": "choice",
    "loglikelihood": "target",
    "loglikelihood_rolling": "rolling",
}
_KNOWN = {
    "task", "dataset_path", "dataset_name", "dataset_kwargs", "training_split", "validation_split", "test_split",
    "fewshot_split", "fewshot_config", "fewshot_delimiter", "num_fewshot", "process_docs", "doc_to_text",
    "doc_to_target", "doc_to_choice", "description", "target_delimiter", "gen_prefix", "output_type",
    "generation_kwargs", "repeats", "metric_list", "filter_list", "process_results", "scorer", "multiple_inputs",
    "multiple_targets", "doc_to_image",
    "unsafe_code", "custom_dataset", "fewshot_as_multiturn", "formats",
}  # fmt: skip
_IGNORED = {"tag", "task_alias", "metadata", "group", "group_alias"}
"""Names and remarks that change nothing about the questions."""
_REPORTED = {"should_decontaminate", "doc_to_decontamination_query"}
_REFUSED = {
    "doc_to_audio": "it plays sounds",
    "use_prompt": "its prompts are fetched from promptsource (use_prompt)",
    "class": "it is a Python class",
}
_HUGGING_FACE_ONLY = {"do_sample", "num_beams", "early_stopping", "use_cache"}


class ImportedTask(msgspec.Struct, frozen=True):
    """A task, and the fields of its file that are ignored."""

    task: TaskSpec
    ignored: tuple[str, ...]
    form: str = ""
    """The format that its file asks it in; empty: its own words."""


def convert(fields: TaskFields, *, trusted: bool = False) -> ImportedTask:
    findings = ImportFindings(trusted, programs=fields.get("unsafe_code") == CODE_EVAL)
    name = _name(fields)
    _check_fields(fields, findings)
    kind = _KINDS.get(str(fields.get("output_type", "generate_until")), "generate")
    texts = templates.task_templates(fields, kind, findings)
    task = _with_recipe(_task(fields, kind, texts, findings), fields, findings)
    form = _form(fields, findings)
    if findings.reasons:
        raise Unsupported(name, findings.reasons)
    return ImportedTask(task, tuple(findings.ignored), form)


def _form(fields: TaskFields, findings: ImportFindings) -> str:
    """The name of the format in `formats`: one, or the first of several; `name@format` chooses another."""
    given = fields.get("formats")
    if given is None:
        return ""
    entry: TaskFields = given if isinstance(given, dict) else {str(given): None}
    form = str(entry.get("type") or next(iter(entry), ""))
    if form not in FORMATS:
        findings.refuse(f"its format '{form}' is none of {', '.join(FORMATS)}")
    own = {key for key in entry if key != "type"} if "type" in entry else entry.get(form)
    if own:
        findings.refuse(f"its format '{form}' has words of its own ({', '.join(sorted(map(str, own)))})")
    return form


def _name(fields: TaskFields) -> str:
    """The task's name with only characters that file names can have, because reports are named after it."""
    return re.sub(r"[^\w.+-]", "_", str(fields.get("task")))


def _check_fields(fields: TaskFields, findings: ImportFindings) -> None:
    for field, reason in _REFUSED.items():
        if fields.get(field):
            findings.refuse(reason)
    if fields.get("unsafe_code") and not findings.programs:
        findings.refuse("its replies are programs that its own Python runs (unsafe_code)")
    for field in fields.keys() & _REPORTED:
        if fields[field]:
            findings.ignore(field)
    for field in sorted(fields.keys() - _KNOWN - _IGNORED - _REPORTED - _REFUSED.keys()):
        near = get_close_matches(field, _KNOWN, n=1)
        findings.refuse(f"its field '{field}' is not known here" + (f" (did you mean {near[0]}?)" if near else ""))
    if fields.get("output_type", "generate_until") not in _KINDS:
        findings.refuse(f"its output_type is '{fields['output_type']}'")


def _task(fields: TaskFields, kind: RequestKind, texts: templates.TaskTemplates, findings: ImportFindings) -> TaskSpec:
    split = templates.questions(fields, findings)
    return TaskSpec(
        name=_name(fields),
        about=f"lm-eval's task {fields.get('task')}, rows of {split.file.name}.",
        data=split.file,
        slice=split.part,
        fields=(),
        prompt=_prompt(fields, kind, texts, findings),
        reference=texts.reference,
        references=texts.references,
        choices=texts.choices,
        kind=texts.kind,
        repeats=int(fields.get("repeats") or 1) if kind == "generate" else None,
        scorer=metric_pipelines.scorer(fields, findings),
        pipelines=metric_pipelines.pipelines(fields, kind, findings),
        extras=WHOLE_ROW if metric_pipelines.looks_at_rows(fields) else (),
        **(_generation(fields, findings) if kind == "generate" else {}),
    )


def _prompt(fields: TaskFields, kind: RequestKind, texts: templates.TaskTemplates, findings: ImportFindings) -> Prompt:
    if kind == "rolling":
        return Prompt(question=texts.question)
    delimiter = fields.get("target_delimiter", " ")
    fewshot = templates.examples(fields, findings)
    answer = texts.answer
    override = (fields.get("fewshot_config") or {}).get("doc_to_target")
    if override is not None and fewshot.count:
        if kind != "generate":
            findings.refuse("fewshot_config has a doc_to_target of its own where likelihoods of options are compared")
        # An empty one means no answer, but an empty template would mean the right answer.
        answer = templates.text("fewshot_doc_to_target", override, findings) or "{{ '' }}"
    if (
        kind == "target"
    ):  # the text whose likelihood is asked begins like its template; only examples have the delimiter
        delimiter = ""
    if fields.get("doc_to_image") and (kind != "generate" or fewshot.count):
        findings.refuse("it shows images in solved examples or compares likelihoods after them")
    return Prompt(
        question=templates.with_images(texts.question, fields.get("doc_to_image"), findings),
        answer=answer,
        description=templates.wording("description", fields.get("description") or "", findings),
        prefix=templates.wording("gen_prefix", fields.get("gen_prefix") or "", findings),
        delimiter=delimiter,
        fewshot=fewshot,
    )


def _with_recipe(task: TaskSpec, fields: TaskFields, findings: ImportFindings) -> TaskSpec:
    """The task with files that the author's Python changes, if there is some."""
    recipe, fewshot = findings.recipe(fields.get("process_docs")), task.prompt.fewshot
    if recipe is None:
        return task
    if fewshot and fewshot.rows and recipe.columns:
        findings.refuse("its examples are in the file, but Python renders them")
    if fewshot and fewshot.data:
        fewshot = replace(fewshot, data=_changed(fewshot.data, recipe))
        columns = {name: function for name, function in recipe.columns.items() if not name.startswith("fewshot_")}
        recipe = replace(recipe, columns=columns)
    return replace(task, data=_changed(task.data, recipe), prompt=replace(task.prompt, fewshot=fewshot))


def _changed(data: DataFile, recipe: Recipe) -> DataFile:
    """The file with the recipe; process_docs changes the rows of splits, but not examples written by Python."""
    own = data.recipe
    if own is None:
        return replace(data, recipe=recipe)
    return replace(data, recipe=replace(own, rows=recipe.rows if own.split else None, columns=recipe.columns))


def _generation(fields: TaskFields, findings: ImportFindings) -> TaskFields:
    settings = dict(fields.get("generation_kwargs") or {})
    stop = settings.pop("until", fields.get("fewshot_delimiter", "\n\n"))
    longest = [settings.pop(name, None) for name in ("max_tokens", "max_gen_toks", "max_new_tokens")]
    for name in sorted(settings.keys() & _HUGGING_FACE_ONLY):
        settings.pop(name)
        if name != "do_sample":
            findings.ignore(f"generation_kwargs.{name}")
    return {
        "stop": tuple(text for text in ([stop] if isinstance(stop, str) else stop or []) if text),
        "max_tokens": next((int(value) for value in longest if value is not None), 256),
        "temperature": float(settings.pop("temperature", 0.0)),
        "top_p": settings.pop("top_p", None),
        "generation": settings,
    }
