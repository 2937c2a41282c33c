"""What exports are made of: a run's report, and what was asked and answered."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import msgspec

from model_accuracy_eval.errors import BadReuse, BadValue
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.records import Attempt, DatasetResult, ProblemResult, Report
from model_accuracy_eval.report import next_steps
from model_accuracy_eval.run_folder import journal

JSON = dict[str, Any]
NamedFile = tuple[str, bytes]


class AskedProblem(NamedTuple):
    """One problem as it was asked, with what came back."""

    result: ProblemResult
    prompt: str
    """All messages, as lines of roles and texts; one message alone is its text."""
    gold: str
    replies: Sequence[Attempt | None]
    """One for each sample; None: it has none."""


class ExportedRun(NamedTuple):
    """A run that has ended."""

    report: Report
    asked: Callable[[DatasetResult], list[AskedProblem]]

    @property
    def stamp(self) -> str:
        """The time of the run, as file names have it."""
        return self.report.finished[:19].replace(":", "-")

    @property
    def next_step(self) -> str:
        """The command that completes the run."""
        return next_steps.command(self.report.plan.settings, self.report.outcome.folder)

    @property
    def model(self) -> str:
        return (self.report.service.model if self.report.service else None) or self.report.plan.settings.label


def exported_run(report: Report, archive: Archive) -> ExportedRun:
    """The run in an archive, whose report was read from it."""
    label = report.plan.settings.label

    def asked(result: DatasetResult) -> list[AskedProblem]:
        name = journal.file(label, result.dataset)
        answers: dict[tuple[int, int], Attempt] = {}
        shown: dict[int, journal.ShownProblem] = {}
        for place, line in _lines(archive, name):
            try:
                attempt = journal.attempt(line)
                shown.setdefault(attempt.problem, journal.whole_prompt(line))
            except msgspec.DecodeError as error:
                raise BadReuse(f"'{archive.root}/{name}', line {place} cannot be read: {error}.") from error
            answers[attempt.problem, max(attempt.index, 0)] = attempt
        for _, line in _lines(archive, journal.failures_file(label, result.dataset)):
            shown.setdefault(journal.key(line)[0], journal.whole_prompt(line))
        nothing = journal.ShownProblem("", "")
        return [
            AskedProblem(
                result=problem,
                prompt=shown.get(problem.problem, nothing).question,
                gold=problem.references[0] if problem.references else "",
                replies=[answers.get((problem.problem, index)) for index in range(problem.n)],
            )
            for problem in result.problem_results
        ]

    return ExportedRun(report, asked)


def _lines(archive: Archive, name: str) -> Iterator[tuple[int, bytes]]:
    """The complete lines with their numbers; a last one that a crash cut off is left out."""
    whole, _, _ = (archive.read(name) or b"").rpartition(b"\n")
    return ((place, line) for place, line in enumerate(whole.split(b"\n"), start=1) if line)


def refuse_parts(run: ExportedRun, where: str) -> None:
    """Where a figure stands as that of the whole dataset, one that is an estimate of a part of it cannot."""
    for result in run.report.dataset_results:
        if result.part is not None and result.part.estimated:
            raise BadValue(
                f"{result.dataset} was asked no further than its gates needed ({result.part.share} of the requests), "
                f"so its figures cannot stand {where}: ask for the rest.",
                next_step=run.next_step,
            )


def file_name(text: str) -> str:
    """A name as a part of a path: no folder of its own, and not hidden."""
    return "".join(letter if letter.isalnum() or letter in "._-@+" else "_" for letter in text).lstrip(".") or "_"


def plain_metric(name: str) -> str:
    """The name without AISBench's remark on how many runs it is averaged over."""
    return name.partition(" (")[0]


def values_of_problem(problem: ProblemResult, first: str) -> dict[str, float]:
    """Its metrics, 0..1, by the names of the summary; `first` is what the mean of its samples is called."""
    figures = {plain_metric(name): value / 100 for name, value in problem.figures.items() if value is not None}
    return {first: sum(problem.values) / problem.n, **figures} if problem.n else figures


def first_metric(result: DatasetResult) -> str:
    return plain_metric(result.rows[0].metric) if result.rows else "accuracy"
