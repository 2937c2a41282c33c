"""Weighs over real HTTP, and says what the model itself thinks of the same endings."""

from collections.abc import Sequence
from typing import Any, Literal

from tests.servers.asking import PATIENCE, Naps
from tests.servers.hash_model import HashModel
from tests.servers.likelihood_server import LikelihoodServer, Style
from tests.servers.loops import run

from model_accuracy_eval.records import Ballot, Candidate, Likelihood, Message, Patience, Reply, Request, Service, Weigh
from model_accuracy_eval.rim.service.chat import connect

QUESTION = Request(messages=(Message(role="user", content="Question\n\nA. x\nB. y"),))


def ballot(
    *candidates: tuple[str, str],
    options: int | None = None,
    boundary: Literal["context", "shared"] = "context",
    rolling: bool = False,
) -> Ballot:
    made = tuple(Candidate(context=context, continuation=ending) for context, ending in candidates)
    return Ballot(
        request=QUESTION,
        candidates=made,
        options=len(made) if options is None else options,
        boundary=boundary,
        rolling=rolling,
    )


def ask(
    server: LikelihoodServer, *ballots: Ballot, wish: Weigh = "auto", patience: Patience = PATIENCE, extra: Any = None
) -> tuple[str, tuple[str, ...], list[Reply]]:
    """The rung that was taken, what was found on the way to it, and the replies."""

    async def conversation() -> tuple[str, tuple[str, ...], list[Reply]]:
        chat = connect(Service(base_url=server.url, model="hash"), patience, sleep=Naps(), chance=lambda: 1.0)
        try:
            scale = await chat.scale(wish, extra or {})
            return scale.rung, scale.findings, [await scale.weigh(one) for one in ballots]
        finally:
            await chat.close()

    return run(conversation())


def weighed(style: Style, *candidates: tuple[str, str], **more: Any) -> tuple[Likelihood | None, ...]:
    with LikelihoodServer(style=style) as server:
        _, _, (reply,) = ask(server, ballot(*candidates, **more))
    assert reply.fault is None, reply.fault
    return reply.weighed


def truth(model: HashModel, context: str, ending: str, *, bos: bool = True) -> Likelihood:
    """From the ids: what follows the tokens that context and whole have in common, behind a token that opens them."""
    kept = context.rstrip()
    whole = model.vocabulary.encode(context + ending, bos=bos)
    before = model.vocabulary.encode(kept, bos=bos)
    begin = common([before, whole])
    if begin == 0:
        whole, begin = [model.vocabulary.bos, *whole], 1
    return of(model, whole, begin)


def of(model: HashModel, ids: Sequence[int], begin: int) -> Likelihood:
    logprob, greedy = model.weigh(ids, begin)
    return Likelihood(logprob=logprob, tokens=len(ids) - begin, greedy=greedy)


def common(several: Sequence[Sequence[int]]) -> int:
    count = 0
    while all(len(one) > count for one in several) and len({one[count] for one in several}) == 1:
        count += 1
    return count


def same(found: Likelihood | None, wanted: Likelihood, tolerance: float = 1e-9) -> bool:
    return (
        found is not None
        and abs(found.logprob - wanted.logprob) < tolerance
        and (found.tokens, found.greedy) == (wanted.tokens, wanted.greedy)
    )
