"""How to read pass@k, cons@k and avg@n together: a decision matrix, a guide to scenarios, and what guessing would give.

The thresholds (high > 80, mid 50..80, low < 50) are rules of thumb for people, not a verdict: gates decide.

AISBench's matrix has one row more: low pass@k and avg@n with high cons@k, for a systematic bias. It cannot occur,
because cons@k counts majorities of *right* samples, and a problem with one has a right sample: cons@k <= pass@k.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

from model_accuracy_eval.records import Record, SummaryRow
from model_accuracy_eval.report import figures
from model_accuracy_eval.scoring.figures.intervals import Z95

FigureLevel = Literal["high", "mid", "low"]
TargetState = Literal["reached", "not reached", "open"]
"""Open: the 95 % interval of a figure includes its target, or there is none."""

SCENARIOS = (
    ("Reliability first (medicine, finance)", "cons@k > 80 and pass@k > 90", {"cons": 80.0, "pass": 90.0}),
    ("Fault tolerance first (code, exploration)", "pass@k > 80 and avg@n > 70", {"pass": 80.0, "avg": 70.0}),
    ("Balanced (general assistant)", "avg@n > 75", {"avg": 75.0}),
)

_NO_BETTER = (
    "No better than guessing, as far as so many problems show.",
    "Check adapter, prompt and how answers are read; with more problems a small difference would show.",
)
_WORSE = (
    "Worse than guessing.",
    "Look at the replies first: right answers are not read, or options are named in another order.",
)
_MATRIX: tuple[tuple[str, str, str], ...] = (
    (
        "Failing: hardly any sample is right.",
        "low low low",
        "Check adapter and prompt first; then retrain or change the architecture.",
    ),
    ("Strong and stable.", "high high high", "Nothing to do; watch later runs."),
    ("Consistent but mediocre.", "mid mid mid", "Broad improvements: data and prompts."),
    ("Able but unstable: it is right now and then.", "high * low", "Improve consistency: temperature, voting."),
    ("Able but not yet stable.", "high * *", "Look at the unstable problems; lower the temperature or vote."),
    ("Mixed.", "* * *", "Look at the problems one by one before changing anything."),
)
"""Profile, levels of pass@k, avg@n and cons@k, next steps; the first row that fits counts."""


class Advice(Record, frozen=True, kw_only=True):
    """What a dataset's three figures mean together."""

    dataset: str
    profile: str
    next_steps: str
    scenarios: tuple[tuple[str, str, TargetState], ...]
    """Scenario, its targets, whether the figures reach them."""


def advise(rows: Sequence[SummaryRow]) -> list[Advice]:
    """Advice for every dataset that has all three figures; those of the largest k count."""
    by_dataset: dict[str, dict[str, SummaryRow]] = {}
    # Figures of parts and of further metrics have more than a number behind their names.
    plain = [row for row in rows if row.value is not None and row.metric.partition("@")[2].isdecimal()]
    for row in sorted(plain, key=lambda row: int(row.metric.partition("@")[2])):
        by_dataset.setdefault(row.dataset, {})[row.metric.partition("@")[0]] = row
    return [_advice(dataset, figures) for dataset, figures in by_dataset.items() if len(figures) == 3]


def again_lines(rows: Sequence[SummaryRow]) -> Iterator[str]:
    """For the first figure of every dataset that is drawn: the two ways in which it is uncertain."""
    headlines: dict[str, SummaryRow] = {}
    for row in rows:
        headlines.setdefault(row.dataset, row)
    for row in headlines.values():
        limits = figures.if_asked_again(row)
        if row.drawn and row.interval is not None and limits != "-":
            yield (
                f"{row.dataset}: {row.metric} would lie in {limits} if these problems were asked again (95 %); its "
                f"interval in the table, {figures.span(row.interval)}, is that of other problems of the kind."
            )


def chance_lines(rows: Sequence[SummaryRow]) -> list[str]:
    """For every dataset with options, what its figures would be if each sample were a guess."""
    by_dataset: dict[str, list[str]] = {}
    for row in rows:
        if row.chance is not None and "[" not in row.metric:
            by_dataset.setdefault(row.dataset, []).append(f"{row.metric} {row.chance:.2f}")
    return [f"{dataset}: guessing would give {', '.join(figures)}." for dataset, figures in by_dataset.items()]


def _advice(dataset: str, figures: dict[str, SummaryRow]) -> Advice:
    levels = [_level_of_pass(figures), level(_value(figures["avg"])), level(_value(figures["cons"]))]
    profile, next_steps = _guessed(figures["avg"]) or next(
        (profile, next_steps)
        for profile, pattern, next_steps in _MATRIX
        if all(expected in {"*", reached} for expected, reached in zip(pattern.split(), levels, strict=True))
    )
    scenarios = tuple(
        (name, targets, _state([(figures[kind], least) for kind, least in limits.items()]))
        for name, targets, limits in SCENARIOS
    )
    return Advice(dataset=dataset, profile=profile, next_steps=next_steps, scenarios=scenarios)


def _guessed(average: SummaryRow) -> tuple[str, str] | None:
    """What there is to say of samples that are right no more often than guesses."""
    if average.chance is None:
        return None
    low, high = _ends(average)
    return None if low > average.chance else _WORSE if high < average.chance else _NO_BETTER


def _level_of_pass(figures: dict[str, SummaryRow]) -> FigureLevel:
    """That of what pass@k is above guessing, which k tries lift; but no lower than that of avg@n, which they do not."""
    value, chance = _value(figures["pass"]), figures["pass"].chance or 0.0
    above = 100 * (value - chance) / (100 - chance) if chance < 100 else 0.0
    return level(max(above, _value(figures["avg"])))


def _state(targets: Sequence[tuple[SummaryRow, float]]) -> TargetState:
    if any(_ends(row)[1] <= least for row, least in targets):
        return "not reached"
    return "reached" if all(_ends(row)[0] > least for row, least in targets) else "open"


def _ends(row: SummaryRow) -> tuple[float, float]:
    """The 95 % interval; that of a group from its standard error. Without either the figure could be anything."""
    if row.interval:
        return row.interval.low, row.interval.high
    if row.stderr is None:
        return 0.0, 100.0
    low, high = (row.bounds.low, row.bounds.high) if row.bounds else (row.value, row.value)
    return (low or 0.0) - Z95 * row.stderr, (100.0 if high is None else high) + Z95 * row.stderr


def _value(row: SummaryRow) -> float:
    return row.value or 0.0


def level(figure: float) -> FigureLevel:
    return "high" if figure > 80 else "mid" if figure >= 50 else "low"
