"""Check runs, which are opened while a run goes on and completed with its conclusion; and commit statuses."""

from collections.abc import Sequence

import msgspec

from model_accuracy_eval.github.refusals import Purpose, check_success, decode, refusal
from model_accuracy_eval.github.response import GitHubResponse, read
from model_accuracy_eval.github.rest_client import RestClient
from model_accuracy_eval.github.text_limits import clean, cut_bytes, cut_characters
from model_accuracy_eval.records.github import Annotation, CheckConclusion, OpenCheck, StatusState

TITLE_CHARACTERS = 255
TEXT_BYTES = 65_535
"""Of summary and text each."""
MESSAGE_BYTES = 64_000
"""Of an annotation's message; GitHub says 64 KB."""
BATCH = 50
"""Annotations a request."""
DESCRIPTION_CHARACTERS = 140
"""Of a commit status."""


class _OutputAnswer(msgspec.Struct):
    annotations_count: int = 0


class _CheckRun(msgspec.Struct):
    id: int
    html_url: str | None = None
    external_id: str | None = None
    status: str = ""
    output: _OutputAnswer = msgspec.field(default_factory=_OutputAnswer)


class _CheckRuns(msgspec.Struct):
    check_runs: list[_CheckRun]


class _AnnotationBody(msgspec.Struct, omit_defaults=True):
    path: str
    start_line: int
    end_line: int
    annotation_level: str
    message: str
    title: str | None = None


class _OutputBody(msgspec.Struct, omit_defaults=True):
    title: str
    summary: str
    text: str | None = None
    annotations: list[_AnnotationBody] = []


class _CheckRunBody(msgspec.Struct, omit_defaults=True, kw_only=True):
    output: _OutputBody
    name: str | None = None
    head_sha: str | None = None
    external_id: str | None = None
    status: str | None = None
    conclusion: CheckConclusion | None = None
    details_url: str | None = None


class _StatusBody(msgspec.Struct, omit_defaults=True):
    state: StatusState
    context: str
    description: str
    target_url: str | None = None


class ChecksApi:
    """Writes check runs and commit statuses with one client."""

    def __init__(self, client: RestClient) -> None:
        self._client = client

    def open_check(
        self,
        repository: str,
        sha: str,
        *,
        name: str,
        key: str,
        title: str,
        summary: str,
        details_url: str | None = None,
    ) -> OpenCheck:
        """Opens a check run, in progress. `key` becomes its `external_id` and must differ from run to run."""
        base = f"/repos/{repository}"
        body = _CheckRunBody(
            name=name,
            head_sha=sha,
            status="in_progress",
            external_id=key,
            output=_output(title, summary),
            details_url=_url(details_url),
        )

        def look() -> GitHubResponse | None:
            query = {"check_name": name, "filter": "all"}
            runs = read(self._client.send("GET", f"{base}/commits/{sha}/check-runs", query=query), _CheckRuns)
            for run in runs.check_runs if runs else ():
                if run.external_id == key and run.status != "completed":
                    return GitHubResponse(status=201, data=msgspec.to_builtins(run))
            return None

        response = self._client.send("POST", f"{base}/check-runs", body, look=look)
        run = decode(response, _purpose(repository, f"to open the check '{name}' on commit {sha[:12]}"), _CheckRun)
        return OpenCheck(repository=repository, id=run.id, url=run.html_url or "")

    def update_check(self, check: OpenCheck, *, title: str, summary: str) -> None:
        """Shows progress, in one attempt: the next update comes soon."""
        body = _CheckRunBody(output=_output(title, summary))
        response = self._client.send("PATCH", _path(check), body, attempts=1)
        check_success(response, _purpose(check.repository, f"to update check run {check.id}"))

    def complete_check(
        self,
        check: OpenCheck,
        *,
        conclusion: CheckConclusion,
        title: str,
        summary: str,
        text: str | None = None,
        annotations: Sequence[Annotation] = (),
        details_url: str | None = None,
    ) -> tuple[str, ...]:
        """Closes the check run; returns sentences about annotations that could not be added.

        The conclusion is sent with the first annotations, the others follow.
        """
        purpose = _purpose(check.repository, f"to complete check run {check.id}")
        body = _CheckRunBody(
            status="completed",
            conclusion=conclusion,
            output=_output(title, summary, text, annotations[:BATCH]),
            details_url=_url(details_url),
        )
        check_success(self._add_annotations(check, body, total=len(annotations[:BATCH])), purpose)
        for sent in range(BATCH, len(annotations), BATCH):
            batch = annotations[sent : sent + BATCH]
            body = _CheckRunBody(output=_output(title, summary, text, batch))
            response = self._add_annotations(check, body, total=sent + len(batch))
            if not response.ok:
                missing = len(annotations) - sent
                return (f"{missing} of {len(annotations)} annotations are missing. {refusal(response, purpose)}",)
        return ()

    def _add_annotations(self, check: OpenCheck, body: _CheckRunBody, *, total: int) -> GitHubResponse:
        """Annotations add up, so a PATCH with annotations is repeated only if GitHub has not counted them yet."""
        path = _path(check)
        if not body.output.annotations:
            return self._client.send("PATCH", path, body)

        def look() -> GitHubResponse | None:
            response = self._client.send("GET", path)
            run = read(response, _CheckRun)
            return response if run is not None and run.output.annotations_count >= total else None

        return self._client.send("PATCH", path, body, look=look)

    def commit_status(
        self,
        repository: str,
        sha: str,
        *,
        state: StatusState,
        context: str,
        description: str,
        target_url: str | None = None,
    ) -> None:
        """Sets a commit status. The last status of a context counts, so writing one twice does no harm."""
        body = _StatusBody(state, context, cut_characters(description, DESCRIPTION_CHARACTERS), target_url or None)
        response = self._client.send("POST", f"/repos/{repository}/statuses/{sha}", body, look=lambda: None)
        action = f"to set the status '{context}' of commit {sha[:12]}"
        check_success(response, Purpose(action=action, permission="statuses: write", repository=repository))


def _output(title: str, summary: str, text: str | None = None, annotations: Sequence[Annotation] = ()) -> _OutputBody:
    """The `output` of a check run, cut to GitHub's limits."""
    return _OutputBody(
        title=cut_characters(title, TITLE_CHARACTERS),
        summary=cut_bytes(summary, TEXT_BYTES),
        text=cut_bytes(text, TEXT_BYTES) if text else None,
        annotations=[
            _AnnotationBody(
                path=annotation.path,
                start_line=annotation.start_line,
                end_line=annotation.end_line,
                annotation_level=annotation.level,
                message=cut_bytes(annotation.message, MESSAGE_BYTES),
                title=cut_characters(annotation.title, TITLE_CHARACTERS) if annotation.title else None,
            )
            for annotation in annotations
        ],
    )


def _url(details_url: str | None) -> str | None:
    return clean(details_url) if details_url else None


def _path(check: OpenCheck) -> str:
    return f"/repos/{check.repository}/check-runs/{check.id}"


def _purpose(repository: str, action: str) -> Purpose:
    return Purpose(action=action, permission="checks: write", repository=repository)
