"""Tokens of streamed replies, with their log-probabilities and ids, where a run asks for them."""

import json
from typing import Any

import httpx
import msgspec
import pytest
from tests.servers.replay import capture

from model_accuracy_eval.client.stream_parser import ParsedStream, StreamParser
from model_accuracy_eval.records import Attempt, Choice, ToldToken
from model_accuracy_eval.run_folder import journal


def choices(body: bytes, *, told: bool = True, n: int = 1) -> tuple[Choice, ...]:
    parser = StreamParser(n=n, told=told)
    parser.feed(body, 1.0)
    parsed = parser.result(httpx.Response(200, extensions={"sent": 0.0}))
    assert isinstance(parsed, ParsedStream), parsed
    return parsed.choices


@pytest.mark.parametrize("engine", ["vllm", "llamacpp"])
def test_those_that_engines_stream_are_kept(engine: str) -> None:
    body = capture(f"{engine}/stream_logprobs").body
    (choice,) = choices(body)
    assert all(token.logprob is not None and len(token.likeliest) >= 2 for token in choice.tokens)
    assert choice.tokens
    assert choices(body, told=False)[0].tokens == ()


def event(*parts: Any) -> bytes:
    return b"data: " + json.dumps({"choices": [*parts]}).encode() + b"\n\n"


def part(index: int, text: str, logprob: float | None, number: int | None = None, end: str | None = None) -> Any:
    told = {"content": [{"token": text, "logprob": logprob, "top_logprobs": [{"token": "x", "logprob": -3.0}]}]}
    ids = {} if number is None else {"token_ids": [number]}
    return {"index": index, "delta": {"content": text}, "logprobs": told, "finish_reason": end, **ids}


def test_each_choice_has_its_own_and_the_journal_gives_them_back() -> None:
    """With ids where they are told; null is no log-probability, and stays one."""
    first, second = choices(
        event(part(0, "a", -0.5, 7)) + event(part(1, "b", None)) + event(part(0, "c", -1.0, 8, "stop"))
        + event({"index": 1, "delta": {"content": "d"}, "logprobs": 5, "finish_reason": "stop"}),
        n=2,
    )  # fmt: skip
    likeliest = (("x", -3.0),)
    assert first.tokens == (
        ToldToken(text="a", logprob=-0.5, likeliest=likeliest, id=7),
        ToldToken(text="c", logprob=-1.0, likeliest=likeliest, id=8),
    )
    assert (second.text, second.tokens) == ("bd", (ToldToken(text="b", likeliest=likeliest),))
    line = msgspec.json.encode(
        journal.AnswerLine(
            data_abbr="d", id=1, success=True, uuid="", origin_prompt=msgspec.Raw(b"[]"), prediction="ac", gold="", index=0,
            tokens=first.tokens,
        )
    )  # fmt: skip
    assert journal.attempt(line) == Attempt(problem=1, index=0, text="ac", tokens=first.tokens)
