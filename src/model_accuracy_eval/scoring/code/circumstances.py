"""Where programs ran, and how sure their verdicts are: one sentence for the report."""

from collections import Counter
from collections.abc import Iterable

from model_accuracy_eval.code_records import Execution, Integrity, Isolation

_PLACES: dict[Isolation, str] = {
    "container": "in a container",
    "namespace": "in namespaces of their own (bwrap)",
    "uid": "under a user of their own, seeing this machine",
    "none": "with limits only, seeing this machine",
}
_SURENESS: dict[Integrity, str] = {
    "split": "judged out of the program's reach",
    "shared+control": "judged beside the program, with a control run",
    "shared": "judged beside the program, without a control",
    "exit code": "judged by their exit code",
}


def told(executions: Iterable[Execution]) -> tuple[str, ...]:
    """Empty where nothing ran."""
    places: Counter[tuple[Isolation, str]] = Counter()
    sureness: Counter[Integrity] = Counter()
    for one in executions:
        places[one.isolation, one.image] += 1
        sureness[one.integrity] += 1
    if not places:
        return ()
    where = ", ".join(f"{_PLACES[isolation]} on {image}" for (isolation, image), _ in places.most_common())
    how = ", ".join(f"{count} {_SURENESS[integrity]}" for integrity, count in sureness.most_common())
    return (f"Programs ran {where}: {how}.",)
