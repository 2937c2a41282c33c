"""Weights that are measured and fetched where they are used: on the nodes."""

import io
import tarfile
from collections.abc import Callable, Sequence
from pathlib import Path

from msgspec.structs import replace

from model_accuracy_eval.cluster import NodeTrouble
from model_accuracy_eval.cluster.ray_connection import ActorLost, RayConnection, amounts, shown
from model_accuracy_eval.errors import Refused
from model_accuracy_eval.ports import Clock
from model_accuracy_eval.records import WeightsInfo

_SAY_AFTER = 5.0
_LOOK_SECONDS = 5.0
"""Between looks whether there is a node still that could be free."""

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
        patience: float | None,
    ) -> None:
        """`patience`: seconds for which nodes may come and become free; None: those that are there may be busy."""
        self._ray = ray_connection
        self._measure_there = measure_there
        self._wanted = amounts(resources)
        self._clock = clock
        self._say = say
        self._patience = patience
        self._pinned: dict[str, str] = {}

    def measure(self, reference: str, limit: str) -> WeightsInfo:
        self._ray.open()
        self._refuse_impossible()
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

    def fetch(self, reference: str) -> str:
        """What every node fetches for itself: the same commit."""
        return self._pinned[reference]

    def _wait(self, result: object) -> None:
        began, said, next_look = self._clock.elapsed(), False, _LOOK_SECONDS
        while not self._ray.is_done(result):
            self._clock.sleep(0.05)
            waited = self._clock.elapsed() - began
            if not said and waited > _SAY_AFTER:
                said = True
                self._say(f"Waiting until a node of the Ray cluster is free{' with ' * bool(self._wanted)}"
                          f"{shown(self._wanted)}{self._ray.free(self._wanted)}.")  # fmt: skip
            if waited > next_look:
                next_look += _LOOK_SECONDS
                self._refuse_impossible()
            if self._patience is not None and waited > self._patience:
                self._ray.cancel(result)
                raise Refused(
                    f"For {self._patience:g} s, which --ready-timeout allows, no node of the Ray cluster has had "
                    f"{shown(self._wanted) or 'room'} free{self._ray.free(self._wanted)}. Its nodes have: "
                    f"{self._ray.shown_nodes()}."
                )

    def _refuse_impossible(self) -> None:
        if self._patience is None:
            self._ray.refuse_impossible(self._wanted)


def _pinned(info: WeightsInfo) -> str:
    """`hf:org/name@main` with the commit that this was then."""
    if info.commit is None or not _is_of_hub(info.reference):
        return info.reference
    return f"{info.reference.partition('@')[0]}@{info.commit}"


def _is_of_hub(reference: str) -> bool:
    return reference.startswith(("hf:", "ms:"))


# The adapter's folder as bytes, which travel to nodes that share no disk with this machine.


_LARGEST = 256 << 20
_LEFT_OUT = {".git", "__pycache__"}


def pack(folder: str) -> bytes:
    """Files, links and modes, without what git and Python keep for themselves."""
    root = Path(folder)
    sent = (path for path in root.rglob("*") if not _LEFT_OUT & set(path.relative_to(root).parts))
    size = sum(path.lstat().st_size for path in sent)
    if size > _LARGEST:
        raise Refused(
            f"The adapter's folder '{folder}' has {size:,} bytes, and more than {_LARGEST:,} are not copied to the "
            "nodes: keep weights elsewhere, where every node finds them under one path, and name that with --model."
        )

    def kept(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        return None if _LEFT_OUT & set(Path(entry.name).parts) else entry

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
        archive.add(folder, arcname=".", filter=kept)
    return packed.getvalue()


def unpack(packed: bytes, folder: str) -> None:
    """The packed folder, under its new path."""
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        # It is the user's own folder, so links may lead anywhere. The newest Pythons want to be told.
        archive.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)
        archive.extractall(folder)  # noqa: S202
