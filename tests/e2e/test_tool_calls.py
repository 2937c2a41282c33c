"""A task that offers a calculator, over real HTTP: the model's calls are worked out, and its last word is judged."""

import json
from pathlib import Path

import pytest
from tests.e2e import command
from tests.servers.fault_server import FaultServer, Style
from tests.servers.tool_server import JSON, USAGE, Said, ToolServer, calculation

from model_accuracy_eval.records import Report

EXPRESSIONS = ["12*34", "1,000/8", "(3+4)*-2"]
RESULTS = ["408", "125", "-14"]
TASK = """
name: worked_out
about: Sums with a calculator.
data: {file}
fields: [sum, result]
prompt: {{question: "What is {{{{ sum }}}}?"}}
reference: "{{{{ result }}}}"
tools: [calculator]
tool_rounds: 2
repeats: 2
pipelines: [{{filters: [number_answer], metrics: [{{name: number, label: accuracy}}]}}]
"""


@pytest.fixture
def task(tmp_path: Path) -> Path:
    rows = [{"sum": asked, "result": result} for asked, result in zip(EXPRESSIONS, RESULTS, strict=True)]
    data, file = tmp_path / "sums.jsonl", tmp_path / "worked_out.yaml"
    data.write_text("".join(json.dumps(row) + "\n" for row in rows))
    file.write_text(TASK.format(file=data))
    return file


def evaluate(url: str, task: Path, **settings: object) -> Report:
    """The real thing in this process: real plan, real ports."""
    values = {"endpoint": url, "datasets": str(task), "out": str(task.parent / "out"), "retries": 0, **settings}
    return command.evaluate(values)


def lines(task: Path, report: Report) -> list[JSON]:
    folder = task.parent / "out" / report.plan.run_id
    journal = (folder / f"predictions/{command.LABEL}/worked_out.jsonl").read_bytes()
    return sorted(map(json.loads, journal.splitlines()), key=lambda line: (line["id"], line["index"]))


def accuracy(report: Report) -> float | None:
    return report.dataset_results[0].rows[0].value


def test_n10_a_model_that_calls_the_calculator_is_told_what_it_says(task: Path) -> None:
    """The last text is the prediction; calls, results, earlier texts and reasoning are kept beside it."""
    with ToolServer() as server:
        report = evaluate(server.url, task)
    assert (accuracy(report), report.outcome.exit_code) == (100.0, 0)
    kept = lines(task, report)
    assert [line["prediction"] for line in kept] == [f"So it is\n#### {one}" for one in RESULTS for _ in range(2)]
    first = kept[0]
    assert first["origin_prompt"] == [{"role": "HUMAN", "prompt": "What is 12*34?"}]
    assert (first["gold"], first["success"], first["finish_reason"]) == ("408", True, "stop")
    assert first["reasoning"] == "That was told to me."
    call = {"id": "id0000000", "name": "calculator", "arguments": '{"expression": "12*34"}'}
    said = {"text": "Let me see.", "reasoning": "I had better not guess."}
    assert first["rounds"] == [{**said, "uses": [{"call": call, "result": "408"}]}]
    assert first["usage"]["prompt_tokens"] == 2 * USAGE["prompt_tokens"]
    assert report.dataset_results[0].speed.completion_tokens == 12 * USAGE["completion_tokens"]
    assert report.dataset_results[0].counts.used_tools == 6
    assert "6 of 6 answers used the tools on offer (calculator)." in report.dataset_results[0].notes


def test_an_answer_in_one_piece_may_call_tools(task: Path) -> None:
    """A server that does not stream tells its calls in a message."""
    with ToolServer(habit="whole", style=Style(stream=False)) as server:
        assert accuracy(evaluate(server.url, task)) == 100.0


def stubborn(request: JSON) -> Said:
    return calculation("1+1", text="Once more.") if "tools" in request else Said(text="#### 0")


def test_a_model_that_calls_without_end_is_counted_apart(task: Path) -> None:
    """Two rounds are answered, the third is the end of the sample; it is judged by what it said, and told."""
    with ToolServer(stubborn) as server:
        report = evaluate(server.url, task)
        assert len(server.chats) == 6 * 3
    counts = report.dataset_results[0].counts
    assert (accuracy(report), counts.unfinished, counts.answered, counts.not_found) == (0.0, 6, 6, 6)
    assert {line["finish_reason"] for line in lines(task, report)} == {"tool_rounds"}
    assert any("6 of 6 samples still called tools after 2 rounds" in note for note in report.dataset_results[0].notes)


def test_a_server_that_takes_no_tools_ends_the_run_with_what_to_do(task: Path) -> None:
    """Every request with tools is rejected: no score, and one sentence that says why."""

    def plan(_number: int, request: JSON) -> str | None:
        return "status_400" if "tools" in request else None

    with FaultServer(lambda _: "#### 0", plan=plan) as server:
        report = evaluate(server.url, task)
    assert report.outcome.exit_code == 5
    assert "start it with tool calls enabled, or choose a dataset without tools" in report.outcome.sentence
