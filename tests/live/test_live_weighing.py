"""Log-likelihoods of real servers against those of transformers itself."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from click.testing import CliRunner
from tests.live import live_servers
from tests.live.conftest import Models
from tests.live.live_servers import LiveServer, serving
from tests.servers.asking import LIMITS

from model_accuracy_eval.cli import main
from model_accuracy_eval.client.chat import connect
from model_accuracy_eval.client.method_detection import TopLogprobsClient
from model_accuracy_eval.records import (
    Candidate,
    ClientLimits,
    LoglikelihoodRequest,
    LoglikelihoodSetting,
    Message,
    Reply,
    Request,
    Service,
)

pytestmark = pytest.mark.timeout(1800)

TOLERANCE = 1e-3
ENDINGS = [
    ("Question: what is the answ", "er to the question?"),
    ("There are twen", "ty-four hours in a day"),
    ("The quick brown fox jum", "ps over the lazy dog."),
    ("What is ", "the answer"),
    ("0 1 2 3 1", "0 11 12"),
    ("Question: what is 12 plus 30? Answer:", " 42."),
    ("The dog sleeps.", " It dreams of the lazy fox."),
    ("Ist das schö", "n? Ja, überaus schön."),
    ("你好，世", "界。"),
    ("a", "b"),
]
"""Contexts that end within a token of the whole, at one, after a blank and between the bytes of a script."""
LETTERS = tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ")
QUESTIONS = [f"What is {number} + 4?\n\nA. {number + 2}\nB. {number + 4}\n" for number in range(60)]
WAITING = ClientLimits(
    **{name: getattr(LIMITS, name) for name in LIMITS.__struct_fields__}
    | {"connect_timeout": 60.0, "first_token_timeout": 300.0, "idle_timeout": 300.0, "total_timeout": 600.0}
)


def weigh(
    server: LiveServer, setting: LoglikelihoodSetting, *requests: LoglikelihoodRequest
) -> tuple[str, list[Reply]]:
    async def conversation() -> tuple[str, list[Reply]]:
        chat = connect(Service(base_url=server.url), WAITING)
        try:
            client = await chat.loglikelihood_client(setting, {})
            return client.method, [await client.loglikelihood(one) for one in requests]
        finally:
            await chat.close()

    return asyncio.run(conversation())


def by_transformers(folder: Path, **asked: Any) -> dict[str, list[Any]]:
    found: dict[str, list[Any]] = json.loads(
        live_servers.run_python("transformers", "weigh_texts.py", folder, given=json.dumps(asked))
    )
    return found


@pytest.fixture(scope="module")
def random_vllm(models: Models, tmp_path_factory: pytest.TempPathFactory) -> Iterator[LiveServer]:
    log = tmp_path_factory.mktemp("logs") / "server.log"
    with serving("vllm", models.written("random", "vllm"), log) as started:
        yield started


@pytest.mark.parametrize("setting", ["auto", "prompt-logprobs"])
def test_log_likelihoods_are_those_of_transformers(
    random_vllm: LiveServer, models: Models, setting: Literal["auto", "prompt-logprobs"]
) -> None:
    """Endings whose first token begins inside the context included: sums, numbers of tokens, and likeliest ones."""
    truths = by_transformers(models.written("random", "vllm"), endings=ENDINGS)["endings"]
    assert sum(truth["straddles"] for truth in truths) >= 4
    requests = [
        LoglikelihoodRequest(
            request=Request(messages=(Message(role="user", content=context),)),
            candidates=(Candidate(context=context, continuation=ending),),
            options=1,
        )
        for context, ending in ENDINGS
    ]
    method, replies = weigh(random_vllm, setting, *requests)
    assert method == ("echo" if setting == "auto" else setting)
    for pair, truth, reply in zip(ENDINGS, truths, replies, strict=True):
        assert reply.fault is None, (pair, reply.fault)
        (found,) = reply.loglikelihoods
        assert found is not None
        assert abs(found.logprob - truth["logprob"]) < TOLERANCE, pair
        assert (found.tokens, found.greedy) == (truth["tokens"], truth["greedy"]), pair


def test_doctor_says_that_every_metric_is_known(random_vllm: LiveServer) -> None:
    """And that five samples come at once."""
    output = CliRunner().invoke(main, ["doctor", "--endpoint", random_vllm.url]).output
    assert "Runs use echo: every metric of log-likelihoods is known." in output
    assert "PASS  n                5 samples a request." in output


async def first_letters(url: str, questions: list[str]) -> list[Reply]:
    """Without the question that finds out whether the method works: a random model has no letters for that one."""
    chat = connect(Service(base_url=url), WAITING)
    try:
        client = TopLogprobsClient(chat._client, 20)
        requests = [Request(messages=(Message(role="user", content=question),)) for question in questions]
        return [
            await client.loglikelihood(LoglikelihoodRequest(request=request, candidates=(), options=26))
            for request in requests
        ]
    finally:
        await chat.close()


@pytest.mark.parametrize("name", ["vllm", "llamacpp"])
def test_first_tokens_are_those_of_transformers(name: str, models: Models, tmp_path: Path) -> None:
    """Also where a draw shows no text and brings no probabilities: they are asked for again until they come."""
    truths = by_transformers(models.written("random", "vllm"), letters=QUESTIONS)["letters"]
    expected = [{letter: both for letter, both in truth.items() if letter in LETTERS} for truth in truths]
    assert sum(map(bool, expected)) > 5, "letters are hardly ever among the first tokens"
    with serving(name, models.written("random", name), tmp_path / "server.log") as server:
        replies = asyncio.run(first_letters(server.url, QUESTIONS))
    for question, truth, reply in zip(QUESTIONS, expected, replies, strict=True):
        assert reply.fault is None, (question, reply.fault)
        letters = zip(LETTERS, reply.loglikelihoods, strict=True)
        found = {letter: one.logprob for letter, one in letters if one is not None}
        assert truth.keys() <= found.keys(), question
        for letter, (near, all_tokens) in truth.items():
            assert near - TOLERANCE < found[letter] < all_tokens + TOLERANCE, (question, letter)
    if name == "llamacpp":
        assert any(reply.tries > 1 for reply in replies), "no draw left the probabilities out"
