"""The check run of one evaluation: opened, kept up to date, and completed with a verdict that stays its last word."""

import posixpath

from model_accuracy_eval.ports.action import Job, Site
from model_accuracy_eval.records import Outcome, Report
from model_accuracy_eval.records.forge import Annotation, Check
from model_accuracy_eval.reporting import comment
from model_accuracy_eval.reporting.verdicts import VERDICTS, outcome

NAME = "Model accuracy"
STATE_CHECK, STATE_CLOSED = "check", "check_closed"
"""What the post step reads to see whether a check was left open."""


class CheckRun:
    """Raises what the forge raises; without `open` it stays silent."""

    def __init__(self, job: Job, site: Site) -> None:
        self._job = job
        self._site = site
        self._check: Check | None = None
        self._quiet = True

    @property
    def url(self) -> str:
        return self._check.url if self._check else ""

    @property
    def is_open(self) -> bool:
        return self._check is not None

    def open(self) -> None:
        job = self._job
        self._check = self._site.forge.open_check(
            job.repository,
            job.sha,
            name=f"{NAME} ({job.label})",
            key=job.key,
            title="In progress",
            summary="The evaluation is under way.",
            details_url=job.run_url,
        )
        self._site.step.save(STATE_CHECK, f"{self._check.repository} {self._check.id} {self._check.url}")
        self._site.progress.start(self._check)

    def complete(self, told: Report | Outcome, links: comment.Links) -> tuple[str, ...]:
        """Returns sentences about annotations that did not get through."""
        self._quiet = self._site.progress.stop()
        notes = self._tell(told, links, _annotations(self._job, outcome(told)))
        if self._check is not None:
            self._site.step.save(STATE_CLOSED, "yes")
        return notes

    def settle(self, told: Report | Outcome, links: comment.Links) -> None:
        """Says it again if GitHub was still busy with a progress report, which may have come out on top since."""
        if not self._quiet:
            self._tell(told, links, ())

    def _tell(
        self, told: Report | Outcome, links: comment.Links, annotations: tuple[Annotation, ...]
    ) -> tuple[str, ...]:
        if self._check is None:
            return ()
        body = comment.as_check(told, commit=self._job.sha, links=links)
        return self._site.forge.complete_check(
            self._check,
            conclusion=body.conclusion,
            title=body.title,
            summary=body.summary,
            annotations=annotations,
            details_url=self._job.run_url,
        )


def _annotations(job: Job, ended: Outcome) -> tuple[Annotation, ...]:
    """At the adapter's line that is at fault, if the check's own commit is the one that has it."""
    if ended.about is None or not job.own_adapter or job.adapter_ref != job.sha:
        return ()
    file, line = ended.about
    return (
        Annotation(
            path=posixpath.normpath(posixpath.join(job.adapter_path, file)),
            start_line=line,
            end_line=line,
            level="failure",
            message=ended.sentence,
            title=VERDICTS[ended.conclusion].words,
        ),
    )
