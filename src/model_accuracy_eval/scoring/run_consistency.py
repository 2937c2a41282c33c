"""One dataset in several runs: which problems all runs solve, which some of them, and which none."""

from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

import msgspec

from model_accuracy_eval.records import SamplingSetting
from model_accuracy_eval.scoring.comparison_statistics import DatasetOutcome


class SolvedProblems(NamedTuple):
    """One run of a dataset: the problems that were judged, and those that it solved."""

    dataset: str
    version: str
    problems: frozenset[int]
    solved: frozenset[int]
    sampling: SamplingSetting = "server"


class RunConsistency(msgspec.Struct, frozen=True, kw_only=True):
    """The runs of one dataset version with one setting of `sampling`, on the problems that all of them have."""

    dataset: str
    version: str
    sampling: SamplingSetting
    runs: int
    problems: int
    every: int
    """How many problems every run solved."""
    sometimes: tuple[int, ...]
    never: tuple[int, ...]
    oracle: float | None
    """Share of the problems that at least one run solved, 0..100: the figure of the best run for each problem."""


def solved_problems(outcome: DatasetOutcome) -> SolvedProblems | None:
    """A problem is solved if more than half of its samples are right. None if values are not only right or wrong.

    Problems with samples that have no verdict are left out.
    """
    if any(problem.c is None for problem in outcome.problems):
        return None
    certain = [problem for problem in outcome.problems if not problem.bounds]
    solved = frozenset(problem.id for problem in certain if 2 * (problem.c or 0) > problem.n)
    problems = frozenset(problem.id for problem in certain)
    return SolvedProblems(outcome.dataset, outcome.version, problems, solved)


def consistency(runs: Iterable[SolvedProblems]) -> list[RunConsistency]:
    """One for each dataset, version and sampling, in the order of their first runs."""
    groups: dict[tuple[str, ...], list[SolvedProblems]] = {}
    for run in runs:
        groups.setdefault((run.dataset, run.version, run.sampling), []).append(run)
    return [_consistency(group) for group in groups.values()]


def _consistency(runs: Sequence[SolvedProblems]) -> RunConsistency:
    common = sorted(frozenset.intersection(*(run.problems for run in runs)))
    times = Counter(problem for run in runs for problem in run.solved)
    never = tuple(problem for problem in common if not times[problem])
    return RunConsistency(
        dataset=runs[0].dataset,
        version=runs[0].version,
        sampling=runs[0].sampling,
        runs=len(runs),
        problems=len(common),
        every=sum(times[problem] == len(runs) for problem in common),
        sometimes=tuple(problem for problem in common if 0 < times[problem] < len(runs)),
        never=never,
        oracle=100 * (1 - len(never) / len(common)) if common else None,
    )
