"""The older completions endpoint: prompts of four kinds, echo, logprobs."""

from __future__ import annotations

import pytest
from tests.example_adapter.client import Server

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
