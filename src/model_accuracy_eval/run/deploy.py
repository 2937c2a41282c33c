"""A service for the time of a `with` block: one that deploy.sh starts here, or one that runs already."""

import dataclasses
import os.path
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from msgspec.structs import replace

from model_accuracy_eval.errors import AdapterFailed
from model_accuracy_eval.ports import Ports, ReplicaSource, RunningAdapter, Store
from model_accuracy_eval.records import RunPlan, Service
from model_accuracy_eval.run import stack
from model_accuracy_eval.run.endpoints import Endpoints
from model_accuracy_eval.run.readiness import Readiness, exited, show_output

LOG = "logs/deploy.log"


@dataclass(frozen=True, slots=True)
class LiveService:
    """A service that answered, and the process behind it if it is ours."""

    service: Service
    running: RunningAdapter | None
    port: int = 0
    shows_output: Ports | None = None
    """Where each line that deploy.sh prints is shown, in addition to the log; None: nowhere."""
    name: str = ""
    """Which replica it is; empty if it is the only one."""
    others: tuple["LiveService", ...] = ()
    """The other replicas."""
    source: ReplicaSource | None = None
    """Where it comes from, if others may join; None: these are all."""

    @property
    def replicas(self) -> tuple["LiveService", ...]:
        return (self, *self.others)

    def with_newcomers(self, joined: Sequence["LiveService"]) -> "LiveService":
        """Returns the same service with replicas that have joined it; one that was away and came again counts once."""
        others = {each.name: each for each in (*self.others, *joined) if each.name != self.name}
        return dataclasses.replace(self, others=tuple(others.values()))

    def answering_as(self, service: Service) -> "LiveService":
        """Returns the same service with more known about it."""
        known = service.sends_finish_reasons
        others = [
            dataclasses.replace(other, service=replace(other.service, sends_finish_reasons=known))
            for other in self.others
        ]
        return dataclasses.replace(self, service=service, others=tuple(others))

    def check(self) -> None:
        """Shows what deploy.sh printed; raises when it has ended, of several replicas all of them."""
        if self.source is not None:
            self.source.poll()
        ended = [trouble for each in self.replicas if (trouble := _ended(each))]
        if len(ended) == len(self.replicas):
            raise ended[0]

    def joined(self, say: Callable[[str], object]) -> list["LiveService"]:
        """The replicas that have become ready since the last call; of one that is unlike the others it is said."""
        if self.source is None:
            return []
        lives = []
        for service in self.source.take_ready():
            if objection := _unlike(self.service, service):
                say(objection)
                self.source.dismiss(service, objection, gone=False)
            else:
                lives.append(_named(LiveService(service, None)))
        return lives


@contextmanager
def service(plan: RunPlan, weights: str, store: Store, ports: Ports) -> Iterator[LiveService]:
    """Starts deploy.sh and waits until a tiny chat request succeeds; at the end stops everything that it started."""
    source = Endpoints(plan, ports) if len(plan.settings.endpoint) > 1 else ports.cluster
    if source is not None:
        with _from_source(plan, weights, store, ports, source) as live:
            yield live
        return
    if plan.settings.endpoint:
        yield LiveService(Readiness(plan, plan.settings.endpoint[0], ports).wait(), None)
        return
    shows_output = ports if plan.settings.debug else None
    with ExitStack() as at_exit:
        # All are started before the first is waited for: weights take long to load.
        started = []
        for at in range(plan.settings.replicas):
            started.append(_start(plan, at, weights, store, ports))
            at_exit.callback(started[-1].stop)
        ready = [_wait(plan, at, running, weights, ports) for at, running in enumerate(started)]
        facts = stack.of_adapter(started[0], plan.settings.port, weights)
        lives = [
            LiveService(replace(service, stack=service.stack | facts), running, plan.settings.port + at, shows_output)
            for at, (service, running) in enumerate(zip(ready, started, strict=True))
        ]
        yield _as_one(lives)


@contextmanager
def part_of_service(plan: RunPlan, weights: str, store: Store, ports: Ports) -> Iterator[LiveService]:
    """Starts deploy.sh on a node of a replica that serves on another one of its nodes."""
    running = _start(plan, 0, weights, store, ports)
    try:
        yield LiveService(Service(base_url=""), running)
    finally:
        running.stop()


@contextmanager
def _from_source(
    plan: RunPlan, weights: str, store: Store, ports: Ports, source: ReplicaSource
) -> Iterator[LiveService]:
    """Asking begins with the replicas that are ready first: others may wait for nodes."""
    try:
        source.begin(plan, weights, lambda at, node: store.path(_log(at, node)))
        while not (ready := source.take_ready()):
            ports.clock.sleep(0.1)
            source.poll()
        live = _as_one([LiveService(service, None, source=source) for service in ready])
        yield _named(live) if plan.settings.replica_count > 1 else live
    finally:
        source.end()


def _log(at: int, node: int = 0) -> str:
    """Of a replica, and of one of its nodes."""
    return f"logs/deploy{f'_{at}' * (at > 0)}{f'_node_{node}' * (node > 0)}.log"


def _start(plan: RunPlan, at: int, weights: str, store: Store, ports: Ports) -> RunningAdapter:
    """Starts deploy.sh as the replica of that number."""
    settings = plan.settings
    log, count = store.path(_log(at)), settings.npus_per_replica
    ports.progress.say(f"Starting {settings.adapter}/deploy.sh; its output goes to {log}.")
    return ports.launcher.start(
        folder=os.path.abspath(settings.adapter or ""),  # noqa: PTH100 - as the user wrote it, links and all
        model_path=weights,
        port=settings.port + at,
        log=log,
        npus=None if count is None else tuple(range(at * count, (at + 1) * count)),
    )


def _wait(plan: RunPlan, at: int, running: RunningAdapter, weights: str, ports: Ports) -> Service:
    port, count = plan.settings.port + at, plan.settings.replicas
    try:
        return Readiness(plan, f"http://127.0.0.1:{port}", ports, running, weights).wait()
    except AdapterFailed as failure:
        if count == 1:
            raise
        raise AdapterFailed(
            f"Replica {at + 1} of {count}, with PORT={port}: {failure.sentence} Each replica has to serve on its PORT.",
            detail=failure.detail,
            about=failure.about,
        ) from failure


def _ended(live: LiveService) -> AdapterFailed | None:
    if live.running is None:
        return None
    if live.shows_output is not None:
        show_output(live.running, live.shows_output)
    code = live.running.exit_code()
    return None if code is None else exited(code, live.running, "while it was being evaluated")


def _as_one(lives: Sequence[LiveService]) -> LiveService:
    """The first of them with the others as its replicas; refuses servers of which one is not like the first."""
    for other in lives[1:]:
        if objection := _unlike(lives[0].service, other.service):
            raise AdapterFailed(objection)
    if len(lives) == 1:
        return lives[0]
    first, *others = map(_named, lives)
    return dataclasses.replace(first, others=tuple(others))


def _unlike(first: Service, other: Service) -> str:
    """Why figures of both are not mixed; empty if they are alike."""
    if (other.model, other.samplers) == (first.model, first.samplers):
        return ""
    what = "model" if other.model != first.model else "samplers"
    one, two = (getattr(each, what) for each in (first, other))
    return (
        f"{first.base_url} and {other.base_url} are no replicas of one service: the first has the {what} "
        f"'{one}', the second '{two}'. Start them alike, or evaluate them one by one."
    )


def _named(live: LiveService) -> LiveService:
    return dataclasses.replace(live, name=live.service.base_url.partition("://")[2])
