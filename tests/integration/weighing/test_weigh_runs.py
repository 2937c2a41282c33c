"""Datasets whose options are weighed, from questions to figures, over every way that a service may offer."""

import asyncio
from dataclasses import replace
from math import exp
from typing import Any

import msgspec
import pytest
from tests.integration.weighing.tools import same, truth
from tests.servers.asking import PATIENCE, Naps
from tests.servers.hash_model import HashModel
from tests.servers.likelihood_server import (
    CONSTRAINED,
    LLAMA_CPP,
    NOTHING,
    PROMPT_LOGPROBS,
    TOP,
    VLLM,
    LikelihoodServer,
    Style,
)

from model_accuracy_eval.errors import NoHonestScore
from model_accuracy_eval.records import DataFile, Exam, Measure, Pipeline, Prompt, RunPlan, Service, Sheet, TaskSpec
from model_accuracy_eval.reporting import journal, predictions
from model_accuracy_eval.rim.service.chat import connect
from model_accuracy_eval.stages import infer, score
from model_accuracy_eval.stages.deploy import Live
from model_accuracy_eval.tasks import exam
from model_accuracy_eval.testing import Listener, MemoryStore, twins

ROWS: list[dict[str, Any]] = [
    {"question": f"Question {number}: the cat is", "options": ["Paris", "Rome", "London mat"], "answer": number % 3}
    for number in range(12)
]
CHOICE = TaskSpec(
    name="options",
    about="",
    data=DataFile(name="options.jsonl"),
    fields=(),
    prompt=Prompt(question="{{ question }}"),
    reference="{{ answer }}",
    choices="{{ options | tojson }}",
    kind="choice",
    pipelines=(Pipeline(metrics=tuple(Measure(name=name) for name in ("acc_norm", "acc", "brier_score"))),),
)
ROLLING = msgspec.structs.replace(
    CHOICE, name="texts", kind="rolling", choices=None, reference="", pipelines=(Pipeline(),)
)


PLAN = RunPlan(run_id="r", stamp="s", tasks=(), patience=PATIENCE, k=(1,))


def built(task: TaskSpec = CHOICE, rows: list[dict[str, Any]] = ROWS) -> Exam:
    return exam.build(task, rows, [], None)


def evaluate(
    server: LikelihoodServer, *exams: Exam, store: MemoryStore | None = None, **parts: Any
) -> tuple[Sheet, ...]:
    """Asks the service whatever the store does not hold, and marks what came."""
    store = store or MemoryStore()
    ports = twins(
        connect=lambda service, patience: connect(service, patience, sleep=Naps(), chance=lambda: 1.0),
        run_async=asyncio.run,
        **parts,
    )
    infer.collect(PLAN, exams, Live(Service(base_url=server.url, model="hash"), None), store, ports)
    return score.mark(PLAN, exams, store, ports, partial=False)


def figures(sheet: Sheet) -> dict[str, float | None]:
    return {row.metric: row.value for row in sheet.rows}


@pytest.mark.parametrize("style", [VLLM, PROMPT_LOGPROBS, LLAMA_CPP, replace(VLLM, bos=False)])
def test_l20_l21_figures_are_those_of_the_model(style: Style) -> None:
    """Accuracy by sum and by length, computed from the model itself; the row says how it was weighed."""
    asked, model = built(), HashModel()
    with LikelihoodServer(model, style=style) as server:
        (sheet,) = evaluate(server, asked)
    right = right_normed = 0
    for problem in asked.problems:
        told = [truth(model, one.context, one.continuation, bos=style.bos).logprob for one in problem.candidates]
        normed = [one / len(text) for one, text in zip(told, problem.choices, strict=True)]
        right += told.index(max(told)) in problem.gold
        right_normed += normed.index(max(normed)) in problem.gold
    assert figures(sheet)["acc"] == pytest.approx(100 * right / 12)
    assert figures(sheet)["acc_norm"] == pytest.approx(100 * right_normed / 12)
    assert {row.mode for row in sheet.rows} == {"prompt-logprobs" if style is PROMPT_LOGPROBS else "echo"}
    assert (sheet.counts.answered, sheet.counts.not_found, sheet.notes) == (12, 0, ())


def test_n7_letters_give_accuracy_and_nothing_about_texts() -> None:
    """What needs texts is unknown, and a note says so; the verdicts go by what is known."""
    asked = built()
    with LikelihoodServer(style=TOP) as server:
        (sheet,) = evaluate(server, asked)
        right, encode = 0, server.model.vocabulary.encode
        for problem in asked.problems:
            row = server.model.logprobs(server.prompt_of([{"content": problem.messages[0].content}]))
            sums = [sum(exp(row[encode(one)[0]]) for one in (text, f" {text}")) for text in "ABC"]
            right += sums.index(max(sums)) in problem.gold
    told = figures(sheet)
    assert told["acc"] == pytest.approx(100 * right / 12)
    assert (told["acc_norm"], told["brier_score"] is None) == (None, False)
    assert sum(tally.c or 0 for tally in sheet.tallies) == right
    assert {row.mode for row in sheet.rows} == {"top-logprobs"}
    assert sheet.notes == (
        "Options were weighed by their letters as first tokens of an answer, not by their texts.",
        "acc_norm is unknown: it needs log-probabilities of given texts, which the service does not tell.",
        "In 1 sample a letter is not among the likeliest tokens told; it counts as the least likely.",
    )


def test_l20_a_letter_that_was_read_out_of_an_answer_gives_accuracy() -> None:
    """The reply says B every time; four of twelve answers are B."""
    for style, rung in ((NOTHING, "extracted"), (CONSTRAINED, "constrained")):
        with LikelihoodServer(HashModel(liked={"B": 60.0}), style=style) as server:
            (sheet,) = evaluate(server, built())
        told = figures(sheet)
        assert told["acc"] == pytest.approx(100 * 4 / 12)
        assert (told["acc_norm"], told["brier_score"]) == (None, None)
        assert {row.mode for row in sheet.rows} == {rung}
        assert any("acc_norm, brier_score are unknown" in note for note in sheet.notes)


def test_an_answer_without_a_letter_is_not_found() -> None:
    """It is counted, and not correct."""
    with LikelihoodServer(style=NOTHING, answer=lambda _: "I would rather not say.") as server:
        (sheet,) = evaluate(server, built())
    assert (figures(sheet)["acc"], sheet.counts.not_found) == (0.0, 12)


def test_what_cannot_be_had_is_refused_before_anything_is_asked() -> None:
    """With the metrics' names, and what was found out about every way."""
    store = MemoryStore()
    with LikelihoodServer(style=TOP) as server, pytest.raises(NoHonestScore) as error:
        evaluate(server, built(ROLLING), store=store)
    assert error.value.sentence == (
        "texts cannot be evaluated by top-logprobs: word_perplexity, byte_perplexity, bits_per_byte are unknown: "
        "they need log-probabilities of given texts, which the service does not tell."
    )
    assert "echo: the service completes no texts" in error.value.detail
    assert not any(name.startswith("predictions/") for name in store.files)


def test_l25_l26_a_long_text_has_its_perplexity() -> None:
    """Over several windows."""
    rows = [{"question": "the cat is a mat " * 40}]
    with LikelihoodServer(style=replace(VLLM, context=64)) as server:
        (sheet,) = evaluate(server, built(ROLLING, rows))
    value = figures(sheet)["bits_per_byte"]
    assert value is not None
    assert value > 0


def test_more_options_than_letters_need_texts() -> None:
    """Only where letters are all there is."""
    rows = [{"question": "the", "options": [f" cat {number}" for number in range(27)], "answer": 0}]
    with LikelihoodServer(style=TOP) as server, pytest.raises(NoHonestScore, match="problem 0 has 27 options"):
        evaluate(server, built(rows=rows))
    with LikelihoodServer(style=VLLM) as server:
        (sheet,) = evaluate(server, built(rows=rows))
    assert sheet.counts.answered == 1


def test_a_problem_of_which_one_option_failed_is_asked_again_as_a_whole() -> None:
    """It stands among the failures; a second run asks it and nothing else, in the same way."""
    store, asked = MemoryStore(), built()

    def down(_: int, request: dict[str, Any]) -> int | None:
        ids = request.get("prompt")
        text = HashModel().vocabulary.decode(ids) if isinstance(ids, list) else ""
        return 400 if text.startswith("Question 3:") and text.endswith("Rome") else None

    with LikelihoodServer(plan=down) as server:
        (sheet,) = evaluate(server, asked, store=store)
    assert (sheet.counts.answered, sheet.counts.rejected) == (11, 1)
    before = store.files[journal.file("vllm-api-stream-chat", "options")]
    with LikelihoodServer() as server:
        (sheet,) = evaluate(server, asked, store=store)
        ids = [one.json["prompt"] for one in server.requests if one.json.get("echo")]
        prompts = [server.model.vocabulary.decode(one) for one in ids if isinstance(one, list)]
    assert (sheet.counts.answered, sheet.counts.rejected) == (12, 0)
    assert {text.partition(":")[0] for text in prompts} == {"The capital of France is", "Question 3"}
    assert store.files[journal.file("vllm-api-stream-chat", "options")].startswith(before)


def test_a_run_that_goes_on_weighs_as_it_began() -> None:
    """Another way would be another measure: a service that lost it ends the run."""
    store, rows = MemoryStore(), ROWS
    with LikelihoodServer(style=TOP) as server:
        evaluate(server, built(rows=rows[:6]), store=store)
    with LikelihoodServer(style=VLLM) as server:
        (sheet,) = evaluate(server, built(rows=rows), store=store)
    assert {row.mode for row in sheet.rows} == {"top-logprobs"}
    with LikelihoodServer(style=NOTHING) as server, pytest.raises(NoHonestScore) as error:
        evaluate(server, built(rows=[*rows, rows[0]]), store=store)
    assert error.value.sentence.startswith("The run has weighed by top-logprobs until now, and ways are not mixed. ")


def test_what_was_found_out_is_told() -> None:
    """On the screen, and in the dataset's log."""
    screen, store = Listener(), MemoryStore()
    with LikelihoodServer(style=TOP) as server:
        evaluate(server, built(), store=store, screen=screen)
    told = "top-logprobs: the 20 likeliest first tokens of an answer are told."
    assert f"Options and texts are weighed by {told}" in screen.said
    log = store.files["logs/infer/vllm-api-stream-chat/options.out"].decode()
    assert "weighing by echo: the service completes no texts: HTTP 404" in log
    assert told in log


def test_the_journal_keeps_what_was_weighed() -> None:
    """Line by line as it was said, and for people the likeliest option and every weight."""
    asked, store = built(), MemoryStore()
    with LikelihoodServer() as server:
        evaluate(server, asked, store=store)
    lines = list(store.lines(journal.file("vllm-api-stream-chat", "options")))
    for line in lines:
        kept = journal.attempt(line)
        problem = asked.problems[kept.problem]
        wanted = [truth(HashModel(), one.context, one.continuation) for one in problem.candidates]
        assert all(same(*pair, 1e-12) for pair in zip(kept.weighed, wanted, strict=True))
        assert kept.rung == "echo"
    view = msgspec.json.decode(b"".join(predictions.as_json(lines, 1)))["0"]
    weights = [entry["logprob"] for entry in view["weighed"]]
    assert view["prediction"] == ROWS[0]["options"][weights.index(max(weights))]
    assert view["origin_prompt"] == [{"role": "HUMAN", "prompt": asked.problems[0].text}]
    assert set(view["weighed"][0]) == {"logprob", "tokens", "greedy"}
