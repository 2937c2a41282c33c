"""Gates: conditions on figures, such as `demo_arithmetic: avg@5 >= 60`.

A gate may depend on the figure of another run: `demo_arithmetic: avg@5 >= baseline - 1`, in points.
"""

import operator
import re
from collections.abc import Callable, Iterable, Sequence

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import Comparison, Decision, Difference, Gate, GateResult, SummaryRow

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
    figure = "no figure"
    if difference is not None:
        figure = _shown_change(gate, difference)
    elif value is not None:
        figure = _shown(gate, value)
    return GateResult(
        gate=gate,
        value=value,
        interval=row.interval if row else None,
        decision=decision,
        sentence=f"{gate} {decision}: {gate.metric} is {figure}.",
    )


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
    """Compares the figure with the threshold; without a figure the gate is undecided."""
    if row is None or row.value is None:
        return "undecided"
    return "passed" if _holds(gate, row.value) else "failed"


def decide_change(gate: Gate, difference: Difference | None) -> Decision:
    """Compares the change with the threshold; a change that misses it is undecided if its interval reaches it.

    Changes are small compared with chance, so a miss within the interval proves no loss, but it is no pass either.
    """
    if difference is None or difference.points is None:
        return "undecided"
    if _holds(gate, difference.points):
        return "passed"
    interval = difference.interval
    if interval is None:
        return "failed"
    low, high = interval.low, interval.high
    reached = _holds(gate, low) or _holds(gate, high) or low <= gate.threshold <= high
    return "undecided" if reached else "failed"


def _holds(gate: Gate, figure: float) -> bool:
    # Figures are means of ratios: 60 may come out as 59.99999999999999.
    return _HOLDS[gate.comparison](round(figure, 9), gate.threshold)
