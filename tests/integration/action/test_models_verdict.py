"""The verdict about all models of accuracy.yaml: one check, one comment with a row for each."""

import json
from pathlib import Path

import msgspec
import pytest
from tests.fake_ports import seal
from tests.integration.action.test_inputs_refused import played
from tests.servers.fake_github import TOKEN, FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY, SHA
from tests.simulator.commands import pairs

from model_accuracy_eval.records import Identity

DATASET = {"version": "v", "questions": "q", "problems": 3, "metrics": {"accuracy": 71.0, "avg@1": 71.0}}


def evaluations(*names: str, advisory: str = "", part: str = "") -> str:
    return json.dumps([
        {"name": name, "tier": "advisory" if name == advisory else "required", "settings": json.dumps({"label": name + part})}
        for name in names
    ])  # fmt: skip


def left(
    folder: Path, label: str, status: str, exit_code: int, *, commit: str = SHA, started: str = "2026-01-01"
) -> None:
    """The artifact of a model's job."""
    run = {
        "status": status, "run_id": "r", "label": label, "started": started, "datasets": {"gsm8k": DATASET}, "exit_code": exit_code,
        "identity": Identity(repository=REPOSITORY, commit=commit, label=label), "sentence": f"About {label}, from {started}.",
    }  # fmt: skip
    (folder / f"acc-{label}-{started}").mkdir(parents=True)
    (folder / f"acc-{label}-{started}" / "run.json").write_bytes(msgspec.json.encode(run))
    if status != "running":
        seal(folder / f"acc-{label}-{started}")


def judged(hub: FakeGitHub, tmp_path: Path, told: str, more: str = "") -> int:
    block = f"mode: verdict\nshards-path: {tmp_path}/models\nevaluations: {json.dumps(told)}\n{more}"
    hub.permissions["alice"] = ("admin", "admin")
    return played(hub, tmp_path, {"token": TOKEN, "hardware": "any", "settings": block, "label": "null"},
                  GITHUB_OUTPUT=str(tmp_path / "outputs"))  # fmt: skip


@pytest.mark.parametrize(
    ("ends", "advisory", "code", "conclusion"),
    [
        ({"a": ("passed", 0), "b": ("passed", 0)}, "", 0, "success"),
        ({"a": ("passed", 0), "b": ("failed", 1)}, "", 1, "failure"),
        ({"a": ("passed", 0), "b": ("failed", 1)}, "b", 0, "success"),
        ({"a": ("passed", 0), "b": ("undecided", 7)}, "", 7, "action_required"),
        ({"a": ("passed", 0), "b": ("complete", 0)}, "", 0, "neutral"),
        ({"a": ("passed", 0), "b": ("running", 0)}, "", 5, "failure"),
        ({"a": ("passed", 0)}, "", 5, "failure"),
        ({"a": ("passed", 0)}, "b", 0, "success"),
    ],
)
def test_the_worst_of_those_required_is_the_verdict(
    ends: dict[str, tuple[str, int]], advisory: str, code: int, conclusion: str, tmp_path: Path
) -> None:
    """A model whose job has left nothing is no pass; one that is advisory is told and decides nothing."""
    for label, (status, exit_code) in ends.items():
        left(tmp_path / "models", label, status, exit_code)
    with FakeGitHub() as hub:
        assert judged(hub, tmp_path, evaluations("a", "b", advisory=advisory)) == code
        (check,) = hub.checks.values()
        (comment,) = hub.bodies("github-actions[bot]")
    assert (check["conclusion"], check["name"], check["head_sha"]) == (
        conclusion,
        "Model accuracy (accuracy.yaml)",
        SHA,
    )
    rows = [line for line in comment.splitlines() if line.startswith(("| a", "| b"))]
    assert len(rows) == 2
    assert "gsm8k: accuracy 71.00" in rows[0]
    told = json.loads(pairs((tmp_path / "outputs").read_bytes())["summary-json"])
    assert {name: bool(row["manifest"]) for name, row in told.items()} == {
        name: ends.get(name, ("running",))[0] != "running" for name in ("a", "b")
    }
    assert ("(advisory)" in rows[1]) is (advisory == "b")


def test_the_joint_verdict_speaks_chinese(tmp_path: Path) -> None:
    """As its comment and check do."""
    left(tmp_path / "models", "a", "passed", 0)
    left(tmp_path / "models", "b", "failed", 1)
    with FakeGitHub() as hub:
        assert judged(hub, tmp_path, evaluations("a", "b", advisory="b"), "language: zh\n") == 0
        (check,) = hub.checks.values()
    assert "a: 通过, b: 未通过（仅供参考）." in check["output"]["title"]


def test_what_is_about_something_else_counts_for_nothing(tmp_path: Path) -> None:
    """Another commit's run is none, and one that was changed since; of two attempts the newer one counts; a part has a
    name of its own."""
    left(tmp_path / "models", "a-gsm8k", "failed", 1, started="2026-01-01")
    left(tmp_path / "models", "a-gsm8k", "passed", 0, started="2026-01-02")
    left(tmp_path / "models", "b-gsm8k", "passed", 0, commit="e" * 40)
    left(tmp_path / "models", "c-gsm8k", "failed", 1)
    run = tmp_path / "models" / "acc-c-gsm8k-2026-01-01" / "run.json"
    run.write_text(run.read_text().replace("failed", "passed"))
    (tmp_path / "models" / "torn").mkdir()
    (tmp_path / "models" / "torn" / "run.json").write_text("{")
    with FakeGitHub() as hub:
        assert judged(hub, tmp_path, evaluations("a", "b", "c", part="-gsm8k")) == 5
        (check,) = hub.checks.values()
    assert check["name"] == "Model accuracy (accuracy.yaml-gsm8k)"
    assert "About a-gsm8k, from 2026-01-02" in check["output"]["summary"]
    for name in ("b", "c"):
        assert f"{name}: infrastructure failure" in check["output"]["title"]
