"""The operations that the fake GitHub knows, and the limits of what GitHub takes. PyGithub knows the rest."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs

BYTES = 65_535
COMMENT = 65_536
SHA = re.compile(r"[0-9a-f]{40}")
CONCLUSIONS = {"action_required", "cancelled", "failure", "neutral", "success", "skipped", "timed_out", None}
STATES = {"error", "failure", "pending", "success", None}

# Fixed words before placeholders.
_TEMPLATES = [
    "/user",
    *(
        f"/repos/{{owner}}/{{repo}}/{path}"
        for path in (
            "activity", "actions/artifacts", "actions/artifacts/{artifact_id}/{archive_format}", "actions/runs/{run_id}/artifacts",
            "actions/workflows/{workflow_id}/runs", "branches/{branch}", "check-runs", "check-runs/{check_run_id}",
            "collaborators/{username}/permission", "commits/{commit_sha}/pulls", "commits/{ref}/check-runs", "commits/{ref}/statuses",
            "compare/{basehead}",
            "contents/{path}", "git/blobs/{file_sha}", "git/commits", "git/refs", "git/trees",
            "issues/comments/{comment_id}", "issues/comments/{comment_id}/reactions", "issues/{issue_number}/comments",
            "properties/values", "pulls/{pull_number}", "pulls/{pull_number}/commits", "statuses/{sha}", "topics",
        )
    ),
]  # fmt: skip


def operation(path: str) -> tuple[str, dict[str, str]] | None:
    """The template of a path without query, and what stands in its placeholders; the path of a file has folders."""
    for template in _TEMPLATES:
        pattern = re.sub(
            r"\{(\w+)\}", lambda name: f"(?P<{name[1]}>{'.+' if name[1] == 'path' else '[^/]+'})", template
        )
        if found := re.fullmatch(pattern, path):
            return template, found.groupdict()
    return None


def objections(method: str, path: str, query: str, body: bytes) -> list[str]:
    if operation(path) is None:
        return [f"{method} {path}: no such operation"]
    data = json.loads(body) if body else {}
    return [f"{method} {path}: {each}" for each in (*_limits(path, data), *_pages(query))]


def _pages(query: str) -> Iterator[str]:
    if int(parse_qs(query).get("per_page", ["1"])[0]) > 100:
        yield "per_page: at most 100"


def _limits(path: str, data: dict[str, Any]) -> Iterator[str]:
    check, output = "/check-runs" in path, data.get("output") or {}
    if check and (data.get("status") == "completed") > ("conclusion" in data):
        yield "a completed check needs a conclusion"
    if check and data.get("conclusion") not in CONCLUSIONS:
        yield f"conclusion is {data['conclusion']}"
    if check and not SHA.fullmatch(data.get("head_sha", "0" * 40)):
        yield f"head_sha is no commit: {data['head_sha']}"
    if len(output.get("summary", "").encode()) > BYTES:
        yield f"summary exceeds a maximum bytesize of {BYTES}"
    if output and not (output.get("title") and output.get("summary")):
        yield "output needs title and summary"
    if any(len(named.get("title", "")) > 255 for named in (output, *output.get("annotations", []))):
        yield "title is longer than 255"
    if "/statuses/" in path and (len(data.get("description") or "") > 140 or data.get("state") not in STATES):
        yield "description is too long (maximum is 140 characters), or the state is none"
    if "/comments" in path and len(data.get("body", "")) > COMMENT:
        yield f"body is too long (maximum is {COMMENT} characters)"
