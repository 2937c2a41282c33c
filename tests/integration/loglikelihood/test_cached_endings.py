"""Endings without a context are the same in every problem, and cost the service one request in a run."""

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Literal

import pytest
from tests.integration.loglikelihood.tools import ask, likelihood_request
from tests.servers.hash_model import HashModel
from tests.servers.likelihood_server import VLLM, LikelihoodServer, Style
from tests.servers.loops import run

from model_accuracy_eval.client.given_texts import CachedEndings
from model_accuracy_eval.records import Candidate, Fault, Loglikelihood, LoglikelihoodRequest, Reply

BARE = (("", " Paris"), ("", " Rome"))
ENDINGS = [Candidate(context=context, continuation=ending) for context, ending in BARE]


def asked(style: Style, *likelihood_requests: LoglikelihoodRequest) -> tuple[list[Reply], Counter[str]]:
    """The replies, and how often each prompt was sent."""
    with LikelihoodServer(HashModel(), style=style) as server:
        _, _, replies = ask(server, *likelihood_requests)
        return replies, Counter(str(one.json["prompt"]) for one in server.requests if one.path == "/v1/completions")


@pytest.mark.parametrize("boundary", ["context", "shared"])
@pytest.mark.parametrize("style", [VLLM, replace(VLLM, tokenize=None)])
def test_l22_endings_without_a_context_are_requested_once(style: Style, boundary: Literal["context", "shared"]) -> None:
    """However many problems have them; each problem gets what it would get by itself."""
    several = [
        likelihood_request(*((f"the{city}", ending) for _, ending in BARE), *BARE, options=2, boundary=boundary)
        for city in (" cat", " Lon", " York")
    ]
    replies, prompts = asked(style, *several)
    alone = [asked(style, one) for one in several]
    assert [reply.loglikelihoods for reply in replies] == [reply.loglikelihoods for (reply,), _ in alone]
    first = alone[0][1]
    assert {prompt: prompts[prompt] for prompt in first} == first


class Slow:
    """Implements `given_texts.EndingMethod`: every answer waits until all who can ask have asked; the first is a fault."""

    def __init__(self, faults: int) -> None:
        self.asked: list[tuple[Candidate, ...]] = []
        self._faults = faults

    async def after_context(self, candidates: Sequence[Candidate]) -> list[Loglikelihood | Fault]:
        self.asked.append(tuple(candidates))
        broken = len(self.asked) <= self._faults
        for _ in range(10):
            await asyncio.sleep(0)
        return (
            [Fault(kind="failed", sentence="It broke.")] if broken else [Loglikelihood(logprob=-1.0)] * len(candidates)
        )

    distinct_parts = after_context

    async def full_text(self, text: str) -> Loglikelihood | Fault:
        return Loglikelihood(logprob=-float(len(text)))


def test_concurrent_requests_for_one_ending_wait_for_one_answer() -> None:
    """Four problems at once ask about two endings; each is asked once."""
    method = Slow(faults=0)
    once = CachedEndings(method)

    async def four() -> list[list[Loglikelihood | Fault]]:
        return list(await asyncio.gather(*(once.after_context(ENDINGS) for _ in range(4))))

    assert run(four()) == [[Loglikelihood(logprob=-1.0)] * 2] * 4
    assert sorted(method.asked, key=str) == [(one,) for one in ENDINGS]


def test_a_fault_is_not_kept() -> None:
    """The next problem asks again, and then it is known."""
    method = Slow(faults=1)
    once = CachedEndings(method)

    async def three() -> list[list[Loglikelihood | Fault]]:
        return [await once.distinct_parts(ENDINGS) for _ in range(3)]

    broken, *good = run(three())
    assert broken == [Fault(kind="failed", sentence="It broke.")]
    assert good == [[Loglikelihood(logprob=-1.0)] * 2] * 2
    assert len(method.asked) == 2
