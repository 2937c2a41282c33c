"""Gates: conditions on figures, such as `demo_arithmetic: avg@5 >= 60`.

A gate may depend on the figure of another run: `demo_arithmetic: avg@5 >= baseline - 1`, in points.
"""

import operator
import re
from collections.abc import Callable, Iterable, Sequence
from math import inf

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import Comparison, Decision, Difference, FigureBounds, Gate, GateResult, SummaryRow

_FORM = re.compile(
    r"^(?P<dataset>[^:]+):\s*(?P<metric>[^<>=\s][^<>=]*?)\s*(?P<comparison>>=|<=|==|>|<)\s*"
    r"(?:(?P<threshold>[\d.]+)|(?P<baseline>baseline)(?:\s*(?P<sign>[+-])\s*(?P<points>[\d.]+))?)\s*%?$"
)

_HOLDS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
    "==": operator.eq,
}


def parse(text: str) -> tuple[Gate, ...]:
    """One gate for each line; blank lines and `#` comments are skipped."""
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    return tuple(_parse_line(line) for line in lines if line)


def _parse_line(line: str) -> Gate:
    match = _FORM.match(line)
    try:
        number = float(match["threshold"] or match["points"] or 0) if match else -1.0
    except ValueError:
        number = -1.0
    if match is None or not 0 <= number <= 100:
        raise BadValue(
            f"'{line}' is not a gate: write 'DATASET: METRIC >= NUMBER' with a number in 0..100, "
            "such as 'demo_arithmetic: avg@5 >= 60', or 'baseline - NUMBER' in its place."
        )
    return Gate(
        dataset=match["dataset"].strip(),
        metric=match["metric"],
        comparison=match["comparison"],  # type: ignore[arg-type]  # the pattern allows no other
        threshold=-number if match["sign"] == "-" else number,
        from_baseline=match["baseline"] is not None,
    )


def check(gates: Iterable[Gate], metrics: dict[str, list[str]]) -> None:
    """Refuses gates of datasets and metrics that the run does not have."""
    for gate in gates:
        if gate.dataset not in metrics:
            raise UnknownName("dataset", gate.dataset, metrics, where=f" in the gate '{gate}'")
        if gate.metric not in metrics[gate.dataset]:
            raise UnknownName("metric", gate.metric, metrics[gate.dataset], where=f" in the gate '{gate}'")


def results(
    gates: Iterable[Gate], rows: Sequence[SummaryRow], comparison: Comparison | None = None
) -> tuple[GateResult, ...]:
    """Decides every gate; `comparison` is the one with the baseline."""
    table = {(row.dataset, row.metric): row for row in rows}
    return tuple(_result(gate, table.get((gate.dataset, gate.metric)), comparison) for gate in gates)


def _result(gate: Gate, row: SummaryRow | None, comparison: Comparison | None) -> GateResult:
    value = row.value if row else None
    difference = comparison.find(gate.dataset, gate.metric) if comparison and gate.from_baseline else None
    decision = decide_change(gate, difference) if gate.from_baseline else decide(gate, row)
    bounds = difference.bounds if difference else row.bounds if row else None
    figure = "no figure"
    if difference is not None:
        figure = _shown_change(gate, difference)
    elif value is not None:
        figure = _shown(gate, value)
    if bounds is not None:
        figure += _shown_bounds(bounds)
    return GateResult(
        gate=gate,
        value=value,
        interval=row.interval if row else None,
        bounds=bounds,
        decision=decision,
        sentence=f"{gate} {decision}: {gate.metric} is {figure}.{_next_step(bounds, decision)}",
    )


def _shown_bounds(bounds: FigureBounds) -> str:
    samples = "1 sample has" if bounds.samples == 1 else f"{bounds.samples:,} samples have"
    low, high = (None if end is None else f"{end:.2f}" for end in (bounds.low, bounds.high))
    limits = f"from {low} to {high}" if low and high else f"from {low} up" if low else f"up to {high}" if high else ""
    return f", or anything{f' {limits}' if limits else ''}, because {samples} no verdict"


def _next_step(bounds: FigureBounds | None, decision: Decision) -> str:
    """What could decide a gate that is open for want of samples."""
    if bounds is None or decision != "undecided":
        return ""
    return " Find out why they have none in predictions/…_failed.jsonl, and ask for them again with --reuse RUN."


def _shown(gate: Gate, value: float) -> str:
    """Two decimals as in the table, or as many as are needed to see on which side of the threshold the figure is."""
    holds = _HOLDS[gate.comparison]
    texts = [f"{value:.{digits}f}" for digits in range(2, 10)]
    return next(
        (text for text in texts if holds(float(text), gate.threshold) == holds(value, gate.threshold)), texts[-1]
    )


def _shown_change(gate: Gate, difference: Difference) -> str:
    if difference.points is None or difference.old is None or difference.new is None:
        return "not comparable with the baseline's"
    points = _shown(gate, difference.points)
    interval = difference.interval
    shown = f", 95 % interval {interval.low:+.2f} .. {interval.high:+.2f}" if interval else ""
    sign = "+" if difference.points >= 0 else ""
    return f"{difference.new:.2f} and was {difference.old:.2f}: {sign}{points} points{shown}"


def decide(gate: Gate, row: SummaryRow | None) -> Decision:
    """Compares the figure with the threshold; without a figure the gate is undecided.

    With lost samples it has passed only if the worst case passes, and failed only if the best one fails.
    """
    if row is None or row.value is None:
        return "undecided"
    if row.bounds is not None:
        return _decide_bounds(gate, row.bounds)
    return "passed" if _holds(gate, row.value) else "failed"


def _decide_bounds(gate: Gate, bounds: FigureBounds) -> Decision:
    low = -inf if bounds.low is None else bounds.low
    high = inf if bounds.high is None else bounds.high
    if _holds(gate, low) and _holds(gate, high):
        return "passed"
    possible = _holds(gate, low) or _holds(gate, high) or (gate.comparison == "==" and low <= gate.threshold <= high)
    return "undecided" if possible else "failed"


def decide_change(gate: Gate, difference: Difference | None) -> Decision:
    """Compares the change with the threshold; a change that misses it is undecided if its interval reaches it.

    Changes are small compared with chance, so a miss within the interval proves no loss, but it is no pass either.
    """
    if difference is None or difference.points is None:
        return "undecided"
    decision: Decision = "passed" if _holds(gate, difference.points) else "failed"
    if difference.bounds is not None:
        decision = _decide_bounds(gate, difference.bounds)
    interval = difference.interval
    if decision != "failed" or interval is None:
        return decision
    low, high = interval.low, interval.high
    reached = _holds(gate, low) or _holds(gate, high) or low <= gate.threshold <= high
    return "undecided" if reached else "failed"


def _holds(gate: Gate, figure: float) -> bool:
    # Figures are means of ratios: 60 may come out as 59.99999999999999.
    return _HOLDS[gate.comparison](round(figure, 9), gate.threshold)
