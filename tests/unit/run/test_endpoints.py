"""Which of several services that were named are asked, and which are looked at again, and when."""

from collections.abc import Callable
from concurrent.futures import Future, wait
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.fake_ports import ManualClock, MemoryStore, RecordingProgress, ScriptedChat, fake_ports
from tests.unit.run import test_pipeline
from tests.waiting import HANGING

from model_accuracy_eval.errors import AdapterFailed
from model_accuracy_eval.ports import ServiceRole
from model_accuracy_eval.records import ClientLimits, Fault, Request, RunPlan, Service
from model_accuracy_eval.run import deploy
from model_accuracy_eval.run.endpoints import Endpoints


class Switched(ScriptedChat):
    """Nobody listens there until it is up."""

    def __init__(self) -> None:
        super().__init__(self._said)
        self.up = False

    def _said(self, _request: Request, _choice: int) -> str | Fault:
        return "2" if self.up else Fault(kind="refused", sentence="nobody listens")

    async def models(self) -> tuple[str, ...]:
        return ("m",) if self.up else ()


@dataclass
class Played:
    endpoints: Endpoints
    services: dict[str, Switched]
    clock: ManualClock
    said: list[str]
    known: dict[str, Service] = field(default_factory=dict)
    silent: Future[Any] = field(default_factory=Future)
    """A look that never comes to its end."""

    def after(self, seconds: float, **up: bool) -> list[str]:
        """Who is ready when so much time has passed, and all that are due by then have been looked at."""
        for name, is_up in up.items():
            self.services[name].up = is_up
        self.clock.sleep(seconds)
        self.endpoints.poll()
        looks = [each.look for each in self.endpoints._endpoints if each.look not in (None, self.silent)]
        wait(filter(None, looks), HANGING)
        self.endpoints.poll()
        ready = {service.base_url[7:]: service for service in self.endpoints.take_ready()}
        self.known |= ready
        return list(ready)

    def dismiss(self, name: str, *, gone: bool) -> None:
        self.endpoints.dismiss(self.known[name], f"{name} is away", gone=gone)


@pytest.fixture
def play() -> Callable[..., Played]:
    def begin(*names: str, ready_timeout: float | None = None) -> Played:
        services = {name: Switched() for name in names}

        def connect(service: Service, _limits: ClientLimits, *, role: ServiceRole) -> Any:
            return services[service.base_url[7:]]

        clock, progress = ManualClock(), RecordingProgress()
        ports = fake_ports(connect=connect, clock=clock, progress=progress)
        limits = ClientLimits(ready_timeout=ready_timeout, gone_after=20)
        plan = RunPlan(run_id="0", stamp="s", tasks=(), client_limits=limits)
        plan = plan.with_settings(endpoint=tuple(f"http://{name}" for name in names))
        endpoints = Endpoints(plan, ports)
        endpoints.begin(plan, "", lambda at, node: "")
        return Played(endpoints, services, clock, progress.said)

    return begin


def test_those_that_serve_begin_and_the_others_join(play: Callable[..., Played]) -> None:
    """Who is away is named, and looked at again after as long as it has been waited for."""
    played = play("a", "b", "c")
    assert played.after(0, a=True, c=True) == ["a", "c"]
    assert "b does not serve, and is asked again later: nobody listens" in played.said
    assert not [line for line in played.said if line.startswith(("a does not", "c does not"))]
    assert played.after(10) == []
    assert played.after(9, b=True) == [], "it was looked at 10 s after the beginning"
    assert played.after(1) == ["b"]
    assert played.after(100) == []


def test_none_begins_before_the_others_have_said_a_word(play: Callable[..., Played]) -> None:
    """For some seconds: one that takes requests and says nothing keeps nobody waiting longer."""
    played = play("a", "b")
    played.endpoints._endpoints[1].look = played.silent
    assert played.after(0, a=True) == []
    assert played.after(9) == []
    assert played.after(1) == ["a"]
    assert "b does not serve, and is asked again later: It has not answered yet." in played.said


@pytest.mark.parametrize(("ready_timeout", "limit"), [(None, 1.0), (60.0, 60.0)])
def test_when_none_serves_all_are_named(play: Callable[..., Played], ready_timeout: float | None, limit: float) -> None:
    """After as long as a single one is waited for."""
    played = play("a", "b", ready_timeout=ready_timeout)
    assert played.after(0) == played.after(limit - 0.5) == []
    with pytest.raises(AdapterFailed, match="None of the 2 endpoints serves. a: nobody listens; b: nobody") as error:
        played.after(1)
    assert (error.value.exit_code, error.value.stage) == (4, "deploy")
    assert ("--ready-timeout" in error.value.next_step) == (ready_timeout is None)


def test_while_none_serves_there_is_a_word_now_and_then(play: Callable[..., Played]) -> None:
    played = play("a", "b", ready_timeout=600.0)
    played.after(0)
    said = len(played.said)
    played.after(61)
    assert [line for line in played.said[said:] if "nobody listens" in line]


def test_one_that_is_gone_may_come_back_and_one_that_fails_may_not(play: Callable[..., Played]) -> None:
    """As long as one serves the run goes on; when none does, for as long as a restart may take."""
    played = play("a", "b")
    assert played.after(0, a=True, b=True) == ["a", "b"]
    played.dismiss("a", gone=True)
    assert played.after(1, a=False) == []
    assert played.after(300) == []
    assert played.after(30, a=True) == ["a"]
    played.dismiss("b", gone=False)
    assert played.after(300) == []
    played.dismiss("a", gone=True)
    assert played.after(1, a=False) == played.after(18) == []
    with pytest.raises(
        AdapterFailed, match="None of the 2 endpoints serves any more. a: nobody .* b: b is away"
    ) as error:
        played.after(20)
    assert (error.value.exit_code, error.value.stage) == (4, "infer")


@pytest.mark.parametrize("named", [("http://a:1",), ("http://a:1", "http://b:1")])
def test_others_may_join_where_several_are_named(named: tuple[str, ...]) -> None:
    """The first that is ready begins."""
    ports = fake_ports(chat=ScriptedChat(test_pipeline.right))
    with deploy.service(test_pipeline.plan().with_settings(endpoint=named), "", MemoryStore(), ports) as live:
        assert live.service.base_url in named
        assert (live.source is not None) == (len(named) > 1)
