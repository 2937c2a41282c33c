"""First tokens before a run: what is told of services that draw in a known way."""

import asyncio
from collections import Counter
from collections.abc import Callable, Sequence

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.fake_ports import MuteSubject

from model_accuracy_eval.diagnosis.probe import ProbeResult
from model_accuracy_eval.diagnosis.run_settings import DrawSetting, run_settings
from model_accuracy_eval.diagnosis.token_chances import REST, FirstTokens, TokenSampler, as_shown, likelier_samplers
from model_accuracy_eval.records import Choice, Fault, Reply, Request, ScoredReply, ScoredToken, Timings

CHANCES = np.array([0.5, 0.2, 0.15, 0.08, 0.04, 0.03])
Draw = Callable[[Request, NDArray[np.float64]], NDArray[np.float64]]


class Chances(MuteSubject):
    """Shows these chances, and draws as `draw` makes of them."""

    def __init__(self, draw: Draw, copies: bool = False) -> None:
        self._draw, self._copies = draw, copies
        self._dice = np.random.default_rng(5)

    async def scored(self, requests: Sequence[Request], at_once: int = 1) -> list[ScoredReply | Fault]:
        token = ScoredToken("a", 0.0, tuple((chr(97 + at), float(np.log(p))) for at, p in enumerate(CHANCES)))
        return [ScoredReply(text="a", tokens=(token,)) for _ in requests]

    async def ask(self, requests: Sequence[Request], at_once: int = 1) -> list[Reply]:
        return [Reply(id="", choices=tuple(self._choices(request))) for request in requests]

    def _choices(self, request: Request) -> list[Choice]:
        warm = CHANCES ** (1 / max(request.temperature, 1e-3))
        odds = self._draw(request, warm / warm.sum())
        drawn = self._dice.choice(6, size=request.n, p=odds / odds.sum())
        texts = [chr(97 + (drawn[0] if self._copies else each)) for each in drawn]
        return [Choice(text=text, finish_reason="length", timings=Timings(e2e=0.1)) for text in texts]


def with_min_p(chances: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(chances >= 0.1 * chances.max(), chances, 0.0)


def by_default(request: Request, chances: NDArray[np.float64]) -> NDArray[np.float64]:
    return chances if request.extra.get("min_p") == 0 else with_min_p(chances)


def found(
    draw: Draw, *, copies: bool = False, temperature: float = 1.0, own: dict[str, float] | None = None, **fields: object
) -> ProbeResult:
    setting = DrawSetting(temperature, 1.0, dict(fields), own or {})
    look = run_settings(Chances(draw, copies), [setting], draws=400, choices=5, seed=0, at_once=8)
    return asyncio.run(look)


@pytest.mark.parametrize(
    ("result", "state", "words"),
    [
        (found(lambda request, chances: chances), "PASS", "as often as with temperature 1"),
        (found(lambda request, chances: chances, temperature=0.7), "PASS", "temperature 0.7"),
        (found(lambda request, chances: chances, temperature=0.0), "PASS", "temperature 0"),
        (found(lambda request, chances: with_min_p(chances)), "FAIL", "min_p 0.1"),
        (found(lambda request, chances: chances**2), "FAIL", "temperature 0.5"),
        (found(lambda request, chances: np.ones(6), temperature=0.0), "FAIL", "Asked for always the likeliest token"),
        (found(lambda request, chances: chances[::-1]), "FAIL", "fit no simple sampler"),
        (found(lambda request, chances: chances, copies=True), "FAIL", "choices of a request are copies"),
        (found(by_default), "PASS", "a default of its own"),
        (found(by_default, own={"min_p": 0.1}), "PASS", "as with min_p 0.1"),
        (found(by_default, own={"min_p": 0.1}, min_p=0), "PASS", "as with temperature 1"),
        (found(lambda request, chances: chances, repetition_penalty=1.1), "SKIP", "behind penalties"),
        (found(lambda request, chances: chances, presence_penalty=1.5), "SKIP", "behind penalties"),
        (found(lambda request, chances: chances, mirostat=0, typical_p=1.0, top_k=-1), "PASS", "as with temperature 1"),
        (found(lambda request, chances: chances, temperature=2.0), "SKIP", "above temperature 1"),
    ],
)
def test_what_draws_look_like_is_told(result: ProbeResult, state: str, words: str) -> None:
    assert result.state == state, result
    assert words in result.sentence


def test_a_right_sampler_is_seldom_taken_for_another() -> None:
    """The bound of the p-value holds, also where many samplers are close to the one that was asked for."""
    dice = np.random.default_rng(11)
    bounds = []
    for _ in range(300):
        shares = dice.dirichlet(np.full(8, 0.5))
        chances = {**{str(at): float(share) for at, share in enumerate(shares)}, REST: 0.0}
        asked = TokenSampler(temperature=float(dice.choice([0.5, 1.0])), min_p=float(dice.choice([0.0, 0.05])))
        expected = asked.of(chances)
        drawn = dice.choice(list(expected), size=200, p=list(expected.values()))
        bounds.append(likelier_samplers([FirstTokens(chances, Counter(map(str, drawn)))], asked)[1])
    assert sum(bound <= 0.01 for bound in bounds) <= 3
    assert sum(bound <= 0.1 for bound in bounds) <= 30


def test_tokens_that_show_the_same_text_are_drawn_apart() -> None:
    """At temperature 0.5, two tokens of a fifth each are less together than one of two fifths."""
    chances = {"a": 0.6, "b": 0.2, " b": 0.2, REST: 0.0}
    expected = as_shown(TokenSampler(0.5).of(chances))
    assert expected["b"] == pytest.approx(0.08 / 0.44)


def test_no_two_choices_have_the_same_dice() -> None:
    """Two questions with equal seeds are drawn alike, and count as one."""
    service, asked = Chances(lambda request, chances: chances), list[Request]()

    async def ask(requests: Sequence[Request], at_once: int = 1) -> list[Reply]:
        asked.extend(requests)
        return await Chances.ask(service, requests, at_once)

    service.ask = ask  # type: ignore[method-assign]
    setting = DrawSetting(1.0, 1.0, {}, {})
    asyncio.run(run_settings(service, [setting], draws=100, choices=5, seed=7, at_once=8))
    seeds = [seed for request in asked for seed in range(request.seed or 0, (request.seed or 0) + request.n)]
    assert len(seeds) == len({*seeds}) == 100
