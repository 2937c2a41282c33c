"""Who is admitted, before anything of theirs is touched; and that one commit is evaluated and reported on."""

import os
from pathlib import Path

import pytest
from tests.integration.action.tools import DISPATCHED, Stage
from tests.servers.fake_github import TOKEN, FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY, SHA, pull
from tests.servers.git_server import git_server
from tests.simulator.commands import pairs
from tests.simulator.scene import Adapter

from model_accuracy_eval.commands import action
from model_accuracy_eval.commands.action import ActionStep
from model_accuracy_eval.errors import Refused
from model_accuracy_eval.records.report import ActionContext, Actor
from model_accuracy_eval.system.clock import SignalClock

OTHER = "c" * 40


@pytest.mark.parametrize(
    ("job", "sentence"),
    [
        ({"actor": Actor(login="mallory", source="test")}, "mallory has the role 'write'"),
        ({"actor": Actor(login="dependabot[bot]", source="test")}, "dependabot[bot] is a bot"),
        ({"hardware": "npu"}, "does not say that its hardware type is NPU"),
        ({"event": "issue_comment"}, "has the rights of the default branch, so adapter-ref has to be"),
        ({"event": "pull_request_target", "adapter_ref": "main"}, "and it is 'main'"),
        ({"event": "workflow_run", "adapter_ref": SHA[:12]}, f"and it is '{SHA[:12]}'"),
        (
            {"allowed_models": ("hf:acme/*", "/weights/?"), "model": "hf:mallory/better"},
            "'hf:mallory/better' is none that this workflow allows: hf:acme/*, /weights/?.",
        ),
        ({"allowed_models": ("hf:acme/*",)}, "The model '' is none that this workflow allows"),
        ({"commit": "", "adapter_commit": "", "objections": ("No branch 'x'.",)}, "No branch 'x'."),
    ],
)
def test_nothing_is_touched_for_who_is_not_admitted(job: dict[str, object], sentence: str, tmp_path: Path) -> None:
    """No check-out, no configuration file, no task file: exit 3 with the reason, in the comment too."""
    with FakeGitHub() as hub:
        hub.permissions["mallory"] = ("write", "write")
        stage = Stage(hub, adapter=tmp_path)
        assert stage.run(**job) == 3
        assert (stage.checked_out, stage.planned) == (False, False)
        assert sentence in stage.log.getvalue()
        assert "Not started" in stage.comment
        assert [check["conclusion"] for check in hub.checks.values()] == ["action_required"] * ("commit" not in job)


def test_a_full_commit_is_admitted_for_every_event() -> None:
    """It cannot move after an admin has read it."""
    with FakeGitHub() as hub:
        for event in ("issue_comment", "pull_request_target", "workflow_run"):
            assert Stage(hub).run(event=event, adapter_ref=SHA) == 0


@pytest.mark.parametrize(("head", "says"), [(SHA, ""), (OTHER, f"The head of this pull request is `{OTHER[:12]}` now")])
def test_the_comment_says_when_the_pull_request_has_moved(head: str, says: str) -> None:
    """Check and status stay with the evaluated commit; the new head gets no verdict."""
    with FakeGitHub() as hub:
        hub.pulls[7] = pull(7, head=head)
        stage = Stage(hub)
        assert stage.run({"status": "true"}) == 0
        assert ("which was not evaluated" in stage.comment) == bool(says)
        assert says in stage.comment
        assert stage.check["head_sha"] == SHA
        assert {call.rpartition("/")[2] for call in hub.calls if "/statuses/" in call} == {SHA}


def test_a_head_that_github_does_not_name_is_no_reason_for_silence() -> None:
    """The comment is written and says so."""
    with FakeGitHub() as hub:
        stage = Stage(hub)
        hub.fault("GET", "/pulls/7", status=404, body={"message": "Not Found"})
        assert stage.run() == 0
        assert "GitHub did not say whether the head of this pull request is still this commit" in stage.comment


def context(hub: FakeGitHub, served: Path, folder: Path, **more: str) -> ActionContext:
    """The context of a step whose inputs and event are those."""
    folder.mkdir(exist_ok=True)
    with git_server(served) as (url, _):
        servers = {"GITHUB_API_URL": hub.url, "GITHUB_SERVER_URL": url}
        own = {"PATH": os.environ["PATH"], "RUNNER_TEMP": str(folder), "INPUT_TOKEN": TOKEN, **more}
        with ActionStep(DISPATCHED | servers | own, SignalClock()).parts() as parts:
            return parts.context


@pytest.fixture
def adapter(tmp_path: Path) -> Adapter:
    return Adapter.example(tmp_path / "served" / REPOSITORY)


def test_the_evaluated_commit_is_the_reported_one(adapter: Adapter, tmp_path: Path) -> None:
    """With `adapter-ref` it is that one and not the event's, and the comment goes to the pull request that has it."""
    evaluated = adapter.commit({})
    with FakeGitHub() as hub:
        hub.commit_pulls = {evaluated: [pull(8, head=evaluated)], SHA: [pull(7)]}
        for ref in ("main", evaluated):
            found = context(hub, tmp_path / "served", tmp_path / "temp", **{"INPUT_ADAPTER-REF": ref})
            assert (found.adapter_commit, found.commit) == (evaluated, evaluated)
            assert found.pull is not None
            assert found.pull.number == 8
        found = context(hub, tmp_path / "served", tmp_path / "temp")
        assert (found.adapter_commit, found.commit) == (SHA, SHA)
        assert list((tmp_path / "temp").iterdir()) == []


def test_a_ref_that_stands_for_nothing_has_no_commit_to_report_on(adapter: Adapter, tmp_path: Path) -> None:
    """Neither the head nor anything else gets a check about it."""
    adapter.commit({})
    with FakeGitHub() as hub:
        found = context(hub, tmp_path / "served", tmp_path / "temp", **{"INPUT_ADAPTER-REF": "no-such"})
        assert (found.adapter_commit, found.commit) == ("", "")
        assert "no branch or tag 'no-such'" in found.objections[0]


@pytest.mark.parametrize("model", ["hf:acme/one", "/weights/7"])
def test_an_allowed_model_is_admitted(model: str) -> None:
    """Any of the patterns is enough."""
    with FakeGitHub() as hub:
        assert Stage(hub).run(allowed_models=("hf:acme/*", "/weights/?"), model=model) == 0


@pytest.mark.parametrize(
    "model",
    ["/weights/my-x/../other", "/weights/..", "/weights/my-x/deeper", "/weights/My-x", "hf:acme/one/../../mallory/two",
     "HF:acme/one", "hf:асme/one", " hf:acme/one", "hf:acme", "ms:acme/one", "/weights//my-x", "hf:acme/one,hf:mallory/two/x"],
)  # fmt: skip
def test_a_model_beside_the_allowed_ones_is_refused(model: str) -> None:
    """No `..`, other case, look-alike letter or further folder slips through a pattern."""
    with FakeGitHub() as hub:
        assert Stage(hub).run(allowed_models=("hf:acme/*", "/weights/my-*", "/weights/.*"), model=model) == 3


def test_admission_alone_evaluates_nothing(tmp_path: Path) -> None:
    """Outputs instead of a check when it is granted; a refusal is told like that of a run."""
    with FakeGitHub() as hub:
        stage = Stage(hub, adapter=tmp_path, environment={"GITHUB_OUTPUT": str(tmp_path / "outputs")})
        assert stage.run(admit_only=True) == 0
        assert pairs((tmp_path / "outputs").read_bytes()) == {
            "conclusion": "admitted",
            "commit": SHA,
            "evaluations": "[]",
            "models": "0",
        }
        assert (hub.checks, hub.comments, stage.checked_out, stage.planned) == ({}, {}, False, False)
        assert stage.run(admit_only=True, event="workflow_run") == 3
        assert stage.check["conclusion"] == "action_required"
        assert pairs((tmp_path / "outputs").read_bytes())["conclusion"] == "refused"
        assert (stage.checked_out, stage.planned) == (False, False)


def test_a_refusal_is_the_last_word_of_an_admission(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the next look would admit, as after an outage: such a job has no NPU, and evaluates nothing."""
    looks = iter([Refused("GitHub could not be asked.")])

    def look(_context: ActionContext, _github: object) -> None:
        for refusal in looks:
            raise refusal

    monkeypatch.setattr(action, "check_admission", look)
    with FakeGitHub() as hub:
        stage = Stage(hub, adapter=tmp_path)
        assert stage.run(admit_only=True) == 3
        assert (stage.checked_out, stage.planned) == (False, False)
        assert "GitHub could not be asked." in stage.log.getvalue()
