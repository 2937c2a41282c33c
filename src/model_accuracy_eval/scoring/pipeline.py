"""Reply → verdict → tally → rows: extract, score, reduce over samples, aggregate over problems."""

from collections.abc import Sequence

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import Attempt, Pipeline, Problem, Row, Tally, TaskSpec, Verdict
from model_accuracy_eval.scoring.estimators import avg_at_n, cons_at_k, pass_at_k
from model_accuracy_eval.scoring.extract import EXTRACTORS
from model_accuracy_eval.scoring.metrics import METRICS, YES_OR_NO
from model_accuracy_eval.scoring.stats import interval, mean

MISSING = Verdict(value=None, why="missing")


def check(pipeline: Pipeline) -> None:
    """Every name is in its table, or the run is refused before it starts."""
    for step in pipeline.extract:
        if step.name not in EXTRACTORS:
            raise UnknownName("extraction step", step.name, EXTRACTORS)
    if pipeline.metric.name not in METRICS:
        raise UnknownName("metric", pipeline.metric.name, METRICS)


def judge(attempt: Attempt, problem: Problem, pipeline: Pipeline, *, score_reasoning: bool = False) -> Verdict:
    """One attempt, judged. What could not be judged has value None and says why."""
    if attempt.fault is not None:
        return Verdict(value=None, why="rejected" if attempt.fault.kind == "rejected" else "failed")
    cut = attempt.finish_reason == "length"
    text = attempt.text or (attempt.reasoning if score_reasoning else "")
    if not text.strip():
        return Verdict(value=None, why="empty", cut=cut)
    answer = read_answer(text, problem, pipeline)
    if answer is None:
        return Verdict(value=None, why="not found", cut=cut)
    metric = METRICS[pipeline.metric.name]
    value = metric(answer, problem.references, **pipeline.metric.args)
    return Verdict(value=value, answer=answer, why="right" if value >= 1.0 else "wrong", cut=cut)


def read_answer(text: str, problem: Problem, pipeline: Pipeline) -> str | None:
    """The text after every extraction step, or None as soon as one of them finds nothing."""
    left: str | None = text
    for step in pipeline.extract:
        if left is None:
            return None
        left = EXTRACTORS[step.name](left, problem, **step.args)
    return left


def tally(problem: Problem, verdicts: Sequence[Verdict], pipeline: Pipeline) -> Tally:
    """One problem after its n attempts. Strict: a sample without a value counts as 0, and stays in n."""
    values = tuple(verdict.value or 0.0 for verdict in verdicts)
    return Tally(
        problem=problem.id,
        n=len(verdicts),
        c=sum(value >= 1.0 for value in values) if pipeline.metric.name in YES_OR_NO else None,
        values=values,
        answers=tuple(verdict.answer for verdict in verdicts),
        why=tuple(verdict.why for verdict in verdicts),
        references=problem.references,
    )


def metric_names(n: int, k: Sequence[int]) -> list[str]:
    """The metrics of a yes-or-no task, in AISBench's order."""
    if n == 1:
        return ["accuracy"]
    sampled = [f"{kind}@{size}" for kind in ("pass", "cons") for size in k]
    return [f"accuracy ({n} runs average)", f"avg@{n}", *sampled]


def rows(task: TaskSpec, version: str, tallies: Sequence[Tally], n: int, k: Sequence[int]) -> tuple[Row, ...]:
    """The dataset's lines of the summary: means over problems, times 100, each with its interval."""
    figures = {name: _per_problem(name, tallies) for name in metric_names(n, k)}
    return tuple(
        Row(
            dataset=task.name,
            version=version,
            metric=name,
            value=None if (average := mean(values)) is None else 100 * average,
            interval=interval(values, n),
        )
        for name, values in figures.items()
        if values is not None
    )


def _per_problem(name: str, tallies: Sequence[Tally]) -> list[float] | None:
    """One value a problem; None for a metric that needs right-or-wrong where the task has none."""
    kind, _, size = name.partition("@")
    if not size:
        return [sum(tally.values) / tally.n for tally in tallies]
    counted = [(tally.n, tally.c) for tally in tallies if tally.c is not None]
    if len(counted) < len(tallies):
        return None
    if kind == "avg":
        return [avg_at_n(n, c) for n, c in counted]
    estimator = pass_at_k if kind == "pass" else cons_at_k
    return [estimator(n, c, int(size)) for n, c in counted]
