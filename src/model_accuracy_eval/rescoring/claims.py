"""The figures that a tool claims for the replies in its file, next to ours, and why the two differ."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Record, SummaryRow
from model_accuracy_eval.scoring.estimators import cons_at_k, pass_at_k

_CLOSE = 0.005 + 1e-9
"""Tables round to two digits."""


class ClaimedFigure(Record, frozen=True, kw_only=True):
    """One metric's figure, ours and the tool's."""

    metric: str
    ours: float | None
    claimed: float | None
    why: str = ""


class Disagreement(Record, frozen=True, kw_only=True):
    """One sample whose value in the file differs from ours."""

    problem: str
    metric: str
    claimed: float
    ours: float
    answer: str | None
    gold: str


def read_figures(data: bytes, name: str) -> dict[str, float]:
    """The numbers in a results file such as AISBench writes."""
    try:
        content = msgspec.json.decode(data, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise BadData(f"{name}: this is not a results file: {error}.") from error
    return {key: float(value) for key, value in content.items() if isinstance(value, int | float)}


def compare(
    rows: Sequence[SummaryRow], claimed: Mapping[str, float], correct: Sequence[bytes], lacking: int
) -> tuple[ClaimedFigure, ...]:
    """Every metric for which either side has a figure. `correct`: for each problem, 1 or 0 for each sample."""
    ours = {row.metric: row.value for row in rows}
    return tuple(
        ClaimedFigure(
            metric=metric,
            ours=ours.get(metric),
            claimed=claimed.get(metric),
            why=" ".join(_reasons(metric, ours, claimed, correct, lacking)),
        )
        for metric in dict.fromkeys([*ours, *claimed])
    )


def _reasons(
    metric: str,
    ours: Mapping[str, float | None],
    claimed: Mapping[str, float],
    correct: Sequence[bytes],
    lacking: int,
) -> Iterator[str]:
    own, theirs = ours.get(metric), claimed.get(metric)
    if theirs is None:
        return
    n = len(correct[0]) if correct else 0
    if own is not None and abs(own - theirs) > _CLOSE:
        mixed = across_problems(metric, correct)
        if mixed is not None and abs(mixed - theirs) <= _CLOSE:
            yield (
                f"{theirs:.2f} is what comes out when the {n} samples that are counted together belong to {n} "
                f"different problems, as AISBench 3.1 pairs them; by problem it is {own:.2f}."
            )
        elif lacking:
            yield f"{lacking} samples are not in the file; we count them as not correct."
        else:
            yield "Some samples are judged differently."
    # AISBench 3.1 judges all runs, and reports only the last one where its evaluator gives no values of samples.
    average = ours.get(f"{metric} ({n} runs average)")
    if n > 1 and average is not None:
        last = 100 * sum(samples[-1] for samples in correct) / len(correct)
        if abs(last - theirs) <= _CLOSE:
            yield (
                f"the claimed {metric} is that of the last sample of every problem alone; over all {n} samples it is "
                f"{average:.2f}."
            )


def across_problems(metric: str, correct: Sequence[bytes]) -> float | None:
    """pass@k or cons@k with the samples paired as AISBench 3.1 pairs them: run by run, then cut in groups of n."""
    kind, _, size = metric.partition("@")
    estimators = {"pass": pass_at_k, "cons": cons_at_k}
    n = len(correct[0]) if correct else 0
    if kind not in estimators or not size.isdigit() or n < 2 or any(len(samples) != n for samples in correct):
        return None
    k = int(size)
    if not 1 <= k <= n:
        return None
    runs = [samples[run] for run in range(n) for samples in correct]
    groups = [runs[start : start + n] for start in range(0, len(runs), n)]
    return 100 * sum(estimators[kind](n, sum(group), k) for group in groups) / len(groups)
