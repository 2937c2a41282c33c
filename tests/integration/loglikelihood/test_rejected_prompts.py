"""Chats that are longer than the model's context: a sample each, counted, with the reason and the next step."""

import json
from dataclasses import replace

import pytest
from tests.fake_ports import MemoryHub, MemoryStore, fake_ports
from tests.integration.loglikelihood.test_loglikelihood_runs import CHOICE
from tests.servers.asking import LIMITS, Naps
from tests.servers.likelihood_server import NOTHING, TOP, LikelihoodServer

from model_accuracy_eval.benchmarks import demo
from model_accuracy_eval.client.chat import connect
from model_accuracy_eval.records import Report, RunPlan, Sampling, Settings, TaskSpec
from model_accuracy_eval.run import pipeline
from model_accuracy_eval.run_folder import journal

CONTEXT = 400
PROBLEMS, LONG = 24, 8
ROWS = [
    {"question": "Rome " * (500 if number % 3 == 0 else 1), "options": ["Rome", "Paris"], "answer": number % 2}
    for number in range(PROBLEMS)
]
STYLES = {"top-logprobs": TOP, "extracted": NOTHING, "chat": NOTHING}
ADVICE = (
    "8 of the 8 rejected samples are longer than the model's context: serve the model with a longer context, lower "
    "--max-tokens, or take a task with fewer or shorter examples. The first: The request does not fit into the model's "
    "context: HTTP 400 Bad Request: This model's maximum context length is 400 tokens."
)


def evaluate(method: str, rows: list[dict[str, object]], store: MemoryStore) -> Report:
    lines = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
    task: TaskSpec = CHOICE
    if method == "chat":
        answers = [{"question": row["question"], "answer": f"#### {row['answer']}"} for row in rows]
        lines = b"".join(json.dumps(row).encode() + b"\n" for row in answers)
        task = demo.WORD_PROBLEMS
    with LikelihoodServer(style=replace(STYLES[method], context=CONTEXT), answer=lambda _: "#### 1\nB") as server:
        plan = RunPlan(
            run_id="0" * 32, stamp="s", tasks=(task,), client_limits=LIMITS, k=(1,), sampling=Sampling(n=1),
            settings=Settings(endpoint=(server.url,), model_name="hash"),
        )  # fmt: skip
        ports = fake_ports(
            connect=lambda service, limits, role: connect(service, limits, sleep=Naps(), chance=lambda: 1.0),
            hub=MemoryHub({task.data.name: lines}),
            open_store=lambda _root: store,
        )
        return pipeline.run(plan, ports)


@pytest.mark.parametrize("method", STYLES)
def test_a_chat_that_is_too_long_is_rejected_counted_and_explained(method: str) -> None:
    """The rest is judged, and nothing is asked twice."""
    store = MemoryStore()
    report = evaluate(method, ROWS, store)
    (dataset_result,) = report.dataset_results
    assert report.outcome.exit_code == 0
    assert (dataset_result.counts.answered, dataset_result.counts.rejected) == (PROBLEMS - LONG, LONG)
    assert {row.mode for row in dataset_result.rows} == {"gen" if method == "chat" else method}
    (note,) = [note for note in dataset_result.notes if "rejected samples" in note]
    assert note.startswith(ADVICE)
    assert b"serve the model with a longer context" in store.files["report.html"]
    failures = list(store.lines(journal.failures_file("vllm-api-stream-chat", dataset_result.dataset)))
    assert len(failures) == LONG
    assert {json.loads(line)["tries"] for line in failures} == {1}


@pytest.mark.parametrize("method", STYLES)
def test_where_every_chat_is_too_long_the_sentence_says_what_to_do(method: str) -> None:
    """No figure, exit code 5, and a report."""
    store = MemoryStore()
    report = evaluate(method, ROWS[:1] * PROBLEMS, store)
    assert (report.outcome.exit_code, report.outcome.conclusion) == (5, "broken")
    assert "This model's maximum context length is 400 tokens" in report.outcome.sentence
    assert "To do: serve the model with a longer context" in report.outcome.sentence
    assert "report.html" in store.files
