"""Why a claimed figure differs from ours: only what is proven by counting the same samples again, in another way.

A way to count takes the samples of all problems and the figure that is meant, and returns a share from 0 to 1, or None
where it does not exist for that figure or leaves nothing to count.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import floor
from statistics import fmean
from typing import Literal, NamedTuple

from model_accuracy_eval.records import ProblemResult, VerdictReason
from model_accuracy_eval.scoring.figures.reductions import cons_at_k, pass_at_k

_FULL_PRECISION = 1e-5
"""Tools add up floats of 32 bits in another order."""
_TWO_DIGITS = 0.005
_ROUNDING_ERROR = 1e-9
_SHOWN = 3
"""How many of several ways are spelt out."""
READ = "accuracy of the answers read"
"""The claim of a tool that guesses where it reads no answer, without these guesses."""
_DIGITS_OF_SHARE = 2
"""A share of 1 that is printed with fewer digits would be many percentages."""


@dataclass(frozen=True, slots=True)
class Claim:
    """A figure as it is printed: shares from 0 to 100, or from 0 to 1."""

    value: float
    digits: int
    """How many are printed behind the point, at most; a table prints the same number for all of its figures."""

    def agrees_with(self, figure: float) -> bool:
        """To two digits, or to more if more are printed."""
        return abs(figure - self.value) <= min(_TWO_DIGITS, self._half_unit) + _ROUNDING_ERROR

    def is_rounded(self, figure: float) -> bool:
        """Whether the figure, rounded to the printed digits, is the claim."""
        return abs(figure - self.value) <= self._half_unit + _ROUNDING_ERROR

    def is_cut_off(self, figure: float) -> bool:
        """Whether the figure without its further digits is the claim."""
        unit = 10.0**self.digits
        return abs(floor(figure * unit + _ROUNDING_ERROR) / unit - self.value) <= _ROUNDING_ERROR

    def may_be(self, figure: float) -> bool:
        """Whether the percentage, or the same as a share of 1, is the claim; the latter if that is not too coarse."""
        share = self.is_rounded(figure / 100) and (self.digits >= _DIGITS_OF_SHARE or self.agrees_with(figure / 100))
        return share or self.is_rounded(figure)

    @property
    def _half_unit(self) -> float:
        return max(0.5 * 10.0**-self.digits, _FULL_PRECISION)

    def __str__(self) -> str:
        return f"{self.value:.{min(self.digits, 4)}f}"


def claims(figures: Mapping[str, float]) -> dict[str, Claim]:
    digits = max((_digits(value) for value in figures.values()), default=0)
    return {name: Claim(value, digits) for name, value in figures.items()}


def _digits(value: float) -> int:
    """In the shortest decimal number that stands for the float: 59.74 has two."""
    mantissa, _, exponent = repr(float(value)).partition("e")
    digits = len(mantissa.partition(".")[2].removesuffix("0")) if not mantissa.endswith(".0") else 0
    return max(0, digits - int(exponent or 0))


@dataclass(frozen=True, slots=True)
class Explanation:
    """Which causes give the claim, and a sentence; no causes: the claim agrees, or it is not explained."""

    causes: tuple[str, ...] = ()
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a claim about one figure is held against."""

    problems: "JudgedProblems"
    ours: float | None
    """Our figure of the same name."""
    figure: "Measure | None"
    """How it is counted from the samples; None for figures that are not."""
    others: Mapping[str, float]
    """Our figures of other names."""
    verdicts: "Verdicts | None" = None
    """What the file says of single samples."""
    share: bool = True
    """Whether it is a percentage."""


def explain(claim: Claim, evidence: Evidence) -> Explanation:
    """Where the file has other values of its samples, no figure of ours gives its claim but together with these."""
    ours, verdicts = evidence.ours, evidence.verdicts
    if ours is not None and claim.agrees_with(ours):
        return Explanation()
    is_contradicted = evidence.figure and verdicts and verdicts.differing
    if ours is not None and not is_contradicted and (writing := _writing(claim, ours, evidence)):
        return writing
    matches = dict(_matches(claim, evidence))
    versus = "" if ours is None else f"; here it is {ours:.2f}"
    if not matches:
        return Explanation(sentence=f"{claim} is not explained: no way to count that is known here gives it{versus}.")
    ways = list(matches.values())
    if len(ways) == 1:
        return Explanation(tuple(matches), f"{claim} is what comes out when {ways[0]}{versus}.")
    shown = "; when ".join(ways[:_SHOWN]) + ("; …" if len(ways) > _SHOWN else "")
    return Explanation(
        tuple(matches), f"{claim} comes out in {len(ways)} ways, so none of them is proven: when {shown}{versus}."
    )


def _writing(claim: Claim, ours: float, evidence: Evidence) -> Explanation | None:
    """Our figure in another writing. A rounded one that is a whole number of right samples may also be just that."""
    if claim.is_rounded(ours):
        written = Explanation(("rounding",), f"{claim} is {ours:.4f} rounded.")
    elif evidence.share and claim.may_be(ours):
        written = Explanation(("fraction",), f"{claim} is {ours:.2f} % as a share of 1.")
        claim = Claim(100 * claim.value, max(0, claim.digits - 2))
    else:
        return None
    count = sum(len(problem.values) for problem in evidence.problems)
    right = claim.value * count / 100
    is_whole = evidence.figure == Measure("mean") and abs(right - round(right)) <= _ROUNDING_ERROR * count
    if not is_whole or abs(ours - claim.value) <= _FULL_PRECISION:
        return written
    return Explanation(
        sentence=f"{claim} is not explained: it is {round(right):,} of {count:,}, or {ours:.4f} rounded, and nothing "
        "in the file says which."
    )


def _matches(claim: Claim, evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Every cause that gives the claim, and what is said of it."""
    n = samples_of_each(evidence.problems)
    figure, verdicts = evidence.figure, evidence.verdicts
    for base, given in _bases(evidence):
        if figure is None:
            break
        plain = as_defined(base, figure)
        if given and _gives(claim, plain, evidence):
            yield " and ".join(given), " and ".join(given.values())
        ways = [(cause.name, cause.recount(base, figure), cause.when.format(n=n)) for cause in CAUSES]
        in_file = sum(why != "missing" for problem in base for why in problem.why)
        if verdicts and "guesses" not in given and verdicts.samples < in_file:
            only = as_defined(verdicts.valued, figure)
            ways.append(("values of samples", only, "only samples that have a value in the file are counted"))
        for cause, share, when in ways:
            if share != plain and _gives(claim, share, evidence):
                yield " and ".join((*given, cause)), " and ".join((*given.values(), when))
    if evidence.ours is not None and not (verdicts and verdicts.differing) and claim.is_cut_off(evidence.ours):
        yield "cut off", f"{evidence.ours:.4f} is cut off, not rounded"
    # A figure that no samples are counted for, such as one of other tests, equals pass@n by chance.
    unlikely = () if figure else (f"pass@{n}", f"cons@{n}")
    others = {name: value for name, value in evidence.others.items() if name not in unlikely}
    if names := [name for name, value in others.items() if _gives(claim, value / 100, evidence)]:
        yield "other figure", f"another of our figures is meant ({', '.join(names)})"


def _bases(evidence: Evidence) -> Iterator[tuple["JudgedProblems", dict[str, str]]]:
    """The values of the samples that figures are counted from, and in what they are not ours: cause → what is said of
    it. Values of ours that the file denies are none."""
    verdicts, said = evidence.verdicts, dict[str, str]()
    if verdicts and verdicts.differing:
        said["verdicts"] = str(verdicts)
    if evidence.problems:
        yield (verdicts.all if verdicts and said else evidence.problems), said
    if verdicts and verdicts.guesses:
        yield (
            verdicts.guessed,
            {**said, "guesses": f"{verdicts.guesses:,} replies without an answer count as guesses"},
        )


def _gives(claim: Claim, share: float | None, evidence: Evidence) -> bool:
    """Whether this is the claim, and not our own figure anyway."""
    if share is None:
        return False
    value = 100 * share
    same = evidence.ours is not None and abs(value - evidence.ours) <= _ROUNDING_ERROR
    return not same and (claim.may_be(value) if evidence.share else claim.is_rounded(value))


# The judged samples, as a run counts them.


class JudgedProblem(NamedTuple):
    """The judged samples of one problem."""

    values: tuple[float, ...]
    why: tuple[VerdictReason, ...]
    part: str | None = None

    @property
    def right(self) -> int:
        return sum(value >= 1.0 for value in self.values)

    def only(self, places: Sequence[int]) -> "JudgedProblem":
        return JudgedProblem(
            tuple(self.values[place] for place in places), tuple(self.why[place] for place in places), self.part
        )


JudgedProblems = Sequence[JudgedProblem]


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


def samples(results: Iterable[ProblemResult]) -> list[JudgedProblem]:
    return [JudgedProblem(result.values, result.why, result.category) for result in results]


def samples_of_each(problems: JudgedProblems) -> int:
    return max((len(problem.values) for problem in problems), default=0)


def as_defined(problems: JudgedProblems, figure: Measure) -> float | None:
    """The mean over the problems, as a run counts it; None where a problem has fewer than k samples."""
    if not problems or any(len(problem.values) < figure.k for problem in problems):
        return None
    return fmean(map(figure.of, problems))


SampleValues = Mapping[tuple[int, int], float]
"""What a file says of single samples: id of the problem and number of the sample → value."""


class Verdicts(NamedTuple):
    """The samples with the values that a file has for them."""

    all: JudgedProblems
    """Where the file has none, with ours."""
    valued: JudgedProblems
    """Those alone that have a value in the file."""
    guessed: JudgedProblems
    """All, where the file guesses with what the guess is worth."""
    guesses: int
    raised: int
    """How many have a higher value in the file than here."""
    lowered: int

    @property
    def differing(self) -> int:
        return self.raised + self.lowered

    @property
    def samples(self) -> int:
        return sum(len(problem.values) for problem in self.valued)

    def __str__(self) -> str:
        ways = f"{self.raised:,} higher there, {self.lowered:,} lower"
        return f"the verdicts on {self.differing:,} of {self.samples:,} samples differ ({ways})"


def with_values(results: Sequence[ProblemResult], values: SampleValues, guesses: SampleValues) -> Verdicts | None:
    """None if the file says nothing of single samples."""
    if not values:
        return None
    merged, valued, guessed, raised, lowered = [], [], [], 0, 0
    for result, own in zip(results, samples(results), strict=True):
        told = {place: values.get((result.problem, place), ours) for place, ours in enumerate(own.values)}
        merged.append(own._replace(values=tuple(told.values())))
        raised += sum(told[place] > ours + _ROUNDING_ERROR for place, ours in enumerate(own.values))
        lowered += sum(told[place] < ours - _ROUNDING_ERROR for place, ours in enumerate(own.values))
        if places := [place for place in told if (result.problem, place) in values]:
            valued.append(merged[-1].only(places))
        with_guesses = (guesses or {}).get
        guessed.append(
            own._replace(values=tuple(with_guesses((result.problem, at), value) for at, value in told.items()))
        )
    return Verdicts(merged, valued, guessed, len(guesses or {}), raised, lowered)


# Other ways to count them.


def mispaired(problems: JudgedProblems, figure: Measure) -> float | None:
    """Samples listed run by run, but cut into groups of n as if they were listed problem by problem."""
    n = samples_of_each(problems)
    if figure.kind == "mean" or not _are_runs(problems) or figure.k > n:
        return None
    listed = [problem.values[run] >= 1.0 for run in range(n) for problem in problems]
    groups = [sum(listed[start : start + n]) for start in range(0, len(listed), n)]
    estimator = pass_at_k if figure.kind == "pass" else cons_at_k
    return fmean(estimator(n, correct, figure.k) for correct in groups)


def last_run(problems: JudgedProblems, figure: Measure) -> float | None:
    """The mean of all last samples."""
    return fmean(problem.values[-1] for problem in problems) if _are_runs(problems) else None


def _are_runs(problems: JudgedProblems) -> bool:
    """Whether every problem has as many samples, and more than one."""
    n = samples_of_each(problems)
    return n > 1 and all(len(problem.values) == n for problem in problems)


Recount = Callable[[JudgedProblems, Measure], float | None]


def without(*reasons: VerdictReason) -> Recount:
    """As if the samples with these verdicts had never been; there must be some."""

    def recount(problems: JudgedProblems, figure: Measure) -> float | None:
        kept = [[place for place, why in enumerate(problem.why) if why not in reasons] for problem in problems]
        if all(len(places) == len(problem.why) for problem, places in zip(problems, kept, strict=True)):
            return None
        left = [problem.only(places) for problem, places in zip(problems, kept, strict=True) if places]
        return as_defined(left, figure)

    return recount


def mean_of_parts(problems: JudgedProblems, figure: Measure) -> float | None:
    """The plain mean of the parts' figures, however many problems a part has."""
    parts: dict[str | None, list[JudgedProblem]] = {}
    for problem in problems:
        parts.setdefault(problem.part, []).append(problem)
    figures = [as_defined(members, figure) for members in parts.values()]
    known = [value for value in figures if value is not None]
    return fmean(known) if len(parts) > 1 and len(known) == len(parts) else None


@dataclass(frozen=True, slots=True)
class Cause:
    """One other way to count."""

    name: str
    recount: Recount
    when: str
    """Completes "62.50 is what comes out when …"; `{n}` samples of every problem."""


CAUSES = (
    Cause(
        "mispaired",
        mispaired,
        "the {n} samples that are counted together belong to {n} different problems, as AISBench 3.1 pairs them",
    ),
    Cause(
        "last run",
        last_run,
        "only the last sample of every problem is counted, as AISBench 3.1 does where its evaluator gives no values "
        "of samples",
    ),
    Cause("without missing", without("missing"), "samples that are not in the file are left out"),
    Cause("without failed", without("failed", "rejected"), "failed requests are left out"),
    Cause("without unread", without("empty", "not found"), "replies without an answer are left out"),
    Cause("mean of parts", mean_of_parts, "the parts of the dataset count alike, however many problems they have"),
)
