"""Several replicas answer one run: each sample once, by whoever is there, and evenly."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fake_ports import FakeRunningAdapter, MemoryStore, RecordingProgress, ScriptedChat, fake_ports
from tests.unit.run.test_infer import by_seed, kept, plan, prepared

from model_accuracy_eval.errors import AdapterFailed, NoHonestScore
from model_accuracy_eval.ports import Chat, ServiceRole
from model_accuracy_eval.records import (
    Attempt,
    ClientLimits,
    Fault,
    FaultKind,
    Message,
    Reply,
    Request,
    RunPlan,
    Service,
)
from model_accuracy_eval.run import infer
from model_accuracy_eval.run.deploy import LiveService, _as_one
from model_accuracy_eval.run.replica_pool import Replica, ReplicaPool
from model_accuracy_eval.run_folder import journal


class Dying(ScriptedChat):
    """Answers by question and seed, and after so many requests only with a fault."""

    def __init__(self, after: int | None, kind: FaultKind = "refused") -> None:
        super().__init__(self._said)
        self._after = after
        self._kind = kind
        self.most = self.now = 0
        self.died = False

    def _said(self, request: Request, choice: int) -> str | Fault:
        if self._after is not None and len(self.requests) > self._after:
            self.died = True
            return Fault(kind=self._kind, sentence="nobody listens")
        return by_seed(request, choice)

    async def ask(self, request: Request) -> Reply:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            return await super().ask(request)
        finally:
            self.now -= 1


def collect(the_plan: RunPlan, chats: Sequence[ScriptedChat], problems: int = 6) -> tuple[MemoryStore, list[str]]:
    """What is kept, and what was said meanwhile."""
    store, progress = MemoryStore(), RecordingProgress()
    by_url: dict[str, Chat] = {f"http://r{at}": chat for at, chat in enumerate(chats)}

    def connect(service: Service, _limits: ClientLimits, *, role: ServiceRole) -> Chat:
        return by_url[service.base_url]

    first, *others = [LiveService(Service(base_url=url), None, name=url[7:]) for url in by_url]
    live = LiveService(first.service, None, name=first.name, others=tuple(others))
    infer.collect(the_plan, (prepared(problems),), live, store, fake_ports(connect=connect, progress=progress))
    return store, progress.said


def attempts(store: MemoryStore) -> list[Attempt]:
    return [journal.attempt(line) for line in store.lines(journal.file("vllm-api-stream-chat", "sums"))]


@given(
    n=st.integers(1, 6),
    problems=st.integers(1, 6),
    concurrency=st.integers(1, 9),
    deaths=st.lists(st.none() | st.integers(0, 12), min_size=1, max_size=3),
    kind=st.sampled_from(["refused", "failed"]),
)
def test_no_sample_is_lost_or_kept_twice_while_one_replica_lives(
    n: int, problems: int, concurrency: int, deaths: list[int | None], kind: FaultKind
) -> None:
    """Whenever the others die, in whatever way, each sample is in the journal once, as its seed gives it."""
    chats = [Dying(after, kind) for after in deaths] + [Dying(None)]
    store, _ = collect(plan(n, concurrency=concurrency), chats, problems)
    assert kept(store) == {(p, i): f"sums {p} / {p * n + i}" for p in range(problems) for i in range(n)}


def test_each_problem_is_asked_of_two() -> None:
    """So that they can be compared on it, and each gets the same share of the work."""
    store, _ = collect(plan(5, concurrency=8), [Dying(None), Dying(None)], 50)
    by_problem: dict[int, set[str]] = {}
    for attempt in attempts(store):
        by_problem.setdefault(attempt.problem, set()).add(attempt.replica)
    assert sum(len(replicas) == 2 for replicas in by_problem.values()) >= 45
    shares = Counter(attempt.replica for attempt in attempts(store))
    assert min(shares.values()) >= 100


def test_the_busy_one_is_asked_less() -> None:
    """No replica has more requests in flight than its share."""
    chats = [Dying(None), Dying(None), Dying(None)]
    collect(plan(1, concurrency=6), chats, 60)
    assert [chat.most <= 4 for chat in chats] == [True] * 3


def test_a_replica_that_others_outdo_is_given_up_and_named() -> None:
    """Three requests in a row that it failed and another answered; a rejection is nobody's fault."""
    bad = Dying(0, "failed")
    _, said = collect(plan(1, concurrency=1), [bad, Dying(None)], 20)
    assert len(bad.requests) == 3
    (sentence,) = [line for line in said if "asked no more" in line]
    assert "The replica r0 is asked no more, 1 are left" in sentence
    rejecting = Dying(4, "rejected")
    store, said = collect(plan(1, concurrency=1), [rejecting, Dying(None)], 20)
    assert not [line for line in said if "asked no more" in line]
    assert len(attempts(store)) < 20


def test_a_replica_that_answers_now_and_then_is_kept() -> None:
    """Two failures in a row, again and again."""
    moody = ScriptedChat(
        lambda request, choice: (
            by_seed(request, choice) if len(moody.requests) % 3 == 0 else Fault(kind="failed", sentence="lost")
        )
    )
    _, said = collect(plan(1, concurrency=1), [moody, Dying(None)], 40)
    assert len(moody.requests) > 9
    assert not [line for line in said if "asked no more" in line]


class Silent(ScriptedChat):
    """Says nothing to its first requests, so many of them."""

    def __init__(self, until: float) -> None:
        super().__init__(self._said)
        self._until = until

    def _said(self, request: Request, choice: int) -> str | Fault:
        if len(self.requests) <= self._until:
            return Fault(kind="failed", sentence="no answer in 1 s", silent=True)
        return by_seed(request, choice)


def test_a_moment_in_which_all_are_silent_costs_nothing() -> None:
    """What all were silent about is asked again, and none of them is given up for it."""
    store, said = collect(plan(3, concurrency=6), [Silent(4), Silent(4)], 8)
    assert len(attempts(store)) == 24
    assert not [line for line in said if "asked no more" in line]


@pytest.mark.parametrize(("replicas", "tries"), [(1, 6), (2, 6), (4, 8), (7, 7)])
def test_silence_is_borne_as_often_as_with_one_service(replicas: int, tries: int) -> None:
    """Over all replicas, whole rounds of them."""
    chats = [Silent(float("inf")) for _ in range(replicas)]
    pool = ReplicaPool([Replica(f"r{at}", chat) for at, chat in enumerate(chats)], lambda _: None, silent_retries=5)
    reply = asyncio.run(pool.ask(Request(messages=(Message(role="user", content="1"),))))
    assert reply.fault is not None
    assert reply.fault.silent
    assert (reply.tries, sum(len(chat.requests) for chat in chats)) == (tries, tries)


def test_when_all_are_gone_the_run_ends() -> None:
    """As with one service; what was answered is kept."""
    with pytest.raises(AdapterFailed, match="nobody listens"):
        collect(plan(2, concurrency=1), [Dying(3), Dying(2)], 20)


@pytest.mark.parametrize("kind", ["refused", "failed"])
def test_a_conversation_stays_with_its_replica(kind: FaultKind) -> None:
    """Which has read its beginning already, until that is gone or fails."""
    chats = [Dying(2, kind), Dying(None)]
    pool = ReplicaPool([Replica(f"r{at}", chat) for at, chat in enumerate(chats)], lambda _: None)

    async def talk() -> list[str]:
        ask = pool.conversation()
        message = Message(role="user", content="1")
        return [(await ask(Request(messages=(message,)))).replica for _ in range(4)]

    assert asyncio.run(talk()) == ["r0", "r0", "r1", "r1"]


def test_replicas_must_give_log_likelihoods_in_one_way() -> None:
    """Figures of two methods are not mixed."""
    chats = [ScriptedChat(by_seed, method="echo"), ScriptedChat(by_seed, method="top-logprobs")]
    pool = ReplicaPool([Replica(f"r{at}", chat) for at, chat in enumerate(chats)], lambda _: None)
    with pytest.raises(NoHonestScore, match="different ways \\(r0 by echo, r1 by top-logprobs\\)"):
        asyncio.run(_client(pool))


async def _client(pool: ReplicaPool) -> None:
    await pool.loglikelihood_client("auto", {})


def test_a_run_lives_as_long_as_one_of_its_replicas() -> None:
    """One deploy.sh that has ended is told by nobody but the pool; all of them end the run."""
    processes = [FakeRunningAdapter(), FakeRunningAdapter()]
    first, second = (LiveService(Service(base_url="http://x"), each, 8000 + at) for at, each in enumerate(processes))
    live = LiveService(first.service, first.running, first.port, others=(second,))
    processes[0].code = 1
    live.check()
    processes[1].code = 1
    with pytest.raises(AdapterFailed, match="exited with code 1 while it was being evaluated"):
        live.check()


@pytest.mark.parametrize(("kind", "gone"), [("refused", True), ("failed", False)])
def test_whether_one_may_come_back_is_told_with_its_end(kind: FaultKind, gone: bool) -> None:
    """One that nobody reaches may be back in a moment; one that fails what another answers is broken."""
    told = list[bool]()
    bad = Replica("bad", Dying(0, kind), lambda reason, gone: told.append(gone))
    pool = ReplicaPool([bad, Replica("good", Dying(None))], lambda sentence: None)

    async def ask_some() -> None:
        for number in range(10):
            await pool.ask(question(number))

    asyncio.run(ask_some())
    assert told == [gone]


def test_one_that_comes_with_another_model_is_named_and_not_asked() -> None:
    """The run goes on with those that it has."""
    late, dismissed, said = Service(base_url="http://b", model="other"), list[tuple[Service, bool]](), list[str]()

    class Source:
        def take_ready(self) -> list[Service]:
            return [late, Service(base_url="http://c", model="m")]

        def dismiss(self, service: Service, reason: str, *, gone: bool) -> None:
            dismissed.append((service, gone))

    source: Any = Source()
    live = LiveService(Service(base_url="http://a", model="m"), None, source=source)
    assert [each.name for each in live.joined(said.append)] == ["c"]
    assert dismissed == [(late, False)]
    assert "http://a and http://b are no replicas of one service: the first has the model 'm'" in said[0]


def test_servers_that_one_adapter_started_are_replicas_of_each_other() -> None:
    """Named by their addresses; one server alone needs no name."""
    lives = [LiveService(Service(base_url=f"http://h:800{at}", model="m"), None) for at in range(3)]
    whole = _as_one(lives)
    assert [each.name for each in (whole, *whole.others)] == ["h:8000", "h:8001", "h:8002"]
    assert _as_one(lives[:1]) is lives[0]
    other = LiveService(Service(base_url="http://h:8003", model="other"), None)
    with pytest.raises(AdapterFailed, match="http://h:8000 and http://h:8003 are no replicas of one service"):
        _as_one([*lives, other])


SHARE = 3


def question(number: int) -> Request:
    return Request(messages=(Message(role="user", content=f"sums {number}"),), n=1, seed=number)


async def ask_while_they_come(chats: list[Dying], asked: int, pauses: list[int], dismissed: list[str]) -> list[Reply]:
    """The first is there at the beginning; before each further one the loop goes around so often."""
    replicas = [
        Replica(f"r{at}", chat, lambda reason, gone, at=at: dismissed.append(f"r{at}"))  # type: ignore[misc]
        for at, chat in enumerate(chats)
    ]
    pool = ReplicaPool(replicas[:1], lambda sentence: None, share=SHARE)
    replies = [asyncio.ensure_future(pool.ask(question(number))) for number in range(asked)]
    for replica, pause in zip(replicas[1:], pauses, strict=False):
        for _ in range(pause):
            await asyncio.sleep(0)
        pool.add(replica)
    return await asyncio.gather(*replies)


@given(
    deaths=st.lists(st.none() | st.integers(0, 12), min_size=1, max_size=4),
    pauses=st.lists(st.integers(0, 30), min_size=5, max_size=5),
    asked=st.integers(1, 40),
)
def test_requests_wait_for_a_replica_that_answers(deaths: list[int | None], pauses: list[int], asked: int) -> None:
    """Whoever is lost, and whenever another comes: each request is answered, and all that were lost are told."""
    chats, dismissed = [*map(Dying, deaths), Dying(None)], list[str]()
    replies = asyncio.run(ask_while_they_come(chats, asked, pauses, dismissed))
    assert [reply.fault for reply in replies] == [None] * asked
    assert len(dismissed) == len(set(dismissed))
    assert {f"r{at}" for at, chat in enumerate(chats) if chat.died} == set(dismissed)


@given(count=st.integers(1, 4), pauses=st.lists(st.integers(0, 30), min_size=4, max_size=4))
def test_none_is_asked_more_than_its_share(count: int, pauses: list[int]) -> None:
    chats = [Dying(None) for _ in range(count)]
    asyncio.run(ask_while_they_come(chats, 60, pauses, []))
    assert max(chat.most for chat in chats) <= SHARE


@given(count=st.integers(1, 4), rounds=st.integers(1, 5))
def test_where_all_are_free_they_take_turns(count: int, rounds: int) -> None:
    chats = [Dying(None) for _ in range(count)]
    pool = ReplicaPool([Replica(f"r{at}", chat, lambda reason, gone: None) for at, chat in enumerate(chats)], print)

    async def ask_in_order() -> list[Reply]:
        return [await pool.ask(question(number)) for number in range(count * rounds)]

    names = [reply.replica for reply in asyncio.run(ask_in_order())]
    assert names == [f"r{at}" for at in range(count)] * rounds


@given(kind=st.sampled_from(["failed", "rejected"]), asked=st.integers(1, 20))
def test_a_request_that_fails_everywhere_ends(kind: FaultKind, asked: int) -> None:
    replies = asyncio.run(ask_while_they_come([Dying(0, kind), Dying(0, kind)], asked, [0], []))
    assert [reply.fault.kind if reply.fault else None for reply in replies] == [kind] * asked
