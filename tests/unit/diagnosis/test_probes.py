"""Probes where a service does not answer: what was not looked at is no PASS."""

import asyncio
from collections.abc import Sequence

import pytest

from model_accuracy_eval.diagnosis.probe import QUESTIONS, Needle, question
from model_accuracy_eval.diagnosis.probes import PROBES
from model_accuracy_eval.records import Choice, Fault, ReadAgain, Reply, Request, ScoredReply, ScoredToken, Timings

BUSY = Fault(kind="failed", sentence="HTTP 503.")
NEEDLES = [Needle(question(text), "42 and 17") for text in QUESTIONS]


class Giving:
    """Answers alike as long as fewer than so many requests are in flight."""

    salt = "12345678"

    def __init__(self, up: int) -> None:
        self._up = up

    async def ask(self, requests: Sequence[Request], at_once: int = 1) -> list[Reply]:
        if at_once >= self._up:
            return [Reply(id="", fault=BUSY) for _ in requests]
        choice = Choice(text="42 and 17", finish_reason="stop", timings=Timings(e2e=0.1))
        return [Reply(id="", choices=(choice,)) for _ in requests]

    async def scored(self, requests: Sequence[Request], at_once: int = 1) -> list[ScoredReply | Fault]:
        likeliest = (("42", -0.7), ("17", -0.7))
        return [ScoredReply(text="42 and 17", tokens=(ScoredToken("42", -0.7, likeliest),)) for _ in requests]

    async def rescored(self, prompt: str, tokens: int) -> ReadAgain | Fault:
        return BUSY

    async def abandon(
        self, requests: Sequence[Request], seconds: float, beside: Sequence[Request], at_once: int
    ) -> list[Reply]:
        return await self.ask(beside, at_once)


@pytest.mark.parametrize("name", [probe.name for probe in PROBES])
def test_silence_is_no_pass(name: str) -> None:
    probe = next(probe for probe in PROBES if probe.name == name)
    result = asyncio.run(probe.look(Giving(1), NEEDLES))
    assert result.state == "SKIP", result


def test_a_service_that_gives_up_under_load_passes_up_to_there() -> None:
    load = next(probe for probe in PROBES if probe.name == "load")
    result = asyncio.run(load.look(Giving(32), NEEDLES))
    assert (result.state, result.sentence) == (
        "PASS",
        "36 answers are the same with up to 16 requests in flight. At 32: Only 0 of 36 requests were answered.",
    )
