"""How a run ended: what went wrong, or what its gates decided."""

import re
import shlex
from collections.abc import Callable, Sequence
from typing import TypeVar

from model_accuracy_eval.errors import Defect, EvalError, NoHonestScore, Stopped
from model_accuracy_eval.ports import Clock
from model_accuracy_eval.records import DatasetResult, Decision, Gate, GateResult, Outcome, RunPlan
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
) -> Outcome:
    """Returns the trouble if there was some, else the worst decision of the gates.

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
    decisions = [(result.decision, result.sentence) for result in results]
    if missing_samples(judged) and not results:
        decisions = [("undecided", _missing(plan, judged, folder))]
    for decision, exit_code in _DECISIONS:
        sentences = [sentence for decided, sentence in decisions if _counts_as(decided, plan) == decision]
        if sentences:
            return Outcome(
                conclusion=decision, exit_code=exit_code, stage="gates", sentence=" ".join(sentences), folder=folder
            )
    sentence = _without_gate(plan, judged)
    if plan.settings.mode == "infer":
        sentence = "Every sample was asked; judge them with --mode eval --reuse."
    if plan.shard:
        sentence = f"The shard {plan.shard} is complete; `merge` makes one report of all {plan.shard.count}."
    return Outcome(conclusion="complete", exit_code=0, stage="done", sentence=sentence, folder=folder)


def _without_gate(plan: RunPlan, judged: Sequence[DatasetResult]) -> str:
    """What a run without a gate leaves open, and the gate that would answer it: on the group, if all are of one."""
    group = groups.of_all(plan.groups, [result.dataset for result in judged])
    rows = [row for row in groups.all_rows(plan.groups, judged) if row.dataset == group]
    rows = rows or next((list(result.rows) for result in judged if result.rows), [])
    if not rows:
        return "No gate says whether that is good enough."
    metrics = [row.metric for row in rows if row.value is not None]
    # The first figure, or its mean over the samples, which alone has no name beside it: "avg@5(…)" is another figure's.
    metric = next((name for name in metrics if re.fullmatch(r"avg@\d+", name)), metrics[0] if metrics else "accuracy")
    gate = Gate(dataset=rows[0].dataset, metric=metric, comparison=">=", threshold=0)
    typed = shlex.quote(f"{str(gate).removesuffix('0')}NUMBER")
    return f"Whether that is good enough, a gate would say: --gate {typed}."


def _missing(plan: RunPlan, judged: Sequence[DatasetResult], folder: str) -> str:
    """Why a merged run that lacks samples says nothing about the whole."""
    which = by_dataset({result.dataset: result.counts.missing for result in judged})
    return (
        f"The run was merged without {', '.join(plan.absent_shards)}, so {missing_samples(judged)} samples were never "
        f"asked ({which}): merge again with what is missing, or ask for it with --reuse {folder}."
    )


def _counts_as(decision: Decision, plan: RunPlan) -> Decision:
    """What becomes of an undecided gate is the user's to say."""
    as_if: dict[str, Decision] = {"block": "undecided", "fail": "failed", "pass": "passed"}
    return as_if[plan.settings.on_undecided] if decision == "undecided" else decision


def stopped(clock: Clock) -> Stopped | None:
    """Returns the request to stop, if there was one."""
    try:
        clock.check()
    except Stopped as stop:
        return stop
    return None


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
