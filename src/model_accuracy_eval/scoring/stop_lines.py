"""Which figure of the whole run would pass a gate, and which would fail it: what a run that stops early has to prove.

Half of the error that a gate may make is spent on the proof, the other half on the noise of the whole run: so a gate
that is decided early is wrong no more often than one that is decided at the end.
"""

from collections.abc import Callable
from math import sqrt
from typing import NamedTuple

from model_accuracy_eval.records import Decision, Gate
from model_accuracy_eval.scoring.distributions import normal_quantile, share_limits, t_quantile
from model_accuracy_eval.scoring.gates import GateRule, holds


class BaselineFigure(NamedTuple):
    """A baseline's figure, 0..1, lost samples at their worst and at their best, and how far reruns move it."""

    low: float
    high: float
    variance: float | None
    """Of the figure, if the same problems were asked again; None: its samples do not say."""
    freedom: float
    is_drawn_alike: bool
    """Whether its samples were drawn as this run's are, so that they say how this run's vary."""


class StopLines(NamedTuple):
    """The gate is decided as `above` says once the figure is at least `upper`, and as `below` says at most `lower`."""

    lower: float
    upper: float
    below: Decision
    above: Decision
    error_below: float
    error_above: float

    @property
    def errors(self) -> tuple[float, float]:
        return self.error_below, self.error_above


def stop_lines(gate: Gate, draws: int, rule: GateRule, *, drawn: bool, base: BaselineFigure | None) -> StopLines | None:
    """Lines in 0..1; None for a gate that needs the whole run. `draws`: right-or-wrong draws that the figure is the
    mean of. `drawn`: asked again, the service would give other values."""
    if gate.comparison == "==" or rule.over == "problems" or (gate.from_baseline and base is None):
        return None
    rises = gate.comparison in {">=", ">"}
    passing, failing = 1 - rule.confidence, 1 - rule.sure_of_failure
    error_above, error_below = (passing, failing) if rises else (failing, passing)
    noisy = drawn and rule.over == "reruns"
    if noisy:
        error_above, error_below = error_above / 2, error_below / 2
    if gate.from_baseline and base is not None:
        lower, upper = _lines_of_change(gate, draws, base, (error_below, error_above), noisy=noisy)
    else:
        lower, upper = _lines_of_figure(gate, draws, base, (error_below, error_above), noisy=noisy)
    above: Decision = "passed" if rises else "failed"
    below: Decision = "failed" if rises else "passed"
    return StopLines(lower, upper, below, above, error_below, error_above)


def whole_lines(gate: Gate, draws: int, rule: GateRule) -> tuple[float, float]:
    """Up to which figure of a whole run, and from which, its gate is decided, if nothing but its draws is known."""
    passing, failing = 1 - rule.confidence, 1 - rule.sure_of_failure
    errors = (failing, passing) if gate.comparison in {">=", ">"} else (passing, failing)
    return _lines_of_figure(gate, draws, None, errors, noisy=True)


def _lines_of_figure(
    gate: Gate, draws: int, base: BaselineFigure | None, errors: tuple[float, float], *, noisy: bool
) -> tuple[float, float]:
    """The least and the greatest whole number of right draws whose limits clear the threshold."""
    sure = [1 - error for error in errors]
    rises = gate.comparison in {">=", ">"}

    def low_end_holds(right: int) -> bool:
        low = share_limits(right, draws, sure[1])[0] if noisy else right / draws
        return holds(gate, 100 * low)

    def high_end_holds(right: int) -> bool:
        high = share_limits(right, draws, sure[0])[1] if noisy else right / draws
        return holds(gate, 100 * high)

    upper = _first(draws, (low_end_holds if rises else lambda right: not low_end_holds(right))) / draws
    lower = (_first(draws, (high_end_holds if rises else lambda right: not high_end_holds(right))) - 1) / draws
    if noisy and base is not None and base.is_drawn_alike and base.variance:
        threshold = gate.threshold / 100
        halves = [t_quantile(each, base.freedom) * sqrt(base.variance) + 0.5 / draws for each in sure]
        lower, upper = max(lower, threshold - halves[0]), min(upper, threshold + halves[1])
    return lower, upper


def _first(draws: int, is_so: Callable[[int], bool]) -> int:
    """The first number of 0..draws for which it is so, `draws + 1` if there is none; it is so for all after it."""
    low, high = 0, draws + 1
    while low < high:
        middle = (low + high) // 2
        if is_so(middle):
            high = middle
        else:
            low = middle + 1
    return low


def _lines_of_change(
    gate: Gate, draws: int, base: BaselineFigure, errors: tuple[float, float], *, noisy: bool
) -> tuple[float, float]:
    """Both runs have noise. The baseline's lost samples help neither side."""
    upper, lower = base.high + gate.threshold / 100, base.low + gate.threshold / 100
    if not noisy:
        # `>= baseline` holds for the baseline's figure itself, and `> baseline` does not.
        step = 0.5 / draws
        return (lower - step, upper) if gate.comparison in {">=", "<"} else (lower, upper + step)
    centre = (base.low + base.high) / 2
    coins = (centre * draws + 1) / (draws + 2)
    alone = base.variance if base.is_drawn_alike and base.variance else coins * (1 - coins) / draws
    halves = [normal_quantile(1 - error) * sqrt(2 * alone) + 0.5 / draws for error in errors]
    return lower - halves[0], upper + halves[1]
