"""Saved replies of any tool, from their files to judged figures."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath

from model_accuracy_eval import tasks
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import TaskSpec
from model_accuracy_eval.rescoring import choose_scoring, claims, saved_replies
from model_accuracy_eval.rescoring.choose_scoring import LmEvalResults
from model_accuracy_eval.rescoring.rescore import Rescored, rescore
from model_accuracy_eval.scoring.metrics import metric
from model_accuracy_eval.scoring.scorers import metric_uses, user_function_paths
from model_accuracy_eval.system.local_files import read_lines, read_whole
from model_accuracy_eval.tasks.library import Library


def rescored(
    file: str, *, task: str | None, library: Library, k: Sequence[int], claimed: str | None
) -> Iterator[Rescored]:
    """One result for every filter of the file."""
    name = PurePath(file.removesuffix(".gz")).stem
    one_value = saved_replies.is_one_value(file, next(read_lines(file), b""))

    def read() -> Iterator[saved_replies.SavedReply]:
        if one_value:
            return saved_replies.read_value(file, read_whole(file))
        return saved_replies.read_lines(file, read_lines(file))

    scoring = _scoring(task, name, library)
    return rescore(
        name,
        read,
        task=scoring,
        results=None if scoring else _lm_eval_results(file, name),
        k=k,
        claimed=_claimed(claimed, file, name),
    )


def _scoring(task: str | None, name: str, library: Library) -> TaskSpec | None:
    """The one task that `--task` names; without it, the dataset that the file is named after, if any."""
    if task is None:
        return tasks.TASKS.get(name)
    matches = library.find(task).tasks
    if len(matches) != 1:
        raise BadValue(f"'{task}' stands for {len(matches)} datasets, but --task takes one.")
    _check_judging(matches[0], trusted=library.trusted)
    return matches[0]


def _check_judging(task: TaskSpec, *, trusted: bool) -> None:
    """Refuses a task that needs more than this process to judge."""
    if asking := [measure.name for measure in metric_uses(task) if metric(measure.name).asks]:
        raise BadValue(
            f"{task.name} is judged by running programs or asking a model ({asking[0]}), which rescore does not do: "
            "use run --mode eval --reuse RUN."
        )
    if not trusted and (own := user_function_paths(task)):
        raise BadValue(f"{task.name} is judged by Python of its own ({own[0]}): allow it with --trust-python.")


def _lm_eval_results(file: str, name: str) -> LmEvalResults | None:
    """lm-eval writes `results_<stamp>.json` beside the samples of all its tasks."""
    names = choose_scoring.results_file(name)
    if names is None:
        return None
    task, results = names
    path = Path(file).with_name(results)
    return choose_scoring.read_results(read_whole(str(path)), results, task) if path.is_file() else None


def _claimed(claimed: str | None, file: str, name: str) -> Mapping[str, float]:
    """AISBench writes `results/<model>/<dataset>.json` for `predictions/<model>/<dataset>.jsonl`."""
    model, *above = Path(file).resolve().parents
    path = Path(claimed) if claimed else above[min(1, len(above) - 1)] / "results" / model.name / f"{name}.json"
    return claims.read_figures(read_whole(str(path)), str(path)) if claimed or path.is_file() else {}
