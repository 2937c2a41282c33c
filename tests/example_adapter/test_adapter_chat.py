"""Chat completions, streamed and whole."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor

import pytest
from tests.example_adapter.client import Server
from tests.waiting import until

ASKED = {"n": 3, "seed": 11, "temperature": 1.3, "max_tokens": 12}


def test_a_whole_answer_has_choices_and_usage(server: Server) -> None:
    """27+58 at temperature 0 is 85, with a finish reason and an account of tokens that includes the end."""
    answer = server.chat("27+58=", temperature=0)
    assert answer.status == 200
    (choice,) = answer.json["choices"]
    assert choice["message"] == {"role": "assistant", "content": "85"}
    assert choice["finish_reason"] == "stop"
    assert answer.json["usage"] == {"prompt_tokens": 6, "completion_tokens": 3, "total_tokens": 9}
    assert answer.json["object"] == "chat.completion"
    assert answer.json["model"] == "weights"


def test_a_stream_says_what_a_whole_answer_says(server: Server) -> None:
    """Under a seed the joined deltas equal the whole texts, and so do finish reasons and usage."""
    whole = server.chat("48+77=", **ASKED).json
    events = server.chat("48+77=", stream=True, stream_options={"include_usage": True}, **ASKED).events
    texts, reasons = [""] * 3, [""] * 3
    for choice in (c for event in events for c in event["choices"]):
        texts[choice["index"]] += choice["delta"].get("content", "")
        reasons[choice["index"]] = choice["finish_reason"]
    assert texts == [choice["message"]["content"] for choice in whole["choices"]]
    assert reasons == [choice["finish_reason"] for choice in whole["choices"]]
    assert events[-1]["usage"] == whole["usage"]


@pytest.mark.parametrize("name", ["max_tokens", "max_completion_tokens"])
def test_length_ends_an_answer(server: Server, name: str) -> None:
    """After as many tokens as allowed an answer ends with the reason `length`."""
    answer = server.chat("27+58=", temperature=0, **{name: 1}).json
    assert answer["choices"][0]["message"]["content"] == "8"
    assert answer["choices"][0]["finish_reason"] == "length"
    assert answer["usage"]["completion_tokens"] == 1


@pytest.mark.parametrize(("stop", "stream"), [("5", False), (["857", "5"], True), (["85"], True)])
def test_a_stop_string_ends_the_text_before_it(server: Server, stop: str | list[str], stream: bool) -> None:
    """The text ends before the first stop string, and no part of one slips out through a stream."""
    answer = server.chat("27+58=", temperature=0, stop=stop, stream=stream)
    if stream:
        deltas = [c for event in answer.events for c in event["choices"]]
        text, reason = "".join(d["delta"].get("content", "") for d in deltas), deltas[-1]["finish_reason"]
    else:
        choice = answer.json["choices"][0]
        text, reason = choice["message"]["content"], choice["finish_reason"]
    assert text == ("" if stop == ["85"] else "8")
    assert reason == "stop"


def test_text_held_back_for_a_stop_string_is_not_lost(server: Server) -> None:
    """What only began like a stop string is part of the answer."""
    assert server.texts("27+58=", temperature=0, stop=["85x", "5y"]) == ["85"]


def test_logprobs_are_those_of_a_distribution(server: Server) -> None:
    """The likeliest 20 add up to nearly one, in falling order; at temperature 0 the first one is taken."""
    choice = server.chat("27+58=", temperature=0, logprobs=True, top_logprobs=20).json["choices"][0]
    entries = choice["logprobs"]["content"]
    assert [entry["token"] for entry in entries] == ["8", "5", "<eos>"]
    assert entries[0]["bytes"] == [ord("8")]
    for entry in entries:
        top = [other["logprob"] for other in entry["top_logprobs"]]
        assert len(top) == 20
        assert top == sorted(top, reverse=True)
        assert 0.99 < sum(map(math.exp, top)) <= 1 + 1e-9
        assert entry["top_logprobs"][0]["token"] == entry["token"]
        assert entry["logprob"] == top[0]


def test_top_p_narrows_the_choice(server: Server) -> None:
    """With a tiny top_p even a hot model says what a greedy one does."""
    greedy = server.texts("27+58=", temperature=0)
    assert server.texts("27+58=", temperature=2, top_p=1e-6, n=8, max_tokens=8) == greedy * 8


def test_a_client_that_hangs_up_frees_its_sequences(server: Server) -> None:
    """Streams cut in the middle leave the engine, be they flowing or waiting."""
    until(lambda: server.load() == 0, "nobody is answered any more")
    asked = b'{"messages":[{"role":"user","content":"a"}],"stream":true,"n":128,"temperature":60}'
    streams = [server.open("POST", "/v1/chat/completions", asked) for _ in range(3)]
    for connection, response in streams:
        assert response.read(10) == b'data: {"id'
        response.close()
        connection.close()
    until(lambda: server.load() == 0, "nobody is answered any more")
    assert server.texts("27+58=", temperature=0) == ["85"]


@pytest.mark.parametrize(
    ("fields", "status", "param"),
    [
        ({"temperature": "warm"}, 400, "temperature"),
        ({"messages": [{"role": "user", "content": "3×4="}]}, 400, "input_text"),
        ({"model": "another"}, 404, "model"),
    ],
)
def test_what_is_refused_is_named(server: Server, fields: dict[str, object], status: int, param: str) -> None:
    """A wrong value, a character outside the vocabulary and an unknown model."""
    answer = server.chat("1+1=", **fields)
    assert answer.status == status
    assert answer.json["error"]["param"] == param


def test_the_model_can_add_what_it_never_saw(server: Server, held_out: list[tuple[int, int]]) -> None:
    """At temperature 0 more than four in five of the held-out sums are right, yet not all."""

    def right(pair: tuple[int, int]) -> bool:
        return server.texts(f"{pair[0]}+{pair[1]}=", temperature=0, max_tokens=8) == [str(sum(pair))]

    with ThreadPoolExecutor(8) as pool:
        share = sum(pool.map(right, held_out[:200])) / 200
    assert 0.8 < share < 1
