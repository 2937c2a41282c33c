"""Which problems of a dataset the figures of a file are of: all, the first ones, whole parts, or those it holds."""

from collections import Counter
from collections.abc import Collection, Sequence
from itertools import islice

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Problem, Record, TaskSpec


class Coverage(Record, frozen=True, kw_only=True):
    """The problems to judge. `limit`: if they are what a run with that limit asks."""

    problems: Sequence[Problem]
    limit: int | None = None
    notes: tuple[str, ...] = ()


def coverage(
    name: str,
    task: TaskSpec,
    problems: Sequence[Problem],
    held: Collection[int],
    *,
    limit: int | None,
    subset: bool,
    unplaced: int = 0,
) -> Coverage:
    """The problems that the figures are of.

    `held`: ids of the problems that the file holds; `unplaced`: how many more it holds of which nobody knows which ones
    they are: the first ones that its parts lack, most likely. With a `limit` the first ones count, whether the file
    holds them or not; with `subset` those that it holds. Otherwise it is the whole dataset, unless the file holds its
    first problems and no others, or whole parts of it (subjects, languages) and nothing of others: then these were
    asked.
    """
    if subset and limit is None:
        chosen = tuple(problem for problem in problems if problem.id in held)
        return Coverage(problems=chosen, notes=_of_these(len(chosen), len(problems), "holds"))
    own = {problem.category for problem in problems if problem.id in held}
    lacking = (problem.id for problem in problems if problem.id not in held and problem.category in own)
    held = {*held, *islice(lacking, unplaced)}
    if limit is not None:
        return _limited(name, task, problems, held, limit)
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
        return Coverage(problems=chosen, limit=len(chosen) if prefix else None, notes=(*notes, *shown))
    return Coverage(problems=chosen, notes=(*notes, *_lacking(chosen, held)))


def _limited(name: str, task: TaskSpec, problems: Sequence[Problem], held: Collection[int], limit: int) -> Coverage:
    chosen = tuple(problems[:limit])
    others = len(held) - sum(problem.id in held for problem in chosen)
    if others == len(held):
        raise BadData(f"{name} holds none of the first {limit:,} problems of {task.name}.")
    left_out = f"{others:,} problems of the file come after the first {limit:,} and are left out (--limit)."
    return Coverage(problems=chosen, limit=limit, notes=((left_out,) if others else ()) + _lacking(chosen, held))


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
