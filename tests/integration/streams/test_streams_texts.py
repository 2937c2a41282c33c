"""Texts instead of conversations, and stop strings that no server keeps for us."""

import pytest
from tests.integration.streams.completions import Completions
from tests.servers.asking import ask, question, said
from tests.servers.fault_server import FaultServer, Style

from model_accuracy_eval.records import Request, Usage


def text(prompt: str = "1 + 1 =", **more: object) -> Request:
    return Request(messages=(), text=prompt, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize("piece", [1, 3, 100])
def test_a_text_is_completed_as_it_is_streamed(piece: int) -> None:
    """Choices interleaved, each with its own text, finish reason and times; usage at the end."""
    texts = [' 2, of course: é中😀 \\ "quoted"\n', " two"]
    with Completions(texts, piece=piece) as server:
        (reply,) = ask(server.url, text(n=2, stop=("\n\n",), seed=3, max_tokens=9))
        (exchange,) = server.requests
    assert said(reply) == [(one, "", "stop") for one in texts]
    assert reply.usage == Usage(prompt_tokens=4, completion_tokens=7)
    assert all(choice.timings.ttft is not None and choice.timings.chunks > 0 for choice in reply.choices)
    assert exchange.path == "/v1/completions"
    assert exchange.json == {
        "model": "m", "prompt": "1 + 1 =", "stream": True, "stream_options": {"include_usage": True}, "n": 2,
        "temperature": 1.0, "top_p": 1.0, "max_tokens": 9, "seed": 3, "stop": ["\n\n"],
    }  # fmt: skip


STOPS = ("1", "2", "3", "4", "harbour", "island")


def test_c9_servers_get_four_stops_and_all_count() -> None:
    """The fifth ends the answer here, and its finish reason is no other than the first's would be."""
    with FaultServer(lambda _: "amber dune harbour forest " * 20, style=Style(reason="length")) as server:
        (reply,) = ask(server.url, question(stop=STOPS))
        assert server.requests[0].json["stop"] == ["1", "2", "3", "4"]
    assert said(reply) == [("amber dune ", "", "stop")]


@pytest.mark.parametrize("piece", [1, 2, 5, 1000])
@pytest.mark.parametrize("stream", [True, False])
def test_c9_a_stop_is_found_across_pieces(piece: int, stream: bool) -> None:
    """However the text is cut, streamed or not."""
    with FaultServer(lambda _: "amber dune harbour", style=Style(piece=piece, stream=stream)) as server:
        (reply,) = ask(server.url, question(stop=STOPS))
    assert said(reply) == [("amber dune ", "", "stop")]


def test_an_empty_stop_stops_nothing() -> None:
    """It occurs everywhere."""
    with FaultServer(lambda _: "amber") as server:
        (reply,) = ask(server.url, question(stop=("", "dune")))
    assert said(reply) == [("amber", "", "stop")]
