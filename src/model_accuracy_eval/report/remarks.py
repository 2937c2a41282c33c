"""What a report says beside its figures: how to read them together, what guessing would give, and of the service.

The matrix reads pass@k, cons@k and avg@n. Its thresholds (high > 80, mid 50..80, low < 50) are rules of thumb for
people, not a verdict: gates decide. AISBench's has one row more: low pass@k and avg@n with high cons@k, for a
systematic bias. It cannot occur, because cons@k counts majorities of *right* samples, and a problem with one has a
right sample: cons@k <= pass@k.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence
from typing import Literal

from model_accuracy_eval.records import (
    Counts,
    DatasetResult,
    Record,
    ReplicaFigure,
    RunPlan,
    Samplers,
    Service,
    ServiceFinding,
    SummaryRow,
)
from model_accuracy_eval.report.languages import say
from model_accuracy_eval.run_folder.saved_plan import listed, own_samplers
from model_accuracy_eval.scoring.figures.intervals import Z95
from model_accuracy_eval.scoring.verdicts.gate_lines import SCENARIOS

FigureLevel = Literal["high", "mid", "low"]
TargetState = Literal["reached", "not reached", "open"]
"""Open: the 95 % interval of a figure includes its target, or there is none."""

_SCENARIOS = {
    "Reliability first (medicine, finance)": "reliability-first",
    "Fault tolerance first (code, exploration)": "fault-tolerance-first",
    "Balanced (general assistant)": "balanced",
}

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


def to_the_second(moment: str) -> str:
    """For people; runs are put in order by all of it."""
    return re.sub(r"\.\d+", "", moment)


def advise(rows: Sequence[SummaryRow], results: Sequence[DatasetResult] = ()) -> list[Advice]:
    """Advice for every dataset that has all three figures; those of the largest k count. `results`: what happened."""
    happened = {result.dataset: result for result in results}
    by_dataset: dict[str, dict[str, SummaryRow]] = {}
    # Figures of parts and of further metrics have more than a number behind their names.
    plain = [row for row in rows if row.value is not None and row.metric.partition("@")[2].isdecimal()]
    for row in sorted(plain, key=lambda row: int(row.metric.partition("@")[2])):
        by_dataset.setdefault(row.dataset, {})[row.metric.partition("@")[0]] = row
    full = {dataset: figures for dataset, figures in by_dataset.items() if len(figures) == 3}
    return [_advice(dataset, figures, happened.get(dataset)) for dataset, figures in full.items()]


def chance_lines(rows: Sequence[SummaryRow]) -> list[str]:
    """For every dataset with options, what its figures would be if each sample were a guess."""
    by_dataset: dict[str, list[str]] = {}
    for row in rows:
        if row.chance is not None and "[" not in row.metric:
            by_dataset.setdefault(row.dataset, []).append(f"{row.metric} {row.chance:.2f}")
    return [
        say("{dataset}: guessing would give {figures}.", dataset=dataset, figures=", ".join(figures))
        for dataset, figures in by_dataset.items()
    ]


def _advice(dataset: str, figures: dict[str, SummaryRow], result: DatasetResult | None) -> Advice:
    levels = [_level_of_pass(figures), level(_value(figures["avg"])), level(_value(figures["cons"]))]
    unlike = _unread(result) or _guessed(figures["avg"]) or (_unstable(result) if set(levels) == {"high"} else None)
    profile, next_steps = unlike or next(
        (profile, next_steps)
        for profile, pattern, next_steps in _MATRIX
        if all(expected in {"*", reached} for expected, reached in zip(pattern.split(), levels, strict=True))
    )
    scenarios = tuple(
        (
            title,
            ", ".join(f"{figure} > {least}" for figure, least in SCENARIOS[name].items()),
            _state([(figures[figure.partition("@")[0]], least) for figure, least in SCENARIOS[name].items()]),
        )
        for title, name in _SCENARIOS.items()
    )
    return Advice(dataset=dataset, profile=say(profile), next_steps=say(next_steps), scenarios=scenarios)


def _unread(result: DatasetResult | None) -> tuple[str, str] | None:
    """What there is to say where many replies say nothing of the model."""
    counts = result.counts if result else Counts()
    if (unread := counts.not_found + counts.empty) <= _MANY * counts.answered:
        return None
    return (
        say(
            "Not read: {unread} of {answered} replies have no readable answer.",
            unread=f"{unread:,}",
            answered=f"{counts.answered:,}",
        ),
        "Read some of them first: they may be cut off, or not in the form that the question asks for.",
    )


def _unstable(result: DatasetResult | None) -> tuple[str, str] | None:
    problems = result.problem_results if result else ()
    unstable = sum(0 < (problem.c or 0) < problem.n for problem in problems)
    if unstable <= _MANY * len(problems):
        return None
    return (
        say(
            "Strong, but not stable: {unstable} of {problems} problems are right in some tries only.",
            unstable=f"{unstable:,}",
            problems=f"{len(problems):,}",
        ),
        "Look at these problems; lower the temperature or vote.",
    )


_MANY = 0.2
"""Of replies or problems."""


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


# Sentences about the service that concern all datasets of a run, so that a report says each of them once.


# What a report says of the replicas of a service: who answered how much and how well, and which one differs.


def replica_notes(replicas: Sequence[ReplicaFigure], endpoints: Sequence[str] = ()) -> Iterator[str]:
    """One sentence about all of them, then one for each difference that is more than chance. `endpoints`: those that
    were named."""
    if not replicas:
        return
    yield f"{len(replicas)} replica{'s' * (len(replicas) > 1)} answered: {'; '.join(map(_shown, replicas))}."
    named = [url.partition("://")[2] for url in endpoints]
    if silent := [name for name in named if name not in {each.replica for each in replicas}]:
        yield f"Nothing was answered by {', '.join(silent)}."
    if len(replicas) == 1:
        return
    different = [each for each in replicas if each.differs]
    yield from [_two_differ(*different)] if len(replicas) == len(different) == 2 else map(_different, different)
    yield from map(_slower, (each for each in replicas if each.differs_in_speed))
    if not different:
        yield from _alike(replicas)


def _shown(replica: ReplicaFigure) -> str:
    figure = "" if replica.figure is None else f", {replica.figure:.2f}"
    gap = "" if not replica.gap else f", {1000 * replica.gap:.3g} ms from chunk to chunk"
    return f"{replica.replica} {replica.samples:,} samples{figure}{gap}"


def _different(replica: ReplicaFigure) -> str:
    how = "worse" if (replica.points or 0.0) < 0 else "better"
    return (
        f"The replica {replica.replica} answers the same problems {how} than the others: {_difference(replica)}. "
        "`diagnose` it, and look at its card, its driver and its weights."
    )


def _two_differ(one: ReplicaFigure, two: ReplicaFigure) -> str:
    """Some faults score better, so the worse of two is not the broken one for that."""
    worse, better = sorted((one, two), key=lambda each: each.points or 0.0)
    return (
        f"The replica {worse.replica} answers the same problems worse than {better.replica}: {_difference(worse)}. "
        "Which of them is at fault is not known: `diagnose` both."
    )


def _difference(replica: ReplicaFigure) -> str:
    interval = replica.interval
    limits = f" (99 %: {interval.low:+.2f} to {interval.high:+.2f})" if interval else ""
    return f"{replica.points or 0.0:+.2f} points{limits}"


def _slower(replica: ReplicaFigure) -> str:
    return (
        f"The replica {replica.replica} is slower: {replica.ratio or 0:.2f} times as long from chunk to chunk as the "
        "others at the same time."
    )


def _alike(replicas: Sequence[ReplicaFigure]) -> Iterator[str]:
    intervals = [each.interval for each in replicas if each.interval is not None]
    if intervals:
        reach = max(max(-interval.low, interval.high) for interval in intervals)
        yield f"Their answers to the same problems differ by at most {reach:.2f} points (99 %), as far as so many show."
    else:
        yield "Too few problems were answered by two of them to tell whether they answer alike."


_NO_FINISH_REASON = (
    "The service never sent a finish_reason: an answer that broke off without an error looks like a complete one and "
    "is judged as one."
)


def service_notes(plan: RunPlan, service: Service | None, replicas: Sequence[ReplicaFigure] = ()) -> tuple[str, ...]:
    """What a reader of the figures has to know about the service that gave the answers, and about its replicas."""
    about_replicas = replica_notes(replicas, plan.settings.endpoint)
    return (*faults(service), *about_replicas, *(_notes(plan, service) if service else ()))


def faults(service: Service | None) -> tuple[str, ...]:
    """What was found wrong with the service beside its answers to the questions."""
    return tuple(map(_found, (each for each in (service.findings if service else ()) if each.state == "FAIL")))


def _found(finding: ServiceFinding) -> str:
    return f"{finding.probe}: {finding.sentence}{f' Next: {finding.next_step}.' if finding.next_step else ''}"


def _notes(plan: RunPlan, service: Service) -> Iterator[str]:
    if not any(task.kind == "generate" for each in plan.tasks for task in (each, *each.parts)):
        return  # log-likelihoods of given texts are neither sampled nor cut
    if service.sends_finish_reasons is False:
        yield _NO_FINISH_REASON
    yield from (_found(each) for each in service.findings if each.state == "PASS" and each.next_step)
    if service.samplers is None:
        return
    if plan.settings.sampling == "plain":
        yield from _plain(plan, service.samplers)
    elif additions := own_samplers(service.samplers, without=plan.sampling.extra):
        yield f"Samples were drawn with the service's own samplers: {additions}. --sampling plain sends neutral values."


def _plain(plan: RunPlan, samplers: Samplers) -> Iterator[str]:
    sent = {name: value for name, value in samplers.neutral.items() if name not in plan.sampling.extra}
    if sent:
        yield f"Requests had neutral values of samplers (--sampling plain): {listed(sent)}."
    if samplers.refused:
        names = ", ".join(samplers.refused)
        effect = own_samplers(samplers, without={**plan.sampling.extra, **sent})
        effect = f": {effect}" if effect else ""
        yield f"The service refused {names}; where it has such samplers, they are its own{effect}."


# With which parameters samples were drawn: the user's, else each dataset's, as the requests had them.


_NAMES = ("n", "temperature", "top_p", "max_tokens")
_DATASETS_NAMED = 3


def sent(plan: RunPlan) -> dict[str, str]:
    """Name → value; where datasets have several, each with its datasets."""
    shown = {}
    for name in _NAMES:
        datasets: dict[str, list[str]] = defaultdict(list)
        for task in plan.tasks:
            datasets[_text(getattr(plan.sampling.of(task), name))].append(task.name)
        if len(datasets) > 1:
            shown[name] = "; ".join(f"{value} ({_listed(names)})" for value, names in datasets.items())
        else:
            shown[name] = next(iter(datasets), _text(getattr(plan.sampling, name)))
    return shown if plan.sampling.thinking == "server" else {**shown, "thinking": plan.sampling.thinking}


def _text(value: float | None) -> str:
    return "not sent" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _listed(names: list[str]) -> str:
    more = len(names) - _DATASETS_NAMED
    return ", ".join(names[:_DATASETS_NAMED]) + (f" and {more} more" if more > 0 else "")
