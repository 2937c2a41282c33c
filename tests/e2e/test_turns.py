"""Conversations of several turns, end to end: what is asked next follows the model's own reply, and each turn is judged."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import command
from tests.servers.fault_server import FaultServer

TASK = """\
name: talks
about: Two turns.
data: talks.jsonl
fields: [turns]
prompt:
  question: "{{ turns[0] }}"
  follow_ups: "{{ turns[1:] | tojson }}"
reference: ""
turn_references: "{{ reference | tojson }}"
extras: [turn_1_words, turn_2_words]
pipelines:
  - turn: each
    filters: [strip_thoughts]
    metrics: [{name: judge_score, label: score, args: {prompt: JUDGE, out_of: 10}}]
  - name: first
    turn: 1
    filters: [strip_thoughts, stripped]
    metrics: [{name: exact, label: same}]
  - name: second
    turn: 2
    filters: [strip_thoughts, stripped]
    metrics: [{name: exact, label: same}]
""".replace("JUDGE", '"Q1 {question_1} A1 {answer_1} Q2 {question_2}, now {question} / {answer} / {reference}"')
ROWS = [
    {"turns": ["One?", "Two?"], "reference": ["a", "b after a"], "turn_1_words": 1, "turn_2_words": 2},
    {"turns": ["Three?", "Four?"], "reference": ["x", "b after a"], "turn_1_words": 1, "turn_2_words": 2},
]


def model(request: dict[str, Any]) -> list[str]:
    """Answers `a` after some thought, and then what it finds of its answer."""
    said = [turn["content"] for turn in request["messages"] if turn["role"] == "assistant"]
    return [f"b after {said[-1]}" if said else "<think>Hm.</think>a"]


def judge(request: dict[str, Any]) -> list[str]:
    return ["8" if "now One?" in request["messages"][-1]["content"] else "4"]


def figures(run: Path) -> dict[str, float]:
    rows = json.loads((run / "results" / "vllm-api-stream-chat" / "talks.json").read_bytes())
    return {name: value for name, value in rows.items() if isinstance(value, float)}


@pytest.fixture
def task(tmp_path: Path) -> Path:
    (tmp_path / "talks.yaml").write_text(TASK)
    (tmp_path / "talks.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    return tmp_path / "talks.yaml"


def test_each_turn_follows_the_models_own_reply_and_is_judged(task: Path, tmp_path: Path) -> None:
    """The first reply goes into the second request without its thoughts; the journal keeps it; judging again and going on
    ask nothing twice."""
    with FaultServer(model) as served, FaultServer(judge) as judging:
        common = ["--datasets", task, "--data-dir", tmp_path, "--out", tmp_path / "out", "-n", "2",
                  "--judge-endpoint", judging.url, "--judge-model", "wise"]  # fmt: skip
        done = command.run("run", "--endpoint", served.url, *common)
        assert done.code == 0, done.err
        chats = [[turn["content"] for turn in chat["messages"]] for chat in served.chats if "1+1" not in str(chat)]
        assert sorted(chats) == sorted([["One?"], ["Three?"], ["One?", "a", "Two?"], ["Three?", "a", "Four?"]] * 2)
        run = command.only_run(tmp_path / "out")
        assert figures(run)["same,first (2 runs average)"] == 50.0
        assert figures(run)["same,second (2 runs average)"] == 100.0
        assert figures(run)["score (2 runs average)"] == 50.0
        asked = {chat["messages"][-1]["content"] for chat in judging.chats}
        assert "Q1 One? A1 a Q2 Two?, now Two? / b after a / b after a" in asked
        assert "Q1 One? A1 a Q2 {question_2}, now One? / a / a" in asked
        journal = run / "predictions" / "vllm-api-stream-chat" / "talks.jsonl"
        lines = journal.read_bytes().splitlines(keepends=True)
        first = json.loads(lines[0])
        assert (first["prediction"], first["earlier"][0]["text"]) == ("b after a", "<think>Hm.</think>a")
        counted = len(served.chats), len(judging.chats)
        again = command.run("run", "--mode", "eval", "--reuse", run)
        assert (again.code, len(served.chats), len(judging.chats)) == (0, *counted), again.err
        journal.write_bytes(b"".join(lines[:3]))
        before = figures(run)
        resumed = command.run("run", "--reuse", run)
        assert resumed.code == 0, resumed.err
        assert (len(served.chats), figures(run)) == (counted[0] + 3, before), (
            "the probe and the two turns of one sample"
        )
        rescored = command.run("rescore", run)
        assert rescored.code == 0, rescored.err
        assert "50.00" in rescored.out


def test_a_turn_that_fails_is_a_sample_that_failed(task: Path, tmp_path: Path) -> None:
    """With the turn in its sentence; half a conversation is no answer."""

    def refuses_to_go_on(_number: int, request: dict[str, Any]) -> str | None:
        return "status_500" if len(request["messages"]) == 3 else None

    with FaultServer(model, plan=refuses_to_go_on) as served:
        done = command.run("run", "--mode", "infer", "--endpoint", served.url, "--datasets", task, "--data-dir", tmp_path,
                           "--out", tmp_path / "out", "-n", "1")  # fmt: skip
    assert done.code == 0, done.err
    assert "0 of 2 answered, 2 failed" in done.err
    failed = next((tmp_path / "out").rglob("talks_failed.jsonl")).read_text()
    assert "in turn 2 of the conversation." in failed
