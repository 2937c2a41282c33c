"""What the fake GitHub remembers, and what each operation does to it: `_get_topics` answers `GET …/topics`."""

import base64
import hashlib
import itertools
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import unquote

from tests.servers.fake_github_permissions import FOUR

JSON = dict[str, Any]
Reply = tuple[int, Any, Mapping[str, str]]

REPOSITORY = "acme/adapter"
SHA = "1f0c6d2e" * 5
NO_SHA = "0" * 40
HEAD = "e" * 40
"""Of every branch."""
NOON = "2026-05-05T12:00:00Z"
"""When comments are written."""
EVERYTHING = FOUR
INTEGRATION = {"message": "Resource not accessible by integration", "documentation_url": "https://docs.example/rest"}
NOT_FOUND = {"message": "Not Found", "documentation_url": "https://docs.example/rest", "status": "404"}


def user(login: str, identifier: int = 1) -> JSON:
    kind = "Bot" if login.endswith("[bot]") else "User"
    return {"login": login, "id": identifier, "type": kind, "html_url": f"https://github.example/{login}"}


def pull(number: int, *, head: str = SHA, fork: str | None = REPOSITORY, into: str = REPOSITORY, **more: Any) -> JSON:
    """A pull request as events and answers have it; `fork` is None when its repository is gone."""

    def side(sha: str, name: str | None) -> JSON:
        address = f"https://github.example/{name}"
        repo = None if name is None else {"id": 2, "full_name": name, "html_url": address}
        return {"sha": sha, "ref": f"branch-{number}", "user": user("author"), "repo": repo}

    told = {"id": number, "number": number, "state": "open", "title": "A change", "body": None, "user": user("author")}
    address = f"https://github.example/{into}/pull/{number}"
    ends = {"head": side(head, fork), "base": side("b" * 40, into)}
    return told | ends | {"html_url": address, "merge_commit_sha": None} | more


class Memory:
    """State and operations; each returns status, data and headers."""

    def __init__(self, grants: frozenset[str], login: str) -> None:
        self.grants = grants
        self.private = False
        """Whether the repository is; everybody may read a public one."""
        self.login = login
        """Who the token speaks as: an app, which has no user, if it ends in `[bot]`."""
        self.url = ""
        self.permissions: dict[str, tuple[str, str]] = {}
        """By login; with a repository before it, of that one."""
        self.properties: list[JSON] | None = []
        self.topics: list[str] = []
        self.files: dict[str, Any] = {}
        self.branches: dict[str, dict[str, bytes]] = {"main": {}}
        self.protected: set[str] = set()
        self.objects: dict[str, Any] = {}
        self.messages: list[str] = []
        """Of commits."""
        self.largest_content = 1 << 20
        """Bytes of a file that GitHub shows with its hash."""
        self.before_put: Callable[[], object] = lambda: None
        self.before_listing: Callable[[], object] = lambda: None
        """Called before something is changed, or comments are listed: another job may be faster."""
        self.pulls: dict[int, JSON] = {}
        self.pushes: list[JSON] = []
        """To the branches of pull requests, the newest first."""
        self.pull_commits: dict[int, list[str]] = {}
        self.commit_pulls: dict[str, list[JSON]] = {}
        self.comments: dict[int, JSON] = {}
        self.reactions: dict[int, list[str]] = {}
        """Of a comment, by its number."""
        self.checks: dict[int, JSON] = {}
        self.statuses: list[JSON] = []
        self.annotations: dict[int, list[JSON]] = {}
        self.workflow_runs: list[JSON] = []
        self.artifacts: list[JSON] = []
        self.ancestors = {SHA}
        """Commits that are part of every branch."""
        self.page = 100
        self._numbers = itertools.count(1001)
        self._threads: dict[int, int] = {}

    def keep_artifact(self, name: str, content: bytes, address: str, **more: Any) -> JSON:
        """An artifact of a new run, which `address` serves; `more`: what differs from a good one of main."""
        run: JSON = {
            "id": next(self._numbers), "event": "push", "head_branch": "main", "status": "completed",
            "conclusion": "success", "head_sha": SHA, "path": ".github/workflows/evaluate.yml", "workflow": "evaluate.yml",
            "head_repository": {"full_name": REPOSITORY, "id": 2, "name": "adapter"},
        }  # fmt: skip
        run |= {key: value for key, value in more.items() if key in run}
        repository = {"repository_id": 2, "head_repository_id": run["head_repository"]["id"]}
        artifact: JSON = {
            "id": next(self._numbers), "name": name, "size_in_bytes": len(content), "expired": False,
            "digest": f"sha256:{hashlib.sha256(content).hexdigest()}", "address": address,
            "workflow_run": {"id": run["id"], "head_branch": run["head_branch"], **repository},
        }  # fmt: skip
        artifact |= {key: value for key, value in more.items() if key in artifact}
        self.workflow_runs.insert(0, run)
        self.artifacts.insert(0, artifact)
        return artifact

    def _get_actions_workflows_runs(self, places: JSON, _: JSON, asked: JSON) -> Reply:
        """GitHub filters by the name of a branch, whosever it is."""
        runs = [
            {key: value for key, value in run.items() if key != "workflow"}
            for run in self.workflow_runs
            if run["workflow"] == places["workflow_id"]
            and run["head_branch"] == asked.get("branch", run["head_branch"])
            and asked.get("status") in {None, run["status"], run["conclusion"]}
        ]
        return 200, {"total_count": len(runs), "workflow_runs": runs}, {}

    def _get_branches(self, places: JSON, _: JSON, __: Any) -> Reply:
        if (branch := unquote(places["branch"])) not in self.branches:
            return 404, {"message": "Branch not found"}, {}
        return 200, {"name": branch, "commit": {"sha": HEAD}}, {}

    def _get_compare(self, places: JSON, _: JSON, __: Any) -> Reply:
        base, head = places["basehead"].split("...")
        if base == NO_SHA:
            return 404, NOT_FOUND, {}
        return 200, {"status": "identical" if base == head else "ahead" if base in self.ancestors else "diverged"}, {}

    def _get_actions_runs_artifacts(self, places: JSON, _: JSON, asked: JSON) -> Reply:
        return self._kept(asked, lambda each: each["workflow_run"]["id"] == int(places["run_id"]))

    def _get_actions_artifacts(self, places: JSON, _: JSON, asked: JSON) -> Reply:
        if "artifact_id" not in places:
            return self._kept(asked, lambda _: True)
        found = next((each for each in self.artifacts if each["id"] == int(places["artifact_id"])), None)
        if found is None or found["expired"]:
            return (410 if found else 404), NOT_FOUND, {}
        return 302, None, {"location": found["address"]}

    def _kept(self, asked: JSON, wanted: Callable[[JSON], bool]) -> Reply:
        found = [
            {key: value for key, value in each.items() if key != "address"}
            for each in self.artifacts
            if wanted(each) and asked.get("name") in {None, each["name"]}
        ]
        status, page, more = self._paged(found, asked)
        return status, {"total_count": len(found), "artifacts": page}, more

    def comment(self, login: str | None, body: str, number: int = 7) -> int:
        """A comment that somebody else, or an earlier run, has left."""
        identifier = next(self._numbers)
        author = None if login is None else user(login) | {"url": f"{self.url}/users/{login}"}
        url = f"https://github.example/{REPOSITORY}/pull/{number}#issuecomment-{identifier}"
        self.comments[identifier] = {
            "id": identifier, "user": author, "body": body, "html_url": url, "created_at": NOON, "updated_at": NOON,
            "url": f"{self.url}/repos/{REPOSITORY}/issues/comments/{identifier}",
        }  # fmt: skip
        self._threads[identifier] = number
        return identifier

    def bodies(self, login: str) -> list[str]:
        return [told["body"] for told in self.comments.values() if (told["user"] or {}).get("login") == login]

    def _get_user(self, _: Any, __: JSON, ___: Any) -> Reply:
        return (403, INTEGRATION, {}) if self.login.endswith("[bot]") else (200, user(self.login), {})

    def _get_collaborators_permission(self, places: JSON, _: JSON, __: Any) -> Reply:
        name = unquote(places["username"])
        told = self.permissions.get(f"{places['owner']}/{places['repo']} {name}", self.permissions.get(name))
        if told is None:
            return 404, NOT_FOUND, {}
        return 200, {"permission": told[0], "role_name": told[1], "user": None}, {}

    def _get_properties_values(self, _: Any, __: JSON, ___: Any) -> Reply:
        return (404, NOT_FOUND, {}) if self.properties is None else (200, self.properties, {})

    def _get_topics(self, _: Any, __: JSON, ___: Any) -> Reply:
        return 200, {"names": self.topics}, {}

    def _get_contents(self, places: JSON, _: JSON, asked: JSON) -> Reply:
        if "ref" in asked:
            return self._file_of_branch(asked["ref"], unquote(places["path"]))
        told = self.files.get(places["path"])
        if told is None:
            return 404, NOT_FOUND, {}
        if isinstance(told, list):
            return 200, told, {}
        content = base64.encodebytes(told.encode()).decode()
        return 200, {"type": "file", "encoding": "base64", "content": content, "sha": SHA, "html_url": None}, {}

    def _file_of_branch(self, branch: str, path: str) -> Reply:
        if branch not in self.branches:
            return 404, {**NOT_FOUND, "message": f"No commit found for the ref {branch}"}, {}
        if path not in self.branches[branch]:
            return 404, NOT_FOUND, {}
        content = self.branches[branch][path]
        sha = self._blob(content)
        small = len(content) <= self.largest_content
        told = {"encoding": "base64", "content": base64.encodebytes(content).decode()}
        told = told if small else {"encoding": "none", "content": ""}
        return 200, {"type": "file", "sha": sha, "html_url": None, **told}, {}

    def _blob(self, content: bytes) -> str:
        sha = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
        self.objects[sha] = content
        return sha

    def _put_contents(self, places: JSON, body: JSON, _: Any) -> Reply:
        """GitHub's compare-and-swap: the hash has to be that of the file that is there."""
        self.before_put()
        branch, path = body["branch"], unquote(places["path"])
        if branch not in self.branches:
            return 404, {**NOT_FOUND, "message": f"Branch {branch} not found"}, {}
        if branch in self.protected:
            return (
                409,
                {"message": "Repository rule violations found\n\nChanges must be made through a pull request."},
                {},
            )
        there = self.branches[branch].get(path)
        if there is not None and "sha" not in body:
            return 422, {"message": 'Invalid request.\n\n"sha" wasn\'t supplied.'}, {}
        if there is not None and body["sha"] != self._blob(there):
            return 409, {"message": f"{path} does not match {body['sha']}"}, {}
        content = base64.b64decode(body["content"])
        self.branches[branch][path] = content
        self.messages.append(body["message"])
        sha = self._blob(content)
        return (201 if there is None else 200), {"content": {"sha": sha}, "commit": {"sha": sha}}, {}

    def _get_git_blobs(self, places: JSON, _: JSON, __: Any) -> Reply:
        content = self.objects[places["file_sha"]]
        told = {"sha": places["file_sha"], "encoding": "base64", "content": base64.encodebytes(content).decode()}
        return 200, told, {}

    def _post_git_trees(self, _: JSON, body: JSON, __: Any) -> Reply:
        sha = hashlib.sha1(repr(body).encode()).hexdigest()
        self.objects[sha] = {entry["path"]: entry["content"].encode() for entry in body["tree"]}
        return 201, {"sha": sha}, {}

    def _post_git_commits(self, _: JSON, body: JSON, __: Any) -> Reply:
        assert body["parents"] == []
        sha = hashlib.sha1(repr(body).encode()).hexdigest()
        self.objects[sha] = self.objects[body["tree"]]
        self.messages.append(body["message"])
        return 201, {"sha": sha, "html_url": f"https://github.example/commit/{sha}"}, {}

    def _post_git_refs(self, _: JSON, body: JSON, __: Any) -> Reply:
        self.before_put()
        branch = body["ref"].removeprefix("refs/heads/")
        if branch in self.branches:
            return 422, {"message": "Reference already exists"}, {}
        self.branches[branch] = dict(self.objects[body["sha"]])
        return 201, {}, {}

    def _get_pulls(self, places: JSON, _: JSON, __: Any) -> Reply:
        told = self.pulls.get(int(places["pull_number"]))
        return (404, NOT_FOUND, {}) if told is None else (200, told, {})

    def push(self, number: int, after: str, timestamp: str = "2026-05-05T11:59:59Z") -> None:
        """A new head of a pull request."""
        self.pulls[number] = pull(number, head=after)
        told = {"ref": f"refs/heads/branch-{number}", "after": after, "timestamp": timestamp, "activity_type": "push"}
        self.pushes.insert(0, told)

    def _get_activity(self, _: JSON, __: JSON, asked: JSON) -> Reply:
        return self._paged([each for each in self.pushes if each["ref"] == asked["ref"]], asked)

    def _get_pulls_commits(self, places: JSON, _: JSON, asked: JSON) -> Reply:
        """At most 250, as GitHub lists them."""
        told = self.pulls.get(int(places["pull_number"]))
        if told is None:
            return 404, NOT_FOUND, {}
        commits = self.pull_commits.get(int(places["pull_number"]), [told["head"]["sha"]])
        return self._paged([{"sha": sha, "url": f"{self.url}/commits/{sha}"} for sha in commits[:250]], asked)

    def _get_commits_pulls(self, places: JSON, _: JSON, asked: JSON) -> Reply:
        if places["commit_sha"] not in self.commit_pulls:
            return 422, {"message": f"No commit found for SHA: {places['commit_sha']}"}, {}
        return self._paged(self.commit_pulls[places["commit_sha"]], asked)

    def _get_issues_comments(self, places: JSON, _: JSON, asked: JSON) -> Reply:
        self.before_listing()
        number = int(places["issue_number"])
        return self._paged([told for key, told in self.comments.items() if self._threads[key] == number], asked)

    def _post_issues_comments(self, places: JSON, body: JSON, _: Any) -> Reply:
        identifier = self.comment(self.login, body["body"], int(places["issue_number"]))
        return 201, self.comments[identifier], {}

    def _patch_issues_comments(self, places: JSON, body: JSON, _: Any) -> Reply:
        told = self.comments.get(int(places["comment_id"]))
        if told is None:
            return 404, NOT_FOUND, {}
        told["body"] = body["body"]
        return 200, told, {}

    def _delete_issues_comments(self, places: JSON, _: JSON, __: Any) -> Reply:
        gone = self.comments.pop(int(places["comment_id"]), None)
        return (404, NOT_FOUND, {}) if gone is None else (204, None, {})

    def _post_issues_comments_reactions(self, places: JSON, body: JSON, _: Any) -> Reply:
        identifier = int(places["comment_id"])
        if identifier not in self.comments:
            return 404, NOT_FOUND, {}
        self.reactions.setdefault(identifier, []).append(body["content"])
        told = user(self.login) | {"url": f"{self.url}/users/{self.login}"}
        return 201, {"id": next(self._numbers), "user": told, "content": body["content"]}, {}

    def _post_check_runs(self, _: JSON, body: JSON, __: Any) -> Reply:
        if body["head_sha"] == NO_SHA:
            return 422, {"message": f"No commit found for SHA: {NO_SHA}"}, {}
        identifier = next(self._numbers)
        blank = {"id": identifier, "status": "queued", "conclusion": None, "external_id": None, "name": body["name"]}
        url = f"https://github.example/{REPOSITORY}/runs/{identifier}"
        self.checks[identifier] = blank | {"html_url": url, "head_sha": body["head_sha"], "output": {}}
        self.annotations[identifier] = []
        return 201, self._changed(identifier, body), {}

    def _patch_check_runs(self, places: JSON, body: JSON, _: Any) -> Reply:
        identifier = int(places["check_run_id"])
        if identifier not in self.checks:
            return 404, NOT_FOUND, {}
        return 200, self._changed(identifier, body), {}

    def _get_check_runs(self, places: JSON, _: JSON, __: Any) -> Reply:
        return 200, self._shown(int(places["check_run_id"])), {}

    def _get_commits_check_runs(self, places: JSON, _: JSON, asked: JSON) -> Reply:
        told = [
            self._shown(key)
            for key, check in self.checks.items()
            if check["head_sha"] == places["ref"] and check["name"] == asked.get("check_name", check["name"])
        ]
        return 200, {"total_count": len(told), "check_runs": told}, {}

    def _post_statuses(self, places: JSON, body: JSON, _: Any) -> Reply:
        if places["sha"] == NO_SHA:
            return 422, {"message": f"No commit found for SHA: {NO_SHA}"}, {}
        self.statuses.append({"sha": places["sha"], **body})
        return 201, {"id": len(self.statuses), "state": body["state"], "context": body["context"]}, {}

    def _get_commits_statuses(self, places: JSON, _: JSON, asked: JSON) -> Reply:
        return self._paged([told for told in reversed(self.statuses) if told["sha"] == places["ref"]], asked)

    def _changed(self, identifier: int, body: JSON) -> JSON:
        check, output = self.checks[identifier], dict(body.get("output") or {})
        self.annotations[identifier] += output.pop("annotations", [])
        check["output"] |= output
        check |= {key: value for key, value in body.items() if key in check and key != "output"}
        if check["conclusion"]:
            check["status"] = "completed"
        return self._shown(identifier)

    def _shown(self, identifier: int) -> JSON:
        check = self.checks[identifier]
        output = {"title": None, "summary": None, "text": None} | check["output"]
        counted = output | {"annotations_count": len(self.annotations[identifier])}
        return {key: value for key, value in check.items() if key != "name"} | {"output": counted}

    def _paged(self, everything: list[JSON], asked: JSON) -> Reply:
        """`page` may be smaller than what was asked for."""
        size, page = min(self.page, int(asked.get("per_page", 30))), int(asked.get("page", 1))
        more = {"next": str(page + 1)} if len(everything) > size * page else {}
        return 200, everything[size * (page - 1) : size * page], more
