"""With which parameters samples were drawn: the user's, else each dataset's, as the requests had them."""

from collections import defaultdict

from model_accuracy_eval.records import RunPlan

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
