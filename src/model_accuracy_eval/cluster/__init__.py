"""What a run and its replicas on the nodes of a cluster tell each other."""

from model_accuracy_eval.records.base import Record
from model_accuracy_eval.records.code import Isolation


class NodeFacts(Record, frozen=True, kw_only=True):
    """Where a replica was placed."""

    address: str
    version: str
    """Of this program, on that node."""
    npus: str = ""
    """Numbers of the NPUs that the cluster gave it; empty: it asked for none."""
    meeting_port: int = 0
    """Where the other nodes of its replica can meet it; 0: there are none."""

    @property
    def shown(self) -> str:
        return f"{self.address}, NPU {self.npus}" if self.npus else self.address


class NodeTrouble(Record, frozen=True, kw_only=True):
    """An error of a replica, as its node tells it."""

    sentence: str
    detail: str = ""
    about: tuple[str, int] | None = None


class NodeNews(Record, frozen=True, kw_only=True):
    """What a replica has to tell since it was asked last."""

    sentences: tuple[str, ...] = ()
    output: bytes = b""
    """What deploy.sh has printed."""
    trouble: NodeTrouble | None = None
    """Why it answers no more."""


class SandboxFacts(Record, frozen=True, kw_only=True):
    """The sandbox of a node."""

    address: str
    version: str
    """Of this program, on that node."""
    isolation: Isolation
    image: str
    passed_over: tuple[str, ...] = ()
