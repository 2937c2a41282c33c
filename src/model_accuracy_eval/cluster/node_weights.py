"""Weights that are measured and fetched where they are used: on the nodes."""

from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from model_accuracy_eval.cluster.ray_connection import ActorLost, RayConnection, amounts, shown
from model_accuracy_eval.errors import Refused
from model_accuracy_eval.ports import Clock
from model_accuracy_eval.records import WeightsInfo
from model_accuracy_eval.records.cluster import NodeTrouble

_SAY_AFTER = 5.0

MeasureWeights = Callable[[str, str], WeightsInfo | NodeTrouble]


class NodeWeights:
    """Implements `ports.WeightsSource`. `measure_there` is called on a node that has the resources."""

    def __init__(
        self,
        ray_connection: RayConnection,
        measure_there: MeasureWeights,
        resources: Sequence[str],
        *,
        clock: Clock,
        say: Callable[[str], object],
        waits: bool,
    ) -> None:
        """`waits`: for nodes that are not there yet."""
        self._ray = ray_connection
        self._measure_there = measure_there
        self._wanted = amounts(resources)
        self._clock = clock
        self._say = say
        self._waits = waits
        self._pinned: dict[str, str] = {}

    def measure(self, reference: str, limit: str) -> WeightsInfo:
        self._ray.open()
        if not self._waits:
            self._ray.refuse_impossible(self._wanted)
        absolute = reference if _is_of_hub(reference) else str(Path(reference).expanduser().absolute())
        result = self._ray.run_once(self._measure_there, self._wanted, absolute, limit)
        self._wait(result)
        try:
            found = self._ray.result(result)
        except ActorLost as lost:
            raise Refused(f"The node that looked at the weights is lost ({lost}); run again.") from lost
        if isinstance(found, NodeTrouble):
            raise Refused(found.sentence)
        info: WeightsInfo = found
        self._pinned[reference] = _pinned(info)
        return replace(info, reference=reference)

    def fetch(self, reference: str, limit: str) -> str:
        """What every node fetches for itself: the same commit."""
        return self._pinned[reference]

    def _wait(self, result: object) -> None:
        began, said = self._clock.elapsed(), False
        while not self._ray.is_done(result):
            self._clock.sleep(0.05)
            if not said and self._clock.elapsed() - began > _SAY_AFTER:
                said = True
                self._say(f"Waiting until a node of the Ray cluster is free{' with ' * bool(self._wanted)}"
                          f"{shown(self._wanted)}.")  # fmt: skip


def _pinned(info: WeightsInfo) -> str:
    """`hf:org/name@main` with the commit that this was then."""
    if info.commit is None or not _is_of_hub(info.reference):
        return info.reference
    return f"{info.reference.partition('@')[0]}@{info.commit}"


def _is_of_hub(reference: str) -> bool:
    return reference.startswith(("hf:", "ms:"))
