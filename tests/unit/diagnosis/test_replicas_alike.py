"""Replicas beside each other: which of them answers otherwise, as far as that can be known."""

from math import log

import pytest

from model_accuracy_eval.diagnosis.reference import Trace, alike
from model_accuracy_eval.records import ScoredReply, ScoredToken, Usage


def trace(sure: float = 0.9, text: str = "a", prompt: int = 7) -> Trace:
    likeliest = ((text, log(sure)), ("b" if text == "a" else "a", log(1 - sure)))
    token = ScoredToken(text, log(sure), likeliest)
    usage = Usage(prompt_tokens=prompt, completion_tokens=1)
    return Trace(model="m", answers={str(at): ScoredReply(text=text, tokens=(token,), usage=usage) for at in range(9)})


@pytest.mark.parametrize(
    ("traces", "state", "words"),
    [
        ([trace(), trace(0.901), trace()], "PASS", "3 replicas answer alike"),
        ([trace(), trace(text="b")], "FAIL", "which one is at fault is not known: r1 beside r0"),
        ([trace(), trace(text="b"), trace()], "FAIL", "r1 answers otherwise than the 2 others, which agree"),
        ([trace(0.6), trace(), trace()], "FAIL", "r0 answers otherwise"),
        ([trace(), trace(), trace(prompt=8)], "FAIL", "has 8 tokens, and 7 there"),
        ([trace(text="<eos>"), trace(text="")], "PASS", "2 replicas answer alike"),
        ([trace(), trace(0.6), trace(text="b")], "FAIL", "which one is at fault is not known"),
    ],
)
def test_the_one_that_differs_is_named_where_that_can_be_known(traces: list[Trace], state: str, words: str) -> None:
    result = alike({f"r{at}": each for at, each in enumerate(traces)})
    assert (result.state, words in result.sentence) == (state, True), result
