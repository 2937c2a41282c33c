"""Replicas that join while a run asks: those that are there are asked no more than their share, and none is needed yet."""

import asyncio

from hypothesis import given
from hypothesis import strategies as st
from tests.unit.run.test_replica_pool import Dying

from model_accuracy_eval.records import FaultKind, Message, Reply, Request
from model_accuracy_eval.run.replica_pool import Replica, ReplicaPool

SHARE = 3


def question(number: int) -> Request:
    return Request(messages=(Message(role="user", content=f"sums {number}"),), n=1, seed=number)


async def ask_while_they_come(chats: list[Dying], asked: int, pauses: list[int], dismissed: list[str]) -> list[Reply]:
    """The first is there at the beginning; before each further one the loop goes around so often."""
    replicas = [
        Replica(f"r{at}", chat, lambda reason, at=at: dismissed.append(f"r{at}"))  # type: ignore[misc]
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


@given(kind=st.sampled_from(["failed", "rejected"]), asked=st.integers(1, 20))
def test_a_request_that_fails_everywhere_ends(kind: FaultKind, asked: int) -> None:
    replies = asyncio.run(ask_while_they_come([Dying(0, kind), Dying(0, kind)], asked, [0], []))
    assert [reply.fault.kind if reply.fault else None for reply in replies] == [kind] * asked
