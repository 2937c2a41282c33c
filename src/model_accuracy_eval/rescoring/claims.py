"""What a tool claims about the replies that it kept, beside what we find, and why the two differ."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Record, Row
from model_accuracy_eval.scoring.estimators import cons_at_k, pass_at_k

_CLOSE = 0.005 + 1e-9
"""Tables round to two digits."""


class Beside(Record, frozen=True, kw_only=True):
    """One figure, ours and theirs."""

    metric: str
    ours: float | None
    claimed: float | None
    why: str = ""


class Disagreement(Record, frozen=True, kw_only=True):
    """One sample about which the file says something else."""

    problem: str
    metric: str
    claimed: float
    ours: float
    answer: str | None
    gold: str


def figures(data: bytes, name: str) -> dict[str, float]:
    """The numbers of a results file such as AISBench writes."""
    try:
        whole = msgspec.json.decode(data, type=dict[str, Any])
    except msgspec.DecodeError as error:
        raise BadData(f"{name}: this is no file of results: {error}.") from error
    return {key: float(value) for key, value in whole.items() if isinstance(value, int | float)}


def beside(
    rows: Sequence[Row], claimed: Mapping[str, float], marks: Sequence[bytes], lacking: int
) -> tuple[Beside, ...]:
    """Every figure that either of the two has. `marks`: 1 or 0, sample by sample of every problem."""
    ours = {row.metric: row.value for row in rows}
    metrics = [*ours, *(metric for metric in claimed if metric not in ours)]
    return tuple(
        Beside(
            metric=metric,
            ours=ours.get(metric),
            claimed=claimed.get(metric),
            why=" ".join(
                (
                    *_reasons(metric, ours.get(metric), claimed.get(metric), marks, lacking),
                    *_of_one_run(metric, ours, claimed, marks),
                )
            ),
        )
        for metric in metrics
    )


def _reasons(
    metric: str, ours: float | None, claimed: float | None, marks: Sequence[bytes], lacking: int
) -> Iterator[str]:
    if ours is None or claimed is None or abs(ours - claimed) <= _CLOSE:
        return
    mixed = across_problems(metric, marks)
    if mixed is not None and abs(mixed - claimed) <= _CLOSE:
        n = len(marks[0])
        yield (
            f"{claimed:.2f} is what comes out when the {n} samples that are counted together belong to {n} different "
            f"problems, as AISBench 3.1 pairs them; by problem it is {ours:.2f}."
        )
    elif lacking:
        yield f"{lacking} samples are not in the file; we count them as not correct."
    else:
        yield "Some samples are judged differently."


def _of_one_run(
    metric: str, ours: Mapping[str, float | None], claimed: Mapping[str, float], marks: Sequence[bytes]
) -> Iterator[str]:
    """AISBench 3.1 judges all runs, and reports the last one alone where its evaluator says nothing of samples."""
    n = len(marks[0]) if marks else 0
    average = ours.get(f"{metric} ({n} runs average)")
    if n < 2 or average is None or metric not in claimed:
        return
    last = 100 * sum(samples[-1] for samples in marks) / len(marks)
    if abs(last - claimed[metric]) <= _CLOSE:
        yield (
            f"the claimed {metric} is that of the last sample of every problem alone; over all {n} samples it is "
            f"{average:.2f}."
        )


def across_problems(metric: str, marks: Sequence[bytes]) -> float | None:
    """pass@k or cons@k with the samples paired as AISBench 3.1 pairs them: run by run, then cut in groups of n."""
    kind, _, size = metric.partition("@")
    estimators = {"pass": pass_at_k, "cons": cons_at_k}
    n = len(marks[0]) if marks else 0
    if kind not in estimators or not size.isdigit() or n < 2 or any(len(samples) != n for samples in marks):
        return None
    k = int(size)
    if not 1 <= k <= n:
        return None
    runs = [samples[run] for run in range(n) for samples in marks]
    groups = [runs[start : start + n] for start in range(0, len(runs), n)]
    return 100 * sum(estimators[kind](n, sum(group), k) for group in groups) / len(groups)
