"""UltraEval's tasks → TaskSpecs, or all reasons against them; several tasks of one dataset form a group."""

from collections.abc import Iterable, Sequence
from pathlib import PurePath
from posixpath import normpath
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData, Unsupported
from model_accuracy_eval.records import (
    DataFile,
    FewShot,
    GroupMean,
    JSONObject,
    Prompt,
    Recipe,
    Step,
    TaskGroup,
    TaskSpec,
    Transform,
)
from model_accuracy_eval.tasks.importers import ultraeval_replies
from model_accuracy_eval.tasks.importers.lm_eval_files import ImportFindings, TaskFileReader
from model_accuracy_eval.tasks.importers.lm_eval_tasks import ImportedTask, ImportedTasks, refuse
from model_accuracy_eval.tasks.importers.lm_eval_templates import escaped
from model_accuracy_eval.tasks.importers.ultraeval_replies import Config, parse

# `generate.params` → sampling parameters of a TaskSpec.


Params = dict[str, Any]

_NOT_SAMPLING = {"batch_size", "request_id", "prompt_logprobs"}
"""Parameters of UltraEval's own machinery."""
_TASK_FIELDS = ("temperature", "top_p", "max_tokens")
"""Parameters for which a TaskSpec has a field."""
_REPEATS = "sampling_num"


def sampling_params(entry: str | Params, root: str | None, files: TaskFileReader, findings: ImportFindings) -> Params:
    """The parameters, which `generate.params` holds or names a file of."""
    if not entry or isinstance(entry, dict):
        return entry or {}
    try:
        content = msgspec.json.decode(files.read(str(PurePath(root or ".", entry))))
    except BadData:
        content = None
    except msgspec.DecodeError as error:
        findings.refuse(f"its parameters '{entry}' are no JSON that could be read ({error})")
        return {}
    if not isinstance(content, dict):
        findings.refuse(f"its file of parameters '{entry}' is missing, or holds no parameters")
        return {}
    return content


def repeats(params: Params) -> int | None:
    """How many samples; None means as many as the run asks for."""
    return int(params[_REPEATS]) if params.get(_REPEATS) else None


def task_fields(params: Params) -> Params:
    """The fields of a TaskSpec."""
    others = {
        name: value for name, value in params.items() if value is not None and name not in _NOT_SAMPLING | {_REPEATS}
    }
    stop = others.pop("stop", ())
    known: Params = {name: others.pop(name) for name in _TASK_FIELDS if name in others}
    return {
        **known,
        "repeats": repeats(params),
        "stop": (stop,) if isinstance(stop, str) else tuple(stop),
        "generation": others,
    }


_ENDINGS = ("_gen", "_ppl")
"""Endings of the two methods. A name without one means the first, as in UltraEval's `make_config.py`."""
_LEVELS = 6
"""How many folders, from a task file's own upwards, may be the one that its paths start from."""
_METHODS = ("generate", "loglikelihood")
_SEPARATOR = "\n\n"
_LETTERS = "{{ [answers | join] | tojson }}"
"""The letters for several questions are one right answer, not several."""
_OPTIONS = "{{ target_scores | list | tojson }}"


def from_file(files: TaskFileReader, path: str, data: bytes, *, trusted: bool = False) -> ImportedTasks:
    """All tasks of the file."""
    return _import(PurePath(path).stem, parse(path, data), files, trusted=trusted)


def from_name(
    files: TaskFileReader, folders: Sequence[str], name: str, *, trusted: bool = False
) -> ImportedTasks | None:
    """The task of that name, or all tasks of a dataset with one method; None if the folders have none."""
    dataset = name.partition("_")[0]
    paths = [
        path
        for folder in folders
        for path in files.under(folder, "json")
        if path.lower().split("/")[-3:-1] == [dataset.lower(), "config"]
    ]
    configs = [config for path in paths for config in parse(path, files.read(path))]
    full_name = name if name.endswith(_ENDINGS) else f"{name}_gen"
    parts = [config for config in configs if f"{config.dataset}{config.name[-4:]}" == full_name]
    matches = [config for config in configs if config.name == name] or parts
    return _import(name, matches, files, trusted=trusted) if matches else None


def _import(name: str, configs: Sequence[Config], files: TaskFileReader, *, trusted: bool) -> ImportedTasks:
    imported: list[ImportedTask] = []
    errors: list[Unsupported] = []
    for config in configs:
        try:
            imported.append(convert(config, files, trusted=trusted))
        except Unsupported as error:  # noqa: PERF203 - one bad task hides no other
            errors.append(error)
    refuse(name, errors, alone=len(configs) == 1)
    return ImportedTasks(imported, list(_groups(configs, [entry.task for entry in imported])))


def _groups(configs: Sequence[Config], tasks: Sequence[TaskSpec]) -> Iterable[TaskGroup]:
    """A group for each dataset with several tasks; its figures are the plain means of theirs."""
    parts: dict[str, list[TaskSpec]] = {}
    for config, task in zip(configs, tasks, strict=True):
        parts.setdefault(config.dataset, []).append(task)
    for dataset, members in parts.items():
        measures = [measure for task in members for measure in task.pipelines[0].metrics]
        figures = [name for one in measures for name in ([f"pass@{k}({one.label})" for k in one.k] or [one.label])]
        means = tuple(GroupMean(metric=name, weight_by_size=False) for name in dict.fromkeys(figures))
        if len(members) > 1:
            yield TaskGroup(name=dataset, members=tuple(task.name for task in members), means=means)


def convert(config: Config, files: TaskFileReader, *, trusted: bool) -> ImportedTask:
    findings = ImportFindings(trusted)
    fields = config.fields
    if fields.generate.method not in _METHODS:
        findings.refuse(f"its method is '{fields.generate.method}', neither generate nor loglikelihood")
    if fields.fewshot < 0:
        findings.refuse(f"it shows {fields.fewshot} examples")
    root = _root(config, files, findings)
    params = sampling_params(fields.generate.params, root, files, findings)
    transform = PurePath(root or ".", fields.transform)
    recipe = Recipe(
        folder=str(transform.parent),
        transform=Transform(function=f"{transform.stem}.transform", shots=fields.fewshot, task=config.name),
    )
    task = TaskSpec(
        name=config.name,
        about=f"UltraEval's task {fields.task_name}, rows of {PurePath(fields.path).name}.",
        data=DataFile(name=str(PurePath(root or ".", fields.path)), recipe=recipe),
        views=(Step(name="programs"),) if ultraeval_replies.runs_programs(fields) else (),
        fields=(),
        cluster=fields.cluster,
        prompt=_prompt(config),
        extras=ultraeval_replies.columns(fields),
        pipelines=(ultraeval_replies.pipeline(fields, repeats(params), findings),),
        **(_choice(params, findings) if fields.generate.method == "loglikelihood" else _generated(config, params)),
    )
    if findings.reasons:
        raise Unsupported(config.name, findings.reasons)
    return ImportedTask(task, tuple(findings.ignored))


def _root(config: Config, files: TaskFileReader, findings: ImportFindings) -> str | None:
    """The folder that the task's paths start from: the nearest one upwards in which its transform is found."""
    transform = config.fields.transform
    if not findings.trusted:
        findings.refuse(f"its rows are made by Python ({transform}), which is run only with --trust-python")
    folder = str(PurePath(config.file).parent)
    for level in range(_LEVELS):
        root = normpath("/".join([folder, *[".."] * level]))
        try:
            files.read(str(PurePath(root, transform)))
        except BadData:
            continue
        return root
    findings.refuse(f"its transform '{transform}' is found neither in {folder} nor in the {_LEVELS - 1} folders above")
    return None


def _prompt(config: Config) -> Prompt:
    """Description, examples and question, separated by empty lines; an answer follows its question directly."""
    fields = config.fields
    return Prompt(
        question="{{ input }}",
        answer="{{ output }}" + _SEPARATOR,
        description=escaped(fields.description + _SEPARATOR) if fields.description else "",
        delimiter="",
        fewshot=FewShot(count=fields.fewshot, sampler=Step(name="others"), delimiter="", turns=False),
    )


def _generated(config: Config, params: Params) -> JSONObject:
    return {
        "reference": "{{ answers[0] }}",
        "references": _LETTERS if ultraeval_replies.reads_letters(config.fields) else "{{ answers | tojson }}",
        "choices": _OPTIONS if "target_scores" in ultraeval_replies.columns(config.fields) else None,
        **task_fields(params),
    }


def _choice(params: Params, findings: ImportFindings) -> JSONObject:
    """The prompt's own likelihood, which all options share, is left out: it makes none of them likelier."""
    for name in sorted(params):
        findings.ignore(f"generate.params.{name}")
    return {
        "kind": "choice",
        "boundary": "shared",
        "reference": "{{ target_scores | greatest }}",
        "choices": _OPTIONS,
    }
