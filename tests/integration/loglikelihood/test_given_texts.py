"""Log-probabilities of given texts, against the model itself: every way, every tokenizer habit, every boundary."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.integration.loglikelihood.tools import ask, common, likelihood_request, loglikelihoods, of, same, truth
from tests.servers.hash_model import HashModel
from tests.servers.likelihood_server import LLAMA_CPP, PROMPT_LOGPROBS, VLLM, VLLM_NO_BOS, LikelihoodServer, Style

from model_accuracy_eval.records import Loglikelihood

STYLES: dict[str, Style] = {
    "vLLM": VLLM,
    "vLLM, no token for the beginning": VLLM_NO_BOS,
    "vLLM without /tokenize": replace(VLLM, tokenize=None),
    "neither": replace(VLLM_NO_BOS, tokenize=None),
    "llama.cpp's /tokenize": replace(VLLM, tokenize="content"),
    "numbers are refused": replace(VLLM, ids=False),
    "prompt_logprobs": PROMPT_LOGPROBS,
    "prompt_logprobs without /tokenize": replace(PROMPT_LOGPROBS, tokenize=None),
    "prompt_logprobs without names of tokens": replace(PROMPT_LOGPROBS, tokenize=None, names=False),
    "llama-cpp-python": LLAMA_CPP,
}
PIECES = st.sampled_from(
    ["the", " cat", " is", " Lon", "don", " York", "New", " Y", "or", "k", "é", "中", "😀", " ", "\n\n", ":", "A", " B"]
)
TEXTS = st.lists(PIECES, min_size=1, max_size=6).map("".join)


@pytest.mark.parametrize("name", STYLES)
@settings(max_examples=12)
@given(context=TEXTS.filter(str.strip), endings=st.lists(TEXTS, min_size=1, max_size=3))
def test_l40_every_method_returns_the_log_likelihoods_of_the_model(name: str, context: str, endings: list[str]) -> None:
    """Trailing blanks, tokens across the boundary and split characters included: sum, tokens and greedy are the same."""
    style = STYLES[name]
    if style.hidden_bos:  # it says nothing about the first token, and there is no other way to ask
        context = f"Question: {context}"
    found = loglikelihoods(style, *((context, ending) for ending in endings))
    wanted = [truth(HashModel(), context, ending, bos=style.bos) for ending in endings]
    assert [same(*pair) for pair in zip(found, wanted, strict=True)] == [True] * len(endings), (found, wanted)


@pytest.mark.parametrize("name", [name for name in STYLES if "llama-cpp" not in name and "without names" not in name])
def test_l22_an_empty_context_is_a_token_for_the_beginning(name: str) -> None:
    """The service's own where it adds one, else one that its tokenizer knows."""
    style = STYLES[name]
    found = loglikelihoods(style, ("", " Paris"), ("", "é中"))
    for one, text in zip(found, (" Paris", "é中"), strict=True):
        assert same(one, truth(HashModel(), "", text, bos=style.bos))


def test_l22_without_a_beginning_token_the_problem_is_rejected() -> None:
    """llama-cpp-python says nothing about a first token, and hides the one before it."""
    with LikelihoodServer(style=LLAMA_CPP) as server:
        _, _, (reply,) = ask(server, likelihood_request(("the", " cat"), ("", " cat"), options=1))
    assert reply.fault is not None
    assert (reply.fault.kind, reply.loglikelihoods) == ("rejected", ())
    assert "No token is known that can stand before the beginning of a text" in reply.fault.sentence


@pytest.mark.parametrize("name", STYLES)
def test_n20_shared_options_begin_where_their_tokens_differ(name: str) -> None:
    """After the common token prefix of all options, which may lie inside the context's last word."""
    style, model = STYLES[name], HashModel()
    texts = [("the cat is", " a mat"), ("the cat is", " a cat"), ("the cat is", " a cat is Rome")]
    ids = [model.vocabulary.encode(context + ending, bos=style.bos) for context, ending in texts]
    found = loglikelihoods(style, *texts, boundary="shared")
    for one, whole in zip(found, ids, strict=True):
        assert same(one, of(model, whole, common(ids)))


@pytest.mark.parametrize("name", STYLES)
def test_n20_shared_endings_reach_back_as_far_as_tokens_are_the_same(name: str) -> None:
    """One ending behind several contexts: the common token suffix."""
    style, model = STYLES[name], HashModel()
    texts = [("Paris: the cat", " is a mat"), ("New York: the cat", " is a mat")]
    ids = [model.vocabulary.encode(context + ending, bos=style.bos) for context, ending in texts]
    end = common([one[::-1] for one in ids])
    found = loglikelihoods(style, *texts, boundary="shared")
    for one, whole in zip(found, ids, strict=True):
        assert same(one, of(model, whole, len(whole) - end))


@settings(max_examples=12)
@given(
    text=(st.lists(PIECES, min_size=1, max_size=20) | st.lists(PIECES, min_size=70, max_size=120)).map("".join),
    context=st.integers(40, 60),
    bos=st.booleans(),
)
def test_l26_every_token_of_a_long_text_is_weighed_once(text: str, context: int, bos: bool) -> None:
    """Windows of what the model reads at once; the first begins with nothing but a token for the beginning."""
    model, style = HashModel(), replace(VLLM if bos else VLLM_NO_BOS, context=context)
    with LikelihoodServer(model, style=style) as server:
        _, findings, (reply,) = ask(server, likelihood_request(("", text), rolling=True))
        assert f"context length {context}." in findings[-1]
    assert reply.fault is None
    (found,) = reply.loglikelihoods
    assert same(found, by_windows(model, text, context - 1))


def by_windows(model: HashModel, text: str, size: int) -> Loglikelihood:
    """The definition, token by token: each knows what of its window stands before it."""
    ids = [model.vocabulary.bos, *model.vocabulary.encode(text)]
    logprob, greedy, begin = 0.0, True, 1
    while begin < len(ids):
        end = min(begin + size - 1, len(ids))
        start = max(0, end - size)
        for place in range(begin, end):
            more, best = model.loglikelihood(ids[start : place + 1], place - start)
            logprob, greedy = logprob + more, greedy and best
        begin = end
    return Loglikelihood(logprob=logprob, tokens=len(ids) - 1, greedy=greedy)


def test_l26_without_a_tokenizer_a_text_goes_as_far_as_one_window() -> None:
    """What is longer is rejected in the service's words."""
    style = replace(VLLM, tokenize=None, context=40)
    with LikelihoodServer(style=style) as server:
        _, _, replies = ask(
            server, *(likelihood_request(("", text), rolling=True) for text in (" cat" * 10, " cat" * 50))
        )
    assert same(replies[0].loglikelihoods[0], truth(HashModel(), "", " cat" * 10))
    assert replies[1].fault is not None
    assert "your prompt contains 51 input tokens" in replies[1].fault.sentence


def test_n20_a_prompt_that_is_too_long_loses_its_beginning() -> None:
    """Its last tokens are kept; an ending that is too long by itself is rejected."""
    model, style = HashModel(), replace(VLLM, context=40)
    with LikelihoodServer(model, style=style) as server:
        _, _, replies = ask(
            server, likelihood_request((" cat" * 50, " Rome")), likelihood_request(("the", " cat" * 50))
        )
    ids = model.vocabulary.encode(" cat" * 50 + " Rome", bos=True)[-39:]
    (found,) = replies[0].loglikelihoods
    assert same(found, of(model, ids, 38))
    assert found is not None
    assert found.cropped_to == 39
    assert replies[1].fault is not None
    assert "an ending has 50 tokens, but the model reads at most 39." in replies[1].fault.sentence
