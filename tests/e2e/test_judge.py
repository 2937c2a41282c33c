"""A judge model, end to end: a task file that wants one, two services, two keys, and judging again without asking."""

from pathlib import Path
from typing import Any

from tests.e2e import command
from tests.servers.fault_server import FaultServer

TASK = """\
task: capitals
dataset_path: json
dataset_kwargs:
  data_files: {test: capitals.jsonl}
test_split: test
output_type: generate_until
doc_to_text: "{{question}}"
doc_to_target: "{{answer}}"
scorer:
  type: judge
  kwargs:
    prompt: "Right: {reference}. Said: {answer}. The same?"
"""
ROWS = '{"question": "Capital of France?", "answer": "Paris"}\n{"question": "Capital of Italy?", "answer": "Rome"}\n'
KEYS = {"MODEL_ACCURACY_EVAL_API_KEY": "marker-model-key", "MODEL_ACCURACY_EVAL_JUDGE_KEY": "marker-judge-key"}


def model(request: dict[str, Any]) -> list[str]:
    """Knows one capital."""
    return ["The city of Paris."] * request.get("n", 1)


def judge(request: dict[str, Any]) -> list[str]:
    """Sees that Paris is Paris."""
    return ["yes" if "Right: Paris." in request["messages"][-1]["content"] else "no"]


def keys(server: FaultServer) -> set[str | None]:
    return {exchange.headers.get("authorization") for exchange in server.requests}


def test_a_judge_model_decides_and_is_asked_once(tmp_path: Path) -> None:
    """Each service gets its own key and no other; the second time nobody is asked and the figures are the same."""
    (tmp_path / "capitals.yaml").write_text(TASK)
    (tmp_path / "capitals.jsonl").write_text(ROWS)
    with FaultServer(model) as served, FaultServer(judge) as judging:
        common = ["--datasets", tmp_path / "capitals.yaml", "--data-dir", tmp_path, "--out", tmp_path / "out", "-n", "2",
                  "--judge-endpoint", judging.url, "--judge-model", "wise"]  # fmt: skip
        done = command.run("run", "--endpoint", served.url, *common, **KEYS)
        assert done.code == 0, done.err
        assert (keys(served), keys(judging)) == ({"Bearer marker-model-key"}, {"Bearer marker-judge-key"})
        assert [chat["model"] for chat in judging.chats] == ["wise", "wise"]
        assert "50.00" in done.out
        run = command.only_run(tmp_path / "out")
        again = command.run("run", "--mode", "eval", "--reuse", run, **KEYS)
        assert (again.code, len(judging.chats)) == (0, 2), again.err
        assert "50.00" in again.out
    assert not [path for path in run.rglob("*") if path.is_file() and b"marker-" in path.read_bytes()]


def test_a_task_that_wants_a_judge_says_so_before_anything_is_asked(tmp_path: Path) -> None:
    """With the options to give."""
    (tmp_path / "capitals.yaml").write_text(TASK)
    (tmp_path / "capitals.jsonl").write_text(ROWS)
    with FaultServer(model) as served:
        done = command.run(
            "run", "--endpoint", served.url, "--datasets", tmp_path / "capitals.yaml", "--data-dir", tmp_path
        )
        assert (done.code, served.requests) == (2, [])
    assert "capitals is judged by a model: name it with --judge-endpoint and --judge-model." in done.err
