"""Endings after nothing are the same in every problem, and cost the service one question in a run."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import pytest
from tests.integration.weighing.tools import ask, ballot
from tests.servers.hash_model import HashModel
from tests.servers.likelihood_server import VLLM, LikelihoodServer, Style
from tests.servers.loops import run

from model_accuracy_eval.records import Ballot, Candidate, Fault, Likelihood, Reply
from model_accuracy_eval.rim.service.weighing.once import Once

BARE = (("", " Paris"), ("", " Rome"))
ENDINGS = [Candidate(context=context, continuation=ending) for context, ending in BARE]


def asked(style: Style, *ballots: Ballot) -> tuple[list[Reply], Counter[str]]:
    """The replies, and how often each prompt was sent."""
    with LikelihoodServer(HashModel(), style=style) as server:
        _, _, replies = ask(server, *ballots)
        return replies, Counter(str(one.json["prompt"]) for one in server.requests if one.path == "/v1/completions")


@pytest.mark.parametrize("boundary", ["context", "shared"])
@pytest.mark.parametrize("style", [VLLM, replace(VLLM, tokenize=None)])
def test_l22_endings_after_nothing_are_asked_once(style: Style, boundary: Literal["context", "shared"]) -> None:
    """However many problems weigh them; each problem gets what it would get by itself."""
    several = [
        ballot(*((f"the{city}", ending) for _, ending in BARE), *BARE, options=2, boundary=boundary)
        for city in (" cat", " Lon", " York")
    ]
    replies, prompts = asked(style, *several)
    alone = [asked(style, one) for one in several]
    assert [reply.weighed for reply in replies] == [reply.weighed for (reply,), _ in alone]
    first = alone[0][1]
    assert {prompt: prompts[prompt] for prompt in first} == first


class Slow:
    """Implements `texts.Method`: every answer waits until all who can ask have asked; the first is a fault."""

    def __init__(self, faults: int) -> None:
        self.asked: list[tuple[Candidate, ...]] = []
        self._faults = faults

    async def after(self, candidates: Sequence[Candidate]) -> list[Likelihood | Fault]:
        self.asked.append(tuple(candidates))
        broken = len(self.asked) <= self._faults
        for _ in range(10):
            await asyncio.sleep(0)
        return [Fault(kind="failed", sentence="It broke.")] if broken else [Likelihood(logprob=-1.0)] * len(candidates)

    shared = after

    async def whole(self, text: str) -> Likelihood | Fault:
        return Likelihood(logprob=-float(len(text)))


def test_who_comes_meanwhile_waits_for_the_same_answer() -> None:
    """Four problems at once ask about two endings; each is asked once."""
    method = Slow(faults=0)
    once = Once(method)

    async def four() -> list[list[Likelihood | Fault]]:
        return list(await asyncio.gather(*(once.after(ENDINGS) for _ in range(4))))

    assert run(four()) == [[Likelihood(logprob=-1.0)] * 2] * 4
    assert sorted(method.asked, key=str) == [(one,) for one in ENDINGS]


def test_a_fault_is_not_kept() -> None:
    """The next problem asks again, and then it is known."""
    method = Slow(faults=1)
    once = Once(method)

    async def three() -> list[list[Likelihood | Fault]]:
        return [await once.shared(ENDINGS) for _ in range(3)]

    broken, *good = run(three())
    assert broken == [Fault(kind="failed", sentence="It broke.")]
    assert good == [[Likelihood(logprob=-1.0)] * 2] * 2
    assert len(method.asked) == 2
