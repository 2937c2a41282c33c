"""The fields of one task → a TaskSpec, or all reasons against it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from dataclasses import field as default
from difflib import get_close_matches
from pathlib import PurePath
from typing import Any

import msgspec
from msgspec.structs import replace

from model_accuracy_eval.errors import UnknownName, Unsupported
from model_accuracy_eval.records import WHOLE_ROW, DataFile, GroupMean, Prompt, Recipe, RequestKind, TaskGroup, TaskSpec
from model_accuracy_eval.tasks.addresses import name_of_files
from model_accuracy_eval.tasks.importers import lm_eval_formats, lm_eval_metrics, lm_eval_templates
from model_accuracy_eval.tasks.importers.lm_eval_files import (
    CODE_EVAL,
    ImportFindings,
    TaskFields,
    TaskFileReader,
    load,
)

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
    "multiple_targets", "doc_to_image", "cluster",
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


FORM = "format that is asked for"
"""Among a task's fields, as no file of lm-eval has it."""


class ImportedTask(msgspec.Struct, frozen=True):
    """A task, and the fields of its file that are ignored."""

    task: TaskSpec
    ignored: tuple[str, ...]


def convert(fields: TaskFields, *, trusted: bool = False) -> ImportedTask:
    findings = ImportFindings(trusted, programs=fields.get("unsafe_code") == CODE_EVAL)
    name, named = _name(fields), str(fields.get("task")).rpartition("@")[2]
    form = str(fields.get(FORM, named if named in lm_eval_formats.FORMATS else ""))
    fields = lm_eval_formats.applied({key: value for key, value in fields.items() if key != FORM}, findings, form)
    _check_fields(fields, findings)
    kind = _KINDS.get(str(fields.get("output_type", "generate_until")), "generate")
    texts = lm_eval_templates.task_templates(fields, kind, findings)
    task = _with_recipe(_task(fields, kind, texts, findings), fields, findings)
    if findings.reasons:
        raise Unsupported(name, findings.reasons)
    return ImportedTask(task, tuple(findings.ignored))


def _name(fields: TaskFields) -> str:
    """The task's name with only characters that file names can have, because reports are named after it."""
    return name_of_files(str(fields.get("task")))


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


def _task(
    fields: TaskFields, kind: RequestKind, texts: lm_eval_templates.TaskTemplates, findings: ImportFindings
) -> TaskSpec:
    split = lm_eval_templates.questions(fields, findings)
    return TaskSpec(
        name=_name(fields),
        about=f"lm-eval's task {fields.get('task')}, rows of {split.file.name}.",
        data=split.file,
        slice=split.part,
        fields=(),
        prompt=_prompt(fields, kind, texts, findings),
        cluster=str(fields.get("cluster") or ""),
        reference=texts.reference,
        references=texts.references,
        choices=texts.choices,
        kind=texts.kind,
        repeats=int(fields.get("repeats") or 1) if kind == "generate" else None,
        scorer=lm_eval_metrics.scorer(fields, findings),
        pipelines=lm_eval_metrics.pipelines(fields, kind, findings),
        extras=WHOLE_ROW if lm_eval_metrics.looks_at_rows(fields) else (),
        **(_generation(fields, findings) if kind == "generate" else {}),
    )


def _prompt(
    fields: TaskFields, kind: RequestKind, texts: lm_eval_templates.TaskTemplates, findings: ImportFindings
) -> Prompt:
    if kind == "rolling":
        return Prompt(question=texts.question)
    delimiter = fields.get("target_delimiter", " ")
    fewshot = lm_eval_templates.examples(fields, findings)
    answer = texts.answer
    override = (fields.get("fewshot_config") or {}).get("doc_to_target")
    if override is not None and fewshot.count:
        if kind != "generate":
            findings.refuse("fewshot_config has a doc_to_target of its own where likelihoods of options are compared")
        # An empty one means no answer, but an empty template would mean the right answer.
        answer = lm_eval_templates.text("fewshot_doc_to_target", override, findings) or "{{ '' }}"
    if (
        kind == "target"
    ):  # the text whose likelihood is asked begins like its template; only examples have the delimiter
        delimiter = ""
    if fields.get("doc_to_image") and (kind != "generate" or fewshot.count):
        findings.refuse("it shows images in solved examples or compares likelihoods after them")
    return Prompt(
        question=lm_eval_templates.with_images(texts.question, fields.get("doc_to_image"), findings),
        answer=answer,
        description=lm_eval_templates.wording("description", fields.get("description") or "", findings),
        prefix=lm_eval_templates.wording("gen_prefix", fields.get("gen_prefix") or "", findings),
        lettered=texts.question if fields.get("formats") == lm_eval_formats.LISTED else "",
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


# A file or a name → its tasks, and the groups that they form.


_NAME = re.compile(rb"""^["']?(?:task|group)["']?[ ]*:[ ]*["']?((?!#)[^\s"'\[{]+)""", re.MULTILINE)
_INCLUDE = re.compile(rb"""^["']?include["']?[ ]*:((?:[ ]*\S+)|(?:\s*-[ ]*\S+)+)""", re.MULTILINE)
_GROUP_FIELDS = {"group", "group_alias", "task", "aggregate_metric_list", "metadata", "tag"}


class TaskIndex:
    """Finds tasks, groups and tags in folders. Files are read once, as bytes; only those that are needed are parsed."""

    def __init__(self, files: TaskFileReader, folders: Sequence[str]) -> None:
        self._files = files
        self._texts = {path: files.read(path) for folder in folders for path in files.under(folder)}
        self._paths: dict[str, str] = {}
        for path, text in self._texts.items():
            for name in _NAME.findall(text):
                self._paths.setdefault(name.decode("utf-8", "replace"), path)

    def names(self) -> list[str]:
        return sorted(self._paths)

    def fields(self, name: str) -> TaskFields | None:
        """The fields of the task or group of that name."""
        return load(self._files, self._paths[name]) if name in self._paths else None

    def tagged(self, tag: str) -> list[str]:
        """Names of the tasks that have the tag, their own or an included one."""
        names: set[str] = set()
        for path in self._mentioning(tag):
            fields = load(self._files, path)
            tags = fields.get("tag") or []
            if isinstance(fields.get("task"), str) and tag in (tags if isinstance(tags, list) else [tags]):
                names.add(fields["task"])
        return sorted(names)

    def _mentioning(self, word: str) -> list[str]:
        """Files that contain the word, and those that include them, directly or not."""
        pattern = re.compile(rb"(?<![\w.-])" + re.escape(word.encode()) + rb"(?![\w.-])")
        hits = {path for path, text in self._texts.items() if pattern.search(text)}
        while including := {path for path in self._texts if path not in hits and self._includes(path) & hits}:
            hits |= including
        return sorted(hits)

    def _includes(self, path: str) -> set[str]:
        match = _INCLUDE.search(self._texts[path])
        names = re.findall(r"[^\s\"'\[\],]+", match[1].decode("utf-8", "replace")) if match else []
        return {str(PurePath(path).parent / name) for name in names if name != "-"}


@dataclass(slots=True)
class ImportedTasks:
    """The tasks in the order of the file, and the groups that they form."""

    tasks: list[ImportedTask] = default(default_factory=list)
    groups: list[TaskGroup] = default(default_factory=list)
    formed: bool = False
    """Whether they are asked in the format that was asked for."""


def from_file(
    files: TaskFileReader, path: str, *, folders: tuple[str, ...] = (), trusted: bool = False, form: str = ""
) -> ImportedTasks:
    """The tasks of a file. Members of a group are searched in the file's own folder and then in `folders`."""
    fields = _in_form(load(files, path), form)
    index = TaskIndex(files, (str(PurePath(path).parent), *folders) if "group" in fields else ())
    return _GroupImport(index, trusted=trusted).run(str(fields.get("group") or fields.get("task")), fields)


def _in_form(fields: TaskFields, form: str) -> TaskFields:
    return {**fields, FORM: form} if form else fields


def from_name(index: TaskIndex, name: str, *, trusted: bool = False, form: str = "") -> ImportedTasks | None:
    """The task, group or tag of that name, or None if the folders have none."""
    fields = index.fields(name)
    if fields is None and (tagged := index.tagged(name)):
        fields = {"group": name, "task": tagged, "tag": name}
    return None if fields is None else _GroupImport(index, trusted=trusted).run(name, _in_form(fields, form))


def refuse(name: str, errors: Sequence[Unsupported], *, alone: bool) -> None:
    """Raises one error with the reasons of all tasks that cannot be imported, if there are any."""
    if len(errors) == 1 and alone:
        raise errors[0]
    if errors:
        raise Unsupported(name, [error.sentence.rstrip(".") for error in errors])


class _GroupImport:
    """Imports a task, or a group with its members."""

    def __init__(self, index: TaskIndex, *, trusted: bool) -> None:
        self._index = index
        self._trusted = trusted
        self._imported = ImportedTasks()
        self._errors: list[Unsupported] = []

    def run(self, name: str, fields: TaskFields) -> ImportedTasks:
        self._add(fields)
        self._imported.formed = FORM in fields
        refuse(name, self._errors, alone="group" not in fields)
        return self._imported

    def _add(self, fields: TaskFields) -> list[str]:
        """Adds a task or group and returns its name, by which a group lists it; nothing if it cannot be imported."""
        if _is_group(fields):
            return self._group(str(fields["group"]), fields, {})
        try:
            task = convert(fields, trusted=self._trusted)
        except Unsupported as error:
            self._errors.append(error)
            return []
        if task not in self._imported.tasks:
            self._imported.tasks.append(task)
        return [task.task.name]

    def _group(self, name: str, fields: TaskFields, overrides: TaskFields) -> list[str]:
        """Fields that are not those of groups override the fields of the members."""
        overrides = {key: value for key, value in fields.items() if key not in _GROUP_FIELDS} | overrides
        entries = fields.get("task") or []
        if isinstance(entries, str):
            entries = [entries]
        members = tuple(member for entry in entries for member in self._members(name, entry, overrides))
        means = fields.get("aggregate_metric_list") or []
        means = [means] if isinstance(means, dict) else means
        if fields.get("tag") != name:  # a tag stands for many tasks, but has no figure of its own
            self._imported.groups.append(
                TaskGroup(name=name, members=members, means=tuple(self._mean(name, entry) for entry in means))
            )
        return [name]

    def _members(self, group: str, entry: Any, overrides: TaskFields) -> list[str]:
        if isinstance(entry, str):
            return self._named(group, entry, overrides)
        own = {key: value for key, value in entry.items() if key not in {"task", "group"}}
        name = str(entry.get("group") or entry.get("task"))
        known = self._index.fields(name) is not None
        if "group" in entry and (isinstance(entry.get("task"), list) or not known):
            return self._group(f"{group}::{name}", entry, overrides)
        if "group" not in entry and not known and "dataset_path" in entry:
            return self._add({**overrides, **own, "task": f"{group}::{name}"})
        return self._named(group, name, overrides | own)

    def _named(self, group: str, name: str, overrides: TaskFields) -> list[str]:
        """Adds the task or group of that name, or all tasks that have it as their tag."""
        base, _, form = name.rpartition("@")
        fields = self._index.fields(name)
        if fields is None and form in lm_eval_formats.FORMATS and (own := self._index.fields(base)):
            fields = {**own, "task": name}
        if fields is not None:
            return self._group(name, fields, overrides) if _is_group(fields) else self._add({**fields, **overrides})
        tagged = self._index.tagged(name)
        if not tagged:
            raise UnknownName("task, group or tag", name, self._index.names(), where=f" for the group '{group}'")
        return [member for task in tagged for member in self._named(group, task, overrides)]

    def _mean(self, name: str, entry: TaskFields) -> GroupMean:
        if entry.get("aggregation", "mean") != "mean":
            self._errors.append(Unsupported(name, [f"its members are aggregated by {entry['aggregation']}"]))
        filters = entry.get("filter_list") or ()
        return GroupMean(
            metric=str(entry["metric"]),
            pipelines=(filters,) if isinstance(filters, str) else tuple(filters),
            weight_by_size=bool(entry.get("weight_by_size", True)),
        )


def _is_group(fields: TaskFields) -> bool:
    return "group" in fields and "class" not in fields
