"""Whether two runs drew their samples in the same way: figures of different samplers answer different questions."""

from collections.abc import Iterator, Mapping
from typing import NamedTuple

from model_accuracy_eval.records import RunPlan, Samplers, Sampling, SamplingSetting, Service


class SamplingFacts(NamedTuple):
    """The sampling setting of a run, and what was found out about its service's samplers; None: nothing."""

    setting: SamplingSetting
    samplers: Samplers | None


def sampling_facts(plan: RunPlan, service: Service | None) -> SamplingFacts:
    return SamplingFacts(plan.settings.sampling, service.samplers if service else None)


def sampling_change(old: SamplingFacts, new: SamplingFacts) -> str:
    """A sentence on the difference; empty if there is none, or none that is known."""
    if old.setting == new.setting and (
        old.samplers is None or new.samplers is None or _values(old.samplers) == _values(new.samplers)
    ):
        return ""
    return f"Samples were drawn differently: before with {_shown_sampling(old)}, now with {_shown_sampling(new)}."


def setting_changes(old: Sampling | None, new: Sampling | None) -> Iterator[str]:
    """A sentence on temperature, number of samples and the like, if these differ and are known."""
    if old is None or new is None:
        return
    names = ("n", "temperature", "top_p", "max_tokens")
    pairs = [(name, _set(getattr(old, name)), _set(getattr(new, name))) for name in names]
    fields = {**old.extra, **new.extra}
    pairs += [(name, str(old.extra.get(name, "not sent")), str(new.extra.get(name, "not sent"))) for name in fields]
    changed = [f"{name} {was} then, {now} now" for name, was, now in pairs if was != now]
    if changed:
        yield f"The runs were asked in different ways: {'; '.join(changed)}."


def _set(value: float | None) -> str:
    return "as each dataset says" if value is None else f"{value:g}"


def _values(samplers: Samplers) -> tuple[dict[str, float], dict[str, float]]:
    """What requests had, and what is known to have come on top."""
    return samplers.neutral, {name: value for name, value in samplers.own.items() if name not in samplers.neutral}


def _shown_sampling(facts: SamplingFacts) -> str:
    samplers = facts.samplers or Samplers()
    if facts.setting == "plain":
        return f"neutral values (--sampling plain: {listed(samplers.neutral) or 'none was accepted'})"
    additions = own_samplers(samplers, without={})
    return f"the service's own samplers (--sampling server{f': {additions}' if additions else ''})"


def own_samplers(samplers: Samplers, without: Mapping[str, object]) -> str:
    """What the service is known to apply by itself, but for fields that requests have; empty if nothing is known."""
    own = {name: value for name, value in samplers.own.items() if name not in without}
    server = samplers.server or "it"
    parts = [f"{server} says that it applies {listed(own)}"] if own else []
    return "; ".join([*parts, *([f"{server} {samplers.remark}"] if samplers.remark else [])])


def listed(values: Mapping[str, float]) -> str:
    """`top_k 40, min_p 0.05`."""
    return ", ".join(f"{name} {value:g}" for name, value in values.items())
