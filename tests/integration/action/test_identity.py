"""A verdict belongs to one repository, commit, image and weights, and is shown for nothing else."""

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest
from tests.integration.action.test_action_wiring import SERVICE, wired
from tests.integration.action.tools import Stage
from tests.servers.fake_github import TOKEN, FakeGitHub
from tests.servers.fake_github_memory import INTEGRATION, JSON, REPOSITORY, SHA

from model_accuracy_eval.records import Request
from model_accuracy_eval.records.report import Actor

OTHER, THERE = "acme/other", "c" * 40
ELSEWHERE = {"adapter_repository": OTHER, "adapter_commit": THERE}
MALLORY = Actor(login="mallory", source="test")


@pytest.mark.parametrize(
    ("here", "there", "sentence"),
    [
        (
            "write",
            "admin",
            f"mallory has the role 'write' in {REPOSITORY}, but only an admin of the workflow's repository",
        ),
        ("admin", "write", f"mallory has the role 'write' in {OTHER}, but only an admin of the adapter's repository"),
        ("read", "read", f"mallory has the role 'read' in {REPOSITORY}"),
        ("admin", "admin", ""),
    ],
)
def test_another_repository_is_evaluated_for_an_admin_of_both(
    here: str, there: str, sentence: str, tmp_path: Path
) -> None:
    """Whoever owns a repository could otherwise put its verdict on a pull request of this one."""
    with FakeGitHub() as hub:
        hub.reach[OTHER] = TOKEN
        hub.permissions |= {"mallory": (here, here), f"{OTHER} mallory": (there, there)}
        stage = Stage(hub, adapter=tmp_path if sentence else None)
        assert stage.run(actor=MALLORY, **ELSEWHERE) == (3 if sentence else 0)
        assert (stage.checked_out, sentence in stage.comment) == (False, True)


@pytest.mark.parametrize("allowed", [True, False])
def test_a_verdict_on_another_repositorys_commit_is_no_success_here(allowed: bool) -> None:
    """It is shown there where the token may; here under another name, as a neutral check that names the other commit."""
    with FakeGitHub() as hub:
        hub.reach[OTHER] = TOKEN
        if not allowed:
            for path in ("check-runs", "statuses"):
                hub.fault("POST", f"/repos/{OTHER}/{path}", 403, INTEGRATION, times=9)
        stage = Stage(hub)
        assert stage.run({"status": "true"}, **ELSEWHERE) == 0
        by_commit = {check["head_sha"]: check for check in hub.checks.values()}
        assert by_commit[SHA]["conclusion"] == "neutral"
        assert by_commit[SHA]["name"] == f"Model accuracy (fake, {OTHER})"
        assert by_commit[SHA]["output"]["title"].startswith(f"{OTHER}@{THERE[:7]}: Passed")
        assert (THERE in by_commit) == allowed
        assert {told["sha"] for told in hub.statuses} == ({THERE} if allowed else set())
        assert f"{OTHER}@{THERE}" in stage.comment
        assert ("does not show this verdict: GitHub refused to open the check" in stage.log.getvalue()) != allowed
        assert "which was not evaluated" not in stage.comment


def test_what_went_wrong_elsewhere_does_not_pass_here() -> None:
    """GitHub lets neutral satisfy a required check, so a run without a verdict never is."""
    with FakeGitHub() as hub:
        hub.reach[OTHER] = TOKEN
        stage = Stage(hub)
        stage.stop_when_asking()
        assert stage.run(**ELSEWHERE) == 143
        assert {check["conclusion"] for check in hub.checks.values()} == {"cancelled"}


def test_a_job_that_writes_between_our_look_and_our_edit_loses_nothing() -> None:
    """GitHub takes both edits; who reads its own away writes again."""
    with FakeGitHub() as hub:
        Stage(hub).run(label="one", run="1-1")
        (first,) = hub.comments.values()

        def overwrite() -> None:
            """A job that had read the comment before ours wrote it."""
            if overwrites and '"label":"fake"' in first["body"]:
                first["body"] = overwrites.pop()

        overwrites = [first["body"]]
        hub.before_listing = overwrite
        Stage(hub).run(label="fake", run="1-1")
        assert (overwrites, "2 evaluations" in first["body"]) == ([], True)


@pytest.mark.parametrize(
    ("first", "second", "sentence"),
    [
        ({}, {}, "Another job of this workflow run has the check 'Model accuracy (fake)'"),
        ({"model": "hf:a/b"}, {"model": "hf:c/d"}, "Another job of this workflow run"),
        ({"model": "hf:a/b"}, {"model": "hf:c/d", "run": "2-1"}, "is about another model"),
        ({}, {"run": "1-2"}, ""),
        ({}, {"label": "other"}, ""),
        ({}, {"adapter_path": "models/two"}, ""),
        ({}, {"image": "newer", "run": "2-1"}, ""),
    ],
)
def test_two_checks_of_one_name_are_about_the_same(
    first: dict[str, str], second: dict[str, str], sentence: str, tmp_path: Path
) -> None:
    """A second job is refused before it deploys, and its check gives the name back; a run again is none."""
    with FakeGitHub() as hub:
        assert Stage(hub).run(**{"run": "1-1", "nonce": "1", **first}) == 0
        stage = Stage(hub, adapter=tmp_path if sentence else None)
        assert stage.run(**{"run": "1-1", "nonce": "2", **second}) == (3 if sentence else 0)
        assert (stage.checked_out, sentence in stage.log.getvalue()) == (False, True)
        names = {check["name"]: check["conclusion"] for check in hub.checks.values()}
        assert names["Model accuracy (fake)"] == "success"
        assert names.get("Model accuracy (fake), not started") == ("action_required" if sentence else None)


def test_two_checks_of_one_name_are_about_the_same_elsewhere_too() -> None:
    """Jobs on two commits of this repository, with two models, about one commit of another."""
    with FakeGitHub() as hub:
        hub.reach[OTHER] = TOKEN
        assert Stage(hub).run(run="1-1", model="hf:a/b", **ELSEWHERE) == 0
        assert Stage(hub).run(run="2-1", model="hf:c/d", commit="d" * 40, **ELSEWHERE) == 3
        there = {check["name"]: check["conclusion"] for check in hub.checks.values() if check["head_sha"] == THERE}
        name = f"Model accuracy (fake, {OTHER})"
        assert there == {name: "success", f"{name}, not started": "action_required"}


STATUS = {"check": False, "status": "true"}


@pytest.mark.parametrize(
    ("second", "code"),
    [
        ({}, 3),
        ({"model": "hf:c/d"}, 3),
        ({"model": "hf:c/d", "run": "2-1"}, 3),
        ({"run": "1-2"}, 0),
        ({"label": "x"}, 0),
    ],
)
def test_two_statuses_of_one_name_are_about_the_same(second: dict[str, str], code: int) -> None:
    """As checks: of a name that is taken no other job makes its own."""
    with FakeGitHub() as hub:
        first = {"run": "1-1", "nonce": "1", "model": "hf:a/b"}
        assert Stage(hub).run(STATUS, **first) == 0
        assert Stage(hub).run(STATUS, **{**first, "nonce": "2", **second}) == code
        assert [told["state"] for told in hub.statuses] == ["pending", "success"] * (1 if code else 2)


@pytest.mark.parametrize("inputs", [STATUS, {"status": "true"}])
def test_what_ends_last_takes_no_place_of_what_is_newest(inputs: dict[str, object]) -> None:
    """A run that is still asking when another begins, be it an old one again, keeps neither its check's name nor the status."""
    with FakeGitHub() as hub:
        older, newer = Stage(hub), Stage(hub)

        def answer(request: Request, _choice: int) -> str:
            if request.max_tokens > 1 and not newer.planned:
                assert newer.run(inputs, run="9-2", nonce="2") == 0
            return "#### 1"

        older.answer = answer
        assert older.run(inputs, run="12-1", nonce="1") == 0
        assert [told["target_url"].partition("#")[2][:4] for told in hub.statuses] == ["12-1", "9-2%", "9-2%"]
        names = [check["name"].removeprefix("Model accuracy ") for check in hub.checks.values()]
        assert names == ([] if inputs == STATUS else ["(fake), superseded", "(fake)"])


def test_of_two_jobs_that_begin_together_one_has_the_status(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both saw nothing; who was first goes on."""
    with FakeGitHub() as hub:
        send = hub._post_statuses

        def after_another(places: JSON, body: JSON, asked: Any) -> Any:
            monkeypatch.undo()
            send(places, {**body, "target_url": "https://github.example/run#1-1%20x%20y"}, asked)
            return send(places, body, asked)

        monkeypatch.setattr(hub, "_post_statuses", after_another)
        assert Stage(hub).run(STATUS, run="1-1") == 3
        assert [told["state"] for told in hub.statuses] == ["pending", "pending"]


@pytest.mark.parametrize("conclusion", ["action_required", "cancelled", "neutral"])
def test_a_run_without_a_verdict_keeps_nobody_from_theirs(conclusion: str) -> None:
    """Or whoever opens a pull request, and names another model in its workflow, could keep an admin from evaluating it."""
    with FakeGitHub() as hub:
        told = {
            "name": "Model accuracy (fake)",
            "head_sha": SHA,
            "external_id": "1-1 another x",
            "conclusion": conclusion,
        }
        hub._post_check_runs({}, told, {})
        assert Stage(hub).run(run="2-1") == 0


def test_a_forged_section_does_not_outlive_the_next_run() -> None:
    """Who has write permission can edit the comment, and could say of itself that it is from tomorrow."""
    with FakeGitHub() as hub:
        Stage(hub).run(run="1-1", started=1.0)
        (told,) = hub.comments.values()
        told["body"] = told["body"].replace('"started":1.0', '"started":99999999999.0').replace("1-1", "9-9")
        stage = Stage(hub)
        stage.run(run="2-1", started=2.0)
        assert "9-9" not in stage.comment
        assert "superseded" not in stage.comment


def test_of_two_jobs_that_begin_together_one_runs() -> None:
    """The check of the one that was first is open still."""
    with FakeGitHub() as hub:
        told = {"name": "Model accuracy (fake)", "head_sha": SHA, "status": "in_progress", "external_id": "1-1 x y"}
        hub._post_check_runs({}, told, {})
        assert Stage(hub).run(run="1-1") == 3
        assert [check["status"] for check in hub.checks.values()] == ["in_progress", "completed"]


def test_a_service_that_runs_already_is_said_to_be_none_of_the_commit_s() -> None:
    """Its address is told where the weights would be, and another one is another subject."""
    with FakeGitHub() as hub:
        job, other = (
            wired(hub, "", **SERVICE | {"endpoint": f"http://me:secret@127.0.0.1:{n}"}).context for n in (1, 2)
        )
    assert job.identity.line.endswith("· weights of the service at http://127.0.0.1:1 · vllm-api-stream-chat")
    assert job.identity.subject != other.identity.subject


@pytest.mark.parametrize(
    ("matrix", "inputs", "label"),
    [
        ("null", {}, "vllm-api-stream-chat"),
        ('{"model": "hf:org/a@main", "datasets": "gsm8k,math"}', {}, "hf-org-a@main_gsm8k-math"),
        ('{"model": "hf:org/b", "npus": 8, "more": {"x": [1]}}', {}, "hf-org-b_8_-x-1"),
        ('{"shard": "0/4"}', {"shard": "0/4"}, "vllm-api-stream-chat"),
        ("nightly", {}, "nightly"),
        (json.dumps({"model": "m" * 100}), {}, f"{'m' * 60}-" + hashlib.sha256(b"m" * 100).hexdigest()[:6]),
    ],
)
def test_a_matrix_names_its_jobs(matrix: str, inputs: dict[str, str], label: str) -> None:
    """Check, comment and report of each are called after what varies; so is its artifact."""
    with FakeGitHub() as hub:
        site = wired(hub, "", label=matrix, artifact_name="report", **SERVICE, **inputs)
        assert site.context.label == site.plan(False).settings.label == label
        names = {getattr(sink, "inputs").artifact_name for sink in site.sinks if sink.name == "artifact"}  # noqa: B009
        assert {name[:60] for name in names} == {"report" if label.startswith("vllm") else f"report-{label}"[:60]}


@pytest.mark.parametrize(
    ("image", "problems"), [("acme/serving:1.0", 1), ("", 1), (f"acme/serving@sha256:{'0' * 64}", 0)]
)
def test_a_gate_may_need_an_image_that_stays_what_it_is(image: str, problems: int) -> None:
    """`require-gate: digest`, also in the block of settings."""
    for inputs in ({"require_gate": "digest"}, {"settings": "require-gate: Digest"}):
        with FakeGitHub() as hub:
            site = wired(hub, "", adapter_image=image, gate="demo_gsm8k: avg@5 >= 60", **SERVICE, **inputs)
            assert len(site.problems) == problems
            assert site.plan(False).settings.require_gate
