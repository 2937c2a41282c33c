"""Runs that have ended as series: one for each dataset, metric and model, asked in one way, in order of time.

Only figures that answer the same question stand in one series: another version of the dataset, other samplers, another
number of samples or other problems (a shard, a run that stopped when it was decided) make another one.
"""

from collections.abc import Iterable, Iterator, Sequence
from hashlib import sha256
from typing import TYPE_CHECKING, Any, Literal

import msgspec
import numpy

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import FigureBounds, Interval, Settings
from model_accuracy_eval.records.base import filled
from model_accuracy_eval.records.plan import SPEED
from model_accuracy_eval.report import figures, markdown
from model_accuracy_eval.run_folder import history_file
from model_accuracy_eval.run_folder.history_file import HistoryLine, LeftOut, PastFigure
from model_accuracy_eval.scoring.verdicts import regressions
from model_accuracy_eval.scoring.verdicts.regressions import Trend

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
    """None: the run is the first of its level, or the figure is no mean over problems."""


class Fall(msgspec.Struct, frozen=True, kw_only=True):
    """A regression, with the runs and the problems that it lies between and is made of."""

    after: str
    """The id of the last run before it."""
    first: str
    earliest: str
    """The id of the last run before it, where it was as early as is possible (95 %)."""
    latest: str
    """The id of the first run after it, where it was as late."""
    noticed: str
    points: float
    """Below zero, whichever way is better."""
    interval: Interval
    problems: tuple[int, ...] | None
    """Those that fell; None: answers of this dataset are not right or wrong."""
    surely: bool
    """Whether that is no chance; else they are those that every run before has solved and none since."""
    mended: str | None
    """The id of the run with which it had come back."""


class FlakyProblem(msgspec.Struct, frozen=True, kw_only=True):
    """A problem that flips from run to run without any trend."""

    id: int
    flips: int


SeriesState = Literal["regressed", "steady", "too few runs", "no mean over problems"]


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
    state: SeriesState
    shows: float | None
    """Points by which the newest run would have had to fall to be noticed at once."""

    @property
    def regression(self) -> Fall | None:
        """The newest fall that has not been mended."""
        return next((fall for fall in reversed(self.falls) if fall.mended is None), None)


class History(msgspec.Struct, frozen=True, kw_only=True):
    """All series, and the runs that are in none of them."""

    series: tuple[Series, ...]
    left_out: tuple[LeftOut, ...] = ()
    newest: tuple[str, str, str] | None = None
    """The run that ended last: its id, how it ended, and its sentence."""

    @property
    def regressed(self) -> bool:
        return any(each.state == "regressed" for each in self.series)

    @property
    def undecided(self) -> bool:
        """Whether a figure of the newest run was compared with none."""
        of_datasets = (each for each in self.series if each.dataset != SPEED)
        newest = [each for each in of_datasets if self.newest and each.points[-1].run_id == self.newest[0]]
        return any(each.state not in {"regressed", "steady"} for each in newest)


SeriesRuns = Sequence[tuple[HistoryLine, PastFigure]]


def history(
    lines: Iterable[HistoryLine], left_out: Iterable[LeftOut] = (), choice: HistoryChoice | None = None
) -> History:
    """The series of these lines in the order of their names."""
    apart = {(each.run, each.reason): each for each in left_out}
    grouped = _grouped(lines, choice or HistoryChoice())
    limit = regressions.limit_of_one(sum(len(runs) > 1 for runs in grouped if runs[0][0].dataset != SPEED))
    newest = max((line for runs in grouped for line, _ in runs), key=_moment, default=None)
    return History(
        newest=(newest.run_id, newest.status, newest.sentence) if newest else None,
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
    state: SeriesState = "steady"
    if any(fall.mended is None for fall in falls):
        state = "regressed"
    elif len(runs) == 1:
        state = "too few runs"
    elif not figure.paired:
        state = "no mean over problems"
    named = {line.asked.index(problem) for fall in falls for problem in fall.problems or ()}
    unsteady = regressions.flaky(majorities[trend.quiet_since :], named) if majorities else []
    return filled(
        Series,
        line,
        figure,
        sampling={**line.sampling, "n": line.n},
        asked=_asked(line),
        limit=limit,
        points=_points(runs, trend),
        falls=falls,
        flaky=tuple(FlakyProblem(id=line.asked[each.place], flips=each.flips) for each in unsteady),
        state=state,
        shows=trend.shows,
    )


def _trend(runs: SeriesRuns, limit: float) -> Trend:
    """Nothing is summed up of a figure that is no mean over problems."""
    if not all(figure.paired for _, figure in runs):
        return Trend([None] * len(runs), [], 0, None)
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
    line, split, ids = runs[0][0], fall.split, [line.run_id for line, _ in runs]
    problems, surely = None, True
    if majorities:
        before, after = majorities[split.since : fall.first], majorities[fall.first : fall.mended or len(runs)]
        fallen = regressions.fallen(before, after)
        surely = bool(fallen)
        if not fallen:
            lost = (numpy.nanmin(before, axis=0, initial=1) > 0) & (numpy.nanmax(after, axis=0, initial=0) < 1)
            fallen = numpy.flatnonzero(lost & numpy.isfinite(before[-1]) & numpy.isfinite(after[0])).tolist()
        problems = tuple(line.asked[place] for place in fallen)
    return Fall(
        after=ids[split.after],
        first=ids[fall.first],
        earliest=ids[split.earliest],
        latest=ids[split.latest + 1],
        noticed=ids[fall.noticed],
        points=split.points,
        interval=Interval(low=split.interval.low, high=min(split.interval.high, 0.0)),
        problems=problems,
        surely=surely,
        mended=None if fall.mended is None else ids[fall.mended],
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
            filled(
                SeriesPoint,
                line,
                figure,
                change=figure.value - before.value if before and comparable else None,
                best=better(bests) if bests else None,
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
    if history.newest:
        run_id, status, sentence = history.newest
        blocks.append(markdown.plain(f"Newest run {run_id[:8]}, {status}: {sentence}"))
    return "\n\n".join(blocks)


def title(series: Series) -> str:
    """Two lines, so that names of a usual length fit 80 columns."""
    version = f" ({series.version})" if series.version else ""
    what = f"{series.dataset}{version}, {series.metric}"
    model = f"model {series.model or 'unknown'}, {circumstances(series)}"
    return f"{markdown.plain(what)}\n  {markdown.plain(model)}"


def circumstances(series: Series) -> str:
    """What else sets the series apart from others of its dataset and model."""
    drawn = ", ".join(f"{name} {value}" for name, value in series.sampling.items())
    label = "" if series.label == Settings().label else f"label {series.label}, "
    return f"{label}{f'{series.problems} problems, ' if series.problems else ''}{drawn}"


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
    yield from (markdown.plain(line) for line in _state_lines(series))


def _state_lines(series: Series) -> Iterator[str]:
    """What there is to say where nothing has fallen."""
    if series.state == "too few runs":
        yield "Not enough runs: there is one, and each is compared with those before it."
    elif series.state == "no mean over problems":
        yield f"Not judged: {series.metric} is no mean over problems, so nothing says whether it has changed."
    elif series.state == "steady":
        shows = "" if series.shows is None else (
            f"; the newest would have had to fall by some {min(series.shows, 100.0):.0f} points to be noticed at once"
        )  # fmt: skip
        yield f"No fall stands in {len(series.points)} runs{shows}."


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
    if (fall.earliest, fall.latest) != (fall.after, fall.first):
        where += f" (95 %: between {fall.earliest[:8]} and {fall.latest[:8]})"
    limits = f"{abs(fall.interval.high):.2f} .. {-fall.interval.low:.2f}"
    changed = f"{series.metric} {direction} by {-fall.points:.2f} points ({limits})"
    return f"{state} {where}, noticed with {fall.noticed[:8]}: {changed}; {_fallen(fall)}."


def _fallen(fall: Fall) -> str:
    if fall.problems is None:
        return "its problems are not right or wrong, so none is named"
    if not fall.problems:
        return "it is spread over many problems, none of which was always solved before and never since"
    these = "this problem" if len(fall.problems) == 1 else f"these {len(fall.problems)} problems"
    chance = "" if fall.surely else ", solved in every run before and none since, some perhaps by chance"
    return f"{these}{chance}: {_names(fall.problems)}"


def _names(problems: Sequence[int]) -> str:
    shown = ", ".join(map(str, problems[:_NAMES_SHOWN]))
    return f"{shown} and {len(problems) - _NAMES_SHOWN} more" if len(problems) > _NAMES_SHOWN else shown
