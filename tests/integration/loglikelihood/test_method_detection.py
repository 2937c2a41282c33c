"""Which method is chosen, what is reported about the others, and how letters are scored where texts cannot be."""

from dataclasses import replace
from typing import Any

import msgspec
import pytest
from tests.integration.loglikelihood.tools import ask, likelihood_request
from tests.servers.asking import LIMITS
from tests.servers.http import Exchange
from tests.servers.likelihood_server import (
    LLAMA_CPP,
    LLAMA_CPP_NO_BOS,
    NOTHING,
    PROMPT_LOGPROBS,
    TOP,
    VLLM,
    VLLM_NO_BOS,
    LikelihoodServer,
    Style,
)
from tests.servers.replay import capture

from model_accuracy_eval.client.dialects import Completion, CompletionChoice
from model_accuracy_eval.client.prompt_logprobs import echo_tokens, position_token, sum_logprobs
from model_accuracy_eval.errors import NoHonestScore
from model_accuracy_eval.records import ClientLimits, Loglikelihood

METHODS: list[tuple[Style, str, str]] = [
    (VLLM, "echo", "token ids come from the service's tokenizer, context length 512."),
    (VLLM_NO_BOS, "echo", "token ids come from the service's tokenizer, context length 512."),
    (LLAMA_CPP, "echo", "endings are located by the texts of tokens, because /tokenize fails: HTTP 404"),
    (replace(VLLM, ids=False), "echo", "prompts of token ids fail: HTTP 500 Internal Server Error: a prompt must be a text"),
    (PROMPT_LOGPROBS, "prompt-logprobs", "echo: no log-probabilities are returned for the tokens of a given text."),
    (TOP, "top-logprobs", "echo: the service has no completions: HTTP 404"),
    (replace(TOP, top_logprobs=5), "top-logprobs", "the 5 most likely first tokens of an answer are returned"),
    (NOTHING, "extracted", "top-logprobs: The answer has no top_logprobs, in 2 tries."),
]  # fmt: skip


@pytest.mark.parametrize(("style", "method", "words"), METHODS)
def test_n7_the_most_exact_method_is_chosen(style: Style, method: str, words: str) -> None:
    """A sentence about every method says why."""
    with LikelihoodServer(style=style) as server:
        taken, findings, _ = ask(server)
        assert taken == method
        assert words in " ".join(findings)
        assert len(server.requests) <= 9


def test_log_probabilities_of_the_wrong_tokens_are_detected() -> None:
    """llama-cpp-python without a beginning token is one position off: generated and returned values do not agree."""
    with LikelihoodServer(style=LLAMA_CPP_NO_BOS) as server:
        taken, findings, _ = ask(server)
    assert taken == "extracted"
    assert "when the model generated that token, so it belongs to another token" in findings[0]


def test_zero_tokens_are_never_requested_where_that_means_no_limit() -> None:
    """Where 0 means "no limit", 0 is never asked."""
    with LikelihoodServer(style=LLAMA_CPP) as server:
        ask(server, likelihood_request(("the", " cat")))
        assert {one.json["max_tokens"] for one in server.requests if one.path == "/v1/completions"} == {1, 4}


@pytest.mark.parametrize(
    ("style", "setting"), [(TOP, "echo"), (NOTHING, "top-logprobs"), (LLAMA_CPP, "prompt-logprobs")]
)
def test_a_method_that_is_set_but_not_supported_ends_the_run(style: Style, setting: Any) -> None:
    """Nothing else is taken instead."""
    with LikelihoodServer(style=style) as server, pytest.raises(NoHonestScore) as error:
        ask(server, setting=setting)
    assert error.value.sentence.startswith(f"The service has no log-likelihoods by {setting}; {setting}: ")


@pytest.mark.parametrize("setting", ["top-logprobs", "extracted", "prompt-logprobs"])
def test_a_less_exact_method_can_be_set(setting: Any) -> None:
    """The most exact one is not even tried."""
    with LikelihoodServer(style=VLLM) as server:
        taken, findings, _ = ask(server, setting=setting)
        assert (taken, len(findings)) == (setting, 1)
        assert all("echo" not in one.json for one in server.requests)


class SparingServer(LikelihoodServer):
    """Leaves the probabilities out in most answers, as a server does whose draw shows no text."""

    asked = 0
    every = 3
    """In how many answers they are there once."""

    def _chat(self, exchange: Exchange, asked: dict[str, Any]) -> None:
        self.asked += bool(asked.get("logprobs"))
        if not asked.get("logprobs") or self.asked % self.every == 0:
            super()._chat(exchange, asked)
            return
        message = {"role": "assistant", "content": ""}
        choice = {"index": 0, "finish_reason": "stop", "message": message, "logprobs": {"content": []}}
        exchange.reply(200, {"choices": [choice]})


def test_probabilities_that_a_draw_left_out_are_asked_for_again() -> None:
    """What is drawn has no part in them: they are those of a server that always sends them."""
    requests = [likelihood_request(("x", " y"), ("x", " z"))] * 3
    with LikelihoodServer(style=TOP) as server:
        _, _, plain = ask(server, *requests)
    with SparingServer(style=TOP) as sparing:
        method, _, replies = ask(sparing, *requests)
    assert method == "top-logprobs"
    assert [reply.loglikelihoods for reply in replies] == [reply.loglikelihoods for reply in plain]
    assert [reply.tries for reply in replies] == [3, 3, 3]


class DryServer(SparingServer):
    """Gives them once, for the question about the method, and never again."""

    every = 2

    def _chat(self, exchange: Exchange, asked: dict[str, Any]) -> None:
        super()._chat(exchange, asked)
        self.every = self.every if self.asked < 2 else 10**9


def test_probabilities_that_never_come_again_end_with_the_next_step() -> None:
    """After forty draws the sample fails: so many are left out by chance only where nearly all are."""
    with DryServer(style=TOP) as server:
        _, _, (reply,) = ask(server, likelihood_request(("x", " y"), ("x", " z")))
    assert reply.fault is not None
    assert (reply.tries, reply.fault.kind) == (40, "failed")
    assert reply.fault.sentence == (
        "The answer has no top_logprobs, in 40 tries. Others had them; --loglikelihood extracted needs none."
    )


def test_extra_fields_are_sent_with_questions_about_letters_only() -> None:
    """They may switch thinking off; with given texts they could only change the log-probabilities."""
    with LikelihoodServer(style=VLLM) as server:
        ask(server, setting="top-logprobs", extra={"chat_template_kwargs": {"enable_thinking": False}})
        ask(server, setting="echo", extra={"chat_template_kwargs": {"enable_thinking": False}})
        for one in server.requests:
            assert ("chat_template_kwargs" in one.json) == (one.path == "/v1/chat/completions")


def test_candidates_of_a_problem_share_the_concurrency_of_the_run() -> None:
    """The candidates of a problem share the bound with everything else."""
    limits = ClientLimits(**{name: getattr(LIMITS, name) for name in LIMITS.__struct_fields__} | {"concurrency": 2})
    with LikelihoodServer(style=replace(VLLM, delay=0.01)) as server:
        ask(server, likelihood_request(*[("the", f" cat {number}") for number in range(12)]), limits=limits)
        assert server.peak == 2


def test_l40_real_echo_is_read_as_it_was_sent() -> None:
    """vLLM's own answer: the first token is unknown, and prompt_logprobs beside it say the same with numbers."""
    shown = capture("vllm/cmpl_echo_logprobs_0")

    choice: CompletionChoice = msgspec.json.decode(shown.body, type=Completion).choices[0]
    assert choice.logprobs is not None
    assert choice.prompt_logprobs is not None
    legacy = echo_tokens(choice.logprobs)
    numbered = [position_token(one, None) for one in choice.prompt_logprobs]
    assert [token.text for token in legacy] == ["1", " +", " 1", " ", "="]
    assert [token.key for token in numbered[1:]] == [324, 259, 223, 31]
    assert [token.logprob for token in legacy] == [token.logprob for token in numbered]
    assert [token.greedy for token in numbered] == [None, False, False, False, False]
    found = sum_logprobs(legacy[3:])
    assert found == Loglikelihood(logprob=-9.144087791442871 - 10.9893159866333, tokens=2, greedy=False)
