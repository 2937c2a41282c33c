"""Probes where a service does not answer: what was not looked at is no PASS."""

import asyncio
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.fake_ports import MuteSubject

from model_accuracy_eval.diagnosis.probe import QUESTIONS, Needle, ProbeResult, question
from model_accuracy_eval.diagnosis.probes import PROBES, diagnose
from model_accuracy_eval.diagnosis.surprise import surprise
from model_accuracy_eval.diagnosis.token_chances import REST, TokenSampler, among, as_shown, chances_of
from model_accuracy_eval.records import Choice, Fault, Reply, Request, ScoredReply, ScoredToken, Timings

BUSY = Fault(kind="failed", sentence="HTTP 503.")
NEEDLES = [Needle(question(text), "42 and 17") for text in QUESTIONS]


class Giving(MuteSubject):
    """Answers alike as long as fewer than so many requests are in flight."""

    def __init__(self, up: int) -> None:
        self._up = up

    async def ask(self, requests: Sequence[Request], at_once: int = 1) -> list[Reply]:
        if at_once >= self._up:
            return [Reply(id="", fault=BUSY) for _ in requests]
        choice = Choice(text="42 and 17", finish_reason="stop", timings=Timings(e2e=0.1))
        return [Reply(id="", choices=(choice,)) for _ in requests]

    async def scored(self, requests: Sequence[Request], at_once: int = 1) -> list[ScoredReply | Fault]:
        if at_once >= self._up:
            return [BUSY for _ in requests]
        likeliest = (("42", -0.7), ("17", -0.7))
        return [ScoredReply(text="42 and 17", tokens=(ScoredToken("42", -0.7, likeliest),)) for _ in requests]

    async def answered(self, asked: Sequence[tuple[Request, bool]], at_once: int = 1) -> list[ScoredReply | Fault]:
        if at_once >= self._up:
            return [BUSY for _ in asked]
        return [ScoredReply(text="42 and 17", finish_reason="stop") for _ in asked]


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


class TippingOver(Giving):
    """A near tie tips over where eight or more are in flight, as rounding does."""

    async def ask(self, requests: Sequence[Request], at_once: int = 1) -> list[Reply]:
        text = "17 and 42" if at_once >= 8 else "42 and 17"
        choice = Choice(text=text, finish_reason="stop", timings=Timings(e2e=0.1))
        return [Reply(id="", choices=(choice,)) for _ in requests]


@pytest.mark.parametrize(("strict", "state"), [(False, "PASS"), (True, "FAIL")])
def test_strict_takes_rounding_for_a_fault(strict: bool, state: str) -> None:
    async def looked() -> dict[str, ProbeResult]:
        seen = diagnose(TippingOver(1000), lambda: 60.0, only=("load",), strict=strict)
        return {name: result async for name, result in seen}

    load = asyncio.run(looked())["load"]
    assert load.state == state
    assert ("wrong from 8" in load.sentence) == strict


class Drawing(Giving):
    """Draws texts from a chain of tokens, `change` says with which chances it really draws."""

    def __init__(
        self,
        change: Callable[[NDArray[np.float64], list[int]], NDArray[np.float64]],
        seed: int,
        evenness: float = 0.7,
        texts: Sequence[str] = tuple(map(str, range(12))),
        *,
        tells_drawn: bool = False,
    ) -> None:
        """`evenness`: of the chances, of which only eight are told; `tells_drawn`: a ninth in the place of the last, if
        it is drawn. `texts`: of the twelve tokens."""
        super().__init__(up=1000)
        self._change, self._texts, self._tells_drawn = change, texts, tells_drawn
        self._dice = np.random.default_rng(seed)
        self._chances = self._dice.dirichlet(np.full(12, evenness), size=13)
        self._logprobs = np.log(self._chances.clip(1e-300)).tolist()
        self._told = np.argsort(-self._chances)[:, :8].tolist()

    async def scored(self, requests: Sequence[Request], at_once: int = 1) -> list[ScoredReply | Fault]:
        return [ScoredReply(text="", tokens=self._answer(request)) for request in requests]

    def _answer(self, request: Request) -> tuple[ScoredToken, ...]:
        drawn: list[int] = []
        tokens = []
        for _ in range(20):
            state = drawn[-1] if drawn else 12
            chances = self._chances[state]
            odds = self._change(chances, drawn) ** (1 / request.temperature)
            if request.top_p < 1:
                order = np.argsort(-odds)
                before = (odds[order].cumsum() - odds[order]) / odds.sum()
                odds[order[before >= request.top_p]] = 0.0
            sums = odds.cumsum()
            token = int(sums.searchsorted(self._dice.random() * sums[-1], side="right"))
            drawn.append(token)
            told = self._told[state]
            if self._tells_drawn and token not in told:
                told = [*told[:-1], token]
            logprobs = self._logprobs[state]
            likeliest = tuple((self._texts[at], logprobs[at]) for at in told)
            tokens.append(ScoredToken(self._texts[token], logprobs[token], likeliest))
        return tuple(tokens)


def punished(chances: NDArray[np.float64], drawn: list[int]) -> NDArray[np.float64]:
    return np.where(np.isin(np.arange(12), drawn), chances * 0.7, chances)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda chances, drawn: chances**1.5 if drawn else chances, "from token 2 of an answer on"),
        (lambda chances, drawn: chances**1.5 if len(drawn) >= 8 else chances, "from token 9 of an answer on"),
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


@pytest.mark.parametrize("tells_drawn", [False, True])
@pytest.mark.parametrize(
    ("evenness", "texts"),
    [
        (0.7, range(12)),
        (5.0, range(12)),
        (0.3, [1, 1, 1, 1, 1, 1, 6, 7, 8, 9, 10, 11]),
        (5.0, ["\ufffd"] * 5 + [*"\0abcdef"]),
    ],
)
def test_draws_as_the_chances_say_are_no_fault(evenness: float, texts: Sequence[object], tells_drawn: bool) -> None:
    """Of ten services of their own: with a rest that is not told, be it large, and tokens that show one text."""
    shown = tuple(map(str, texts))
    services = [
        Drawing(lambda chances, drawn: chances, seed, evenness, shown, tells_drawn=tells_drawn) for seed in range(10)
    ]
    assert {asyncio.run(surprise(service, NEEDLES)).state for service in services} == {"PASS"}


def test_the_rest_is_no_token_of_its_own() -> None:
    """Together it may be likelier than a token that is drawn; one by one none of it is."""
    chances = {"a": 0.6, "b": 0.25, REST: 0.15}
    assert TokenSampler(top_p=0.8).of(chances) == pytest.approx({"a": 0.6 / 0.85, "b": 0.25 / 0.85})
    assert not TokenSampler(top_p=0.6).is_clear(chances)
    assert TokenSampler(top_p=0.7).is_clear(chances)


def test_a_mark_that_a_reply_shows_is_the_token_that_ends_others() -> None:
    """Some services show such tokens, and some leave them out."""
    told = as_shown({"<think>": 0.3, "a": 0.6, REST: 0.1})
    assert [among(told, text) for text in ("<think>", "", " a", "b")] == ["", "", "a", REST]


def test_tokens_without_a_text_are_no_blank() -> None:
    """Reserved tokens and a blank look alike in a reply: which one was drawn is not known, so none of them is."""
    token = ScoredToken("5", -0.3, (("5", -0.3), ("4", -1.4), ("", -9.0), ("", -9.0), (" ", -9.0)))
    assert chances_of(token).keys() == {"5", "4", REST}
