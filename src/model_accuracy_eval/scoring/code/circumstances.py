"""Where programs ran, and how sure their verdicts are: one sentence for the report."""

from collections import Counter
from collections.abc import Iterable

from model_accuracy_eval.records import Ran
from model_accuracy_eval.records.code import Execution

_PLACES: dict[str, str] = {
    "container": "in a container",
    "namespace": "in namespaces of their own (bwrap)",
    "uid": "under a user of their own, seeing this machine",
    "none": "with limits only, seeing this machine",
}
_SURENESS: dict[str, str] = {
    "split": "judged out of the program's reach",
    "shared+control": "judged beside the program, with a control run",
    "shared": "judged beside the program, without a control",
    "exit code": "judged by their exit code",
}


def ran(executions: Iterable[Execution]) -> tuple[Ran, ...]:
    """The commonest circumstances first; empty where nothing ran."""
    kinds = Counter((one.isolation, one.image, one.integrity) for one in executions)
    return tuple(
        Ran(isolation=isolation, image=image, integrity=integrity, programs=count)
        for (isolation, image, integrity), count in kinds.most_common()
    )


def told(ran: Iterable[Ran]) -> tuple[str, ...]:
    """Empty where nothing ran."""
    places: Counter[tuple[str, str]] = Counter()
    sureness: Counter[str] = Counter()
    for one in ran:
        places[one.isolation, one.image] += one.programs
        sureness[one.integrity] += one.programs
    if not places:
        return ()
    where = ", ".join(f"{_PLACES[isolation]} on {image}" for (isolation, image), _ in places.most_common())
    how = ", ".join(f"{count} {_SURENESS[integrity]}" for integrity, count in sureness.most_common())
    return (f"Programs ran {where}: {how}.",)


def shared(programs: Counter[str]) -> tuple[str, ...]:
    """`programs` is how often each came; empty where all are different."""
    if programs.total() == len(programs):
        return ()
    return (f"{programs.total():,} programs were judged by running {len(programs):,}: equal ones share a verdict.",)
