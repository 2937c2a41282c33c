"""Probes where a service does not answer: what was not looked at is no PASS."""

import asyncio
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from model_accuracy_eval.diagnosis.probe import QUESTIONS, Needle, question
from model_accuracy_eval.diagnosis.probes import PROBES
from model_accuracy_eval.diagnosis.surprise import surprise
from model_accuracy_eval.diagnosis.token_chances import REST, TokenSampler
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


class Drawing(Giving):
    """Draws texts from a chain of tokens, `change` says with which chances it really draws."""

    def __init__(self, change: Callable[[NDArray[np.float64], list[int]], NDArray[np.float64]], seed: int) -> None:
        super().__init__(up=1000)
        self._change = change
        self._dice = np.random.default_rng(seed)
        self._chances = self._dice.dirichlet(np.full(12, 0.7), size=13)

    async def scored(self, requests: Sequence[Request], at_once: int = 1) -> list[ScoredReply | Fault]:
        return [ScoredReply(text="", tokens=self._answer()) for _ in requests]

    def _answer(self) -> tuple[ScoredToken, ...]:
        drawn: list[int] = []
        tokens = []
        for _ in range(20):
            chances = self._chances[drawn[-1] if drawn else 12]
            odds = self._change(chances, drawn)
            drawn.append(int(self._dice.choice(12, p=odds / odds.sum())))
            likeliest = tuple((str(at), float(np.log(max(chances[at], 1e-300)))) for at in np.argsort(-chances)[:8])
            tokens.append(ScoredToken(str(drawn[-1]), float(np.log(max(chances[drawn[-1]], 1e-300))), likeliest))
        return tuple(tokens)


def punished(chances: NDArray[np.float64], drawn: list[int]) -> NDArray[np.float64]:
    return np.where(np.isin(np.arange(12), drawn), chances * 0.7, chances)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda chances, drawn: chances**1.5 if drawn else chances, "From token 2 of an answer on"),
        (lambda chances, drawn: chances**1.5 if len(drawn) >= 8 else chances, "From token 9 of an answer on"),
        (lambda chances, drawn: np.where(chances < 0.1 * chances.max(), 0.0, chances), "less surprising"),
        (punished, "tokens were written a second time"),
    ],
)
def test_what_changes_the_draws_behind_a_first_token_is_told(
    change: Callable[[NDArray[np.float64], list[int]], NDArray[np.float64]], words: str
) -> None:
    result = asyncio.run(surprise(Drawing(change, 1), NEEDLES))
    assert result.state == "FAIL"
    assert words in result.sentence


def test_draws_as_the_chances_say_are_no_fault() -> None:
    """Of ten services of their own, with a rest that is not told."""
    results = [asyncio.run(surprise(Drawing(lambda chances, drawn: chances, seed), NEEDLES)) for seed in range(10)]
    assert {result.state for result in results} == {"PASS"}


def test_the_rest_is_no_token_of_its_own() -> None:
    """Together it may be likelier than a token that is drawn; one by one none of it is."""
    chances = {"a": 0.6, "b": 0.25, REST: 0.15}
    assert TokenSampler(top_p=0.8).of(chances) == pytest.approx({"a": 0.6 / 0.85, "b": 0.25 / 0.85})
    assert not TokenSampler(top_p=0.6).is_clear(chances)
    assert TokenSampler(top_p=0.7).is_clear(chances)
