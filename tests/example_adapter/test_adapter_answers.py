"""What the demo server answers: chat, streamed and whole, the older completions endpoint, and the same again under a seed."""

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


IDS = [21, 26, 14, 24, 27, 32]
"""The characters of 27+58= as tokens."""


@pytest.mark.parametrize(
    ("prompt", "count"), [("27+58=", 1), (["27+58=", "27+58="], 2), (IDS, 1), ([IDS, IDS, IDS], 3)]
)
def test_prompts_of_four_kinds(server: Server, prompt: object, count: int) -> None:
    """Text, texts, token ids and lists of token ids are all continued."""
    answer = server.complete(prompt, temperature=0).json
    assert [choice["text"] for choice in answer["choices"]] == ["85"] * count
    assert [choice["index"] for choice in answer["choices"]] == list(range(count))
    assert answer["usage"]["prompt_tokens"] == 6 * count
    assert answer["object"] == "text_completion"


def test_echo_alone_scores_a_text(server: Server) -> None:
    """With echo and max_tokens 0 the prompt comes back with a logprob for all tokens but the first."""
    answer = server.complete("27+58=85", echo=True, logprobs=0, max_tokens=0).json
    (choice,) = answer["choices"]
    assert choice["text"] == "27+58=85"
    assert choice["finish_reason"] == "length"
    assert answer["usage"] == {"prompt_tokens": 8, "completion_tokens": 0, "total_tokens": 8}
    block = choice["logprobs"]
    assert block["tokens"] == list("27+58=85")
    assert block["text_offset"] == list(range(8))
    assert block["token_logprobs"][0] is None
    assert block["top_logprobs"][0] is None
    assert all(set(top) == {token} for token, top in zip("7+58=85", block["top_logprobs"][1:], strict=True))


def test_echo_scores_as_chat_does(server: Server) -> None:
    """A token's logprob is the same read as part of a prompt and when it was generated."""
    chat = server.chat("27+58=", temperature=0, logprobs=True).json["choices"][0]["logprobs"]["content"]
    echoed = server.complete([[*IDS, 27, 24, 1]], echo=True, logprobs=1, max_tokens=0)
    block = echoed.json["choices"][0]["logprobs"]
    assert block["tokens"][6:] == [entry["token"] for entry in chat] == ["8", "5", "<eos>"]
    for read, written in zip(block["token_logprobs"][6:], chat, strict=True):
        assert read == pytest.approx(written["logprob"], abs=1e-4)


HOT = {"temperature": 1.5, "max_tokens": 12}


def test_choices_count_the_seed_up(server: Server) -> None:
    """Choice i of seed s is what a lone request with seed s + i says."""
    together = server.texts("48+77=", seed=-3, n=8, **HOT)
    assert together == [server.texts("48+77=", seed=seed, **HOT)[0] for seed in range(-3, 5)]
    assert len(set(together)) > 1


def test_without_a_seed_answers_differ(server: Server) -> None:
    """Without a seed every request rolls fresh dice."""
    asked = {"n": 16, "temperature": 3, "max_tokens": 12}
    assert server.texts("48+77=", **asked) != server.texts("48+77=", **asked)


def test_temperature_zero_is_greedy(server: Server) -> None:
    """At temperature 0 all choices are the likeliest text, whatever the seed."""
    assert len(set(server.texts("48+77=", temperature=0, n=5) + server.texts("48+77=", temperature=0, seed=9))) == 1


def test_company_does_not_change_an_answer(server: Server, held_out: list[tuple[int, int]]) -> None:
    """Seeded answers and their logprobs are the same, to the bit, alone and in a crowd."""

    def ask(number: int) -> list[object]:
        a, b = held_out[number]
        answer = server.chat(f"{a}+{b}=", seed=number, n=3, logprobs=True, stream=False, **HOT)
        return [(choice["message"], choice["logprobs"]) for choice in answer.json["choices"]]

    alone = [ask(number) for number in range(40)]
    with ThreadPoolExecutor(20) as pool:
        crowd = list(pool.map(ask, range(40)))
    assert crowd == alone
