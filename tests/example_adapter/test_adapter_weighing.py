"""Texts weighed on a real model, which the example adapter serves."""

from __future__ import annotations

import math

from tests.example_adapter.client import Server
from tests.servers.asking import weigh

from model_accuracy_eval.records import (
    Candidate,
    LoglikelihoodRequest,
    Message,
    Request,
    Service,
)


def service(server: Server) -> Service:
    return Service(base_url=f"http://127.0.0.1:{server.port}", model=server.model)


def sums(pair: tuple[int, int], *answers: int) -> LoglikelihoodRequest:
    question = f"{pair[0]}+{pair[1]}="
    return LoglikelihoodRequest(
        request=Request(messages=(Message(role="user", content=question),)),
        candidates=tuple(Candidate(context=question, continuation=str(answer)) for answer in answers),
        options=len(answers),
    )


def test_l40_endings_weigh_what_the_server_says_of_them(server: Server) -> None:
    """Summed by hand from an echo without any generation."""
    _, findings, (reply,) = weigh(service(server), sums((27, 58), 85, 84, 8))
    assert findings == ("echo: token ids come from the service's tokenizer, context length 2048.",)
    for answer, found in zip(("85", "84", "8"), reply.loglikelihoods, strict=True):
        echo = server.complete(f"27+58={answer}", echo=True, logprobs=1, max_tokens=0).json["choices"][0]["logprobs"]
        assert found is not None
        assert math.isclose(found.logprob, sum(echo["token_logprobs"][6:]), abs_tol=1e-6)
        assert found.tokens == len(answer)


def test_the_right_sum_is_the_likeliest_option(server: Server, held_out: list[tuple[int, int]]) -> None:
    """Of five sums near each other, for most of the sums that the model never saw."""
    pairs = held_out[:60]
    *_, replies = weigh(service(server), *(sums(pair, *(sum(pair) + by for by in (0, 1, -1, 10, 2))) for pair in pairs))
    right = 0
    for reply in replies:
        told = [one.logprob for one in reply.loglikelihoods if one is not None]
        right += told.index(max(told)) == 0
    assert right / len(pairs) > 0.8


def test_l22_l26_a_whole_text_begins_behind_a_token_that_opens_it(server: Server) -> None:
    """This model's tokenizer adds none, and `<eos>` is the one that it knows; windows come together to the whole."""
    text = "27+58=85\n" * 300
    asked = LoglikelihoodRequest(
        request=sums((1, 1)).request, candidates=(Candidate(context="", continuation=text),), options=1, rolling=True
    )
    *_, (reply,) = weigh(service(server), asked)
    assert reply.fault is None
    assert reply.loglikelihoods[0] is not None
    assert reply.loglikelihoods[0].tokens == len(text)
