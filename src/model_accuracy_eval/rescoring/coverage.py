"""Which problems of a dataset the figures of a file are of: all, the first ones, whole parts, or those it holds."""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import islice

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import PreparedDataset, Problem, Record, TaskSpec


class Coverage(Record, frozen=True, kw_only=True):
    """The problems to judge. `first`: if they are what a run with `--first` asks."""

    problems: Sequence[Problem]
    first: int | None = None
    notes: tuple[str, ...] = ()


def coverage(
    name: str,
    task: TaskSpec,
    problems: Sequence[Problem],
    held: Collection[int],
    *,
    wanted: PreparedDataset | None,
    subset: bool,
    unplaced: int = 0,
) -> Coverage:
    """The problems that the figures are of.

    `held`: ids of the problems that the file holds; `unplaced`: how many more it holds of which nobody knows which ones
    they are: the first ones that its parts lack, most likely. Those that are `wanted` count, whether the file holds
    them or not; with `subset` those that it holds. Otherwise it is the whole dataset, unless the file holds its first
    problems and no others, or whole parts of it (subjects, languages) and nothing of others: then these were asked.
    """
    if subset and wanted is None:
        chosen = tuple(problem for problem in problems if problem.id in held)
        return Coverage(problems=chosen, notes=_of_these(len(chosen), len(problems), "holds"))
    own = {problem.category for problem in problems if problem.id in held}
    lacking = (problem.id for problem in problems if problem.id not in held and problem.category in own)
    held = {*held, *islice(lacking, unplaced)}
    if wanted is not None:
        return _wanted(name, task, wanted, held)
    parts = {problem.category for problem in problems if problem.id in held}
    of_parts = [problem for problem in problems if problem.category in parts]
    names = dict.fromkeys(problem.category for problem in problems)
    notes = (
        _parts(len(parts), len(names), sorted(filter(None, parts)), len(of_parts)) if len(parts) < len(names) else ()
    )
    chosen = _first(of_parts, held) or tuple(of_parts)
    whole = len(of_parts) == len(problems)
    if len(chosen) < len(of_parts):
        shown = _of_these(len(chosen), len(of_parts), "holds the first")
        prefix = whole and chosen == tuple(problems[: len(chosen)])
        return Coverage(problems=chosen, first=len(chosen) if prefix else None, notes=(*notes, *shown))
    return Coverage(problems=chosen, notes=(*notes, *_lacking(chosen, held)))


def _wanted(name: str, task: TaskSpec, wanted: PreparedDataset, held: Collection[int]) -> Coverage:
    chosen = wanted.problems
    others = len(held) - sum(problem.id in held for problem in chosen)
    if others == len(held):
        raise BadData(f"{name} holds none of the {len(chosen):,} problems of {task.name} ({wanted.draw}).")
    left_out = f"{others:,} problems of the file are left out: they are not among {wanted.draw}."
    return Coverage(problems=chosen, notes=((left_out,) if others else ()) + _lacking(chosen, held))


def _first(problems: Sequence[Problem], held: Collection[int]) -> tuple[Problem, ...]:
    """The problems that the file holds if these are the first ones, or equally many first ones of every part."""
    chosen = tuple(problem for problem in problems if problem.id in held)
    if chosen == tuple(problems[: len(chosen)]):
        return chosen
    sizes, held_sizes = (Counter(problem.category for problem in some) for some in (problems, chosen))
    most = max(held_sizes.values())
    taken: Counter[str | None] = Counter()
    for problem in problems:
        taken[problem.category] += 1
        if (problem.id in held) != (taken[problem.category] <= most):
            return ()
    return chosen if len(sizes) > 1 else ()


def _of_these(chosen: int, size: int, holds: str) -> tuple[str, ...]:
    return (f"The file {holds} {chosen:,} of {size:,} problems: the figures are of these {chosen:,}.",)


def _parts(parts: int, size: int, names: Sequence[str], problems: int) -> tuple[str, ...]:
    shown = ", ".join(names[:5]) + (" and others" if len(names) > 5 else "")
    return (f"The file holds {parts:,} of {size:,} parts ({shown}): the figures are of their {problems:,} problems.",)


def _lacking(problems: Sequence[Problem], held: Collection[int]) -> tuple[str, ...]:
    lacking = sum(problem.id not in held for problem in problems)
    if not lacking:
        return ()
    sentence = (
        f"{lacking:,} of {len(problems):,} problems are not in the file, and their samples count as not correct; "
        "--subset judges those alone that it holds."
    )
    return (sentence,)
