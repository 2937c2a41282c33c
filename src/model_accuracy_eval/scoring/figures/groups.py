"""Parts of a dataset, groups of datasets, and figures that count from the level of guessing."""

import hashlib
from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cache
from math import comb, sqrt
from string import ascii_uppercase
from typing import Any, NamedTuple

from msgspec.structs import replace

from model_accuracy_eval.errors import BadData, BadValue
from model_accuracy_eval.records import (
    Certainty,
    DatasetResult,
    FigureBounds,
    GroupMean,
    MetricUse,
    Pipeline,
    Problem,
    SummaryRow,
    TaskGroup,
    TaskSpec,
)
from model_accuracy_eval.scoring.figures import intervals
from model_accuracy_eval.scoring.figures.intervals import combined
from model_accuracy_eval.scoring.figures.reductions import BEST_SHOWN, Reduced, reduction
from model_accuracy_eval.scoring.metrics import user_functions
from model_accuracy_eval.scoring.metrics.metric_type import Ends, LostValue


def part(task: TaskSpec, problem: Problem) -> str:
    """The part of the dataset that a problem belongs to; empty if the task has no parts."""
    if task.grouping is None:
        return problem.category or ""
    column = task.grouping.by
    name = problem.category if column == "category" else problem.extras.get(column)
    if name is None:
        raise BadData(f"{task.name} is grouped by '{column}', but problem {problem.id} has none.")
    return str(name)


def clusters_named(task: TaskSpec) -> str:
    """What the clusters of the task's problems are called: passages, if their column is `passage` or `passage_id`."""
    column = next((each.cluster for each in (task, *task.parts) if each.cluster), "").removesuffix("_id")
    if not column.isalpha():
        return "clusters"
    return f"{column[:-1]}ies" if column.endswith("y") else f"{column}s"


def names(task: TaskSpec, first: str) -> Iterator[str]:
    """Names of the additional rows, as far as they are known before the data is."""
    if task.baseline is not None:
        yield f"centred {first}"
    if task.grouping is not None and not task.grouping.weight_by_size:
        yield f"{first}, mean over {task.grouping.by}"


def centred(task: TaskSpec, row: SummaryRow) -> Iterator[SummaryRow]:
    """The headline counted from the baseline: 0 is the level of guessing, 100 is everything right."""
    if task.baseline is None:
        return
    base = task.baseline
    if not 0 <= base < 1:
        raise BadValue(f"{task.name}: the baseline is a share from 0 up to below 1, not {base:g}.")

    def from_base(value: Any) -> Any:
        return None if value is None else (value - 100 * base) / (1 - base)

    interval, bounds, certainty = row.interval, row.bounds, row.certainty
    yield replace(
        row,
        metric=f"centred {row.metric}",
        value=from_base(row.value),
        bounds=bounds and replace(bounds, low=from_base(bounds.low), high=from_base(bounds.high)),
        chance=from_base(row.chance),
        interval=interval and replace(interval, low=from_base(interval.low), high=from_base(interval.high)),
        stderr=None if row.stderr is None else row.stderr / (1 - base),
        certainty=certainty and replace(certainty, factor=100 / (1 - base), offset=from_base(0.0)),
    )


def areas(task: TaskSpec, parts: Iterable[str]) -> dict[str, set[str]]:
    """Area → the parts that belong to it."""
    area_of = task.grouping.areas if task.grouping else {}
    members: dict[str, set[str]] = {}
    for part in sorted({*parts}) if area_of else ():
        if part not in area_of:
            raise BadData(f"{task.name} is grouped by areas, but '{part}' is none of the {len(area_of)} known parts.")
        named = area_of[part]
        for area in (named,) if isinstance(named, str) else named:
            members.setdefault(area, set()).add(part)
    return members


def rows_of_parts(
    task: TaskSpec,
    total: SummaryRow,
    parts: Iterable[str],
    row_of: Callable[[Collection[str]], SummaryRow],
    *,
    drawn_from: Iterable[str] = (),
) -> Iterator[SummaryRow]:
    """One row for each area and part, and the plain mean of the parts unless they are weighted by size, because that is
    the figure of the whole dataset. `row_of`: that of these parts. `drawn_from`: where one of these is missing in a
    sample, nobody knows that mean."""
    if task.grouping is None:
        return
    own = {part: row_of({part}) for part in sorted({*parts})}
    of_areas = {area: row_of(members) for area, members in areas(task, own).items()}
    for name, row in (*of_areas.items(), *own.items()):
        yield replace(row, metric=f"{total.metric}[{name}]")
    if not task.grouping.weight_by_size:
        every = {*drawn_from} <= {*own}
        rows = [replace(row, value=row.value if every else None) for row in own.values()]
        name = f"{total.metric}, mean over {task.grouping.by}"
        mean = _mean_row(replace(total, metric=name), rows, [1] * len(own))
        yield replace(mean, certainty=_no_surer(mean.certainty, total.certainty))


def _no_surer(mean: Certainty | None, whole: Certainty | None) -> Certainty | None:
    """Parts may share clusters, such as a problem in several languages: then many parts say no more than one."""
    if mean is None or whole is None or whole.sharing is None:
        return mean
    worst, best = (
        replace(one, flips=min(one.flips, other.flips))
        for one, other in ((mean.worst, whole.worst), (mean.best, whole.best))
    )
    return replace(mean, worst=worst, best=best, sharing=whole.sharing)


def weighted(figures: Sequence[float | None], sizes: Sequence[int]) -> float | None:
    """Mean by size; None as soon as one of the figures is unknown, because a group's figure is of the whole group."""
    known = [figure for figure in figures if figure is not None]
    if len(known) < len(figures) or not sum(sizes):
        return None
    return sum(figure * size for figure, size in zip(known, sizes, strict=True)) / sum(sizes)


def _mean_row(like: SummaryRow, rows: Sequence[SummaryRow | None], weights: Sequence[int]) -> SummaryRow:
    """The mean of figures of problems that share nothing."""
    return replace(
        like,
        # What was read of a part has another size, and another error, than the whole.
        value=weighted([row.value if row and not row.estimated else None for row in rows], weights),
        interval=None,
        bounds=weighted_bounds(rows, weights),
        certainty=combined([row.certainty if row else None for row in rows], weights),
        chance=weighted([row.chance if row else None for row in rows], weights),
        stderr=unweighted_stderr([row.stderr if row else None for row in rows]),
    )


def weighted_bounds(rows: Sequence[SummaryRow | None], sizes: Sequence[int]) -> FigureBounds | None:
    """The limits of the mean by size; None if no row has any, or if the mean is unknown."""
    bounds = [row.bounds for row in rows if row and row.bounds]
    if not bounds or any(row is None or row.value is None for row in rows):
        return None
    lows, highs = (
        [getattr(row.bounds, end) if row.bounds else row.value for row in rows if row] for end in ("low", "high")
    )
    samples = sum(each.samples for each in bounds)
    return FigureBounds(low=weighted(lows, sizes), high=weighted(highs, sizes), samples=samples)


def pooled_stderr(errors: Sequence[float | None], sizes: Sequence[int]) -> float | None:
    """Standard error of a mean by size, from those of the parts: √(Σ (n−1)·se²·n / (N−parts) / N)."""
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
    group: TaskGroup, dataset_results: Mapping[str, DatasetResult], groups: Mapping[str, TaskGroup] | None = None
) -> tuple[SummaryRow, ...]:
    """The rows of a group of datasets, those of its subgroups included. If one dataset is missing or lacks the figure,
    the group's figure is unknown."""
    results = [dataset_results.get(name) for name in datasets(group, groups or {})]
    return tuple(row for mean in group.means for row in _group_rows(group.name, mean, results))


def all_rows(task_groups: Sequence[TaskGroup], dataset_results: Sequence[DatasetResult]) -> list[SummaryRow]:
    """The rows of all groups of a run."""
    results = {result.dataset: result for result in dataset_results}
    by_name = {group.name: group for group in task_groups}
    return [row for group in task_groups for row in rows(group, results, by_name)]


def metrics(task_groups: Sequence[TaskGroup], metrics_of: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Group → the names of its figures, from those of its datasets."""
    by_name = {group.name: group for group in task_groups}
    return {
        group.name: list(
            dict.fromkeys(
                metric
                for member in datasets(group, by_name)
                for metric in metrics_of.get(member, ())
                if any(_belongs_to(metric, mean) for mean in group.means)
            )
        )
        for group in task_groups
    }


def datasets(group: TaskGroup, groups: Mapping[str, TaskGroup]) -> tuple[str, ...]:
    """Names of all datasets of a group and its subgroups, each once."""
    members: dict[str, None] = {}
    pending, visited = [group], {group.name}
    while pending:
        for name in pending.pop().members:
            if name not in groups:
                members[name] = None
            elif name not in visited:
                visited.add(name)
                pending.append(groups[name])
    return tuple(members)


def of_all(task_groups: Sequence[TaskGroup], names: Collection[str]) -> str:
    """The group that stands for all of these datasets, which is what was named; empty: there is none."""
    by_name = {group.name: group for group in task_groups}
    inside = {name for group in task_groups for name in group.members}
    outer = [group for group in task_groups if group.name not in inside]
    return outer[0].name if len(outer) == 1 and {*names} <= {*datasets(outer[0], by_name)} else ""


def _group_rows(name: str, mean: GroupMean, results: Sequence[DatasetResult | None]) -> Iterator[SummaryRow]:
    known = [result for result in results if result]
    metrics = dict.fromkeys(row.metric for result in known for row in result.rows if _belongs_to(row.metric, mean))
    asked = [len(result.problem_results) if result else 0 for result in results]
    for metric in metrics:
        members = [_find(result, metric) for result in results]
        # A sample stands for all problems that it was drawn from.
        sizes = [row.of if row and row.of else own for row, own in zip(members, asked, strict=True)]
        of = sum(sizes) if any(row and row.of for row in members) else None
        version = hashlib.sha256("\n".join(result.version for result in known).encode()).hexdigest()[:6]
        like = replace(next(row for row in members if row), dataset=name, estimated=False, of=of, version=version)
        row = _mean_row(like, members, sizes if mean.weight_by_size else [1] * len(sizes))
        errors = [member.stderr if member else None for member in members]
        yield replace(row, stderr=pooled_stderr(errors, asked)) if mean.weight_by_size else row


def _belongs_to(metric: str, mean: GroupMean) -> bool:
    """Whether a figure such as `acc`, `acc (5 runs average)` or `acc,strict` is one that the group averages; those of
    parts are not."""
    if metric.endswith("]"):
        return False
    title = metric.partition(" (")[0]
    name, _, pipeline = title.partition(",")
    return name == mean.metric and (not mean.pipelines or (pipeline or "none") in mean.pipelines)


def _find(dataset_result: DatasetResult | None, metric: str) -> SummaryRow | None:
    """A dataset without a baseline counts from 0 in any case, so its plain row is its centred one."""
    rows = {row.metric: row for row in dataset_result.rows} if dataset_result else {}
    return rows.get(metric) or rows.get(metric.removeprefix("centred "))


# Figures of groups of rows that count only if all of them are right: the rotations of one question, for example.


def groups_of(uses: Iterable[MetricUse]) -> list[str]:
    """The columns that say which rows count only together."""
    return list(dict.fromkeys(use.args.get("group", "group") for use in uses if use.name == "whole_group"))


def named(columns: Iterable[str], values: Mapping[str, Any], *prefix: Hashable) -> list[tuple[Hashable, ...]]:
    """The names of the groups that a row with these values belongs to."""
    found = ((column, values.get(column)) for column in columns)
    return [(*prefix, column, group["name"]) for column, group in found if isinstance(group, dict)]


def connected(names: Sequence[Sequence[Hashable]]) -> list[list[int]]:
    """The places whose names connect them, in the order of the first place of each."""
    first: dict[Hashable, int] = {}
    root = list(range(len(names)))

    def root_of(place: int) -> int:
        while root[place] != place:
            root[place] = place = root[root[place]]
        return place

    for place, own in enumerate(names):
        for name in own:
            one, other = sorted((root_of(place), root_of(first.setdefault(name, place))))
            root[other] = one
    found: dict[int, list[int]] = {}
    for place in range(len(names)):
        found.setdefault(root_of(place), []).append(place)
    return list(found.values())


class GroupedValue(NamedTuple):
    """Whether one row is right, and the group that it belongs to."""

    right: float
    group: str
    rows: int
    """How many rows the group has."""


def share_of_whole_groups(values: Sequence[GroupedValue]) -> float | None:
    """The share of the groups whose rows are all right. A group of which some rows were not asked is left out."""
    return intervals.mean(list(_groups(values).values()))


def ends(values: Sequence[Any]) -> Ends:
    """The share if all lost rows are wrong, and if all of them are right."""
    low, high = (
        [value.counted._replace(right=right) if isinstance(value, LostValue) else value for value in values]
        for right in (0.0, 1.0)
    )
    return share_of_whole_groups(low), share_of_whole_groups(high)


def stderr(problems: Sequence[Sequence[Any]]) -> float | None:
    """Of the mean over the runs: a group is one observation, because its rows are not independent."""
    by_group: dict[str, list[float]] = defaultdict(list)
    for run in zip(*problems, strict=True):
        for name, right in _groups(run).items():
            by_group[name].append(right)
    return intervals.stderr([value for values in by_group.values() if (value := intervals.mean(values)) is not None])


def _groups(values: Iterable[tuple[float, str, int]]) -> dict[str, float]:
    """Complete group → 1 if all of its rows are right, else 0."""
    rights: dict[str, list[bool]] = defaultdict(list)
    sizes: dict[str, int] = {}
    for right, name, size in values:
        rights[name].append(right >= 1.0)
        sizes[name] = size
    return {name: float(all(found)) for name, found in rights.items() if len(found) == sizes[name]}


# What a model reaches that picks one of the options at random, every time anew.


def chance_of_right(problem: Problem, pipeline: Pipeline, samples: int) -> float | None:
    """The chance that one guess is right; None without options, and where samples vote before they are judged."""
    if samples > 1 and any(step.name == "majority_vote" for step in pipeline.filters):
        return None
    options = len(problem.choices)
    if options < 2:
        return None
    if problem.gold:
        return len({place for place in problem.gold if 0 <= place < options}) / options
    right = problem.references[0].strip().strip("().") if problem.references else ""
    is_letter = len(right) == 1 and right.upper() in ascii_uppercase[:options]
    return 1 / options if is_letter or problem.references[0] in problem.choices else None


@cache
def expected(name: str, chance: float, n: int, k: tuple[int, ...]) -> Reduced | None:
    """The expected values of a reduction of n guesses; None for one whose rule is not known.

    Every reduction depends on nothing but the number of right samples and on whether the first is right, so these
    cases are weighed by their probabilities.
    """
    if name == BEST_SHOWN or user_functions.is_path(name):
        return None
    reduce = reduction(name)
    totals: Reduced = {}
    for right in range(n + 1):
        samples = [1.0] * right + [0.0] * (n - right)
        probability = comb(n, right) * chance**right * (1 - chance) ** (n - right)
        for share, order in ((right / n, samples), ((n - right) / n, samples[::-1])):
            if share:
                for key, value in reduce(order, k).items():
                    totals[key] = totals.get(key, 0.0) + probability * share * value
    return totals
