"""How a run ended: what went wrong, or what its gates decided."""

import re
import shlex
from collections.abc import Callable, Iterator, Sequence
from typing import TypeVar

from model_accuracy_eval.errors import Defect, EvalError, NoHonestScore, Stopped
from model_accuracy_eval.ports import Clock
from model_accuracy_eval.records import (
    Comparison,
    DatasetResult,
    Decision,
    Gate,
    GateResult,
    Outcome,
    RunPlan,
    Service,
    SummaryRow,
)
from model_accuracy_eval.report import comparison, figures
from model_accuracy_eval.report.languages import say
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.scoring.verdicts.gates import by_dataset

_DECISIONS: tuple[tuple[Decision, int], ...] = (("failed", 1), ("undecided", 7), ("passed", 0))
"""What gates decide, the worst first, and the exit code of each."""


def conclude(
    plan: RunPlan,
    trouble: EvalError | None,
    results: tuple[GateResult, ...],
    folder: str,
    judged: Sequence[DatasetResult] = (),
    *,
    compared: Comparison | None = None,
    service: Service | None = None,
) -> Outcome:
    """Returns the trouble if there was some, else the worst decision of the gates. Its sentence is what everybody says
    of the run: what to look at before figures are believed, the verdict with its figures, what has changed, what is
    missing, and who has answered.

    Without a gate nothing else could say that samples of what was `judged` were never asked.
    """
    if trouble is not None:
        return Outcome(
            conclusion="stopped" if isinstance(trouble, Stopped) else "broken",
            exit_code=trouble.exit_code,
            stage=trouble.stage,
            sentence=trouble.sentence,
            detail=trouble.detail,
            folder=folder,
            about=trouble.about,
            next_step=trouble.next_step,
        )
    first, besides = [*_look_first(judged)], [*_besides(plan, judged, compared, service)]
    decisions = [(result.decision, result.sentence) for result in results]
    if missing_samples(judged) and not results:
        decisions = [("undecided", _missing(plan, judged, folder))]
    # What becomes of an undecided gate is the user's to say.
    as_if: dict[str, Decision] = {"block": "undecided", "fail": "failed", "pass": "passed"}
    undecided = as_if[plan.settings.on_undecided]
    decisions = [(undecided if decided == "undecided" else decided, sentence) for decided, sentence in decisions]
    for decision, exit_code in _DECISIONS:
        sentences = [sentence for decided, sentence in decisions if decided == decision]
        if sentences:
            sentence = " ".join([*first, *sentences, *besides])
            return Outcome(conclusion=decision, exit_code=exit_code, stage="gates", sentence=sentence, folder=folder)
    sentence = " ".join([*first, *_without_gate(plan, judged, besides)])
    if plan.settings.mode == "infer":
        sentence = say("Every sample was asked; judge them with --mode eval --reuse.")
    if plan.shard:
        sentence = say(
            "The shard {shard} is complete; `merge` makes one report of all {count}.",
            shard=plan.shard,
            count=plan.shard.count,
        )
    return Outcome(conclusion="complete", exit_code=0, stage="done", sentence=sentence, folder=folder)


_LOOKED_AT = 3
"""Datasets of which the sentence says what to look at."""


def _look_first(judged: Sequence[DatasetResult]) -> Iterator[str]:
    """What to look at before the figures are believed."""
    doubtful = [result for result in judged if result.look_first]
    yield from (f"{result.dataset}: {result.look_first}" for result in doubtful[:_LOOKED_AT])
    if others := [result.dataset for result in doubtful[_LOOKED_AT:]]:
        yield say("It is like that with {count} more: {datasets}.", count=len(others), datasets=", ".join(others))


def _besides(
    plan: RunPlan, judged: Sequence[DatasetResult], compared: Comparison | None, service: Service | None
) -> Iterator[str]:
    """What no gate says."""
    if compared is not None:
        yield comparison.verdict(compared)
    lost = {result.dataset: result.counts.failed + result.counts.missing for result in judged}
    if any(lost.values()):
        yield say("{count} samples have no answer ({by}).", count=f"{sum(lost.values()):,}", by=by_dataset(lost))
    if service is not None and service.answered_by:
        yield say("Asked for the model '{asked}', '{other}' answered.", asked=service.model, other=service.answered_by)


_TOLD = 3
"""Datasets of which the sentence has the figure."""


def _without_gate(plan: RunPlan, judged: Sequence[DatasetResult], besides: Sequence[str]) -> Iterator[str]:
    """The figures of a run without a gate, and the gate that would judge them: on the group, if all are of one."""
    group = groups.of_all(plan.groups, [result.dataset for result in judged])
    rows = [row for row in groups.all_rows(plan.groups, judged) if row.dataset == group]
    by_name = {group: rows} if rows else {result.dataset: result.rows for result in judged if result.rows}
    firsts = [row for name in by_name if (row := _first(by_name[name])) is not None]
    for row in firsts[:_TOLD]:
        yield _figure(row)
    if len(firsts) > _TOLD:
        yield say("{count} more datasets are in the report.", count=len(firsts) - _TOLD)
    yield from besides
    if not by_name:
        yield say("No gate says whether that is good enough.")
        return
    name, metric = (firsts[0].dataset, firsts[0].metric) if firsts else (next(iter(by_name)), "accuracy")
    gate = Gate(dataset=name, metric=metric, comparison=">=", threshold=0)
    typed = shlex.quote(f"{str(gate).removesuffix('0')}NUMBER")
    yield say("Whether that is good enough, a gate would say: {gate}.", gate=f"--gate {typed}")


def _first(rows: Sequence[SummaryRow]) -> SummaryRow | None:
    """The first figure, or its mean over the samples, which alone has no name beside it: "avg@5(…)" is another's."""
    known = [row for row in rows if row.value is not None]
    return next((row for row in known if re.fullmatch(r"avg@\d+", row.metric)), known[0] if known else None)


def _figure(row: SummaryRow) -> str:
    """With the interval that a gate would go by."""
    value = figures.with_unit(row)
    figure = say("{dataset}: {metric} is {value}", dataset=row.dataset, metric=row.metric, value=value)
    if row.of and row.interval is not None:
        span = figures.span(row.interval)
        return say(
            "{figure}, and {span} on all {count} problems (95 %).", figure=figure, span=span, count=f"{row.of:,}"
        )
    again = figures.if_asked_again(row)
    templates = {
        "-": "{figure}.",
        "the same": "{figure}, and the same if asked again.",
        "unknown": "{figure}; what asking again gives is unknown.",
    }
    return say(templates.get(again, "{figure}, and {span} if asked again (95 %)."), figure=figure, span=again)


def _missing(plan: RunPlan, judged: Sequence[DatasetResult], folder: str) -> str:
    """Why a merged run that lacks samples says nothing about the whole."""
    which = by_dataset({result.dataset: result.counts.missing for result in judged})
    return (
        f"The run was merged without {', '.join(plan.absent_shards)}, so {missing_samples(judged)} samples were never "
        f"asked ({which}): merge again with what is missing, or ask for it with --reuse {folder}."
    )


def stopped(clock: Clock) -> Stopped | None:
    """Returns the request to stop, if there was one."""
    try:
        clock.check()
    except Stopped as stop:
        return stop
    return None


def is_worse(gates: Sequence[GateResult], judged: Sequence[DatasetResult], compared: Comparison | None) -> bool:
    """Whether a gate failed, or the first figure of a dataset is surely worse than the baseline's."""
    if any(gate.decision == "failed" for gate in gates):
        return True
    for row in (result.rows[0] for result in judged if result.rows):
        change = compared.find(row.dataset, row.metric) if compared else None
        interval = change.interval if change else None
        if interval and (interval.high < 0 if row.higher_is_better else interval.low > 0):
            return True
    return False


def missing_samples(dataset_results: Sequence[DatasetResult]) -> int:
    """How many samples were never asked."""
    return sum(dataset_result.counts.missing for dataset_result in dataset_results)


def too_many_lost(plan: RunPlan, dataset_results: tuple[DatasetResult, ...]) -> NoHonestScore | None:
    """Returns why the figures are no verdict: more samples lack an answer or a judgement than the plan allows."""
    planned = sum(result.counts.planned for result in dataset_results)
    unanswered = {
        result.dataset: result.counts.failed + (0 if plan.absent_shards else result.counts.missing)
        for result in dataset_results
    }
    open_by = {result.dataset: result.counts.unjudged for result in dataset_results}
    lost, unjudged = sum(unanswered.values()), sum(open_by.values())
    limit = plan.settings.max_failed_requests
    if lost + unjudged <= limit:
        return None
    if unjudged:
        return NoHonestScore(
            f"{unjudged} of {planned} samples have an answer that could not be judged ({by_dataset(open_by)}), "
            f"{lost} have no answer, and at most {limit} may lack a verdict (--max-failed-requests), so the figures "
            "are no verdict about accuracy; go on with --mode eval --reuse once the judge is well.",
            stage="score",
        )
    return NoHonestScore(
        f"{lost} of {planned} samples have no answer ({by_dataset(unanswered)}) and at most {limit} may lack one "
        "(--max-failed-requests), so the figures are no verdict about accuracy; "
        "go on with --reuse once the service is well."
    )


# Defects of this program after answers were collected: no line of ours is worth the hours that answers took.


T = TypeVar("T")


def attempt(what: str, work: Callable[[], T]) -> T | EvalError:
    """The result of the work, or the error that it ended with; any exception that is not foreseen is a `Defect`."""
    try:
        return work()
    except EvalError as error:
        return error
    except Exception as error:  # noqa: BLE001 - whatever it is, the rest of the report is made
        return defect(what, error)


def defect(what: str, error: Exception) -> Defect:
    """`what` is the work that failed, as the object of a sentence."""
    return Defect.from_exception(
        error,
        f"A defect of model-accuracy-eval ended {what} ({type(error).__name__}: {error}). All answers are kept: please "
        "report the traceback, and go on with --reuse RUN when it is mended.",
        stage="score",
    )
