"""Check runs, which are opened while a run goes on and completed with its conclusion; and commit statuses."""

from typing import Any
from urllib.parse import quote, unquote, urlsplit

from github.CheckRun import CheckRun
from github.Commit import Commit
from github.CommitStatus import CommitStatus
from github.GithubObject import NotSet
from github.PaginatedList import PaginatedList

from model_accuracy_eval.github.refusals import Purpose
from model_accuracy_eval.github.requester import GitHubRequester
from model_accuracy_eval.records.report import Annotation, CheckConclusion, OpenCheck, StatusState

TITLE_CHARACTERS = 255
TEXT_BYTES = 65_535
"""Of a summary."""
MESSAGE_BYTES = 64_000
"""Of an annotation's message; GitHub says 64 KB."""
DESCRIPTION_CHARACTERS = 140
"""Of a commit status."""

Keys = list[tuple[str, str | None]]
"""What the checks or statuses of one name are known by, the oldest first, each with its conclusion; None: it has none
yet."""


def clean(text: str) -> str:
    """Without lone surrogates and NUL, which models do write and GitHub does not accept."""
    return text.encode("utf-8", "replace").decode("utf-8").replace("\0", "\N{REPLACEMENT CHARACTER}")


def cut_characters(text: str, limit: int) -> str:
    """One line of at most so many characters."""
    line = " ".join(clean(text).split())
    return line if len(line) <= limit else f"{line[: limit - 1].rstrip()}…"


def cut_bytes(text: str, limit: int) -> str:
    """GitHub counts bytes. What is longer than a report is made to be loses its end."""
    data = clean(text).encode()
    return data.decode() if len(data) <= limit else data[: limit - 3].decode("utf-8", "ignore") + "…"


class ChecksApi:
    """Writes check runs and commit statuses."""

    def __init__(self, requester: GitHubRequester) -> None:
        self._requester = requester

    def open_check(
        self, repository: str, sha: str, *, name: str, key: str, title: str, summary: str, details_url: str = ""
    ) -> OpenCheck:
        """Opens a check run, in progress. `key` becomes its `external_id` and must differ from run to run."""
        place = self._requester.repository(repository)

        def create() -> CheckRun:
            address = clean(details_url) or NotSet
            output = _output(title, summary)
            return place.create_check_run(name, sha, address, external_id=key, status="in_progress", output=output)

        def look() -> CheckRun | None:
            runs = place.get_commit(sha).get_check_runs(check_name=name, filter="all")
            return next((run for run in runs if run.external_id == key and run.status != "completed"), None)

        with _purpose(repository, f"to open the check '{name}' on commit {sha[:12]}").explained():
            run = self._requester.once(create, look)
            return OpenCheck(repository=repository, id=int(run.id), url=run.html_url or "")

    def check_keys(self, repository: str, sha: str, name: str) -> Keys:
        """Those of the checks that have this name on the commit."""
        with _purpose(repository, f"to list the checks of commit {sha[:12]}").explained():
            runs = self._requester.repository(repository).get_commit(sha).get_check_runs(check_name=name, filter="all")
            return [(run.external_id or "", run.conclusion) for run in sorted(runs, key=lambda run: run.id)]

    def rename_check(self, check: OpenCheck, name: str) -> None:
        with _purpose(check.repository, f"to rename check run {check.id}").explained():
            self._run(check).edit(name=name)

    def complete_check(
        self,
        check: OpenCheck,
        *,
        conclusion: CheckConclusion,
        title: str,
        summary: str,
        annotation: Annotation | None = None,
        details_url: str = "",
    ) -> None:
        output, address = _output(title, summary, annotation), clean(details_url) or NotSet

        def complete() -> bool:
            self._run(check).edit(status="completed", conclusion=conclusion, output=output, details_url=address)
            return True

        def look() -> bool | None:
            """Annotations add up, so one that GitHub has counted is not sent again."""
            return True if annotation and self._run(check).output.annotations_count else None

        with _purpose(check.repository, f"to complete check run {check.id}").explained():
            self._requester.once(complete, look)

    def commit_status(
        self,
        repository: str,
        sha: str,
        *,
        state: StatusState,
        context: str,
        description: str,
        key: str = "",
        target_url: str = "",
    ) -> None:
        """Sets a commit status. The last status of a context counts, so writing one twice does no harm. `key` becomes
        the end of its address."""
        commit = Commit(self._requester, {}, {"url": self._commit(repository, sha), "sha": sha})
        text, address = (
            cut_characters(description, DESCRIPTION_CHARACTERS),
            f"{target_url}#{quote(key)}" if target_url else NotSet,
        )
        with _purpose(repository, f"to set the status '{context}' of commit {sha[:12]}", "statuses").explained():
            self._requester.once(lambda: commit.create_status(state, address, text, context))

    def status_keys(self, repository: str, sha: str, context: str) -> Keys:
        """Those of the statuses of this context; GitHub lists the newest first, and for each key that one counts."""
        found: dict[str, str | None] = {}
        with _purpose(repository, f"to list the statuses of commit {sha[:12]}", "statuses").explained():
            statuses = PaginatedList(CommitStatus, self._requester, f"{self._commit(repository, sha)}/statuses", None)
            for status in (each for each in statuses if each.context == context):
                key = unquote(urlsplit(status.target_url or "").fragment)
                found = {key: found.pop(key, status.state), **found}
        return [(key, None if state == "pending" else state) for key, state in found.items()]

    def _commit(self, repository: str, sha: str) -> str:
        return f"{self._requester.repository(repository).url}/commits/{sha}"

    def _run(self, check: OpenCheck) -> CheckRun:
        return self._requester.repository(check.repository).get_check_run(check.id)


def _output(title: str, summary: str, annotation: Annotation | None = None) -> dict[str, Any]:
    """The `output` of a check run, cut to GitHub's limits."""
    output: dict[str, Any] = {
        "title": cut_characters(title, TITLE_CHARACTERS),
        "summary": cut_bytes(summary, TEXT_BYTES),
    }
    if annotation:
        told = {
            "path": annotation.path,
            "start_line": annotation.line,
            "end_line": annotation.line,
            "annotation_level": "failure",
            "message": cut_bytes(annotation.message, MESSAGE_BYTES),
            "title": cut_characters(annotation.title, TITLE_CHARACTERS),
        }
        output["annotations"] = [told]
    return output


def _purpose(repository: str, action: str, area: str = "checks") -> Purpose:
    return Purpose(action=action, permission=f"{area}: write", repository=repository)
