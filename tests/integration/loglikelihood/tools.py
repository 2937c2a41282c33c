"""Asks for log-likelihoods over real HTTP, and computes those of the model itself."""

from collections.abc import Sequence
from typing import Any, Literal

from tests.servers.asking import Naps, weigh
from tests.servers.hash_model import HashModel
from tests.servers.likelihood_server import LikelihoodServer, Style

from model_accuracy_eval.records import (
    Candidate,
    Loglikelihood,
    LoglikelihoodRequest,
    Message,
    Reply,
    Request,
    Service,
)

QUESTION = Request(messages=(Message(role="user", content="Question\n\nA. x\nB. y"),))


def likelihood_request(
    *candidates: tuple[str, str],
    options: int | None = None,
    boundary: Literal["context", "shared"] = "context",
    rolling: bool = False,
) -> LoglikelihoodRequest:
    made = tuple(Candidate(context=context, continuation=ending) for context, ending in candidates)
    return LoglikelihoodRequest(
        request=QUESTION,
        candidates=made,
        options=len(made) if options is None else options,
        boundary=boundary,
        rolling=rolling,
    )


def ask(
    server: LikelihoodServer, *requests: LoglikelihoodRequest, **more: Any
) -> tuple[str, tuple[str, ...], list[Reply]]:
    """What `weigh` says of the model, with waits that cost no time."""
    return weigh(Service(base_url=server.url, model="hash"), *requests, sleep=Naps(), chance=lambda: 1.0, **more)


def loglikelihoods(style: Style, *candidates: tuple[str, str], **more: Any) -> tuple[Loglikelihood | None, ...]:
    with LikelihoodServer(style=style) as server:
        _, _, (reply,) = ask(server, likelihood_request(*candidates, **more))
    assert reply.fault is None, reply.fault
    return reply.loglikelihoods


def truth(model: HashModel, context: str, ending: str, *, bos: bool = True) -> Loglikelihood:
    """From the ids: what follows the tokens that context and whole have in common, behind a token that opens them."""
    kept = context.rstrip()
    whole = model.vocabulary.encode(context + ending, bos=bos)
    before = model.vocabulary.encode(kept, bos=bos)
    begin = common([before, whole])
    if begin == 0:
        whole, begin = [model.vocabulary.bos, *whole], 1
    return of(model, whole, begin)


def of(model: HashModel, ids: Sequence[int], begin: int) -> Loglikelihood:
    logprob, greedy = model.loglikelihood(ids, begin)
    return Loglikelihood(logprob=logprob, tokens=len(ids) - begin, greedy=greedy)


def common(several: Sequence[Sequence[int]]) -> int:
    count = 0
    while all(len(one) > count for one in several) and len({one[count] for one in several}) == 1:
        count += 1
    return count


def same(found: Loglikelihood | None, wanted: Loglikelihood, tolerance: float = 1e-9) -> bool:
    return (
        found is not None
        and abs(found.logprob - wanted.logprob) < tolerance
        and (found.tokens, found.greedy) == (wanted.tokens, wanted.greedy)
    )
