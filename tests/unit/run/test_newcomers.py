"""A replica that joins a run is looked at as those were that it began with."""

import asyncio
from typing import Any

import pytest
from tests.fake_ports import MemoryStore, RecordingProgress, ScriptedChat, fake_ports
from tests.unit.run.test_infer import by_seed, plan, prepared

from model_accuracy_eval.ports import Chat, ServiceRole
from model_accuracy_eval.records import ClientLimits, Reply, Request, Service, ServiceFinding
from model_accuracy_eval.run import infer
from model_accuracy_eval.run.deploy import LiveService


class Held(ScriptedChat):
    """Answers nothing before it may."""

    def __init__(self) -> None:
        super().__init__(by_seed)
        self.may = asyncio.Event()

    async def ask(self, request: Request) -> Reply:
        await self.may.wait()
        return await super().ask(request)


class OneComes:
    """A source of replicas with one that is ready as soon as the others are asked."""

    def __init__(self) -> None:
        self.ready = [Service(base_url="http://new")]
        self.dismissed: list[tuple[str, bool]] = []

    def poll(self) -> None:
        """Nothing happens."""

    def take_ready(self) -> list[Service]:
        ready, self.ready = self.ready, []
        return ready

    def dismiss(self, service: Service, reason: str, *, gone: bool) -> None:
        self.dismissed.append((reason, gone))


@pytest.mark.parametrize("objection", ["", "It draws as with temperature 0.5."])
def test_it_is_asked_when_nothing_was_found(objection: str) -> None:
    """Not before; what was found stands in the report in any case, and the others go on."""
    first, new, progress, source = Held(), ScriptedChat(by_seed), RecordingProgress(), OneComes()
    finding = ServiceFinding("samplers", "FAIL" if objection else "PASS", objection or "as often as asked")

    def connect(service: Service, _limits: ClientLimits, *, role: ServiceRole) -> Chat:
        return new if service.base_url == "http://new" else first

    async def look_at(live: LiveService) -> tuple[list[ServiceFinding], str]:
        assert (live.name, new.requests) == ("new", [])
        first.may.set()
        return [finding], objection

    anything: Any = source
    live = LiveService(Service(base_url="http://first"), None, name="first", source=anything)
    the_plan = plan(1, concurrency=2).with_settings(endpoint=("http://first", "http://new"))
    asked = infer.collect(
        the_plan,
        (prepared(20),),
        live,
        MemoryStore(),
        fake_ports(connect=connect, progress=progress),
        look_at=look_at,
    )
    assert asked.service is not None
    assert asked.service.findings == (finding,)
    assert len(first.requests) + len(new.requests) == 20
    assert bool(new.requests) == (not objection)
    assert [each.name for each in live.with_newcomers(asked.joined).replicas] == ["first", "new"][: 1 + (not objection)]
    assert source.dismissed == [(objection, False)] * bool(objection)
    assert (f"{objection} It is asked nothing." in progress.said) == bool(objection)


@pytest.mark.parametrize("is_late", [False, True])
def test_a_look_that_is_a_defect_ends_the_run(is_late: bool) -> None:
    """It is not passed over as if nothing had been found, even where all was asked meanwhile."""
    first, anything = Held(), OneComes()

    async def look_at(live: LiveService) -> tuple[list[ServiceFinding], str]:
        if is_late:
            first.may.set()
        raise LookupError(live.name)

    source: Any = anything
    live = LiveService(Service(base_url="http://first"), None, name="first", source=source)
    with pytest.raises(LookupError, match="new"):
        infer.collect(plan(1), (prepared(2),), live, MemoryStore(), fake_ports(chat=first), look_at=look_at)
    assert len(first.requests) == (2 if is_late else 0)


def test_one_that_was_away_and_came_again_counts_once() -> None:
    first, second = (LiveService(Service(base_url=f"http://{name}"), None, name=name) for name in ("a", "b"))
    assert [each.name for each in first.with_newcomers([second, first, second]).replicas] == ["a", "b"]
