"""A dataset's judged samples, counted again in the ways in which other tools count them.

Every function takes the samples of all problems and the figure that is meant, and returns a share from 0 to 1, or None
where this way of counting does not exist for that figure or leaves nothing to count.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Literal, NamedTuple

from model_accuracy_eval.records import ProblemResult, VerdictReason
from model_accuracy_eval.scoring.figures.reductions import cons_at_k, pass_at_k


class JudgedProblem(NamedTuple):
    """The judged samples of one problem."""

    values: tuple[float, ...]
    answers: tuple[str | None, ...]
    why: tuple[VerdictReason, ...]
    part: str | None = None

    @property
    def right(self) -> int:
        return sum(value >= 1.0 for value in self.values)

    def only(self, places: Sequence[int]) -> "JudgedProblem":
        return JudgedProblem(
            tuple(self.values[place] for place in places),
            tuple(self.answers[place] for place in places),
            tuple(self.why[place] for place in places),
            self.part,
        )


JudgedProblems = Sequence[JudgedProblem]
SampleValues = Mapping[tuple[int, int], float]
"""What a file says of single samples: id of the problem and number of the sample → value."""
_SAME = 1e-9


class Verdicts(NamedTuple):
    """The samples with the values that a file has for them."""

    all: JudgedProblems
    """Where the file has none, with ours."""
    valued: JudgedProblems
    """Those alone that have a value in the file."""
    raised: int
    """How many have a higher value in the file than here."""
    lowered: int


def with_values(results: Sequence[ProblemResult], values: SampleValues) -> Verdicts | None:
    """None if the file says nothing of single samples."""
    if not values:
        return None
    merged, valued, raised, lowered = [], [], 0, 0
    for result, own in zip(results, samples(results), strict=True):
        told = [values.get((result.problem, index)) for index in range(len(own.values))]
        pairs = list(zip(told, own.values, strict=True))
        both = JudgedProblem(
            tuple(ours if value is None else value for value, ours in pairs), own.answers, own.why, own.part
        )
        merged.append(both)
        raised += sum(value is not None and value > ours + _SAME for value, ours in pairs)
        lowered += sum(value is not None and value < ours - _SAME for value, ours in pairs)
        places = [place for place, value in enumerate(told) if value is not None]
        if places:
            valued.append(both.only(places))
    return Verdicts(merged, valued, raised, lowered)


@dataclass(frozen=True, slots=True)
class Measure:
    """Which figure is counted: the mean over the samples, or pass@k or cons@k."""

    kind: Literal["mean", "pass", "cons"]
    k: int = 1

    def of(self, problem: JudgedProblem) -> float:
        if self.kind == "mean":
            return fmean(problem.values)
        n, c = len(problem.values), problem.right
        return pass_at_k(n, c, self.k) if self.kind == "pass" else cons_at_k(n, c, self.k)


Recount = Callable[[JudgedProblems, Measure], float | None]


def samples(results: Iterable[ProblemResult]) -> list[JudgedProblem]:
    return [JudgedProblem(result.values, result.answers, result.why, result.category) for result in results]


def samples_of_each(problems: JudgedProblems) -> int:
    return max((len(problem.values) for problem in problems), default=0)


def as_defined(problems: JudgedProblems, figure: Measure) -> float | None:
    """The mean over the problems, as a run counts it; None where a problem has fewer than k samples."""
    if not problems or any(len(problem.values) < figure.k for problem in problems):
        return None
    return fmean(map(figure.of, problems))


def without(*groups: Sequence[VerdictReason]) -> Recount:
    """Problem by problem, as if the samples with these verdicts had never been; there must be some of each group."""

    def recount(problems: JudgedProblems, figure: Measure) -> float | None:
        return as_defined(_without(problems, groups), figure)

    return recount


def _without(problems: JudgedProblems, groups: Sequence[Sequence[VerdictReason]]) -> list[JudgedProblem]:
    """Nothing if one of the groups does not occur."""
    verdicts = {why for problem in problems for why in problem.why}
    if any(verdicts.isdisjoint(group) for group in groups):
        return []
    dropped = {reason for group in groups for reason in group}
    chosen = [[place for place, why in enumerate(problem.why) if why not in dropped] for problem in problems]
    return [problem.only(places) for problem, places in zip(problems, chosen, strict=True) if places]


def runs(problems: JudgedProblems) -> list[float]:
    """The mean of every run: of all first samples, of all second ones, and so on."""
    n = samples_of_each(problems)
    if n < 2 or any(len(problem.values) != n for problem in problems):
        return []
    return [fmean(problem.values[run] for problem in problems) for run in range(n)]


def one_run(choose: Callable[[list[float]], float]) -> Recount:
    def recount(problems: JudgedProblems, figure: Measure) -> float | None:
        means = runs(problems)
        return choose(means) if means else None

    return recount


def mispaired(problems: JudgedProblems, figure: Measure) -> float | None:
    """Samples listed run by run, but cut into groups of n as if they were listed problem by problem."""
    n = samples_of_each(problems)
    if figure.kind == "mean" or not runs(problems) or figure.k > n:
        return None
    listed = [problem.values[run] >= 1.0 for run in range(n) for problem in problems]
    groups = [sum(listed[start : start + n]) for start in range(0, len(listed), n)]
    estimator = pass_at_k if figure.kind == "pass" else cons_at_k
    return fmean(estimator(n, correct, figure.k) for correct in groups)


def with_replacement(problems: JudgedProblems, figure: Measure) -> float | None:
    """1 − (1 − p)^k of every problem's share of correct samples p, which is too low for few samples."""
    if figure.kind != "pass" or not problems:
        return None
    return fmean(1 - (1 - problem.right / len(problem.values)) ** figure.k for problem in problems)


def all_samples(kind: Literal["pass", "cons"]) -> Recount:
    """pass@n or cons@n over all n samples, whatever figure is meant."""

    def recount(problems: JudgedProblems, figure: Measure) -> float | None:
        n = samples_of_each(problems)
        return as_defined(problems, Measure(kind, n)) if n > 1 else None

    return recount


def half_is_a_majority(problems: JudgedProblems, figure: Measure) -> float | None:
    """Half of the samples are enough."""
    if figure.kind != "cons" or figure.k != samples_of_each(problems) or not problems:
        return None
    return fmean(2 * problem.right >= len(problem.values) for problem in problems)


def most_frequent_answer(problems: JudgedProblems, figure: Measure) -> float | None:
    """A vote among the answers that were read, the first of equally frequent ones: other answers may be scattered."""
    if samples_of_each(problems) < 2:
        return None
    return fmean(map(_vote, problems))


def _vote(problem: JudgedProblem) -> float:
    values = {
        answer: value for answer, value in zip(problem.answers, problem.values, strict=True) if answer is not None
    }
    votes = Counter(answer for answer in problem.answers if answer is not None)
    return values[votes.most_common(1)[0][0]] if votes else 0.0


def mean_of_parts(problems: JudgedProblems, figure: Measure) -> float | None:
    """The plain mean of the parts' figures, however many problems a part has."""
    parts: dict[str | None, list[JudgedProblem]] = {}
    for problem in problems:
        parts.setdefault(problem.part, []).append(problem)
    figures = [as_defined(members, figure) for members in parts.values()]
    known = [value for value in figures if value is not None]
    return fmean(known) if len(parts) > 1 and len(known) == len(parts) else None
