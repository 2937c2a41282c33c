"""Runs that have ended as series: one for each dataset, metric and model, asked in one way, in order of time.

Only figures that answer the same question stand in one series: another version of the dataset, other samplers, another
number of samples or other problems (a shard, a run that stopped when it was decided) make another one.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import msgspec
import numpy

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import FigureBounds, Interval, Settings
from model_accuracy_eval.report import figures, markdown
from model_accuracy_eval.run_folder import history_file
from model_accuracy_eval.run_folder.history_file import HistoryLine, LeftOut, PastFigure
from model_accuracy_eval.scoring.verdicts import regressions
from model_accuracy_eval.scoring.verdicts.regressions import FIRST_RUNS, Trend

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Floats = NDArray[numpy.float64]


class HistoryChoice(msgspec.Struct, frozen=True, kw_only=True):
    """Which runs and figures are shown; None: all, and each dataset's first figure."""

    dataset: str | None = None
    label: str | None = None
    model: str | None = None
    metric: str | None = None
    since: str | None = None
    """A date, or the beginning of a run's id."""


class SeriesPoint(msgspec.Struct, frozen=True, kw_only=True):
    """The figure of one run."""

    run_id: str
    finished: str
    commit: str
    status: str
    value: float
    again: Interval | None
    interval: Interval | None
    bounds: FigureBounds | None
    """Limits of the value where samples have no verdict."""
    change: float | None
    """Points above the run before; None for the first, and where one of the two is not exact."""
    best: float | None
    """The best so far, this one included if it is exact."""
    unverified: tuple[str, ...]
    """Why nobody can say that its replies are those that the run left."""
    cusum: float | None
    """None: the run is part of the first reference, or the figure is no mean over problems."""


class Fall(msgspec.Struct, frozen=True, kw_only=True):
    """A regression, with the runs and the problems that it lies between and is made of."""

    after: str
    """The id of the last run before it."""
    first: str
    noticed: str
    points: float
    """Below zero, whichever way is better."""
    interval: Interval
    problems: tuple[int, ...] | None
    """Those that surely fell; None: answers of this dataset are not right or wrong."""
    mended: str | None
    """The id of the run with which it had come back."""


class FlakyProblem(msgspec.Struct, frozen=True, kw_only=True):
    """A problem that flips from run to run without any trend."""

    id: int
    flips: int


class Series(msgspec.Struct, frozen=True, kw_only=True):
    """One figure of one model over time."""

    dataset: str
    version: str
    metric: str
    model: str | None
    label: str
    sampling: dict[str, Any]
    problems: int
    asked: str
    """A hash over the ids of the problems."""
    higher_is_better: bool
    share: bool
    limit: float
    """Of the sum of each point, above which the figure has fallen; higher where there are several series."""
    points: tuple[SeriesPoint, ...]
    falls: tuple[Fall, ...]
    flaky: tuple[FlakyProblem, ...]

    @property
    def regression(self) -> Fall | None:
        """The newest fall that has not been mended."""
        return next((fall for fall in reversed(self.falls) if fall.mended is None), None)


class History(msgspec.Struct, frozen=True, kw_only=True):
    """All series, and the runs that are in none of them."""

    series: tuple[Series, ...]
    left_out: tuple[LeftOut, ...] = ()

    @property
    def regressed(self) -> bool:
        return any(each.regression for each in self.series)


SeriesRuns = Sequence[tuple[HistoryLine, PastFigure]]


def history(
    lines: Iterable[HistoryLine], left_out: Iterable[LeftOut] = (), choice: HistoryChoice | None = None
) -> History:
    """The series of these lines in the order of their names."""
    apart = {(each.run, each.reason): each for each in left_out}
    grouped = _grouped(lines, choice or HistoryChoice())
    limit = regressions.limit_of_one(sum(len(runs) > regressions.FIRST_RUNS for runs in grouped))
    return History(
        series=tuple(_series(runs, limit) for runs in grouped),
        left_out=tuple(sorted(apart.values(), key=lambda each: (each.finished, each.run))),
    )


def _grouped(lines: Iterable[HistoryLine], choice: HistoryChoice) -> list[SeriesRuns]:
    """The runs of each series, the oldest first; a run that is there several times counts once."""
    unique = {(line.run_id, line.dataset): line for line in sorted(lines, key=_moment)}
    ordered = sorted(unique.values(), key=_moment)
    kept = [line for line in ordered[_start(ordered, choice.since) :] if _is_chosen(line, choice)]
    groups: dict[tuple[str, ...], list[tuple[HistoryLine, PastFigure]]] = {}
    for line in kept:
        if figure := _chosen_figure(line, choice.metric):
            groups.setdefault(_key(line, figure), []).append((line, figure))
    if kept and not groups:
        known = {figure.metric for line in kept for figure in line.figures}
        raise UnknownName("figure", choice.metric or "", known, where=" in these runs")
    return [groups[key] for key in sorted(groups)]


def _moment(line: HistoryLine) -> tuple[float, str]:
    return history_file.instant(line.finished), line.run_id


def _start(ordered: Sequence[HistoryLine], since: str | None) -> int:
    """Where the runs since a date or a run begin."""
    if since is None:
        return 0
    for place, line in enumerate(ordered):
        if line.run_id.startswith(since) or ("-" in since and line.finished[:10] >= since):
            return place
    raise UnknownName("run or day", since, [line.run_id for line in ordered[-5:]], where=" among these runs")


def _is_chosen(line: HistoryLine, choice: HistoryChoice) -> bool:
    wanted = ((choice.dataset, line.dataset), (choice.label, line.label), (choice.model, line.model))
    return all(want in {None, has} for want, has in wanted)


def _chosen_figure(line: HistoryLine, metric: str | None) -> PastFigure | None:
    return next((figure for figure in line.figures if metric in {None, figure.metric}), None)


def _key(line: HistoryLine, figure: PastFigure) -> tuple[str, ...]:
    """What figures of one series have in common, as texts that can be sorted."""
    sampling = msgspec.json.encode(line.sampling, order="deterministic").decode()
    names = (line.dataset, line.version, figure.metric, line.model or "", line.label)
    return (*names, line.repository.lower(), line.path, sampling, str(line.n), _asked(line))


def _asked(line: HistoryLine) -> str:
    return sha256(numpy.asarray(line.asked, dtype="<i8").tobytes()).hexdigest()[:8]


def _series(runs: SeriesRuns, limit: float) -> Series:
    line, figure = runs[-1]
    trend = _trend(runs, limit)
    majorities = [_majority(each) for each, _ in runs] if all(each.right for each, _ in runs) else None
    falls = tuple(_fall(runs, fall, majorities) for fall in trend.regressions)
    named = {line.asked.index(problem) for fall in falls for problem in fall.problems or ()}
    unsteady = regressions.flaky(majorities[trend.quiet_since :], named) if majorities else []
    return Series(
        dataset=line.dataset,
        version=line.version,
        metric=figure.metric,
        model=line.model,
        label=line.label,
        sampling={**line.sampling, "n": line.n},
        problems=line.problems,
        asked=_asked(line),
        higher_is_better=figure.higher_is_better,
        share=figure.share,
        limit=limit,
        points=_points(runs, trend),
        falls=falls,
        flaky=tuple(FlakyProblem(id=line.asked[each.place], flips=each.flips) for each in unsteady),
    )


def _trend(runs: SeriesRuns, limit: float) -> Trend:
    """Nothing is summed up of a figure that is no mean over problems."""
    if not all(figure.paired for _, figure in runs):
        return Trend([None] * len(runs), [], 0)
    sign = 1 if runs[0][1].higher_is_better else -1
    return regressions.trend([sign * _floats(history_file.values(line, figure)) for line, figure in runs], limit)


def _floats(values: Sequence[float | None]) -> "Floats":
    return numpy.array(values, dtype=float)


def _majority(line: HistoryLine) -> "Floats":
    """1 where more than half of a problem's samples are right, NaN where that is not known."""
    solved = (2 * numpy.array(line.right) > line.n).astype(float)
    if line.lost:
        solved[numpy.isin(numpy.asarray(line.asked), line.lost)] = numpy.nan
    return solved


def _fall(runs: SeriesRuns, fall: regressions.Regression, majorities: "list[Floats] | None") -> Fall:
    line = runs[0][0]
    end = fall.mended or len(runs)
    problems = None
    if majorities:
        fallen = regressions.fallen(majorities[fall.since : fall.first], majorities[fall.first : end])
        problems = tuple(line.asked[place] for place in fallen)
    return Fall(
        after=runs[fall.after][0].run_id,
        first=runs[fall.first][0].run_id,
        noticed=runs[fall.noticed][0].run_id,
        points=fall.points,
        interval=fall.interval,
        problems=problems,
        mended=None if fall.mended is None else runs[fall.mended][0].run_id,
    )


def _points(runs: SeriesRuns, trend: Trend) -> tuple[SeriesPoint, ...]:
    points: list[SeriesPoint] = []
    for (line, figure), cusum in zip(runs, trend.sums, strict=True):
        before = points[-1] if points else None
        better = max if figure.higher_is_better else min
        exact = None if figure.bounds else figure.value
        bests = [best for best in (exact, before.best if before else None) if best is not None]
        comparable = before is not None and before.bounds is None and figure.bounds is None
        points.append(
            SeriesPoint(
                run_id=line.run_id,
                finished=line.finished,
                commit=line.commit,
                status=line.status,
                value=figure.value,
                again=figure.again,
                interval=figure.interval,
                bounds=figure.bounds,
                change=figure.value - before.value if before and comparable else None,
                best=better(bests) if bests else None,
                unverified=line.unverified,
                cusum=cusum,
            )
        )
    return tuple(points)


# A history as text for the terminal, and as JSON for programs.


_NAMES_SHOWN = 20
_RUNS_SHOWN = 30


def as_text(history: History) -> str:
    """A table for each series, with what the runs say together below it; then the runs that are in none."""
    blocks = ["\n".join([title(series), *_table(series), *(f"  {line}" for line in remarks(series))])
              for series in history.series]  # fmt: skip
    if history.left_out:
        lines = (f"  {each.finished}  {each.run[:8]}  {markdown.plain(each.reason)}" for each in history.left_out)
        blocks.append("\n".join(["In no series:", *lines]))
    return "\n\n".join(blocks)


def title(series: Series) -> str:
    """Two lines, so that names of a usual length fit 80 columns."""
    what = f"{series.dataset} ({series.version}), {series.metric}"
    model = f"model {series.model or 'unknown'}, {circumstances(series)}"
    return f"{markdown.plain(what)}\n  {markdown.plain(model)}"


def circumstances(series: Series) -> str:
    """What else sets the series apart from others of its dataset and model."""
    drawn = ", ".join(f"{name} {value}" for name, value in series.sampling.items())
    label = "" if series.label == Settings().label else f"label {series.label}, "
    return f"{label}{series.problems} problems, {drawn}"


def _table(series: Series) -> list[str]:
    """The newest runs; in 80 columns where no commit is known."""
    head = ("finished", "run", "commit", "value", "asked again", "change", "best", "sum")
    cells = [head, *map(_cells, series.points[-_RUNS_SHOWN:])]
    if not any(point.commit for point in series.points):
        cells = [(*line[:2], *line[3:]) for line in cells]
    lines = [f"  {line}" for line in _aligned(cells)]
    earlier = len(series.points) - _RUNS_SHOWN
    return [lines[0], f"  … {earlier} earlier runs", *lines[1:]] if earlier > 0 else lines


def _aligned(cells: Sequence[tuple[str, ...]]) -> list[str]:
    cells = [tuple(map(markdown.plain, line)) for line in cells]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    return ["  ".join(map(str.ljust, line, widths)).rstrip() for line in cells]


def _cells(point: SeriesPoint) -> tuple[str, ...]:
    value = figures.range_of(point.bounds) if point.bounds else figures.number(point.value)
    best = f"{figures.number(point.best)}{'*' if point.value == point.best and not point.bounds else ''}"
    change = "" if point.change is None else f"{point.change:+.2f}"
    total = "" if point.cusum is None else f"{point.cusum:.1f}"
    finished = point.finished[:16].replace("T", " ")
    return (finished, point.run_id[:8], point.commit[:8], value, figures.span(point.again), change, best, total)


def remarks(series: Series) -> Iterator[str]:
    """What the runs say together, as sentences."""
    days = {point.run_id: point.finished[:10] for point in series.points}
    yield from (markdown.plain(fall_sentence(series, fall, days)) for fall in series.falls)
    for point in series.points:
        yield from (markdown.plain(f"Unverified: run {point.run_id[:8]}: {doubt}.") for doubt in point.unverified)
    if series.flaky:
        shown = _names([each.id for each in series.flaky])
        flip = "1 problem flips" if len(series.flaky) == 1 else f"{len(series.flaky)} problems flip"
        yield f"{flip} from run to run without a trend, the most unsteady first: {shown}."
    if len(series.points) <= FIRST_RUNS:
        runs = len(series.points)
        yield f"Runs so far: {runs}. From the {FIRST_RUNS + 1}th on, each is compared with those before it."


def standing(series: Series) -> Iterator[str]:
    """The sentences about falls that have not been mended, with the name of their series."""
    days = {point.run_id: point.finished[:10] for point in series.points}
    for fall in (fall for fall in series.falls if fall.mended is None):
        yield markdown.plain(f"{series.dataset}: {fall_sentence(series, fall, days)}")


def fall_sentence(series: Series, fall: Fall, days: dict[str, str]) -> str:
    """Where it fell, by how much, and which problems."""
    direction = "fell" if series.higher_is_better else "rose"
    where = f"between {fall.after[:8]} ({days[fall.after]}) and {fall.first[:8]} ({days[fall.first]})"
    state = "REGRESSED" if fall.mended is None else f"Regressed until {fall.mended[:8]} ({days[fall.mended]})"
    limits = f"{-fall.interval.high:.2f} .. {-fall.interval.low:.2f}"
    changed = f"{series.metric} {direction} by {-fall.points:.2f} points ({limits})"
    return f"{state} {where}, noticed with {fall.noticed[:8]}: {changed}; {_fallen(fall)}."


def _fallen(fall: Fall) -> str:
    if fall.problems is None:
        return "its problems are not right or wrong, so none is named"
    if not fall.problems:
        return "no problem stands out: it is spread over many, or the runs since then are too few to name them"
    these = "this problem" if len(fall.problems) == 1 else f"these {len(fall.problems)} problems"
    return f"{these}: {_names(fall.problems)}"


def _names(problems: Sequence[int]) -> str:
    shown = ", ".join(map(str, problems[:_NAMES_SHOWN]))
    return f"{shown} and {len(problems) - _NAMES_SHOWN} more" if len(problems) > _NAMES_SHOWN else shown
