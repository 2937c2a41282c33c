"""A service that already runs, over real HTTP: the score is right whatever the service does on the way."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.servers.fault_server import FaultServer, Style

from model_accuracy_eval.records import Report
from model_accuracy_eval.report import comment, terminal
from model_accuracy_eval.run import engines, pipeline, plan_parts
from model_accuracy_eval.system.clock import SignalClock

JSON = dict[str, Any]
PROBLEMS = 6


def answer(request: JSON) -> Sequence[str]:
    """Right in some samples and wrong in others, by question and seed alone; not a pure ASCII text."""
    question = request["messages"][-1]["content"].partition("\n")[0]
    texts = []
    for index in range(request.get("n", 1)):
        digest = hashlib.sha256(f"{question}/{(request.get('seed') or 0) + index}".encode()).digest()
        texts.append(f"Überlegt 数学 😀 … #### {len(question) if digest[0] % 3 else 0}")
    return texts


class FirstTry:
    """Spoils the first try of every request, but not the readiness probe."""

    def __init__(self, fault: str) -> None:
        self.fault = fault
        self.seen: set[str] = set()

    def __call__(self, _number: int, request: JSON) -> str | None:
        key = json.dumps([request.get("messages"), request.get("seed")])
        if request.get("max_tokens") == 1 or key in self.seen:
            return None
        self.seen.add(key)
        return self.fault


@pytest.fixture(scope="module")
def questions(tmp_path_factory: pytest.TempPathFactory) -> Path:
    rows = [f"How long is this text number {'x' * number}?" for number in range(PROBLEMS)]
    file = tmp_path_factory.mktemp("questions") / "lengths.jsonl"
    file.write_text("".join(json.dumps({"question": row, "answer": str(len(row))}) + "\n" for row in rows))
    return file


def evaluate(server: FaultServer, questions: Path, out: Path, **settings: object) -> Report:
    """The real thing in this process: real plan, real ports."""
    values = {"endpoint": server.url, "datasets": str(questions), "out": str(out), **settings}
    plan = plan_parts.plan(values, {})
    limits = replace(plan.client_limits, first_token_timeout=1.0, idle_timeout=1.0, total_timeout=3.0)
    plan = replace(plan, client_limits=limits)
    return pipeline.run(plan, engines.ports(plan, {}, SignalClock()))


def figures(report: Report) -> dict[str, float | None]:
    return {row.metric: row.value for row in report.dataset_results[0].rows}


@pytest.fixture(scope="module")
def undisturbed(questions: Path) -> dict[str, float | None]:
    with FaultServer(answer) as server:
        report = evaluate(server, questions, questions.parent / "undisturbed")
    found = figures(report)
    assert 0 < (found["avg@5"] or 0) < 100
    return found


CURABLE = [
    "status_429", "status_500", "status_503", "reset_at_once", "reset_mid_stream", "truncated_chunks", "truncated_length",
    "stalled_before_head", "stalled_mid_stream", "malformed_event", "error_event", "error_event_string", "empty_body",
    "done_without_finish", "ended_without_finish", "ended_inside_event", "finish_abort", "html_page",
]  # fmt: skip


@pytest.mark.parametrize("fault", CURABLE)
def test_what_a_retry_can_cure_does_not_move_the_score(
    fault: str, questions: Path, tmp_path: Path, undisturbed: dict[str, float | None]
) -> None:
    """Every request fails once in that way; figures and counts are those of an undisturbed run."""
    with FaultServer(answer, plan=FirstTry(fault)) as server:
        report = evaluate(server, questions, tmp_path / "out")
    assert figures(report) == undisturbed
    assert report.outcome.exit_code == 0
    assert report.dataset_results[0].counts.answered == PROBLEMS * 5


def test_a_run_that_goes_on_remembers_that_finish_reasons_are_sent(questions: Path, tmp_path: Path) -> None:
    """The service is half broken by then, its readiness probe included: its half answers are failures."""
    spoiled = "How long is this text number xx?"

    def plan(_number: int, request: JSON) -> str | None:
        return "status_503" if request["messages"][-1]["content"].startswith(spoiled) else None

    with FaultServer(answer, plan=plan) as server:
        first = evaluate(server, questions, tmp_path / "out", retries=1)
        server.plan = lambda _number, _request: "ended_without_finish"
        again = evaluate(server, questions, tmp_path / "out", retries=1, reuse=str(first.outcome.folder))
    assert again.plan.run_id == first.plan.run_id
    counts = again.dataset_results[0].counts
    assert (counts.answered, counts.failed, again.outcome.exit_code) == (25, 5, 5)


@pytest.mark.parametrize("done", [True, False])
def test_a_service_that_never_sends_a_finish_reason_is_evaluated_and_told_once(
    done: bool, questions: Path, tmp_path: Path, undisturbed: dict[str, float | None]
) -> None:
    """Its figures are the same, and the report says once what cannot be known of its answers."""
    with FaultServer(answer, style=Style(finish="none", done=done)) as server:
        report = evaluate(server, questions, tmp_path / "out")
    assert figures(report) == undisturbed
    folder = tmp_path / "out" / report.plan.run_id
    run = json.loads((folder / "run.json").read_bytes())
    assert run["sends_finish_reasons"] is False
    (note,) = run["service_notes"]
    assert "never sent a finish_reason" in note
    assert (folder / "report.html").read_text().count("never sent a finish_reason") == 1
    assert terminal.as_text(report).count("never sent a finish_reason") == 1
    assert comment.as_summary(report).count("never sent a finish") == 1


STYLES = {
    "n ignored, no [DONE], usage in the last chunk": Style(ignore_n=True, done=False, usage="finish"),
    "UTF-8 split at every byte": Style(cut=1),
    "not streamed at all": Style(stream=False),
    "HTTP/1.0": Style(version="1.0", framing="close"),
}
"""One of each kind; the client's own tests have many more."""


@pytest.mark.parametrize("style", STYLES.values(), ids=STYLES)
def test_habits_of_servers_do_not_move_the_score(
    style: Style, questions: Path, tmp_path: Path, undisturbed: dict[str, float | None]
) -> None:
    """However a good answer is written on the wire, the figures are the same."""
    with FaultServer(answer, style=style) as server:
        report = evaluate(server, questions, tmp_path / "out")
    assert figures(report) == undisturbed
    assert report.outcome.exit_code == 0


def test_a_run_with_failures_is_completed_by_reuse(
    questions: Path, tmp_path: Path, undisturbed: dict[str, float | None]
) -> None:
    """After the service is well again, --reuse asks only what failed, and ends with the undisturbed figures."""
    out = tmp_path / "out"
    with FaultServer(answer, plan=lambda number, _: "status_503" if number > 6 else None) as server:
        broken = evaluate(server, questions, out, retries=0, concurrency=1)
    assert (broken.outcome.exit_code, broken.outcome.conclusion) == (5, "broken")
    with FaultServer(answer) as server:
        plan = plan_parts.plan({"reuse": str(out / broken.plan.run_id), "endpoint": server.url}, {})
        mended = pipeline.run(plan, engines.ports(plan, {}, SignalClock()))
        asked = sum(request.get("n", 1) for request in server.chats) - 1  # the probe
    assert (mended.outcome.exit_code, figures(mended)) == (0, undisturbed)
    assert asked == broken.dataset_results[0].counts.failed


def test_greedy_servers_are_found_out(questions: Path, tmp_path: Path) -> None:
    """Equal samples in spite of temperature 1 are told, because pass@k means nothing then."""
    with FaultServer(lambda request: ["#### 1"] * request.get("n", 1)) as server:
        report = evaluate(server, questions, tmp_path / "out")
    assert any("decodes greedily" in note for note in report.dataset_results[0].notes)
