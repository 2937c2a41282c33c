"""Which way is taken, what is said about those that are not, and how letters are weighed where texts cannot be."""

import math
from dataclasses import replace
from typing import Any

import msgspec
import pytest
from tests.integration.weighing.tools import QUESTION, ask, ballot, same, truth
from tests.servers.asking import PATIENCE
from tests.servers.hash_model import HashModel
from tests.servers.likelihood_server import (
    CONSTRAINED,
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
from tests.servers.replay import ReplayServer, capture

from model_accuracy_eval.errors import NoHonestScore
from model_accuracy_eval.records import Likelihood, Patience
from model_accuracy_eval.rim.service.weighing.letters import _First, first_tokens
from model_accuracy_eval.rim.service.weighing.tokens import Choice, Completion, considered, echoed, summed

LADDER: list[tuple[Style, str, str]] = [
    (VLLM, "echo", "tokens are counted by the service's tokenizer, 512 at once"),
    (VLLM_NO_BOS, "echo", "tokens are counted by the service's tokenizer, 512 at once"),
    (LLAMA_CPP, "echo", "endings are found by the texts of tokens, for /tokenize says: HTTP 404"),
    (replace(VLLM, ids=False), "echo", "for numbers fail: HTTP 500 Internal Server Error: a prompt must be a text"),
    (PROMPT_LOGPROBS, "prompt-logprobs", "echo: nothing is told about the tokens of a given text."),
    (TOP, "top-logprobs", "echo: the service completes no texts: HTTP 404"),
    (replace(TOP, top_logprobs=5), "top-logprobs", "the 5 likeliest first tokens of an answer are told"),
    (CONSTRAINED, "constrained", "constrained: response_format is obeyed."),
    (NOTHING, "extracted", "structured_outputs is not: The answer was to be one of amber, kettle, but is 'The answer is B.'"),
]  # fmt: skip


@pytest.mark.parametrize(("style", "rung", "words"), LADDER)
def test_n7_the_most_exact_way_is_taken(style: Style, rung: str, words: str) -> None:
    """And a sentence for every way says why it is this one."""
    with LikelihoodServer(style=style) as server:
        taken, findings, _ = ask(server)
        assert taken == rung
        assert words in " ".join(findings)
        assert len(server.requests) <= 9


def test_a_word_about_the_wrong_tokens_is_not_believed() -> None:
    """llama-cpp-python without a beginning token is one place off: what was made and what is told do not agree."""
    with LikelihoodServer(style=LLAMA_CPP_NO_BOS) as server:
        taken, findings, _ = ask(server)
    assert taken == "extracted"
    assert "when the model made that token, so it is not that token's" in findings[0]


def test_nothing_is_made_without_end() -> None:
    """Where 0 means "no limit", 0 is never asked."""
    with LikelihoodServer(style=LLAMA_CPP) as server:
        ask(server, ballot(("the", " cat")))
        assert {one.json["max_tokens"] for one in server.requests if one.path == "/v1/completions"} == {1, 4}


@pytest.mark.parametrize(("style", "wish"), [(TOP, "echo"), (NOTHING, "constrained"), (LLAMA_CPP, "prompt-logprobs")])
def test_a_way_that_is_wished_for_and_not_there_is_no_run(style: Style, wish: Any) -> None:
    """Nothing else is taken instead."""
    with LikelihoodServer(style=style) as server, pytest.raises(NoHonestScore) as error:
        ask(server, wish=wish)
    assert error.value.sentence.startswith(f"Nothing can be weighed by {wish}; {wish}: ")


@pytest.mark.parametrize("wish", ["top-logprobs", "constrained", "extracted", "prompt-logprobs"])
def test_a_lesser_way_can_be_wished_for(wish: Any) -> None:
    """The most exact one is not even tried."""
    with LikelihoodServer(style=VLLM) as server:
        taken, findings, _ = ask(server, wish=wish)
        assert (taken, len(findings)) == (wish, 1)
        assert all("echo" not in one.json for one in server.requests)


def test_n7_tokens_that_are_one_letter_are_added_up() -> None:
    """With blanks A has exp(-.1) + exp(-1.2); a letter that is not told is None."""
    told = {" A": -0.1, "B": -0.9, "A": -1.2, "C": -3.0}
    firsts = [_First(token=token, logprob=logprob) for token, logprob in told.items()]
    a, b, c, d = first_tokens("ABCD", firsts)
    assert a is not None
    assert math.isclose(a.logprob, math.log(math.exp(-0.1) + math.exp(-1.2)))
    assert (b, c, d) == (Likelihood(logprob=-0.9, tokens=1), Likelihood(logprob=-3.0, tokens=1), None)


def test_n7_letters_are_weighed_by_the_first_token() -> None:
    """What the model thinks of " A" and "A" behind the conversation, together."""
    model = HashModel()
    with LikelihoodServer(model, style=TOP) as server:
        _, _, (reply,) = ask(server, ballot(("x", " y"), ("x", " z")))
        row = model.logprobs(server.prompt_of([{"content": QUESTION.messages[0].content}]))
    for letter, found in zip("AB", reply.weighed, strict=True):
        wanted = [row[model.vocabulary.encode(text)[0]] for text in (letter, f" {letter}")]
        assert found is not None
        assert math.isclose(found.logprob, math.log(sum(map(math.exp, wanted))))


def test_a_constrained_answer_is_the_letter() -> None:
    """Whether the service says it bare or inside JSON."""
    for style in (CONSTRAINED, replace(NOTHING, constrained=("guided_choice",))):
        with LikelihoodServer(style=style) as server:
            _, _, (reply,) = ask(server, ballot(("x", " y"), ("x", " z")))
        assert [choice.text for choice in reply.choices] in (["A"], ["B"])


def test_further_fields_reach_questions_about_letters_only() -> None:
    """They may switch thinking off; of a given text they could only change what is told."""
    with LikelihoodServer(style=VLLM) as server:
        ask(server, wish="top-logprobs", extra={"chat_template_kwargs": {"enable_thinking": False}})
        ask(server, wish="echo", extra={"chat_template_kwargs": {"enable_thinking": False}})
        for one in server.requests:
            assert ("chat_template_kwargs" in one.json) == (one.path == "/v1/chat/completions")


def test_a_candidate_that_fails_for_good_fails_its_problem() -> None:
    """Nothing half: the others of the same problem are not kept either, and the next problem is not touched."""

    def plan(_: int, request: dict[str, Any]) -> int | None:
        ids = request.get("prompt")
        return 400 if isinstance(ids, list) and HashModel().vocabulary.decode(ids).endswith("Rome") else None

    with LikelihoodServer(plan=plan) as server:
        _, _, replies = ask(server, ballot(("the", " cat"), ("the", " Rome")), ballot(("the", " cat")))
    assert replies[0].fault is not None
    assert (replies[0].fault.kind, replies[0].weighed) == ("rejected", ())
    assert same(replies[1].weighed[0], truth(HashModel(), "the", " cat"))


def test_what_fails_once_is_asked_again() -> None:
    """As every request: 503 is tried anew, and the answer is as if nothing had been."""
    failed: set[bytes] = set()

    def plan(number: int, request: dict[str, Any]) -> int | None:
        key = repr(sorted(request.items())).encode()
        first = key not in failed
        failed.add(key)
        return 503 if first else None

    with LikelihoodServer(plan=plan) as server:
        rung, _, (reply,) = ask(server, ballot(("the", " cat"), ("the", " Rome")))
    assert rung == "echo"
    wanted = [truth(HashModel(), "the", ending) for ending in (" cat", " Rome")]
    assert all(same(*pair) for pair in zip(reply.weighed, wanted, strict=True))


def test_no_more_requests_run_at_once_than_the_run_may_ask() -> None:
    """The candidates of a problem share the bound with everything else."""
    patience = Patience(**{name: getattr(PATIENCE, name) for name in PATIENCE.__struct_fields__} | {"concurrency": 2})
    with LikelihoodServer(style=replace(VLLM, delay=0.01)) as server:
        ask(server, ballot(*[("the", f" cat {number}") for number in range(12)]), patience=patience)
        assert server.peak == 2


def test_l40_real_echo_is_read_as_it_was_sent() -> None:
    """vLLM's own answer: the first token is unknown, and prompt_logprobs beside it say the same with numbers."""
    shown = capture("vllm/cmpl_echo_logprobs_0")

    choice: Choice = msgspec.json.decode(shown.body, type=Completion).choices[0]
    assert choice.logprobs is not None
    assert choice.prompt_logprobs is not None
    legacy, numbered = echoed(choice.logprobs), considered(choice.prompt_logprobs, None)
    assert [token.text for token in legacy] == ["1", " +", " 1", " ", "="]
    assert [token.key for token in numbered[1:]] == [324, 259, 223, 31]
    assert [token.logprob for token in legacy] == [token.logprob for token in numbered]
    assert [token.likeliest for token in numbered] == [None, False, False, False, False]
    found = summed(legacy[3:])
    assert found == Likelihood(logprob=-9.144087791442871 - 10.9893159866333, tokens=2, greedy=False)


def test_a_real_answer_without_what_was_asked_is_no_scale() -> None:
    """A chat answer to every question: nothing in it weighs anything, and letters are read out of answers."""
    with ReplayServer(capture("vllm/chat")) as server:
        rung, findings, _ = ask(server)  # type: ignore[arg-type]
    assert rung == "extracted"
    assert "top-logprobs: The answer tells no likeliest first tokens." in findings
