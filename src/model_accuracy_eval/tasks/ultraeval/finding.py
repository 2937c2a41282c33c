"""What a file or a name stands for → its tasks, and a group for each dataset that has several of them."""

from collections.abc import Iterable, Sequence
from pathlib import PurePath

from model_accuracy_eval.errors import Unsupported
from model_accuracy_eval.records import GroupMean, Measure, TaskGroup, TaskSpec
from model_accuracy_eval.tasks.lm_eval.converting import Imported
from model_accuracy_eval.tasks.lm_eval.groups import Collection
from model_accuracy_eval.tasks.lm_eval.reading import Files
from model_accuracy_eval.tasks.ultraeval import configs
from model_accuracy_eval.tasks.ultraeval.configs import Config
from model_accuracy_eval.tasks.ultraeval.converting import convert

_ENDINGS = ("_gen", "_ppl")
"""Of the two ways to ask; without one, texts are generated, as `make_config.py` has it."""


def from_file(files: Files, path: str, data: bytes, *, trusted: bool = False) -> Collection:
    """All tasks of the file."""
    found = configs.parse(path, data)
    return _collected(PurePath(path).stem, found, files, trusted=trusted)


def from_name(files: Files, folders: Sequence[str], name: str, *, trusted: bool = False) -> Collection | None:
    """The task of that name, or all tasks of a dataset that are asked in one way; None where no folder knows it."""
    dataset = name.partition("_")[0]
    paths = [path for folder in folders for path in files.under(folder, "json") if _is_of(path, dataset)]
    known = [one for path in paths for one in configs.parse(path, files.read(path))]
    own = [one for one in known if one.name == name]
    wanted = name if name.endswith(_ENDINGS) else f"{name}_gen"
    parts = [one for one in known if f"{one.dataset}{one.name[-4:]}" == wanted]
    return _collected(name, own or parts, files, trusted=trusted) if own or parts else None


def _is_of(path: str, dataset: str) -> bool:
    """`<dataset>/config/<task>.json`, whatever stands in front."""
    return [part.lower() for part in PurePath(path).parent.parts[-2:]] == [dataset.lower(), "config"]


def _collected(name: str, found: Sequence[Config], files: Files, *, trusted: bool) -> Collection:
    """What cannot be imported is told of all tasks at once."""
    imported: list[Imported] = []
    refused: list[Unsupported] = []
    for one in found:
        try:
            imported.append(convert(one, files, trusted=trusted))
        except Unsupported as error:  # noqa: PERF203 - one bad task hides no other
            refused.append(error)
    if len(refused) == len(found) == 1:
        raise refused[0]
    if refused:
        raise Unsupported(name, [error.sentence.rstrip(".") for error in refused])
    return Collection(imported, list(_groups(found, [one.task for one in imported])))


def _groups(found: Sequence[Config], tasks: Sequence[TaskSpec]) -> Iterable[TaskGroup]:
    """A dataset's figure is the plain mean of its tasks', however long they are."""
    parts: dict[str, list[TaskSpec]] = {}
    for config, task in zip(found, tasks, strict=True):
        parts.setdefault(config.dataset, []).append(task)
    for dataset, several in parts.items():
        if len(several) > 1:
            yield TaskGroup(name=dataset, members=tuple(task.name for task in several), means=tuple(_means(several)))


def _means(tasks: Sequence[TaskSpec]) -> Iterable[GroupMean]:
    figures = [name for task in tasks for measure in task.pipelines[0].metrics for name in _figures(measure)]
    return [GroupMean(metric=name, weight_by_size=False) for name in dict.fromkeys(figures)]


def _figures(measure: Measure) -> list[str]:
    return [f"pass@{k}({measure.label})" for k in measure.k] or [measure.label]
