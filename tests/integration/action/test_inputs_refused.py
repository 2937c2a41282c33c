"""Inputs that are none: said by check and comment before anything is fetched, to whoever may start a run."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.integration.action.tools import DISPATCHED
from tests.servers.fake_github import TOKEN, FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY, SHA, pull

from model_accuracy_eval.commands.action import ActionStep, act
from model_accuracy_eval.system.clock import SignalClock

WITH = {
    "token": TOKEN, "hardware": "any", "model": "/weights", "datasets": "demo_gsm8k", "adapter-image": "i",
    "runtime": "container",
}  # fmt: skip
NOBODY = "http://127.0.0.1:1"


def played(hub: FakeGitHub, folder: Path, with_: dict[str, str], **more: str) -> int:
    """The exit code of a step of pull request 7; its git server is not there, so a check-out would say so."""
    hub.pulls[7] = pull(7)
    (folder / "event.json").write_text(json.dumps({"pull_request": pull(7)}))
    told = {
        "GITHUB_API_URL": hub.url, "GITHUB_SERVER_URL": NOBODY, "GITHUB_EVENT_PATH": str(folder / "event.json"),
        "GITHUB_EVENT_NAME": "pull_request", "RUNNER_TEMP": str(folder), "PATH": "",
        "GITHUB_WORKFLOW_REF": f"{REPOSITORY}/.github/workflows/accuracy.yml@refs/heads/main",
    }  # fmt: skip
    inputs = {f"INPUT_{name.upper()}": text for name, text in with_.items()}
    with ActionStep(DISPATCHED | told | inputs | more, SignalClock()).parts() as parts:
        return act(parts.context, parts)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"gates": "demo_gsm8k: avg@5 >= 99"}, "no input called 'gates' in acme/adapter/.github/workflows/accuracy.yml; did you mean gate"),
        ({"max_failed_requests": "3"}, "no input called 'max_failed_requests'"),
        ({"adapter-repository": "acme/adapter/../../mallory/evil"}, "'adapter-repository' cannot be 'acme/adapter/../"),
        ({"adapter-repository": "acme/.."}, "'adapter-repository' cannot be 'acme/..'"),
        ({"artifact-name": "a/b"}, "'artifact-name' cannot be 'a/b'"),
        ({"label": "../x"}, "'label' cannot be '../x'"),
        ({"comment": "perhaps"}, "'comment' cannot be 'perhaps'"),
        ({"check": "perhaps"}, "'check' cannot be 'perhaps'"),
        ({"retention-days": "0"}, "'retention-days' cannot be '0'"),
        ({"history-file": "/etc/x.jsonl"}, "'history-file' is '/etc/x.jsonl'"),
        ({"history-file": "a/../../x.jsonl"}, "'history-file' is 'a/../../x.jsonl'"),
        ({"history-file": "history.txt"}, "'history-file' is 'history.txt'"),
        ({"settings": "temperature 1"}, "`settings` must hold settings as"),
        ({"settings": "gates: x"}, "no setting called 'gates'"),
        ({"num-return-sequences": "many"}, "'num-return-sequences' cannot be 'many'"),
        ({"datasets": "demo_gsm8k\nno_such"}, "no dataset called 'no_such'"),
        ({"gate": "demo_gsm8k: avg@5 => 60"}, "demo_gsm8k: avg@5 => 60"),
        ({"gate": "gsm8k: avg@5 >= 60"}, "gsm8k"),
        ({"config": "none.yml"}, "none.yml cannot be read"),
        ({"adapter-path": "../.."}, "adapter-path '../..' leaves the adapter's repository"),
        ({"runtime": "container", "adapter-image": ""}, "give adapter-image"),
    ],
)  # fmt: skip
def test_what_is_no_input_is_told_before_anything_is_fetched(given: dict[str, str], told: str, tmp_path: Path) -> None:
    """Exit code 2, and the reason where a reviewer looks; what can be read of the other inputs still counts."""
    with FakeGitHub() as hub:
        hub.permissions["alice"] = ("admin", "admin")
        assert played(hub, tmp_path, WITH | given) == 2
        (check,) = hub.checks.values()
        (comment,) = hub.bodies("github-actions[bot]")
    said = " ".join(check["output"]["summary"].replace("\\", "").split())
    assert (check["conclusion"], check["head_sha"]) == ("action_required", SHA)
    assert told in said.replace("&gt;", ">")
    assert "Not started" in comment


def test_all_that_is_wrong_is_told_at_once_and_to_admins_alone(tmp_path: Path) -> None:
    """Whoever is none reads that, and nothing of the inputs."""
    wrong: dict[str, Any] = {"gates": "x", "label": "a b", "retention-days": "never"}
    with FakeGitHub() as hub:
        hub.permissions |= {"alice": ("admin", "admin"), "mallory": ("write", "write")}
        assert played(hub, tmp_path, WITH | wrong) == 2
        assert played(hub, tmp_path, WITH | wrong, GITHUB_TRIGGERING_ACTOR="mallory") == 3
        first, second = (check["output"]["summary"] for check in hub.checks.values())
    assert all(name in first for name in wrong)
    assert "has the role 'write'" in second
    assert not any(f"'{name}'" in second for name in wrong)
