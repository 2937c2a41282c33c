"""Datasets scored by log-likelihoods, from questions to figures, with every method that a service may support."""

from dataclasses import replace
from math import exp
from typing import Any

import msgspec
import pytest
from tests.fake_ports import MemoryStore, fake_ports
from tests.integration.loglikelihood.tools import same, truth
from tests.servers.asking import LIMITS, Naps
from tests.servers.hash_model import HashModel
from tests.servers.likelihood_server import LLAMA_CPP, NOTHING, PROMPT_LOGPROBS, TOP, VLLM, LikelihoodServer, Style
from tests.small_task import small_task

from model_accuracy_eval.client.chat import connect
from model_accuracy_eval.errors import NoHonestScore
from model_accuracy_eval.records import (
    DatasetResult,
    Gate,
    MetricUse,
    Pipeline,
    PreparedDataset,
    RunPlan,
    Service,
    TaskSpec,
)
from model_accuracy_eval.run import infer, score
from model_accuracy_eval.run.deploy import LiveService
from model_accuracy_eval.run_folder import journal, predictions
from model_accuracy_eval.scoring.verdicts import gates
from model_accuracy_eval.scoring.verdicts.gates import GateRule
from model_accuracy_eval.tasks import preparation

ROWS: list[dict[str, Any]] = [
    {"question": f"Question {number}: the cat is", "options": ["Paris", "Rome", "London mat"], "answer": number % 3}
    for number in range(12)
]
CHOICE = small_task(
    "options",
    "{{ question }}",
    "{{ answer }}",
    choices="{{ options | tojson }}",
    kind="choice",
    pipelines=(Pipeline(metrics=tuple(MetricUse(name=name) for name in ("acc_norm", "acc", "brier_score"))),),
)
ROLLING = msgspec.structs.replace(
    CHOICE, name="texts", kind="rolling", choices=None, reference="", pipelines=(Pipeline(),)
)


PLAN = RunPlan(run_id="r", stamp="s", tasks=(), client_limits=LIMITS, k=(1,))


def built(task: TaskSpec = CHOICE, rows: list[dict[str, Any]] = ROWS) -> PreparedDataset:
    return preparation.build(task, rows, [], None)


def evaluate(
    server: LikelihoodServer, *datasets: PreparedDataset, store: MemoryStore | None = None, **parts: Any
) -> tuple[DatasetResult, ...]:
    """Asks the service whatever the store does not hold, and marks what came."""
    store = store or MemoryStore()
    ports = fake_ports(
        connect=lambda service, limits, role: connect(service, limits, sleep=Naps(), chance=lambda: 1.0), **parts
    )
    infer.collect(PLAN, datasets, LiveService(Service(base_url=server.url, model="hash"), None), store, ports)
    return tuple(score.judge(PLAN, each, store, ports, partial=False) for each in datasets)


def figures(dataset_result: DatasetResult) -> dict[str, float | None]:
    return {row.metric: row.value for row in dataset_result.rows}


@pytest.mark.parametrize("style", [VLLM, PROMPT_LOGPROBS, LLAMA_CPP, replace(VLLM, bos=False)])
def test_l20_l21_figures_are_those_of_the_model(style: Style) -> None:
    """Accuracy by sum and by length, computed from the model itself; the row names the method."""
    asked, model = built(), HashModel()
    with LikelihoodServer(model, style=style) as server:
        (dataset_result,) = evaluate(server, asked)
    right = right_normed = 0
    for problem in asked.problems:
        logprobs = [truth(model, one.context, one.continuation, bos=style.bos).logprob for one in problem.candidates]
        normed = [one / len(text) for one, text in zip(logprobs, problem.choices, strict=True)]
        right += logprobs.index(max(logprobs)) in problem.gold
        right_normed += normed.index(max(normed)) in problem.gold
    assert figures(dataset_result)["acc"] == pytest.approx(100 * right / 12)
    assert figures(dataset_result)["acc_norm"] == pytest.approx(100 * right_normed / 12)
    assert {row.mode for row in dataset_result.rows} == {"prompt-logprobs" if style is PROMPT_LOGPROBS else "echo"}
    assert (dataset_result.counts.answered, dataset_result.counts.not_found, dataset_result.notes) == (12, 0, ())


def test_n7_letters_give_accuracy_and_nothing_about_texts() -> None:
    """What needs texts is unknown, and a note says so; the verdicts go by what is known."""
    asked = built()
    with LikelihoodServer(style=TOP) as server:
        (dataset_result,) = evaluate(server, asked)
        right, encode = 0, server.model.vocabulary.encode
        for problem in asked.problems:
            row = server.model.logprobs(server.prompt_of([{"content": problem.messages[0].content}]))
            sums = [sum(exp(row[encode(one)[0]]) for one in (text, f" {text}")) for text in "ABC"]
            right += sums.index(max(sums)) in problem.gold
    values = figures(dataset_result)
    assert values["acc"] == pytest.approx(100 * right / 12)
    assert (values["acc_norm"], values["brier_score"] is None) == (None, False)
    assert sum(problem_result.c or 0 for problem_result in dataset_result.problem_results) == right
    assert {row.mode for row in dataset_result.rows} == {"top-logprobs"}
    assert dataset_result.notes == (
        "Options were compared by their letters as first tokens of an answer, not by their texts.",
        "acc_norm is unknown: it needs log-likelihoods of given texts, which the service does not give.",
        "In 1 sample a letter is not among the top tokens; it counts as the least likely.",
    )


def test_l20_an_extracted_letter_gives_accuracy() -> None:
    """The reply says B every time; four of twelve answers are B."""
    with LikelihoodServer(HashModel(liked={"B": 60.0}), style=NOTHING) as server:
        (dataset_result,) = evaluate(server, built())
    values = figures(dataset_result)
    assert values["acc"] == pytest.approx(100 * 4 / 12)
    assert (values["acc_norm"], values["brier_score"]) == (None, None)
    assert {row.mode for row in dataset_result.rows} == {"extracted"}
    assert any("acc_norm, brier_score are unknown" in note for note in dataset_result.notes)


def test_texts_that_are_refused_prove_no_perplexity() -> None:
    """A service that refuses the unlikelier half of the texts has lower bits per byte, and no gate passes for it."""
    rows = [{"question": f"the {'cat is London mat ' * number}"} for number in range(1, 7)]
    with LikelihoodServer(style=VLLM) as server:
        (whole,) = evaluate(server, built(ROLLING, rows))

    def refuse(number: int, request: dict[str, Any]) -> int | None:
        return 422 if "mat the" in str(request) or str(request).count("London") > 3 else None

    with LikelihoodServer(style=VLLM, plan=refuse) as server:
        (part,) = evaluate(server, built(ROLLING, rows))
    assert part.counts.rejected == 3
    full = {row.metric: row for row in whole.rows}
    for row in part.rows:
        assert row.bounds is not None
        assert row.bounds.low is not None
        assert (row.bounds.high, row.bounds.samples) == (None, 3)
        figure = full[row.metric].value
        assert figure is not None
        assert row.bounds.low <= figure
        gate = Gate(dataset="texts", metric=row.metric, comparison="<=", threshold=figure + 1)
        assert gates.result(gate, full[row.metric], None, GateRule()).decision == "passed"
        assert gates.result(gate, row, None, GateRule()).decision == "undecided"


def test_an_answer_without_a_letter_is_not_found() -> None:
    """It is counted, and not correct."""
    with LikelihoodServer(style=NOTHING, answer=lambda _: "I would rather not say.") as server:
        (dataset_result,) = evaluate(server, built())
    assert (figures(dataset_result)["acc"], dataset_result.counts.not_found) == (0.0, 12)


def test_metrics_that_the_method_cannot_give_are_refused_before_any_request() -> None:
    """With the metrics' names, and what was found out about every way."""
    store = MemoryStore()
    with LikelihoodServer(style=TOP) as server, pytest.raises(NoHonestScore) as error:
        evaluate(server, built(ROLLING), store=store)
    assert error.value.sentence == (
        "texts cannot be evaluated by top-logprobs: word_perplexity, byte_perplexity, bits_per_byte, perplexity are unknown: "
        "they need log-likelihoods of given texts, which the service does not give."
    )
    assert "echo: the service has no completions" in error.value.detail
    assert not any(name.startswith("predictions/") for name in store.files)


def test_more_options_than_letters_need_log_likelihoods_of_texts() -> None:
    """Only where letters are all there is."""
    rows = [{"question": "the", "options": [f" cat {number}" for number in range(27)], "answer": 0}]
    with LikelihoodServer(style=TOP) as server, pytest.raises(NoHonestScore, match="problem 0 has 27 options"):
        evaluate(server, built(rows=rows))
    with LikelihoodServer(style=VLLM) as server:
        (dataset_result,) = evaluate(server, built(rows=rows))
    assert dataset_result.counts.answered == 1


def test_a_problem_with_a_failed_option_is_requested_again_completely() -> None:
    """It stands among the failures; a second run asks it and nothing else, in the same way."""
    store, asked = MemoryStore(), built()

    def down(_: int, request: dict[str, Any]) -> int | None:
        ids = request.get("prompt")
        text = HashModel().vocabulary.decode(ids) if isinstance(ids, list) else ""
        return 400 if text.startswith("Question 3:") and text.endswith("Rome") else None

    with LikelihoodServer(plan=down) as server:
        (dataset_result,) = evaluate(server, asked, store=store)
    assert (dataset_result.counts.answered, dataset_result.counts.rejected) == (11, 1)
    before = store.files[journal.file("vllm-api-stream-chat", "options")]
    with LikelihoodServer() as server:
        (dataset_result,) = evaluate(server, asked, store=store)
        ids = [one.json["prompt"] for one in server.requests if one.json.get("echo")]
        prompts = [server.model.vocabulary.decode(one) for one in ids if isinstance(one, list)]
    assert (dataset_result.counts.answered, dataset_result.counts.rejected) == (12, 0)
    assert {text.partition(":")[0] for text in prompts} == {"The capital of France is", "Question 3"}
    assert store.files[journal.file("vllm-api-stream-chat", "options")].startswith(before)


def test_a_continued_run_keeps_its_method() -> None:
    """Another way would be another measure: a service that lost it ends the run."""
    store, rows = MemoryStore(), ROWS
    with LikelihoodServer(style=TOP) as server:
        evaluate(server, built(rows=rows[:6]), store=store)
    with LikelihoodServer(style=VLLM) as server:
        (dataset_result,) = evaluate(server, built(rows=rows), store=store)
    assert {row.mode for row in dataset_result.rows} == {"top-logprobs"}
    with LikelihoodServer(style=NOTHING) as server, pytest.raises(NoHonestScore) as error:
        evaluate(server, built(rows=[*rows, rows[0]]), store=store)
    assert error.value.sentence.startswith(
        "The run has taken log-likelihoods by top-logprobs until now, and methods are not mixed. "
    )


def test_the_journal_holds_the_log_likelihoods() -> None:
    """Line by line as it was returned, and in the readable view the most likely option and every value."""
    asked, store = built(), MemoryStore()
    with LikelihoodServer() as server:
        evaluate(server, asked, store=store)
    lines = list(store.lines(journal.file("vllm-api-stream-chat", "options")))
    for line in lines:
        kept = journal.attempt(line)
        problem = asked.problems[kept.problem]
        wanted = [truth(HashModel(), one.context, one.continuation) for one in problem.candidates]
        assert all(same(*pair, 1e-12) for pair in zip(kept.loglikelihoods, wanted, strict=True))
        assert kept.method == "echo"
    view = msgspec.json.decode(b"".join(predictions.as_view(lines, 1)))["0"]
    values_of_options = [entry["logprob"] for entry in view["loglikelihoods"]]
    assert view["prediction"] == ROWS[0]["options"][values_of_options.index(max(values_of_options))]
    assert view["origin_prompt"] == [{"role": "HUMAN", "prompt": asked.problems[0].text}]
    assert set(view["loglikelihoods"][0]) == {"logprob", "tokens", "greedy"}
