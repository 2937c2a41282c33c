"""Parts of a dataset, datasets of a group, and figures that count from what guessing reaches."""

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from math import sqrt

import msgspec

from model_accuracy_eval.errors import BadData, BadValue
from model_accuracy_eval.records import GroupMean, Interval, Problem, Row, Sheet, TaskGroup, TaskSpec


def part(task: TaskSpec, problem: Problem) -> str:
    """Which part of its dataset a problem belongs to; empty where the task does not tell parts apart."""
    if task.grouping is None:
        return ""
    told = problem.category if task.grouping.by == "category" else problem.extras.get(task.grouping.by)
    if told is None:
        raise BadData(f"{task.name} is told apart by '{task.grouping.by}', but problem {problem.id} has none.")
    return str(told)


def names(task: TaskSpec, first: str) -> Iterator[str]:
    """Names of the rows beside the figures themselves, as far as they are known before the data is."""
    if task.baseline is not None:
        yield _centred_name(first)
    if task.grouping is not None and not task.grouping.weight_by_size:
        yield _mean_name(task, first)


def _centred_name(first: str) -> str:
    return f"centred {first}"


def _mean_name(task: TaskSpec, first: str) -> str:
    return f"{first}, mean over {task.grouping.by if task.grouping else ''}"


def centred(task: TaskSpec, row: Row) -> Iterator[Row]:
    """The headline counted from the baseline: 0 is what guessing reaches, 100 is everything."""
    if task.baseline is None:
        return
    base = task.baseline
    if not 0 <= base < 1:
        raise BadValue(f"{task.name}: the baseline is a share from 0 up to below 1, not {base:g}.")

    def from_base(value: float) -> float:
        return (value - 100 * base) / (1 - base)

    span = row.interval
    yield msgspec.structs.replace(
        row,
        metric=_centred_name(row.metric),
        value=None if row.value is None else from_base(row.value),
        interval=None if span is None else Interval(low=from_base(span.low), high=from_base(span.high)),
        stderr=None if row.stderr is None else row.stderr / (1 - base),
    )


def areas(task: TaskSpec, parts: Iterable[str]) -> dict[str, set[str]]:
    """Area → those of the parts that belong to it."""
    table = task.grouping.areas if task.grouping else {}
    found: dict[str, set[str]] = {}
    for part in sorted(set(parts)) if table else ():
        if part not in table:
            raise BadData(
                f"{task.name} is told apart by areas, but '{part}' belongs to none of the {len(table)} parts known."
            )
        found.setdefault(table[part], set()).add(part)
    return found


def rows_of_parts(task: TaskSpec, whole: Row, parts: Mapping[str, Row], areas: Mapping[str, Row]) -> Iterator[Row]:
    """One row an area and a part, and the parts' plain mean where all weigh the same: by size it is the whole's
    figure."""
    if task.grouping is None:
        return
    for name, row in (*areas.items(), *parts.items()):
        yield msgspec.structs.replace(row, metric=f"{whole.metric}[{name}]")
    if not task.grouping.weight_by_size:
        figures = [row.value for row in parts.values()]
        errors = [row.stderr for row in parts.values()]
        yield msgspec.structs.replace(
            whole,
            metric=_mean_name(task, whole.metric),
            value=weighted(figures, [1] * len(figures)),
            interval=None,
            stderr=unweighted_stderr(errors),
        )


def weighted(figures: Sequence[float | None], sizes: Sequence[int]) -> float | None:
    """Mean by size; unknown as soon as one of the figures is: a group's figure is of the whole group."""
    known = [figure for figure in figures if figure is not None]
    if len(known) < len(figures) or not sum(sizes):
        return None
    return sum(figure * size for figure, size in zip(known, sizes, strict=True)) / sum(sizes)


def pooled_stderr(errors: Sequence[float | None], sizes: Sequence[int]) -> float | None:
    """Standard error of a mean by size, from the parts' own: √(Σ (n−1)·se²·n / (N−parts) / N)."""
    known = [error for error in errors if error is not None]
    total = sum(sizes)
    if len(known) < len(errors) or total <= len(sizes):
        return None
    variance = sum((size - 1) * error**2 * size for size, error in zip(sizes, known, strict=True))
    return sqrt(variance / (total - len(sizes)) / total)


def unweighted_stderr(errors: Sequence[float | None]) -> float | None:
    """Standard error of a plain mean of independent figures: √(Σ se²) / parts."""
    known = [error for error in errors if error is not None]
    return sqrt(sum(error**2 for error in known)) / len(known) if known and len(known) == len(errors) else None


def rows(
    group: TaskGroup, sheets: Mapping[str, Sheet], groups: Mapping[str, TaskGroup] | None = None
) -> tuple[Row, ...]:
    """The rows of a group of datasets. Datasets of groups in the group count as its own; where one is missing, or lacks
    the figure, the group's figure is unknown."""
    members = datasets(group, groups or {})
    return tuple(row for wanted in group.means for row in _group_rows(group.name, wanted, members, sheets))


def all_rows(wanted: Sequence[TaskGroup], sheets: Sequence[Sheet]) -> list[Row]:
    """The rows of all groups of a run."""
    found = {sheet.dataset: sheet for sheet in sheets}
    named = {group.name: group for group in wanted}
    return [row for group in wanted for row in rows(group, found, named)]


def metrics(wanted: Sequence[TaskGroup], told: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Group → what its figures will be called, from what those of the datasets will."""
    named = {group.name: group for group in wanted}
    return {
        group.name: list(
            dict.fromkeys(
                metric
                for member in datasets(group, named)
                for metric in told.get(member, ())
                if any(_is_wanted(metric, mean) for mean in group.means)
            )
        )
        for group in wanted
    }


def datasets(group: TaskGroup, groups: Mapping[str, TaskGroup]) -> tuple[str, ...]:
    """Names of all datasets of a group, each once, groups inside it opened."""
    found: dict[str, None] = {}
    open_, seen = [group], {group.name}
    while open_:
        for name in open_.pop().members:
            if name not in groups:
                found[name] = None
            elif name not in seen:
                seen.add(name)
                open_.append(groups[name])
    return tuple(found)


def _group_rows(name: str, wanted: GroupMean, members: Sequence[str], sheets: Mapping[str, Sheet]) -> Iterator[Row]:
    there = [sheets.get(member) for member in members]
    told = dict.fromkeys(row.metric for sheet in there if sheet for row in sheet.rows if _is_wanted(row.metric, wanted))
    for metric in told:
        found = [_find(sheet, metric) for sheet in there]
        sizes = [len(sheet.tallies) if sheet else 0 for sheet in there]
        figures = [row.value if row else None for row in found]
        errors = [row.stderr if row else None for row in found]
        first = next(row for row in found if row)
        by_size = wanted.weight_by_size
        yield msgspec.structs.replace(
            first,
            dataset=name,
            version=_version([sheet.version for sheet in there if sheet]),
            value=weighted(figures, sizes if by_size else [1] * len(sizes)),
            interval=None,
            stderr=pooled_stderr(errors, sizes) if by_size else unweighted_stderr(errors),
        )


def _is_wanted(metric: str, wanted: GroupMean) -> bool:
    """`acc`, `acc (5 runs average)`, and of other pipelines `acc,strict`."""
    whole = metric.partition(" (")[0]
    name, _, pipeline = whole.partition(",")
    return name == wanted.metric and (not wanted.pipelines or (pipeline or "none") in wanted.pipelines)


def _find(sheet: Sheet | None, metric: str) -> Row | None:
    """Where nobody guesses, a figure counts from 0 anyway: its plain row is its centred one."""
    rows = {row.metric: row for row in sheet.rows} if sheet else {}
    return rows.get(metric) or rows.get(metric.removeprefix("centred "))


def _version(versions: Sequence[str]) -> str:
    """Six hex digits over those of the datasets."""
    return hashlib.sha256("\n".join(versions).encode()).hexdigest()[:6]
