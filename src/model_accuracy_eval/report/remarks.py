"""Sentences about the service that concern all datasets of a run, so that a report says each of them once."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from model_accuracy_eval.records import (
    ReplicaFigure,
    Report,
    RunPlan,
    Samplers,
    Service,
)
from model_accuracy_eval.run_folder.sampling_facts import listed, own_samplers

# What a report says of the replicas of a service: who answered how much and how well, and which one differs.


_CHECK = "Look at its card, its driver and its weights, and run again without it."


def replica_notes(replicas: Sequence[ReplicaFigure]) -> Iterator[str]:
    """One sentence about all of them, then one for each difference that is more than chance."""
    if not replicas:
        return
    yield f"{len(replicas)} replicas answered: {'; '.join(map(_shown, replicas))}."
    yield from map(_different, (each for each in replicas if each.differs))
    yield from map(_slower, (each for each in replicas if each.differs_in_speed))
    if not any(each.differs for each in replicas):
        yield from _alike(replicas)


def _shown(replica: ReplicaFigure) -> str:
    figure = "" if replica.figure is None else f", {replica.figure:.2f}"
    gap = "" if not replica.gap else f", {1000 * replica.gap:.3g} ms from chunk to chunk"
    return f"{replica.replica} {replica.samples:,} samples{figure}{gap}"


def _different(replica: ReplicaFigure) -> str:
    points, interval = replica.points or 0.0, replica.interval
    limits = f" (99 %: {interval.low:+.2f} to {interval.high:+.2f})" if interval else ""
    how = "worse" if points < 0 else "better"
    return (
        f"The replica {replica.replica} answers the same problems {how} than the others: {points:+.2f} points{limits}. "
        f"{_CHECK if points < 0 else 'Replicas of one service should not differ: look what is unlike.'}"
    )


def _slower(replica: ReplicaFigure) -> str:
    return (
        f"The replica {replica.replica} is slower: {replica.ratio or 0:.2f} times as long from chunk to chunk as the "
        "others at the same time."
    )


def _alike(replicas: Sequence[ReplicaFigure]) -> Iterator[str]:
    intervals = [each.interval for each in replicas if each.interval is not None]
    if intervals:
        reach = max(max(-interval.low, interval.high) for interval in intervals)
        yield f"None of them answers the same problems differently: by at most {reach:.2f} points (99 %)."
    else:
        yield "Too few problems were answered by two of them to tell whether they answer alike."


_NO_FINISH_REASON = (
    "The service never sent a finish_reason: an answer that broke off without an error looks like a complete one and "
    "is judged as one."
)


def service_notes(plan: RunPlan, service: Service | None, replicas: Sequence[ReplicaFigure] = ()) -> tuple[str, ...]:
    """What a reader of the figures has to know about the service that gave the answers, and about its replicas."""
    return (*replica_notes(replicas), *(_notes(plan, service) if service else ()))


def _notes(plan: RunPlan, service: Service) -> Iterator[str]:
    if not any(task.kind == "generate" for each in plan.tasks for task in (each, *each.parts)):
        return  # log-likelihoods of given texts are neither sampled nor cut
    if service.sends_finish_reasons is False:
        yield _NO_FINISH_REASON
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


def tail(report: Report) -> Iterator[str]:
    """How much of the asking the last answers took, while no other question was left."""
    asked, seconds = report.seconds.get("infer", 0.0), report.tail_seconds
    if not seconds or not asked:
        return
    share = 100 * min(1.0, seconds / asked)
    yield (
        f"Tail: for {seconds:.1f} s of {asked:.1f} s of asking ({share:.0f} %), fewer than "
        f"{report.plan.client_limits.concurrency} requests were under way, because none was left."
    )


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
    return shown


def _text(value: float | None) -> str:
    return "not sent" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _listed(names: list[str]) -> str:
    more = len(names) - _DATASETS_NAMED
    return ", ".join(names[:_DATASETS_NAMED]) + (f" and {more} more" if more > 0 else "")
