"""A history as text for the terminal, and as JSON for programs."""

from collections.abc import Iterator, Sequence

from model_accuracy_eval.records import Settings
from model_accuracy_eval.report import figures, markdown
from model_accuracy_eval.report.history import Fall, History, Series, SeriesPoint, SolvedProblems
from model_accuracy_eval.scoring.verdicts.regressions import FIRST_RUNS

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


def problems_as_text(found: Sequence[SolvedProblems]) -> str:
    """A table: `any` is the share of the problems that at least one run solved."""
    head = ("dataset", "version", "model", "runs", "problems", "in every run", "in some", "in none", "any")
    return "\n".join(_aligned([head, *map(_problem_cells, found)]))


def _problem_cells(found: SolvedProblems) -> tuple[str, ...]:
    numbers = (found.runs, found.problems, found.every, len(found.sometimes), len(found.never))
    return (found.dataset, found.version, found.model or "unknown", *map(str, numbers), figures.number(found.oracle))


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
