"""Whether figures meet their gates: passed or failed where the run knows enough, undecided where it does not.

A figure is an estimate: asked again, the same service gives another one. A gate passes if the figure would meet its
condition all the same, with the confidence of the settings, and fails if it would not; between them lies what this
run cannot know. So a gate that passed is right in 95 of 100 cases at the line itself, and in more the further away.
"""

import operator
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import count
from math import ceil, inf, isfinite
from types import MappingProxyType
from typing import Literal, NamedTuple

import msgspec
from msgspec.structs import replace

from model_accuracy_eval.records import (
    AskedPart,
    Certainty,
    ChangeCertainty,
    Comparison,
    DatasetResult,
    Decision,
    Difference,
    FigureBounds,
    Gate,
    GateResult,
    Interval,
    RunPlan,
    RunSpeed,
    SummaryRow,
)
from model_accuracy_eval.records.plan import SPEED
from model_accuracy_eval.scoring.figures import groups, intervals, run_speed
from model_accuracy_eval.scoring.figures.intervals import Over
from model_accuracy_eval.scoring.figures.quantiles import normal_quantile
from model_accuracy_eval.scoring.verdicts.comparison_statistics import change_limits
from model_accuracy_eval.scoring.verdicts.gate_lines import ANOMALIES

_NAMED = 5
"""Datasets that are named; the others are counted."""


def by_dataset(samples: Mapping[str, int]) -> str:
    """How many samples of which datasets, the most first."""
    found = sorted(((name, number) for name, number in samples.items() if number), key=lambda each: -each[1])
    more = [f"and {len(found) - _NAMED} more datasets"] if len(found) > _NAMED else []
    return ", ".join([*(f"{name}: {number:,}" for name, number in found[:_NAMED]), *more])


class WithoutVerdict(NamedTuple):
    """The samples without a verdict that a gate's figure is made of, by dataset."""

    samples: Mapping[str, int] = MappingProxyType({})
    file: str = "predictions/…_failed.jsonl"
    """Where the run's folder says why they have none."""

    def shown(self, bounds: FigureBounds) -> str:
        """What the figure may be, and because of whom."""
        low, high = (None if end is None else f"{end:.2f}" for end in (bounds.low, bounds.high))
        limits = (
            f"from {low} to {high}" if low and high else f"from {low} up" if low else f"up to {high}" if high else ""
        )
        whose = f" ({by_dataset(self.samples)})" if self.samples else ""
        if [*self.samples.values()] == [bounds.samples]:
            whose = f" of {next(iter(self.samples))}"
        has = f"1 sample{whose} has" if bounds.samples == 1 else f"{bounds.samples:,} samples{whose} have"
        return f", or anything{f' {limits}' if limits else ''}, because {has} no verdict"

    @property
    def next_step(self) -> str:
        return f" Find out why they have none in {self.file}, and ask for them again with --reuse RUN."


NOT_NAMED = WithoutVerdict()


def without_verdict(plan: RunPlan, gate: Gate, rows: Sequence[SummaryRow]) -> WithoutVerdict:
    """Of a gate on a group, those of its members."""
    by_name = {group.name: group for group in plan.groups}
    group = by_name.get(gate.dataset)
    names = groups.datasets(group, by_name) if group else (gate.dataset,)
    lost = {
        row.dataset: row.bounds.samples for row in reversed(rows) if row.bounds is not None and row.dataset in names
    }
    if not lost:
        return NOT_NAMED
    most = max(lost, key=lost.__getitem__)
    return WithoutVerdict(lost, f"predictions/{plan.settings.label}/{most}_failed.jsonl")


# What a run of a size can show, and which size would show more.


_FEW = 0.005
"""Points: a figure so near to its line is as good as on it."""


def advice(row: SummaryRow, certainty: Certainty, limits: Interval, threshold: float, over: Over) -> str:
    """Which difference the run can show, and how many samples or problems would decide about the one that it has."""
    shows, times = _shows("A run of this size shows", row.value or 0.0, limits, threshold)
    if row.of and over == "reruns":
        # What a sample misses of all problems shrinks to nothing when all are asked.
        left = None if times is None else (1 / certainty.problems - 1 / row.of) / times
        return shows if left is None else f"{shows} takes about {ceil(1 / (left + 1 / row.of)):,} problems."
    if certainty.repeated:
        shows = (
            f"All {certainty.repeated} samples of every problem are the same, so they count as one, and more of them "
            f"would show nothing. {shows}"
        )
    if times is None:
        return shows
    if over == "problems" and certainty.sharing:
        sharing = certainty.sharing
        return (
            f"{shows} takes about {ceil(sharing.clusters * times):,} {sharing.what} with as many problems each; more "
            f"problems about these {sharing} help little."
        )
    if over == "reruns" and certainty.draws > certainty.problems:
        samples = ceil(certainty.samples * times)
        size = f"{certainty.problems:,} problems × {samples:,} samples"
    else:
        problems = ceil(certainty.problems * times)
        size = f"{problems:,} problems × {certainty.samples:,} {'sample' if certainty.samples == 1 else 'samples'}"
    return f"{shows} takes about {size}."


def _shows(what: str, value: float, limits: Interval, threshold: float) -> tuple[str, float | None]:
    """The words, and how many times as many draws would decide; None: on the line itself, none do."""
    distance = abs(value - threshold)
    margin = limits.high - value if value < threshold else value - limits.low
    shows = f"{what} differences of {margin:.2f} points and more"
    if distance < _FEW:
        return f"{shows}; a figure on the line itself no size decides.", None
    # A margin shrinks with the square root of the number of draws.
    return f"{shows}; one of {distance:.2f}", (margin / distance) ** 2


def advice_on_change(certainty: ChangeCertainty, points: float, limits: Interval, threshold: float) -> str:
    """The same of a change against a baseline. Only problems help in every case: how far problems vary, samples do not
    make less."""
    shows, times = _shows("Two runs of this size show", points, limits, threshold)
    if times is None:
        return shows
    number, what = certainty.problems - 2, "problems"
    if certainty.sharing:
        number, what = certainty.sharing.clusters, certainty.sharing.what
    return f"{shows} takes about {ceil(number * times):,} {what} in both."


_HOLDS: dict[str, Callable[[float, float], bool]] = {
    ">=": operator.ge,
    ">": operator.gt,
    "<=": operator.le,
    "<": operator.lt,
    "==": operator.eq,
}


class GateRule(msgspec.Struct, frozen=True):
    """What gates allow for, and how sure they have to be."""

    over: Literal["reruns", "problems", "point"] = "reruns"
    confidence: float = 0.95
    gates: int = 1
    """How many are decided together: one of them must not fail more often than a single one would."""
    each_counts: bool = False
    """Whether one of them passes without the others: then none must pass more often than a single one would, either."""

    def confidences(self, gate: Gate) -> tuple[float, float]:
        """Of the lower and of the upper end: that on the passing side holds with the confidence of a pass, the other
        one with that of a failure."""
        sure = self.sure_of_pass, self.sure_of_failure
        return sure if is_floor(gate) else sure[::-1]

    @property
    def sure_of_failure(self) -> float:
        return 1 - (1 - self.confidence) / self.gates

    @property
    def sure_of_pass(self) -> float:
        return self.sure_of_failure if self.each_counts else self.confidence

    def __str__(self) -> str:
        """How sure the verdicts are, for people."""
        together = f" for all {self.gates} figures together" if self.each_counts and self.gates > 1 else ""
        return f"{100 * self.confidence:g} %{together}"


def rule(plan: RunPlan) -> GateRule:
    """The rule that the settings ask for. Several lines on one figure count as one gate: none of them is wrong unless
    that nearest to the truth is."""
    settings = plan.settings
    figures = {(gate.dataset, gate.metric, gate.from_baseline, gate.comparison.strip("=")) for gate in plan.gates}
    return GateRule(settings.gate_on, settings.confidence / 100, max(1, len(figures)), settings.on_undecided == "pass")


def rule_of_followed(plan: RunPlan) -> GateRule:
    """The rule for the whole of a dataset that could have been stopped early: half of the error was spent on that."""
    whole = rule(plan)
    return replace(whole, confidence=(1 + whole.confidence) / 2) if whole.over == "reruns" else whole


def of_counts(dataset_results: Iterable[DatasetResult]) -> list[SummaryRow]:
    """Figures that gates alone are about: counts of what there is, which is no estimate."""
    return [
        SummaryRow(
            dataset=result.dataset,
            version=result.version,
            metric=ANOMALIES,
            value=100 * min(1.0, result.counts.anomalous / result.counts.answered),
            higher_is_better=False,
            drawn=False,
        )
        for result in dataset_results
        if result.counts.answered and result.anomalies is not None
    ]


def results(
    plan: RunPlan,
    rows: Sequence[SummaryRow],
    comparison: Comparison | None = None,
    followed: Mapping[str, AskedPart | None] = MappingProxyType({}),
    *,
    speed: RunSpeed | None = None,
) -> tuple[GateResult, ...]:
    """Decides every gate of the plan; `comparison` is the one with the baseline. `followed`: the datasets that could
    be stopped early, and what was asked of those that were."""
    table = {(row.dataset, row.metric): row for row in (*run_speed.rows(speed), *rows)}
    named = {row.dataset for row in rows}
    decided: list[GateResult] = []
    for gate in plan.gates:
        row = table.get((gate.dataset, gate.metric))
        part = followed.get(gate.dataset)
        change = comparison.find(SPEED, gate.metric) if comparison and gate.from_baseline else None
        is_of_speed = gate.dataset == SPEED and SPEED not in named
        if is_of_speed and (left_open := run_speed.open_gate(gate, speed, change)):
            decided.append(left_open)
        elif part is not None and str(gate) in part.decisions:
            decided.append(_of_part(gate, row, part, rule(plan)))
        else:
            own_rule = rule_of_followed(plan) if gate.dataset in followed else rule(plan)
            decided.append(result(gate, row, comparison, own_rule, without_verdict(plan, gate, rows)))
    return tuple(decided)


def _of_part(gate: Gate, row: SummaryRow | None, part: AskedPart, rule: GateRule) -> GateResult:
    """A gate that was decided before everything was asked."""
    decision = part.decisions[str(gate)]
    value = row.value if row else None
    about = f"{gate.metric} is about {value:.2f} in them, and " if value is not None else ""
    noisy = rule.over == "reruns" and row is not None and row.drawn
    again = " and asked again" if noisy and not part.repeated else ""
    of = row.of if row and rule.over == "reruns" and not gate.from_baseline else None
    whole = f"of all {of:,} problems it" if of else f"asked whole{again} it"
    unknown = (
        ", but what asking again would give is unknown: all its samples are the same" if noisy and not again else ""
    )
    would = "would" if decision == "passed" else "would not"
    return GateResult(
        gate=gate,
        value=value,
        interval=row.interval if row else None,
        decision=decision,
        sentence=(
            f"{gate} {decision}, decided after {part.share} of the requests ({part.read:,} of {part.planned:,} "
            f"samples): {about}{whole} {would} meet the condition ({rule}){unknown}."
        ),
    )


def result(
    gate: Gate,
    row: SummaryRow | None,
    comparison: Comparison | None,
    rule: GateRule,
    lost: WithoutVerdict = NOT_NAMED,
) -> GateResult:
    """The decision on one gate, with its reasons."""
    difference = comparison.find(gate.dataset, gate.metric) if comparison and gate.from_baseline else None
    known = _Known.of_change(gate, difference, row, rule) if gate.from_baseline else _Known.of_figure(gate, row, rule)
    decision = _decide(gate, known)
    figure = "no figure" if known.value is None else f"{_shown(gate, known.value)} {gate.unit}".rstrip()
    if difference is not None:
        old, new, points = difference.old, difference.new, difference.points
        figure = "not comparable with the baseline's"
        if points is not None and old is not None and new is not None:
            figure = f"{new:.2f} and was {old:.2f}: {'+' if points >= 0 else ''}{_shown(gate, points)}"
            figure += " %" if gate.dataset == SPEED else " points"
    sentence = f"{gate} {decision}: {gate.metric} is {figure}{known.shown(gate, decision, rule, lost)}."
    return GateResult(
        gate=gate,
        value=row.value if row else None,
        interval=row.interval if row else None,
        bounds=known.bounds,
        limits=known.limits,
        decision=decision,
        sentence=sentence + known.next_step(gate, decision, rule, lost),
    )


class _Known(msgspec.Struct, frozen=True):
    """What a gate is decided on."""

    value: float | None
    bounds: FigureBounds | None = None
    limits: Interval | None = None
    """Of the passing side and of the failing side, each with its own confidence."""
    low: float = -inf
    high: float = inf
    row: SummaryRow | None = None
    change: ChangeCertainty | None = None

    @classmethod
    def of_figure(cls, gate: Gate, row: SummaryRow | None, rule: GateRule) -> "_Known":
        if row is None or row.value is None or row.estimated:
            return cls(None)
        low, high = _ends(row.value, row.bounds)
        limits = None if gate.comparison == "==" else _figure_limits(gate, row, rule)
        if limits is not None:
            # Rounding: without any noise the limits are the figure.
            low, high = min(low, limits.low), max(high, limits.high)
        return cls(row.value, row.bounds, limits, low, high, row)

    @classmethod
    def of_change(cls, gate: Gate, difference: Difference | None, row: SummaryRow | None, rule: GateRule) -> "_Known":
        if difference is None or difference.points is None:
            return cls(None)
        low, high = _ends(difference.points, difference.bounds)
        if rule.over == "point" or (row is not None and not row.drawn and difference.certainty is None):
            return cls(difference.points, difference.bounds, None, low, high)
        if difference.certainty is None and difference.stderr is None:
            return cls(difference.points, difference.bounds)
        if difference.certainty is None:
            low, high = _normal_limits(gate, rule, low, high, difference.stderr or 0.0)
            return cls(difference.points, None, Interval(low=low, high=high), low, high)
        below, above = (change_limits(difference.certainty, each) for each in rule.confidences(gate))
        limits = Interval(low=below.low, high=above.high)
        ends = min(low, limits.low), max(high, limits.high)
        return cls(difference.points, difference.bounds, limits, *ends, change=difference.certainty)

    def shown(self, gate: Gate, decision: Decision, rule: GateRule, lost: WithoutVerdict) -> str:
        """The figure's limits, as far as they bear on the decision, and why samples widen them."""
        if self.value is None:
            return ""
        words = lost.shown(self.bounds) if self.bounds is not None else ""
        if self.limits is None:
            open_ended = decision == "undecided" and (self.low, self.high) == (-inf, inf) and self.bounds is None
            return f"{words}, and how far chance moves it is not known" if open_ended else words
        again = "" if gate.from_baseline else self._again(rule)
        if decision == "undecided":
            return f"{words}, and {_shown(gate, self.limits.low)} to {_shown(gate, self.limits.high)}{again} ({rule})"
        is_low = (decision == "passed") == is_floor(gate)
        end = f"at least {_shown(gate, self.limits.low)}" if is_low else f"at most {_shown(gate, self.limits.high)}"
        return f"{words}, {end}{again} ({rule})"

    def _again(self, rule: GateRule) -> str:
        """About what the limits are."""
        known = self.row.certainty if self.row else None
        if self.row and self.row.of and rule.over == "reruns":
            return f" on all {self.row.of:,} problems"
        if rule.over == "reruns":
            return " by one sample of each problem" if known and known.repeated else " if asked again"
        return f" on problems of the kind{f' ({known.sharing})' if known and known.sharing else ''}"

    def next_step(self, gate: Gate, decision: Decision, rule: GateRule, lost: WithoutVerdict) -> str:
        """What could decide a gate that is open."""
        if decision != "undecided" or self.value is None:
            return ""
        if self.bounds is not None:
            return lost.next_step
        if self.limits is None:
            return " Only --gate-on point decides it."
        if self.change is not None and self.change.problems > 2:
            return " " + advice_on_change(self.change, self.value, self.limits, gate.threshold)
        if rule.over == "point" or self.row is None or self.row.certainty is None:
            return ""
        return " " + advice(self.row, self.row.certainty, self.limits, gate.threshold, rule.over)


def _ends(value: float, bounds: FigureBounds | None) -> tuple[float, float]:
    if bounds is None:
        return value, value
    return -inf if bounds.low is None else bounds.low, inf if bounds.high is None else bounds.high


def _figure_limits(gate: Gate, row: SummaryRow, rule: GateRule) -> Interval | None:
    if rule.over == "point" or row.value is None or (rule.over == "reruns" and not row.drawn and not row.of):
        return None
    confidences = rule.confidences(gate)
    if row.certainty is not None:
        over: Over = "dataset" if rule.over == "reruns" and row.of else rule.over
        low, high = (intervals.limits(row.certainty, over, each) for each in confidences)
        return Interval(low=low.low, high=high.high)
    if row.stderr is None or not isfinite(row.stderr):
        return None
    low_end, high_end = _normal_limits(gate, rule, *_ends(row.value, row.bounds), row.stderr)
    return Interval(low=low_end, high=high_end)


def _normal_limits(gate: Gate, rule: GateRule, low: float, high: float, stderr: float) -> tuple[float, float]:
    below, above = (normal_quantile(each) * stderr for each in rule.confidences(gate))
    return low - below, high + above


def _decide(gate: Gate, known: _Known) -> Decision:
    if known.value is None:
        return "undecided"
    if holds(gate, known.low) and holds(gate, known.high):
        return "passed"
    possible = holds(gate, known.low) or holds(gate, known.high)
    possible |= gate.comparison == "==" and known.low < gate.threshold < known.high
    return "undecided" if possible else "failed"


def is_floor(gate: Gate) -> bool:
    """Whether more is better; else less is."""
    return gate.comparison in {">=", ">"}


def holds(gate: Gate, figure: float) -> bool:
    # Figures are means of ratios: 60 may come out as 59.99999999999999.
    return _HOLDS[gate.comparison](round(figure, 9), gate.threshold)


def _shown(gate: Gate, value: float) -> str:
    """Two decimals as in the table, or as many as are needed to see on which side of the threshold the figure is."""
    texts = (f"{value:.{digits}f}" for digits in count(2))
    return next(text for text in texts if holds(gate, float(text)) == holds(gate, value))
