"""The history file, which any program may append to: a JSON line for each dataset of a run, one for its speed."""

import contextlib
from collections.abc import Iterable, Sequence
from datetime import datetime, timezone
from typing import Any, Literal

import msgspec

from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.ports import Archive, Store
from model_accuracy_eval.records import DatasetResult, FigureBounds, Interval, ProblemResult, RunSpeed, SummaryRow
from model_accuracy_eval.records.base import filled
from model_accuracy_eval.records.plan import SPEED
from model_accuracy_eval.run_folder import kept_run, results, runfile
from model_accuracy_eval.run_folder.kept_run import KeptRun
from model_accuracy_eval.run_folder.runfile import RUN_FILE, DatasetEntry, RunFile
from model_accuracy_eval.scoring.figures import intervals, run_speed
from model_accuracy_eval.scoring.verdicts.comparison_statistics import (
    is_in,
    is_mean_of_problems,
    value_of,
    value_of_count,
)

# The history file: one line of JSON for each dataset of each run, with all that pairs runs problem by problem.
#
# A history outlives the folders of its runs. So a line repeats what a trend needs of them, and nothing of what was
# asked or answered: 1,319 problems take some 3 kB.


HISTORY_SUFFIX = ".jsonl"


class PastFigure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One metric of a dataset in one run."""

    metric: str
    value: float
    again: Interval | None = None
    """Between which ends it would lie if the same problems were asked again, 95 %; None: unknown."""
    interval: Interval | None = None
    """For other problems of the kind, 95 %."""
    bounds: FigureBounds | None = None
    higher_is_better: bool = True
    share: bool = True
    paired: bool = False
    """Whether it is the mean of the problems' values, so that runs can be compared problem by problem."""
    values: tuple[float, ...] = ()
    """The problems' values, 0..1, where they do not follow from `right`."""


class HistoryLine(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One dataset of one run."""

    schema: Literal[1] = msgspec.field(default=1)
    run_id: str
    finished: str
    status: str
    sentence: str = ""
    """What the run came to."""
    label: str
    model: str | None
    weights: str = ""
    commit: str = ""
    """Of the adapter, as repository and path."""
    repository: str = ""
    path: str = "."
    image: str = ""
    dataset: str
    version: str
    sampling: dict[str, Any]
    """How samples were drawn, the seed aside."""
    figures: tuple[PastFigure, ...]
    n: int
    """Samples of each problem."""
    problems: int
    ids: tuple[int, ...] = ()
    """Empty: 0, 1, 2 …"""
    right: tuple[int, ...] = ()
    """How many samples of each problem were right; empty where values are not right or wrong."""
    lost: tuple[int, ...] = ()
    """Ids of the problems that have samples without a verdict."""
    unverified: tuple[str, ...] = ()
    """Why nobody can say that its replies are those that the run left."""

    @property
    def asked(self) -> Sequence[int]:
        return self.ids or range(self.problems)


class LeftOut(msgspec.Struct, frozen=True, kw_only=True):
    """A run, or one dataset of it, that is no part of any trend."""

    run: str
    finished: str
    reason: str


class RunHistory(msgspec.Struct, frozen=True, kw_only=True):
    """What a run adds to a history."""

    lines: tuple[HistoryLine, ...] = ()
    left_out: tuple[LeftOut, ...] = ()


def of_run(archive: Archive | Store, *, unverified: bool | None = None) -> RunHistory:
    """The lines of a run that came to its end whole; what is left out has its reason.

    `unverified`: as `kept_run.opened` has it.
    """
    run = runfile.read(archive.read(RUN_FILE), archive.root)
    if run.status == "running" or not run.is_verdict:
        reason = f"it was {run.status}: {run.sentence}"
        reason = "it is still running, or was killed" if run.status == "running" else reason
        return RunHistory(left_out=(_left_out(run, reason),))
    try:
        instant(run.finished)
    except ValueError as error:
        raise BadReuse(f"The run '{archive.root}' has no place in a history: {error}.") from error
    try:
        kept = kept_run.opened(archive, unverified=unverified)
    except BadReuse as error:
        return RunHistory(left_out=(_left_out(run, error.sentence),))
    if kept.doubts and not unverified:
        return RunHistory(left_out=(_left_out(run, f"it is unverified: {'; '.join(kept.doubts)}"),))
    lines, left_out, names = [], [], archive.names()
    for name in run.judged:
        where = results.file(run.label, name)
        if where not in names:
            left_out.append(_left_out(run, f"{name}: its {where} is gone"))
            continue
        found = results.dataset_result(archive, run.label, name)
        if reason := _reason_against(run.datasets[name], found):
            left_out.append(_left_out(run, f"{name}: {reason}"))
        else:
            lines.append(_line(run, name, found, kept.doubts))
    if run.speed and not run.speed.limited:
        lines.append(_line_of_speed(run, run.speed, kept))
    return RunHistory(lines=tuple(lines), left_out=tuple(left_out))


def _left_out(run: RunFile, reason: str) -> LeftOut:
    return LeftOut(run=run.run_id, finished=run.finished or run.started, reason=reason)


def _reason_against(entry: DatasetEntry, found: DatasetResult) -> str:
    """Why figures are not those of the whole dataset; empty if they are."""
    judged, sizes = len(found.problem_results), {problem.n for problem in found.problem_results}
    if all(row.value is None for row in found.rows):
        return "it has no figure"
    if found.part is not None:
        return f"it was asked no further than was needed ({found.part.share} of the requests)"
    if judged < entry.problems:
        return f"only {judged} of its {entry.problems} problems were judged"
    if len(sizes) > 1:
        return f"its problems have {min(sizes)} to {max(sizes)} samples, so its figures are those of a part"
    return ""


def _line(run: RunFile, dataset: str, found: DatasetResult, doubts: tuple[str, ...]) -> HistoryLine:
    problems = sorted(found.problem_results, key=lambda problem: problem.problem)
    ids = tuple(problem.problem for problem in problems)
    counted = all(problem.c is not None for problem in problems)
    return filled(
        HistoryLine,
        run.identity,
        run,
        dataset=dataset,
        version=found.version,
        sampling=_sampling(run),
        figures=tuple(_figure(row, problems) for row in found.rows if row.value is not None),
        n=problems[0].n,
        problems=len(problems),
        ids=() if ids == tuple(range(len(ids))) else ids,
        right=tuple(problem.c or 0 for problem in problems) if counted else (),
        lost=tuple(problem.problem for problem in problems if problem.bounds),
        unverified=doubts,
    )


def _line_of_speed(run: RunFile, speed: RunSpeed, kept: KeptRun) -> HistoryLine:
    """Comparable where the same was asked, with as many requests at once."""
    load = {"datasets": ", ".join(run.judged), "concurrency": kept.plan().settings.concurrency, "shards": speed.shards}
    figures = (filled(PastFigure, row, value=row.value or 0.0, again=row.interval) for row in run_speed.rows(speed))
    return filled(
        HistoryLine,
        run.identity,
        run,
        dataset=SPEED,
        version="",
        sampling={**_sampling(run), **load},
        figures=tuple(figures),
        n=run.n,
        problems=0,
        unverified=kept.doubts,
    )


def _figure(row: SummaryRow, problems: Sequence[ProblemResult]) -> PastFigure:
    # Problems outside of a part have no value of its figures.
    paired = is_mean_of_problems(row, problems) and all(is_in(row.metric, problem) for problem in problems)
    follows = all(problem.c is not None and row.metric not in problem.figures for problem in problems)
    return filled(
        PastFigure,
        row,
        value=row.value or 0.0,
        again=intervals.asked_again(row.certainty),
        paired=paired,
        values=tuple(value_of(row.metric, problem) or 0.0 for problem in problems) if paired and not follows else (),
    )


def _sampling(run: RunFile) -> dict[str, Any]:
    """Only what was asked for, and what the service is known to add; the seed alone changes no question."""
    drawn = msgspec.to_builtins(run.drawn) if run.drawn else {"n": run.n}
    # Before `thinking` was a setting, it was left to the service as well.
    unsaid: tuple[object, ...] = (None, {}, "server")
    asked = {name: value for name, value in drawn.items() if name != "seed" and value not in unsaid}
    found = {"neutral": run.samplers.neutral, "service": run.samplers.own} if run.samplers else {}
    return {"sampling": run.sampling, **asked, **{name: values for name, values in found.items() if values}}


def values(line: HistoryLine, figure: PastFigure) -> list[float | None]:
    """The problems' values, 0..1, in the order of their ids; None where samples have no verdict."""
    if figure.values:
        every: list[float | None] = list(figure.values)
    else:
        by_count = [value_of_count(figure.metric, line.n, c) or 0.0 for c in range(line.n + 1)]
        every = [by_count[c] for c in line.right]
    if not line.lost:
        return every
    lost = set(line.lost)
    return [None if name in lost else value for name, value in zip(line.asked, every, strict=True)]


def instant(moment: str) -> float:
    """Seconds, to put runs of machines in different time zones in their order."""
    for form in ("%Y-%m-%dT%H:%M:%S.%f%z", "%Y-%m-%dT%H:%M:%S%z", "%Y-%m-%d"):
        with contextlib.suppress(ValueError):
            read = datetime.strptime(moment, form)  # noqa: DTZ007 - the next line has the zone
            return (read if read.tzinfo else read.replace(tzinfo=timezone.utc)).timestamp()
    raise ValueError(f"'{moment}' is no time such as 2026-03-26T15:15:20+0800")


def encode(line: HistoryLine) -> bytes:
    return msgspec.json.encode(line) + b"\n"


def new_lines(before: bytes, lines: Iterable[HistoryLine]) -> bytes:
    """What a history file with this content lacks, ready to be appended; the oldest runs first.

    A run that was judged again has finished anew, so it gets another line, and the newest line of a run counts.
    """
    known = {(line.run_id, line.dataset, line.finished) for line in decode(before, "").lines}
    fresh = {(line.run_id, line.dataset, line.finished): line for line in lines}
    ordered = sorted(fresh.items(), key=lambda item: (instant(item[1].finished), item[0]))
    return b"".join(encode(line) for key, line in ordered if key not in known)


class HistoryFile(msgspec.Struct, frozen=True, kw_only=True):
    """The lines of a history file that could be read, and a sentence about each of the others."""

    lines: tuple[HistoryLine, ...]
    damaged: tuple[str, ...] = ()


def decode(source: bytes, where: str) -> HistoryFile:
    """Reads a history file. A line that a crash or a merge has damaged hides no other."""
    lines, damaged = [], []
    for number, text in enumerate(source.split(b"\n"), start=1):
        if not text.strip():
            continue
        try:
            line = _decoder.decode(text)
            _check(line)
        except (msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
            damaged.append(f"{where}, line {number} cannot be read and is left out: {error}.")
        else:
            lines.append(line)
    return HistoryFile(lines=tuple(lines), damaged=tuple(damaged))


_decoder = msgspec.json.Decoder(HistoryLine)


def _check(line: HistoryLine) -> None:
    """That the parts of a line fit together: a hand that edited it may have changed one of them."""
    instant(line.finished)
    if line.ids and (len(line.ids) != line.problems or sorted(set(line.ids)) != list(line.ids)):
        raise ValueError(f"it has {line.problems} problems and {len(set(line.ids))} ids")
    if line.right and (len(line.right) != line.problems or not all(0 <= c <= line.n for c in line.right)):
        raise ValueError(f"it has {line.problems} problems of {line.n} samples, and other counts of right ones")
    for figure in line.figures:
        if figure.paired and len(figure.values or line.right) != line.problems:
            raise ValueError(f"its {figure.metric} has {len(figure.values)} values for {line.problems} problems")
