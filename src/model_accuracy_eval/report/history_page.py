"""Where the lines, bands and marks of a series' drawing lie."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import floor, log10

from model_accuracy_eval.report import figures, history, page
from model_accuracy_eval.report.history import Fall, History, Series, SeriesPoint

WIDTH, HEIGHT = 960.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 52.0, 14.0, 16.0, 46.0
"""Room for what is written beside the drawing."""
_TICKS = 4
_DATE_WIDTH, _COMMIT_WIDTH = 118.0, 66.0


@dataclass(frozen=True, slots=True)
class Mark:
    """A text at a place of one of the axes."""

    at: float
    text: str


@dataclass(frozen=True, slots=True)
class Spot:
    """One run."""

    x: float
    y: float
    title: str
    low: float | None
    """With `high`: where its figure may lie, if samples have no verdict."""
    high: float | None


@dataclass(frozen=True, slots=True)
class FallenSpan:
    """From the middle between the two runs of a fall to where it was mended, or to the newest run."""

    x: float
    width: float
    mended: bool


@dataclass(frozen=True, slots=True)
class SeriesChart:
    """A series as SVG draws it."""

    spots: Sequence[Spot]
    lines: Sequence[str]
    """Polylines: the runs of which the figure is exact."""
    bands: Sequence[str]
    """Polygons: where the figure would lie if the problems were asked again."""
    ticks: Sequence[Mark]
    dates: Sequence[Mark]
    commits: Sequence[Mark]
    """Where the adapter's commit changed."""
    gates: Sequence[Mark]
    falls: Sequence[FallenSpan]


class _Scale:
    """From runs and figures to places in the drawing."""

    def __init__(self, series: Series, thresholds: Sequence[float]) -> None:
        points = series.points
        ends = [end for point in points for end in _ends(point)]
        low, high = min([*ends, *thresholds]), max([*ends, *thresholds])
        room = 0.08 * (high - low) or max(abs(high) * 0.05, 1.0)
        self.low, self.high = low - room, high + room
        if series.share:
            self.low, self.high = max(self.low, 0.0), min(self.high, 100.0)
        self._step = (WIDTH - LEFT - RIGHT) / max(len(points) - 1, 1)
        self._first = LEFT if len(points) > 1 else (LEFT + WIDTH - RIGHT) / 2

    def x(self, place: float) -> float:
        return round(self._first + self._step * place, 1)

    def y(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(HEIGHT - BOTTOM - (HEIGHT - BOTTOM - TOP) * min(max(share, 0.0), 1.0), 1)

    def ticks(self) -> Iterator[Mark]:
        """Round numbers, about four of them."""
        rough = (self.high - self.low) / _TICKS
        power = 10.0 ** floor(log10(rough))
        step = next((factor * power for factor in (1, 2, 5) if factor * power >= rough), 10 * power)
        place = floor(self.low / step) + 1
        while place * step <= self.high:
            yield Mark(self.y(place * step), f"{place * step:g}")
            place += 1


def chart(series: Series) -> SeriesChart:
    gates = {gate.gate: gate.threshold for point in series.points for gate in point.gates if gate.threshold is not None}
    scale = _Scale(series, list(gates.values()))
    pieces = list(_pieces(series.points))
    return SeriesChart(
        spots=[_spot(scale, place, point) for place, point in enumerate(series.points)],
        lines=[" ".join(f"{scale.x(place)},{scale.y(series.points[place].value)}" for place in piece)
               for piece in pieces if len(piece) > 1],
        bands=[_band(scale, series.points, piece) for piece in pieces if len(piece) > 1],
        ticks=list(scale.ticks()),
        dates=_times(_apart((Mark(scale.x(place), point.finished) for place, point in enumerate(series.points)),
                            _DATE_WIDTH)),
        commits=_apart((Mark(scale.x(place), series.points[place].commit[:7]) for place in _commit_changes(series)),
                       _COMMIT_WIDTH),
        gates=[Mark(scale.y(threshold), gate) for gate, threshold in gates.items()],
        falls=[_span(scale, series, fall) for fall in series.falls],
    )  # fmt: skip


def _ends(point: SeriesPoint) -> Iterator[float]:
    yield point.value
    for limits in (point.again, point.bounds):
        if limits:
            yield from (end for end in (limits.low, limits.high) if end is not None)


def _pieces(points: Sequence[SeriesPoint]) -> Iterator[list[int]]:
    """Neighbouring runs whose figures are exact."""
    piece: list[int] = []
    for place, point in enumerate(points):
        if point.bounds is None:
            piece.append(place)
        elif piece:
            yield piece
            piece = []
    if piece:
        yield piece


def _band(scale: _Scale, points: Sequence[SeriesPoint], piece: Sequence[int]) -> str:
    limits = [(scale.x(place), again) for place in piece if (again := points[place].again)]
    upper = [f"{x},{scale.y(again.high)}" for x, again in limits]
    lower = [f"{x},{scale.y(again.low)}" for x, again in reversed(limits)]
    return " ".join([*upper, *lower])


def _spot(scale: _Scale, place: int, point: SeriesPoint) -> Spot:
    words = [point.finished, f"run {point.run_id[:8]}", *([f"commit {point.commit[:8]}"] if point.commit else [])]
    value = figures.range_of(point.bounds) if point.bounds else figures.number(point.value)
    again = f" ({figures.span(point.again)} if asked again)" if point.again else ""
    low, high = (point.bounds.low, point.bounds.high) if point.bounds else (None, None)
    return Spot(
        x=scale.x(place),
        y=scale.y(point.value),
        title=f"{value}{again}: {', '.join(words)}",
        low=scale.y(scale.low if low is None else low) if point.bounds else None,
        high=scale.y(scale.high if high is None else high) if point.bounds else None,
    )


def _commit_changes(series: Series) -> Iterator[int]:
    before = ""
    for place, point in enumerate(series.points):
        if point.commit and point.commit != before:
            yield place
        before = point.commit or before


def _apart(marks: Iterator[Mark], width: float) -> list[Mark]:
    """Those that do not overlap."""
    kept: list[Mark] = []
    for mark in marks:
        if not kept or mark.at - kept[-1].at >= width:
            kept.append(mark)
    return kept


def _times(marks: Sequence[Mark]) -> list[Mark]:
    """The day, and for further runs of the same day the time."""
    days = ["", *(mark.text[:10] for mark in marks)]
    return [
        Mark(mark.at, mark.text[:10] if mark.text[:10] != day else mark.text[11:16])
        for mark, day in zip(marks, days, strict=False)
    ]


def _span(scale: _Scale, series: Series, fall: Fall) -> FallenSpan:
    places = {point.run_id: place for place, point in enumerate(series.points)}
    start = scale.x(places[fall.first] - 0.5)
    end = scale.x(places[fall.mended] - 0.5) if fall.mended else WIDTH - RIGHT
    return FallenSpan(start, round(end - start, 1), fall.mended is not None)


# A history as one page that needs no network, no script and no other file.


def as_html(past: History) -> bytes:
    """Trends with bands, gates and commits; the newest regressions first."""
    ordered = sorted(past.series, key=lambda series: series.regression is None)
    values = {
        "history": past,
        "drawn": [(series, chart(series), list(history.remarks(series))) for series in ordered],
        "standing": [series for series in ordered if series.regression],
        "circumstances": history.circumstances,
        "number": figures.number,
        "span": figures.span,
        "range_of": figures.range_of,
        "size": {"width": WIDTH, "height": HEIGHT, "left": LEFT, "right": RIGHT, "top": TOP, "bottom": BOTTOM},
    }
    return page.render("history.html.j2", values, styles=("page.css", "history.css"), scripts=())
