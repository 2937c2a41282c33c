"""Which permission of a workflow's token an operation needs, as GitHub's documentation lists them."""

FOUR = frozenset({"contents: read", "pull-requests: write", "checks: write", "statuses: write"})
"""What a job has to write under `permissions:`, and all that it needs."""

_AREAS = {
    "/actions/artifacts": "actions",
    "/actions/runs/": "actions",
    "/actions/workflows/": "actions",
    "/activity": "contents",
    "/check-runs": "checks",
    "/commits/{ref}/check-runs": "checks",
    "/commits/{ref}/statuses": "statuses",
    "/commits/{commit_sha}/pulls": "pull-requests",
    "/contents/": "contents",
    "/git/": "contents",
    "/issues/": "pull-requests",
    "/pulls/": "pull-requests",
    "/statuses/": "statuses",
}
"""Beginnings of paths below the repository's. Every token may read the others, which are metadata, unless more is said
where they are answered."""


def allows(grants: frozenset[str], method: str, template: str, *, private: bool) -> bool:
    """Everybody may read what is public."""
    path = template.removeprefix("/repos/{owner}/{repo}")
    area = next((name for beginning, name in _AREAS.items() if path.startswith(beginning)), None)
    if area is None or (method == "GET" and not private):
        return True
    return f"{area}: write" in grants or (method == "GET" and f"{area}: read" in grants)
