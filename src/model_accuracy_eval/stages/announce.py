"""Where the verdict is told: artifact, check, comment, status, summary, outputs. One that fails silences no other."""

from collections.abc import Callable
from pathlib import PurePath
from typing import TypeVar

import msgspec

from model_accuracy_eval.action_ports import Job, Site
from model_accuracy_eval.errors import PublishFailed, Refused
from model_accuracy_eval.forge_records import Check, Uploaded
from model_accuracy_eval.records import Outcome, Report
from model_accuracy_eval.reporting import comment, figures
from model_accuracy_eval.reporting.verdicts import VERDICTS, outcome, title

NAME = "Model accuracy"
STATE_CHECK, STATE_CLOSED = "check", "check_closed"
"""What the post step reads to see whether a check was left open."""
_STOPPED_SECONDS = 3.0
"""For all talk with the platform after a stop: the runner kills after ten seconds in all."""

T = TypeVar("T")


class Board:
    """Opened when the run begins, closed with how it ended. Trouble with telling is gathered for the summary."""

    def __init__(self, job: Job, site: Site) -> None:
        self._job = job
        self._site = site
        self._check: Check | None = None
        self.troubles: list[str] = []

    def open(self) -> None:
        """A check in progress, or a pending status where checks are refused."""
        job = self._job
        if job.check:
            self._check = self._tried(
                lambda: self._site.forge.open_check(
                    job.repository, job.sha, name=f"{NAME} ({job.label})", key=job.key, title="In progress",
                    summary="The evaluation is under way.", details_url=job.run_url,
                )
            )  # fmt: skip
        if self._check is not None:
            self._site.step.save(STATE_CHECK, f"{self._check.repository} {self._check.id} {self._check.url}")
        if self._wants_status:
            self._status("pending", "The evaluation is under way.")

    def close(self, told: Report | Outcome) -> int:
        """Tells it everywhere; returns the exit code of the step."""
        ended = outcome(told)
        # After a stop there are seconds: the check must not stay open, whatever becomes of the upload.
        stopped = ended.conclusion == "stopped"
        if stopped:
            self._site.forge.hurry(_STOPPED_SECONDS)
        artifact = None if stopped else self._upload(ended.folder)
        links = comment.Links(
            artifact=artifact.url if artifact else "",
            check=self._check.url if self._check else "",
            run=self._job.run_url,
        )
        check_url = self._complete(told, links)
        before = None if stopped else self._before()
        comment_url = self._comment(told, links, before)
        if self._wants_status:
            self._status(VERDICTS[ended.conclusion].status, title(told, 140))
        if stopped:
            artifact = self._upload(ended.folder)
        self._summary(told, links, before)
        self._outputs(told, artifact, check_url, comment_url)
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
        return wish == "true" or (wish == "auto" and self._job.check and self._check is None)

    def _tried(self, tell: Callable[[], T]) -> T | None:
        try:
            return tell()
        except (PublishFailed, Refused) as failure:
            self.troubles.append(failure.sentence)
            self._site.step.warning(failure.sentence)
            return None

    def _upload(self, folder: str | None) -> Uploaded | None:
        job, artifacts = self._job, self._site.artifacts
        if folder is None or artifacts is None or not job.artifact_name:
            return None
        uploaded = self._tried(lambda: artifacts.upload(job.artifact_name, folder, retention_days=job.retention_days))
        for note in uploaded.notes if uploaded else ():
            self._site.step.notice(note, title="Artifact")
        return uploaded

    def _complete(self, told: Report | Outcome, links: comment.Links) -> str:
        check = self._check
        if check is None:
            return ""
        body = comment.as_check(told, commit=self._job.sha, links=links)
        notes = self._tried(
            lambda: self._site.forge.complete_check(
                check, conclusion=body.conclusion, title=body.title, summary=body.summary, details_url=self._job.run_url
            )
        )
        self.troubles += notes or ()
        if notes is not None:
            self._site.step.save(STATE_CLOSED, "yes")
        return check.url

    @property
    def _key(self) -> str:
        return figures.key_of(self._job.label, self._job.adapter_repository)

    @property
    def _mark(self) -> str:
        """Our comment's first line: the same from run to run, unlike the figures that stand in its second."""
        return figures.marker(self._key, None)

    def _before(self) -> figures.Figures | None:
        """What the last run's comment carries."""
        job = self._job
        if not job.comment or job.pull is None:
            return None
        number = job.pull.number
        text = self._tried(lambda: self._site.forge.read_comment(job.repository, number, self._mark))
        return figures.read(text or "")

    def _comment(self, told: Report | Outcome, links: comment.Links, before: figures.Figures | None) -> str:
        job = self._job
        if not job.comment or job.pull is None:
            return ""
        number = job.pull.number
        body = comment.as_comment(told, key=self._key, commit=job.sha, links=links, before=before)
        return self._tried(lambda: self._site.forge.upsert_comment(job.repository, number, self._mark, body)) or ""

    def _status(self, state: str, description: str) -> None:
        job = self._job
        self._tried(
            lambda: self._site.forge.commit_status(
                job.repository, job.sha, state=state, context=f"{NAME} ({job.label})",  # type: ignore[arg-type]
                description=description, target_url=job.run_url,
            )
        )  # fmt: skip

    def _summary(self, told: Report | Outcome, links: comment.Links, before: figures.Figures | None) -> None:
        page = comment.as_summary(told, commit=self._job.sha, links=links, before=before)
        untold = "".join(f"\n- {sentence}" for sentence in self.troubles)
        self._site.step.summary(f"{page}\n\nNot told everywhere:{untold}" if untold else page)

    def _from_workspace(self, folder: str) -> str:
        path, workspace = PurePath(folder), self._job.workspace
        return str(path.relative_to(workspace)) if workspace and path.is_relative_to(workspace) else folder

    def _outputs(self, told: Report | Outcome, artifact: Uploaded | None, check_url: str, comment_url: str) -> None:
        ended = outcome(told)
        values = {
            "conclusion": ended.conclusion,
            "exit-code": str(ended.exit_code),
            "report-path": self._from_workspace(ended.folder or ""),
            "summary-json": _as_json(told),
            "artifact-id": (artifact.id or "") if artifact else "",
            "artifact-url": artifact.url if artifact else "",
            "artifact-digest": (artifact.digest or "") if artifact else "",
            "check-url": check_url,
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
