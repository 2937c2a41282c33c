"""Gates: lines that figures have to reach, such as `demo_arithmetic: avg@5 >= 60`.

Or a line that hangs on another run's figure: `demo_arithmetic: avg@5 >= baseline - 1`, in points.
"""

import operator
import re
from collections.abc import Callable, Iterable, Sequence

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import Comparison, Decision, Difference, Gate, GateResult, Row

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
    """One gate a line; blank lines and `#` comments are skipped."""
    lines = [line.split("#")[0].strip() for line in text.splitlines()]
    return tuple(_parse_line(line) for line in lines if line)


def _parse_line(line: str) -> Gate:
    form = _FORM.match(line)
    try:
        number = float(form["threshold"] or form["points"] or 0) if form else -1.0
    except ValueError:
        number = -1.0
    if form is None or not 0 <= number <= 100:
        raise BadValue(
            f"'{line}' is no gate: write 'DATASET: METRIC >= NUMBER' with a number in 0..100, "
            "such as 'demo_arithmetic: avg@5 >= 60', or 'baseline - NUMBER' in its place."
        )
    return Gate(
        dataset=form["dataset"].strip(),
        metric=form["metric"],
        comparison=form["comparison"],  # type: ignore[arg-type]  # the pattern allows no other
        threshold=-number if form["sign"] == "-" else number,
        from_baseline=form["baseline"] is not None,
    )


def check(gates: Iterable[Gate], metrics: dict[str, list[str]]) -> None:
    """Each gate names a dataset of the run and one of its metrics; asked before anything starts."""
    for gate in gates:
        if gate.dataset not in metrics:
            raise UnknownName("dataset", gate.dataset, metrics, where=f" in the gate '{gate}'")
        if gate.metric not in metrics[gate.dataset]:
            raise UnknownName("metric", gate.metric, metrics[gate.dataset], where=f" in the gate '{gate}'")


def results(gates: Iterable[Gate], rows: Sequence[Row], comparison: Comparison | None = None) -> tuple[GateResult, ...]:
    """Every gate beside the figure it met; `comparison` is with the baseline."""
    table = {(row.dataset, row.metric): row for row in rows}
    return tuple(_result(gate, table.get((gate.dataset, gate.metric)), comparison) for gate in gates)


def _result(gate: Gate, row: Row | None, comparison: Comparison | None) -> GateResult:
    value = row.value if row else None
    difference = comparison.find(gate.dataset, gate.metric) if comparison and gate.from_baseline else None
    decision = decide_change(gate, difference) if gate.from_baseline else decide(gate, row)
    met = "no figure"
    if difference is not None:
        met = _shown_change(gate, difference)
    elif value is not None:
        met = _shown(gate, value)
    return GateResult(
        gate=gate,
        value=value,
        interval=row.interval if row else None,
        decision=decision,
        sentence=f"{gate} {decision}: {gate.metric} is {met}.",
    )


def _shown(gate: Gate, value: float) -> str:
    """Two digits, as in the table, or as many as it takes to see on which side of the threshold the figure lies."""
    holds = _HOLDS[gate.comparison]
    texts = [f"{value:.{digits}f}" for digits in range(2, 10)]
    return next(
        (text for text in texts if holds(float(text), gate.threshold) == holds(value, gate.threshold)), texts[-1]
    )


def _shown_change(gate: Gate, difference: Difference) -> str:
    if difference.points is None or difference.old is None or difference.new is None:
        return "not comparable with the baseline's"
    points = _shown(gate, difference.points)
    span = difference.interval
    between = f", 95 % interval {span.low:+.2f} .. {span.high:+.2f}" if span else ""
    return (
        f"{difference.new:.2f} and was {difference.old:.2f}: {'+' * (difference.points >= 0)}{points} points{between}"
    )


def decide(gate: Gate, row: Row | None) -> Decision:
    """The point estimate against the threshold; without a figure nothing is decided."""
    if row is None or row.value is None:
        return "undecided"
    return "passed" if _holds(gate, row.value) else "failed"


def decide_change(gate: Gate, difference: Difference | None) -> Decision:
    """The change against the line; one that misses it is undecided as long as its interval still reaches it.

    A change is small beside what chance does to it, so a miss within the interval is no proof of a loss, and no pass.
    """
    if difference is None or difference.points is None:
        return "undecided"
    if _holds(gate, difference.points):
        return "passed"
    span = difference.interval
    if span is None:
        return "failed"
    reached = _holds(gate, span.low) or _holds(gate, span.high) or span.low <= gate.threshold <= span.high
    return "undecided" if reached else "failed"


def _holds(gate: Gate, figure: float) -> bool:
    # Figures are means of ratios: 60 may come out as 59.99999999999999.
    return _HOLDS[gate.comparison](round(figure, 9), gate.threshold)
