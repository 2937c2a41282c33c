"""How to read pass@k, cons@k and avg@n together: a decision matrix and a guide to scenarios.

The thresholds (high > 80, mid 50..80, low < 50) are rules of thumb for people, not a verdict: gates decide.
"""

from collections.abc import Sequence
from typing import Literal

from model_accuracy_eval.records import Record, SummaryRow

FigureLevel = Literal["high", "mid", "low"]

SCENARIOS = (
    ("Reliability first (medicine, finance)", "cons@k > 80 and pass@k > 90", {"cons": 80.0, "pass": 90.0}),
    ("Fault tolerance first (code, exploration)", "pass@k > 80 and avg@n > 70", {"pass": 80.0, "avg": 70.0}),
    ("Balanced (general assistant)", "avg@n > 75", {"avg": 75.0}),
)


_MATRIX: tuple[tuple[str, str, str], ...] = (
    (
        "Failing: hardly any sample is right.",
        "low low low",
        "Check adapter and prompt first; then retrain or change the architecture.",
    ),
    ("Strong and stable.", "high high high", "Nothing to do; watch later runs."),
    ("Consistent but mediocre.", "mid mid mid", "Broad improvements: data and prompts."),
    ("Systematic bias: the answers agree, but are wrong.", "low low *", "Audit data, prompts and the model's bias."),
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
    scenarios: tuple[tuple[str, str, bool], ...]
    """Scenario, its targets, whether the figures reach them."""


def advise(rows: Sequence[SummaryRow]) -> list[Advice]:
    """Advice for every dataset that has all three figures; those of the largest k count."""
    by_dataset: dict[str, dict[str, float]] = {}
    for row in rows:
        kind, _, size = row.metric.partition("@")
        if size and row.value is not None:
            by_dataset.setdefault(row.dataset, {})[kind] = row.value
    return [_advice(dataset, figures) for dataset, figures in by_dataset.items() if len(figures) == 3]


def _advice(dataset: str, figures: dict[str, float]) -> Advice:
    levels = [level(figures[kind]) for kind in ("pass", "avg", "cons")]
    profile, next_steps = next(
        (profile, next_steps)
        for profile, pattern, next_steps in _MATRIX
        if all(expected in {"*", found} for expected, found in zip(pattern.split(), levels, strict=True))
    )
    scenarios = tuple(
        (name, targets, all(figures[kind] > least for kind, least in limits.items()))
        for name, targets, limits in SCENARIOS
    )
    return Advice(dataset=dataset, profile=profile, next_steps=next_steps, scenarios=scenarios)


def level(figure: float) -> FigureLevel:
    return "high" if figure > 80 else "mid" if figure >= 50 else "low"
