"""Gates: lines that figures have to reach, such as `demo_arithmetic: avg@5 >= 60`."""

import operator
import re
from collections.abc import Callable, Iterable, Sequence

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.records import Decision, Gate, GateResult, Row

_FORM = re.compile(
    r"^(?P<dataset>[^:]+):\s*(?P<metric>[^<>=\s][^<>=]*?)\s*(?P<comparison>>=|<=|==|>|<)\s*(?P<threshold>[\d.]+)\s*%?$"
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
        threshold = float(form["threshold"]) if form else -1.0
    except ValueError:
        threshold = -1.0
    if form is None or not 0 <= threshold <= 100:
        raise BadValue(
            f"'{line}' is no gate: write 'DATASET: METRIC >= NUMBER' with a number in 0..100, "
            "such as 'demo_arithmetic: avg@5 >= 60'."
        )
    return Gate(
        dataset=form["dataset"].strip(),
        metric=form["metric"],
        comparison=form["comparison"],  # type: ignore[arg-type]  # the pattern allows no other
        threshold=threshold,
    )


def check(gates: Iterable[Gate], metrics: dict[str, list[str]]) -> None:
    """Each gate names a dataset of the run and one of its metrics; asked before anything starts."""
    for gate in gates:
        if gate.dataset not in metrics:
            raise UnknownName("dataset", gate.dataset, metrics, where=f" in the gate '{gate}'")
        if gate.metric not in metrics[gate.dataset]:
            raise UnknownName("metric", gate.metric, metrics[gate.dataset], where=f" in the gate '{gate}'")


def results(gates: Iterable[Gate], rows: Sequence[Row]) -> tuple[GateResult, ...]:
    """Every gate beside the figure it met."""
    table = {(row.dataset, row.metric): row for row in rows}
    return tuple(_result(gate, table.get((gate.dataset, gate.metric))) for gate in gates)


def _result(gate: Gate, row: Row | None) -> GateResult:
    value = row.value if row else None
    decision = decide(gate, row)
    met = "no figure" if value is None else _shown(gate, value)
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


def decide(gate: Gate, row: Row | None) -> Decision:
    """The point estimate against the threshold; without a figure nothing is decided."""
    if row is None or row.value is None:
        return "undecided"
    # Figures are means of ratios: 60 may come out as 59.99999999999999.
    value = round(row.value, 9)
    return "passed" if _HOLDS[gate.comparison](value, gate.threshold) else "failed"
