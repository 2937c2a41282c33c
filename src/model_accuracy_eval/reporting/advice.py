"""How to read pass@k, cons@k and avg@n together: the mission's decision matrix and scenario guide.

The thresholds (high > 80, mid 50..80, low < 50) are a rule of thumb for people, not a verdict: gates decide.
"""

from collections.abc import Sequence
from typing import Literal

from model_accuracy_eval.records import Record, Row

Level = Literal["high", "mid", "low"]

SCENARIOS = (
    ("Reliability first (medicine, finance)", "cons@k > 80 and pass@k > 90", {"cons": 80.0, "pass": 90.0}),
    ("Fault tolerance first (code, exploration)", "pass@k > 80 and avg@n > 70", {"pass": 80.0, "avg": 70.0}),
    ("Balanced (general assistant)", "avg@n > 75", {"avg": 75.0}),
)


class Advice(Record, frozen=True, kw_only=True):
    """What a dataset's three figures say together."""

    dataset: str
    profile: str
    next_steps: str
    scenarios: tuple[tuple[str, str, bool], ...]
    """Scenario, its targets, whether the figures reach them."""


def advise(rows: Sequence[Row]) -> list[Advice]:
    """One piece of advice for every dataset that has all three figures (the largest k counts)."""
    by_dataset: dict[str, dict[str, float]] = {}
    for row in rows:
        kind, _, size = row.metric.partition("@")
        if size and row.value is not None:
            by_dataset.setdefault(row.dataset, {})[kind] = row.value
    return [_advice(dataset, figures) for dataset, figures in by_dataset.items() if len(figures) == 3]


def _advice(dataset: str, figures: dict[str, float]) -> Advice:
    profile, next_steps = _profile(level(figures["pass"]), level(figures["avg"]), level(figures["cons"]))
    reached = tuple(
        (name, targets, all(figures[kind] > least for kind, least in limits.items()))
        for name, targets, limits in SCENARIOS
    )
    return Advice(dataset=dataset, profile=profile, next_steps=next_steps, scenarios=reached)


def level(figure: float) -> Level:
    return "high" if figure > 80 else "mid" if figure >= 50 else "low"


_MATRIX: tuple[tuple[str, str, str], ...] = (
    (
        "Failing: no try helps.",
        "low low low",
        "Check adapter and prompt first; then retrain or change the architecture.",
    ),
    ("Strong and stable.", "high high high", "Nothing to do; watch it in later runs."),
    ("Even but mediocre.", "mid mid mid", "Broad improvements: data and prompts."),
    ("Systematic bias: the answers agree, but are wrong.", "low low *", "Audit data, prompts and the model's bias."),
    ("Able but unstable: now and then it can.", "high * low", "Improve consistency: temperature, voting."),
    (
        "Able, not yet steady.",
        "high * *",
        "Look at the problems with some wrong samples; lower the temperature or vote.",
    ),
    ("Mixed.", "* * *", "Look at the problems one by one before changing anything."),
)
"""Profile, levels of pass@k, avg@n and cons@k, next steps; the first row that fits counts."""


def _profile(*levels: Level) -> tuple[str, str]:
    for profile, pattern, next_steps in _MATRIX:
        if all(wanted in {"*", found} for wanted, found in zip(pattern.split(), levels, strict=True)):
            return profile, next_steps
    raise AssertionError("the last row of the matrix fits everything")
