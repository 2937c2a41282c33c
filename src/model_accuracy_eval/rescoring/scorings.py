"""How kept replies are judged: by a task of ours where their dataset is one, else by what their right answers are."""

from collections.abc import Sequence

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import DataFile, Measure, Pipeline, Prompt, Step, TaskSpec
from model_accuracy_eval.rescoring.formats import Kept
from model_accuracy_eval.rescoring.settings import Settings
from model_accuracy_eval.scoring.metrics import METRICS
from model_accuracy_eval.scoring.metrics.exact import as_number
from model_accuracy_eval.tasks.template_words import after

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_THOUGHTLESS = Step(name="strip_thoughts")


def answers(gold: Sequence[str]) -> tuple[str, ...]:
    """Solutions in GSM8K's format carry their answer behind the last ####."""
    return tuple(after(text, "####") if "####" in text else text.strip() for text in gold)


def like(task: TaskSpec, name: str, filtered: str) -> TaskSpec:
    """The scoring of a task for the replies of that dataset. What a filter has read already, the pipeline of that name
    judges as it is. Files do not tell the parts of a dataset."""
    own = [msgspec.structs.replace(one, filters=()) for one in task.pipelines if one.name == filtered != "none"]
    return msgspec.structs.replace(task, name=name, pipelines=tuple(own) or task.pipelines, grouping=None)


def guessed(name: str, first: Sequence[Kept], settings: Settings | None = None) -> tuple[TaskSpec, str]:
    """A scoring for replies of an unknown dataset, and in words what it is."""
    if first and first[0].weighed:
        return _weighed(name, first), "the likeliest option"
    if first and first[0].metrics:
        return _filtered(name, first[0], settings)
    gold = [answer for kept in first for answer in answers(kept.gold)]
    if all(as_number(answer) is not None for answer in gold):
        number = Measure(name="number", label="accuracy")
        return _task(
            name, Pipeline(filters=(_THOUGHTLESS, Step(name="number_answer")), metrics=(number,))
        ), "the number"
    letter = Measure(name="exact", label="accuracy")
    if all(len(answer) == 1 and answer in _LETTERS for answer in gold):
        return _task(
            name, Pipeline(filters=(_THOUGHTLESS, Step(name="choice_letter")), metrics=(letter,))
        ), "the letter"
    text = msgspec.structs.replace(letter, args={"ignore_case": True, "ignore_blanks": True})
    return _task(name, Pipeline(filters=(_THOUGHTLESS, Step(name="stripped")), metrics=(text,))), "the whole text"


def options(task: TaskSpec, gold: Sequence[str]) -> tuple[str, ...]:
    """The letters that a reply may name, where the file does not tell the options."""
    reads_letters = any(step.name == "choice_letter" for pipeline in task.pipelines for step in pipeline.filters)
    last = max((answer for answer in gold if len(answer) == 1), default="D")
    return tuple(_LETTERS[: max(4, _LETTERS.find(last) + 1)]) if reads_letters else ()


def _filtered(name: str, first: Kept, settings: Settings | None) -> tuple[TaskSpec, str]:
    """The answers are read already, so all filters that are left are none."""
    told = f"{', '.join(first.metrics)} of the filtered answers"
    if settings and (pipeline := settings.of(first.filter)):
        return _task(name, pipeline), f"{told}, as {settings.where} sets them"
    known = tuple(Measure(name=metric) for metric in first.metrics if metric in METRICS)
    if not known:
        raise BadData(
            f"{name} is judged by {', '.join(first.metrics)}, which is not known here: name the task's file with "
            "--task, and allow its Python with --trust-python."
        )
    why = settings.why_not(first.filter) if settings else "no results beside it"
    return _task(name, Pipeline(name=first.filter, metrics=known)), f"{told}, without settings ({why})"


def _weighed(name: str, first: Sequence[Kept]) -> TaskSpec:
    known = tuple(Measure(name=metric) for metric in first[0].metrics if metric in METRICS)
    task = _task(name, Pipeline(metrics=known or (Measure(name="acc"), Measure(name="acc_norm"))))
    return msgspec.structs.replace(task, kind="choice")


def _task(name: str, *pipelines: Pipeline) -> TaskSpec:
    return TaskSpec(
        name=name,
        about="Kept replies.",
        data=DataFile(name=name),
        fields=(),
        prompt=Prompt(question=""),
        reference="",
        pipelines=pipelines,
    )
