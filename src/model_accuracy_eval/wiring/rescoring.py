"""Kept replies of any tool, from their files to judged figures."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath

from model_accuracy_eval import tasks
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import TaskSpec
from model_accuracy_eval.rescoring import claims, formats, settings
from model_accuracy_eval.rescoring.rescore import Rescored, rescore
from model_accuracy_eval.rescoring.settings import Settings
from model_accuracy_eval.rim.lines import lines, whole
from model_accuracy_eval.scoring.metrics import metric
from model_accuracy_eval.scoring.scorers import measures, own_python
from model_accuracy_eval.tasks.library import Library


def rescored(
    file: str, *, task: str | None, library: Library, k: Sequence[int], claimed: str | None
) -> Iterator[Rescored]:
    """One result for every filter of the file."""
    name = PurePath(file.removesuffix(".gz")).stem
    first = next(lines(file), b"")

    def read() -> Iterator[formats.Kept]:
        if formats.is_whole(file, first):
            return formats.read_whole(file, whole(file))
        return formats.read(file, lines(file))

    scoring = _scoring(task, name, library)
    return rescore(
        name,
        read,
        task=scoring,
        settings=None if scoring else _settings(file, name),
        k=k,
        claimed=_claimed(claimed, file, name),
    )


def _scoring(asked: str | None, name: str, library: Library) -> TaskSpec | None:
    """A file's own name may be that of a dataset; what was asked for has to be one."""
    if asked is None:
        return tasks.find(name) if name in tasks.TASKS else None
    found = library.find(asked).tasks
    if len(found) != 1:
        raise BadValue(f"'{asked}' stands for {len(found)} datasets, but --task takes one.")
    _check_alone(found[0], trusted=library.trusted)
    return found[0]


def _check_alone(task: TaskSpec, *, trusted: bool) -> None:
    """Nothing but this process judges here."""
    if asking := [measure.name for measure in measures(task) if metric(measure.name).asks]:
        raise BadValue(
            f"{task.name} is judged by running programs or asking a model ({asking[0]}), which rescore does not do: "
            "use run --mode eval --reuse RUN."
        )
    if not trusted and (own := own_python(task)):
        raise BadValue(f"{task.name} is judged by Python of its own ({own[0]}): allow it with --trust-python.")


def _settings(file: str, name: str) -> Settings | None:
    """lm-eval keeps `results_<stamp>.json` beside the samples of all its tasks."""
    task, results = settings.place(name) or ("", "")
    found = Path(file).with_name(results) if results else None
    return settings.read(whole(str(found)), results, task) if found and found.is_file() else None


def _claimed(asked: str | None, file: str, name: str) -> Mapping[str, float]:
    """AISBench keeps `results/<model>/<dataset>.json` beside `predictions/<model>/<dataset>.jsonl`."""
    model, *above = Path(file).resolve().parents
    found = Path(asked) if asked else above[min(1, len(above) - 1)] / "results" / model.name / f"{name}.json"
    return claims.figures(whole(str(found)), str(found)) if asked or found.is_file() else {}
