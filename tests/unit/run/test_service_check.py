"""What is looked at before a run: which replicas, with how much, and what a gate refuses."""

import asyncio
import dataclasses
from collections.abc import Sequence
from math import log
from random import Random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fake_ports import MuteSubject, RecordingProgress, fake_ports
from tests.unit.run.test_infer import plan, prepared
from tests.unit.run.test_newcomers import OneComes

from model_accuracy_eval.errors import AdapterFailed
from model_accuracy_eval.records import (
    Choice,
    ClientLimits,
    Fault,
    ReplicaFigure,
    Reply,
    Request,
    RunPlan,
    ScoredReply,
    ScoredToken,
    Service,
    ServiceFinding,
    Timings,
)
from model_accuracy_eval.run import service_check
from model_accuracy_eval.run.deploy import LiveService
from model_accuracy_eval.run.service_check import ServiceCheck
from model_accuracy_eval.scoring.verdicts import gate_lines

CHANCES = {"a": 0.4, "b": 0.3, "c": 0.2, "d": 0.1}
REPLICAS = ("one", "two", "three")


class Drawing(MuteSubject):
    """Shows its chances, and draws by them, or the likeliest token far too often."""

    def __init__(self, *, is_right: bool) -> None:
        self._odds = [*CHANCES.values()] if is_right else [0.97, 0.01, 0.01, 0.01]
        self._dice = Random(1)
        self.asked: list[Request] = []
        self.at_once: set[int] = set()
        self.closed = False

    async def scored(self, requests: Sequence[Request], at_once: int = 1) -> list[ScoredReply | Fault]:
        token = ScoredToken("a", log(CHANCES["a"]), tuple((text, log(chance)) for text, chance in CHANCES.items()))
        return [ScoredReply(text="a", tokens=(token,)) for _ in requests]

    async def ask(self, requests: Sequence[Request], at_once: int = 1) -> list[Reply]:
        self.asked += requests
        self.at_once.add(at_once)
        return [Reply(id="", choices=tuple(map(self._choice, range(request.n)))) for request in requests]

    def _choice(self, index: int) -> Choice:
        (text,) = self._dice.choices([*CHANCES], self._odds)
        return Choice(index=index, text=text, finish_reason="length", timings=Timings(e2e=0.1))

    async def close(self) -> None:
        self.closed = True


class World:
    """Replicas by their names, each with what it says to who looks at it."""

    def __init__(self, subjects: dict[str, MuteSubject], *, n: int = 5, problems: int = 200, gate: str = "") -> None:
        self.subjects, self.progress = subjects, RecordingProgress()
        self.opened: list[tuple[str, ClientLimits]] = []
        lines = gate_lines.parse(gate)
        whole = plan(n, concurrency=7).with_settings(
            endpoint=[f"http://{name}" for name in subjects], gate=gate.split("\n")
        )
        self.plan: RunPlan = msgspec.structs.replace(whole, gates=lines)
        ports = fake_ports(open_subject=self._open, progress=self.progress)
        self.check = ServiceCheck(self.plan, [prepared(problems)], "", ports)

    def _open(self, service: Service, limits: ClientLimits) -> MuteSubject:
        name = service.base_url.removeprefix("http://")
        self.opened.append((name, limits))
        return self.subjects[name]

    def live(self, *found: ServiceFinding) -> LiveService:
        named = len(self.subjects) > 1
        first, *others = (
            LiveService(Service(base_url=f"http://{name}", findings=found), None, name=name if named else "")
            for name in self.subjects
        )
        return LiveService(first.service, None, name=first.name, others=tuple(others))


@settings(max_examples=40)
@given(
    st.lists(st.booleans(), min_size=1, max_size=3),
    st.sampled_from(["", "sums: avg@5 >= 1", "sums: avg@5 >= 1\nallow: samplers"]),
    st.sampled_from([39, 40]),
)
def test_a_gate_refuses_what_draws_otherwise(right: list[bool], gate: str, problems: int) -> None:
    """With the first such sentence and what looks for its cause. Every replica is looked at, and they are held together;
    a run of fewer than 200 samples is as fast as a look."""
    subjects = {name: Drawing(is_right=is_right) for name, is_right in zip(REPLICAS, right, strict=False)}
    world, before = World(dict(subjects), gate=gate, problems=problems), ServiceFinding("stack", "PASS", "It serves.")
    wrong = [name for name, is_right in zip(REPLICAS, right, strict=False) if not is_right]
    if problems >= 40 and wrong and gate and "allow" not in gate:
        with pytest.raises(AdapterFailed) as refused:
            world.check.check(world.live(before))
        start = f"{wrong[0]}: " if len(right) > 1 else ""
        assert refused.value.sentence.startswith(f"{start}Asked for temperature 1, ")
        assert "`diagnose` tells causes apart" in refused.value.sentence
        assert refused.value.next_step == f"model-accuracy-eval diagnose --endpoint http://{wrong[0]}"
    else:
        _, findings = world.check.check(world.live(before))
        states = [("samplers", "PASS" if is_right else "FAIL") for is_right in right] * (problems >= 40)
        together = [("replicas", "PASS")] * (problems >= 40 and len(right) > 1)
        assert findings[0] == before
        assert [(each.probe, each.state) for each in findings[1:]] == states + together
    assert world.progress.said[0] == "Stack: It serves."
    assert len(world.progress.said) == 1 + (problems >= 40) * (len(right) + (len(right) > 1))
    assert all(subject.closed == (problems >= 40) for subject in subjects.values())


@pytest.mark.parametrize(
    ("n", "problems", "requests", "choices"),
    [(1, 1000, 160, 1), (4, 50, 100, 1), (5, 1000, 80, 5), (9, 1000, 80, 5), (5, 40, 20, 5)],
)
def test_a_look_asks_as_the_run_does_and_less(n: int, problems: int, requests: int, choices: int) -> None:
    """So many requests as show a fault, but for half of the run's samples at most."""
    subject = Drawing(is_right=True)
    world = World({"one": subject}, n=n, problems=problems)
    world.check.check(world.live())
    assert {request.n for request in subject.asked} == {choices}
    assert len(subject.asked) == requests
    assert subject.at_once == {7}
    assert {request.seed for request in subject.asked} == {place * choices for place in range(requests)}


def test_a_replica_without_log_probabilities_is_no_other_one() -> None:
    """Nothing is known of it, which refuses no gate."""
    world = World({"one": Drawing(is_right=True), "two": MuteSubject()}, gate="sums: avg@5 >= 1")
    _, findings = world.check.check(world.live())
    assert [(each.probe, each.state) for each in findings] == [
        ("samplers", "PASS"),
        ("samplers", "SKIP"),
        ("replicas", "SKIP"),
    ]
    assert findings[-1].sentence.startswith("two shows no log-probabilities")


@pytest.mark.parametrize("is_right", [True, False])
def test_a_replica_that_joins_later_has_to_pass_the_same(is_right: bool) -> None:
    """And is held beside the one that the run began with."""
    subjects: dict[str, MuteSubject] = {"one": Drawing(is_right=True), "two": Drawing(is_right=is_right)}
    world = World(subjects, gate="sums: avg@5 >= 1")
    first, new = world.live().replicas
    findings, objection = asyncio.run(world.check.newcomer(first, new))
    states = [("samplers", "PASS" if is_right else "FAIL"), ("replicas", "PASS")]
    assert [(each.probe, each.state) for each in findings] == states
    assert objection.startswith("two: Asked for temperature 1, ") == (not is_right)
    assert [name for name, _ in world.opened] == ["two", "one", "two"]


class Silent(Drawing):
    """Never answers."""

    async def scored(self, requests: Sequence[Request], at_once: int = 1) -> list[ScoredReply | Fault]:
        await asyncio.Event().wait()
        return []


def test_a_service_that_does_not_answer_is_met_by_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(service_check, "_LOOK_SECONDS", 0.01)
    world = World({"one": Silent(is_right=True)}, gate="sums: avg@5 >= 1")
    assert world.check.check(world.live())[1] == (
        ServiceFinding("samplers", "SKIP", "The service took more than 0.01 s."),
    )


@given(st.lists(st.booleans(), min_size=1, max_size=4))
def test_causes_are_looked_for_where_figures_differ(differs: list[bool]) -> None:
    """In two replicas at most; in the first two where none differs, or where nobody knows which one does."""
    names = ["a", "b", "c", "d"][: len(differs)]
    subjects = {name: Drawing(is_right=True) for name in names}
    world = World(dict(subjects))
    different = [name for name, each in zip(names, differs, strict=True) if each]
    replicas = [
        ReplicaFigure(replica=name, samples=9, figure=50.0, differs=each)
        for name, each in zip(names, differs, strict=True)
    ]
    world.check.causes(world.live(), replicas)
    assert [name for name, _ in world.opened] == (different or names)[:2]


def test_causes_that_are_found_are_told_at_once() -> None:
    """This service never ends an answer."""
    world = World({"a": Drawing(is_right=False)})
    found = world.check.causes(world.live(), [ReplicaFigure(replica="a", samples=9, figure=50.0, differs=False)])
    assert "ends" in {finding.probe for finding in found}
    assert [each.partition(": ")[2] for each in world.progress.said[1:]] == [finding.sentence for finding in found]


def test_one_that_comes_up_while_the_first_is_looked_at_begins_with_it() -> None:
    world, source = World({"a": Drawing(is_right=True), "new": Drawing(is_right=True)}), OneComes()
    anything: Any = source
    first = dataclasses.replace(world.live(), others=(), source=anything)
    begun, findings = world.check.check(first)
    assert [each.name for each in begun.replicas] == ["a", "new"]
    assert [each.probe for each in findings] == ["samplers", "samplers", "replicas"]
    assert {name for name, _ in world.opened} == {"a", "new"}
