"""Where the verdict is told: artifact, check, comment, status, summary, outputs. One that fails silences no other."""

import math
from collections.abc import Callable
from pathlib import PurePath
from typing import TypeVar

import msgspec

from model_accuracy_eval.errors import PublishFailed, Refused
from model_accuracy_eval.ports.action import Job, Site
from model_accuracy_eval.records import Outcome, Report
from model_accuracy_eval.records.forge import Uploaded
from model_accuracy_eval.reporting import comment, figures
from model_accuracy_eval.reporting.verdicts import VERDICTS, outcome, title
from model_accuracy_eval.stages.check_run import NAME, CheckRun

_TALK_AFTER_STOP, _UPLOAD_AFTER_STOP, _LAST_SECOND = 3.0, 4.0, 9.0
"""For all talk with the platform, for the artifact, and for everything: the runner kills ten seconds after the stop."""

T = TypeVar("T")


class Board:
    """Opened when the run begins, closed with how it ended. Trouble with telling is gathered for the summary."""

    def __init__(self, job: Job, site: Site) -> None:
        self._job = job
        self._site = site
        self._check = CheckRun(job, site)
        self._before: figures.Figures | None = None
        """What the last run's comment carries; known when the comment is written."""
        self.troubles: list[str] = []

    def open(self) -> None:
        """A check in progress, or a pending status where checks are refused."""
        if self._job.check:
            self._tried(self._check.open)
        if self._wants_status:
            self._status("pending", "The evaluation is under way.")

    def close(self, told: Report | Outcome) -> int:
        """Tells it everywhere; returns the exit code of the step."""
        ended = outcome(told)
        # After a stop there are seconds: the check must not stay open, whatever becomes of the upload.
        stopped = ended.conclusion == "stopped"
        artifact = None if stopped else self._upload(ended.folder, self._until(_UPLOAD_AFTER_STOP))
        if self._site.since_stop():
            self._site.forge.hurry(_TALK_AFTER_STOP)
        links = comment.Links(artifact=artifact.url if artifact else "", check=self._check.url, run=self._job.run_url)
        self.troubles += self._tried(lambda: self._check.complete(told, links)) or ()
        comment_url = self._comment(told, links)
        if self._wants_status:
            self._status(VERDICTS[ended.conclusion].status, title(told, 140))
        self._tried(lambda: self._check.settle(told, links))
        if stopped:
            end = min(self._site.since_stop() + _UPLOAD_AFTER_STOP, _LAST_SECOND)
            artifact = self._upload(ended.folder, self._until(end))
        self._summary(told, links)
        self._outputs(told, artifact, comment_url)
        return self._exit_code(ended)

    def _exit_code(self, ended: Outcome) -> int:
        """Trouble with telling alone fails the step, too; a fork's read-only token is no trouble of anybody's."""
        if ended.exit_code or not self.troubles or (self._job.pull is not None and self._job.pull.is_fork):
            return ended.exit_code
        self._site.step.error(" ".join(self.troubles), title="The verdict could not be told everywhere")
        return PublishFailed.exit_code

    @property
    def _wants_status(self) -> bool:
        wish = self._job.status
        return wish == "true" or (wish == "auto" and self._job.check and not self._check.is_open)

    def _tried(self, tell: Callable[[], T]) -> T | None:
        try:
            return tell()
        except (PublishFailed, Refused) as failure:
            self.troubles.append(failure.sentence)
            self._site.step.warning(failure.sentence)
            return None

    def _until(self, end: float) -> Callable[[], float]:
        """Seconds that are left until so many after a stop, which may still come."""
        since = self._site.since_stop
        return lambda: end - since() if since() else math.inf

    def _upload(self, folder: str | None, left: Callable[[], float]) -> Uploaded | None:
        job, artifacts = self._job, self._site.artifacts
        if folder is None or artifacts is None or not job.artifact_name:
            return None
        uploaded = self._tried(
            lambda: artifacts.upload(job.artifact_name, folder, retention_days=job.retention_days, left=left)
        )
        for note in uploaded.notes if uploaded else ():
            self._site.step.notice(note, title="Artifact")
        return uploaded

    @property
    def _key(self) -> str:
        return figures.key_of(self._job.label, self._job.adapter_repository)

    @property
    def _mark(self) -> str:
        """Our comment's first line: the same from run to run, unlike the figures that stand in its second."""
        return figures.marker(self._key, None)

    def _comment(self, told: Report | Outcome, links: comment.Links) -> str:
        job = self._job
        if not job.comment or job.pull is None:
            return ""
        number = job.pull.number

        def write(text: str) -> str:
            self._before = figures.read(text)
            return comment.as_comment(told, key=self._key, commit=job.sha, links=links, before=self._before)

        return self._tried(lambda: self._site.forge.upsert_comment(job.repository, number, self._mark, write)) or ""

    def _status(self, state: str, description: str) -> None:
        job = self._job
        self._tried(
            lambda: self._site.forge.commit_status(
                job.repository, job.sha, state=state, context=f"{NAME} ({job.label})",  # type: ignore[arg-type]
                description=description, target_url=job.run_url,
            )
        )  # fmt: skip

    def _summary(self, told: Report | Outcome, links: comment.Links) -> None:
        page = comment.as_summary(told, commit=self._job.sha, links=links, before=self._before)
        untold = "".join(f"\n- {sentence}" for sentence in self.troubles)
        self._site.step.summary(f"{page}\n\nNot told everywhere:{untold}" if untold else page)

    def _from_workspace(self, folder: str) -> str:
        path, workspace = PurePath(folder), self._job.workspace
        return str(path.relative_to(workspace)) if workspace and path.is_relative_to(workspace) else folder

    def _outputs(self, told: Report | Outcome, artifact: Uploaded | None, comment_url: str) -> None:
        ended = outcome(told)
        values = {
            "conclusion": ended.conclusion,
            "exit-code": str(ended.exit_code),
            "report-path": self._from_workspace(ended.folder or ""),
            "summary-json": _as_json(told),
            "artifact-id": (artifact.id or "") if artifact else "",
            "artifact-url": artifact.url if artifact else "",
            "artifact-digest": (artifact.digest or "") if artifact else "",
            "check-url": self._check.url,
            "comment-url": comment_url,
        }
        for name, value in values.items():
            self._site.step.output(name, value)


def _as_json(told: Report | Outcome) -> str:
    """The figures as one line: dataset → metric → value."""
    figures_of = {
        sheet.dataset: {row.metric: row.value for row in sheet.rows}
        for sheet in (told.sheets if isinstance(told, Report) else ())
    }
    return msgspec.json.encode(figures_of).decode()
