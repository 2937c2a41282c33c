"""The fake GitHub itself: what GitHub does not publish, or does not take, is found."""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
from tests.schemas import contract
from tests.servers.fake_github_memory import SHA, pull

from model_accuracy_eval.records.report import StatusState

R = "/repos/acme/adapter"
GOOD: dict[str, Any] = {"name": "accuracy", "head_sha": SHA, "status": "in_progress"}
REMARK = {"path": "a", "start_line": 1, "end_line": 1, "annotation_level": "notice", "message": "m"}


def objections(method: str, path: str, body: Any = None, query: str = "") -> list[str]:
    return contract.objections(method, f"{R}{path}", query, b"" if body is None else json.dumps(body).encode())


def output(**more: Any) -> dict[str, Any]:
    return GOOD | {"output": {"title": "t", "summary": "s"} | more}


@pytest.mark.parametrize(
    ("method", "path", "body", "query"),
    [
        ("POST", "/check-runs", GOOD, ""),
        ("POST", "/check-runs", GOOD | {"status": "completed", "conclusion": "success"}, ""),
        (
            "PATCH",
            "/check-runs/1",
            {"output": {"title": "t", "summary": "s" * 65_535, "annotations": [REMARK] * 50}},
            "",
        ),
        ("POST", "/issues/7/comments", {"body": "x" * 65_536}, ""),
        ("GET", "/issues/7/comments", None, "per_page=100&page=2"),
        ("POST", f"/statuses/{SHA}", {"state": "pending", "context": "c", "description": "d" * 140}, ""),
    ],
)
def test_good_requests_are_taken(method: str, path: str, body: Any, query: str) -> None:
    """Requests at the very limits are good."""
    assert objections(method, path, body, query) == []


@pytest.mark.parametrize(
    ("method", "path", "body", "query"),
    [
        ("GET", "/nowhere", None, ""),
        ("POST", "/check-runs", {"name": "accuracy"}, ""),
        ("POST", "/check-runs", GOOD | {"status": "successful"}, ""),
        ("POST", "/check-runs", GOOD | {"conclusion": "bogus"}, ""),
        ("POST", "/check-runs", GOOD | {"status": "completed"}, ""),
        ("POST", "/check-runs", GOOD | {"conclusion": "stale", "status": "completed"}, ""),
        ("POST", "/check-runs", GOOD | {"head_sha": "main"}, ""),
        ("POST", "/check-runs", GOOD | {"unknown": 1}, ""),
        ("POST", "/check-runs", output(summary="数" * 30_000), ""),
        ("POST", "/check-runs", output(text="é" * 32_768), ""),
        ("POST", "/check-runs", output(title="x" * 256), ""),
        ("POST", "/check-runs", output(annotations=[REMARK] * 51), ""),
        ("POST", "/check-runs", output(annotations=[REMARK | {"annotation_level": "error"}]), ""),
        ("PATCH", "/check-runs/1", {"status": "completed"}, ""),
        ("PATCH", "/check-runs/one", {}, ""),
        ("POST", "/issues/7/comments", {}, ""),
        ("POST", "/issues/7/comments", {"body": "x" * 65_537}, ""),
        ("GET", "/issues/7/comments", None, "per_page=101"),
        ("GET", "/issues/7/comments", None, "sort=up"),
        ("GET", "/topics", {"a": 1}, ""),
        ("POST", f"/statuses/{SHA}", {"state": "cancelled"}, ""),
        ("POST", f"/statuses/{SHA}", {"state": "error", "description": "d" * 141}, ""),
    ],
)
def test_bad_requests_are_found(method: str, path: str, body: Any, query: str) -> None:
    """Wrong values, missing and unknown fields, and limits that the description does not state."""
    assert objections(method, path, body, query)


def test_an_answer_of_the_fake_is_measured_too() -> None:
    """A field that GitHub does not give, one that is missing and one of another type are found."""
    path = f"{R}/pulls/7"
    good = pull(7)
    assert contract.answer_objections("GET", path, 200, good) == []
    for bad in (good | {"invented": 1}, good | {"number": "7"}, {key: good[key] for key in good if key != "head"}):
        assert contract.answer_objections("GET", path, 200, bad)


def test_the_extract_holds_structure_only() -> None:
    """No prose of the published description is kept, and every status state of ours is in it."""
    text = (Path(contract.__file__).parent / "github.json").read_text()
    assert '"examples"' not in text
    assert max(len(line) for line in text.splitlines()) < 120
    states = contract.TABLE["/repos/{owner}/{repo}/statuses/{sha}"]["post"]["body"]["properties"]["state"]["enum"]
    assert set(get_args(StatusState)) <= set(states)
