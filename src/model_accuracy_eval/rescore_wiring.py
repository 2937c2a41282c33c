"""Kept replies of any tool, from their files to judged figures."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath

from model_accuracy_eval import tasks
from model_accuracy_eval.records import TaskSpec
from model_accuracy_eval.rescoring import claims, formats
from model_accuracy_eval.rescoring.rescore import Rescored, rescore
from model_accuracy_eval.rim.lines import lines, whole


def rescored(file: str, *, task: str | None, k: Sequence[int], claimed: str | None) -> Iterator[Rescored]:
    """One result for every filter of the file."""
    name = PurePath(file.removesuffix(".gz")).stem
    first = next(lines(file), b"")

    def read() -> Iterator[formats.Kept]:
        if formats.is_whole(file, first):
            return formats.read_whole(file, whole(file))
        return formats.read(file, lines(file))

    return rescore(name, read, task=_scoring(task, name), k=k, claimed=_claimed(claimed, file, name))


def _scoring(asked: str | None, name: str) -> TaskSpec | None:
    """A file's own name may be that of a dataset; what was asked for has to be one."""
    return tasks.find(asked or name) if asked or name in tasks.TASKS else None


def _claimed(asked: str | None, file: str, name: str) -> Mapping[str, float]:
    """AISBench keeps `results/<model>/<dataset>.json` beside `predictions/<model>/<dataset>.jsonl`."""
    model, *above = Path(file).resolve().parents
    found = Path(asked) if asked else above[min(1, len(above) - 1)] / "results" / model.name / f"{name}.json"
    return claims.figures(whole(str(found)), str(found)) if asked or found.is_file() else {}
