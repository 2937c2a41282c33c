"""Why a claimed figure differs from ours: only what is proven by counting the same samples again."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from math import floor

from model_accuracy_eval.records import VerdictReason
from model_accuracy_eval.rescoring import recounts
from model_accuracy_eval.rescoring.recounts import JudgedProblems, Measure, Recount, Verdicts

_FULL_PRECISION = 1e-5
"""Tools add up floats of 32 bits in another order."""
_TWO_DIGITS = 0.005
_ROUNDING_ERROR = 1e-9
_SHOWN = 3
"""How many of several ways are spelt out."""
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


_MISSING: tuple[VerdictReason, ...] = ("missing",)
_FAILED: tuple[VerdictReason, ...] = ("failed", "rejected")
_UNREAD: tuple[VerdictReason, ...] = ("empty", "not found")


@dataclass(frozen=True, slots=True)
class Cause:
    """One other way to count."""

    name: str
    recount: Recount
    when: str
    """Completes "62.50 is what comes out when …"; `{n}` samples of every problem, `{k}` of the figure."""


CAUSES = (
    Cause("mispaired", recounts.mispaired,
          "the {n} samples that are counted together belong to {n} different problems, as AISBench 3.1 pairs them"),
    Cause("first run", recounts.one_run(lambda means: means[0]), "only the first sample of every problem is counted"),
    Cause("last run", recounts.one_run(lambda means: means[-1]),
          "only the last sample of every problem is counted, as AISBench 3.1 does where its evaluator gives no values "
          "of samples"),
    Cause("best run", recounts.one_run(max), "only the best of the {n} runs is counted"),
    Cause("with replacement", recounts.with_replacement,
          "pass@{k} is computed as 1 − (1 − p)^{k} of each problem's share of correct samples"),
    Cause("pass@n", recounts.all_samples("pass"), "one correct sample of {n} is enough (pass@{n})"),
    Cause("cons@n", recounts.all_samples("cons"), "more than half of the {n} samples must be correct (cons@{n})"),
    Cause("half", recounts.half_is_a_majority, "half of the {n} samples are a majority"),
    Cause("vote", recounts.most_frequent_answer, "the most frequent answer of every problem is judged"),
    Cause("without missing", recounts.without(_MISSING), "samples that are not in the file are left out"),
    Cause("without failed", recounts.without(_FAILED), "failed requests are left out"),
    Cause("without lost", recounts.without(_MISSING, _FAILED),
          "failed requests and samples that are not in the file are left out"),
    Cause("without unread", recounts.without(_UNREAD), "replies without an answer are left out"),
    Cause("without unjudged", recounts.without(("unjudged",)), "answers that could not be judged are left out"),
    Cause("mean of parts", recounts.mean_of_parts,
          "the parts of the dataset count alike, however many problems they have"),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Explanation:
    """Which causes give the claim, and a sentence; no causes: the claim agrees, or it is not explained."""

    causes: tuple[str, ...] = ()
    sentence: str = ""


@dataclass(frozen=True, slots=True)
class Evidence:
    """What a claim about one figure is held against."""

    problems: JudgedProblems
    ours: float | None
    """Our figure of the same name."""
    figure: Measure | None
    """How it is counted from the samples; None for figures that are not."""
    others: Mapping[str, float]
    """Our figures of other names."""
    verdicts: Verdicts | None = None
    """What the file says of single samples."""
    with_thoughts: float | None = None
    """Our figure if thoughts are judged as part of the replies; None where there are none."""
    readings: Mapping[str, str] = field(default_factory=dict)
    """Figures of other readings of the same replies → the names of these readings."""
    share: bool = True
    """Whether it is a percentage."""


def explain(claim: Claim, evidence: Evidence) -> Explanation:
    ours = evidence.ours
    if ours is not None:
        if claim.agrees_with(ours):
            return Explanation()
        if same := _writing(claim, ours, share=evidence.share):
            return same
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


def _writing(claim: Claim, ours: float, *, share: bool) -> Explanation | None:
    """Our own figure, written in another way."""
    if claim.is_rounded(ours):
        return Explanation(("rounding",), f"{claim} is {ours:.4f} rounded.")
    if share and claim.may_be(ours):
        return Explanation(("fraction",), f"{claim} is {ours:.2f} % as a share of 1.")
    return None


def _matches(claim: Claim, evidence: Evidence) -> Iterator[tuple[str, str]]:
    """Every cause that gives the claim, and what is said of it."""
    n = recounts.samples_of_each(evidence.problems)
    figure = evidence.figure
    if evidence.ours is not None and claim.is_cut_off(evidence.ours):
        yield "cut off", f"{evidence.ours:.4f} is cut off, not rounded"
    if figure and evidence.problems:
        for cause in CAUSES:
            share = cause.recount(evidence.problems, figure)
            if share is not None and _gives(claim, 100 * share, evidence):
                yield cause.name, cause.when.format(n=n, k=figure.k)
        yield from _matches_of_verdicts(claim, evidence, figure)
    names = [
        name
        for name, value in evidence.others.items()
        if _gives(claim, value, evidence) and name not in {f"pass@{n}", f"cons@{n}"}
    ]
    readings = [evidence.readings[name] for name in names if name in evidence.readings]
    if readings and len(readings) == len(names):
        yield "reading", f"the same replies are read as the reading '{readings[0]}' does"
    elif names:
        yield "other figure", f"another of our figures is meant ({', '.join(names)})"
    if evidence.with_thoughts is not None and _gives(claim, evidence.with_thoughts, evidence):
        yield "thoughts", "the thoughts before an answer are judged as part of the reply"


def _matches_of_verdicts(claim: Claim, evidence: Evidence, figure: Measure) -> Iterator[tuple[str, str]]:
    """What the file says of single samples, counted as we count."""
    verdicts = evidence.verdicts
    if verdicts is None:
        return
    share = recounts.as_defined(verdicts.all, figure)
    if share is not None and _gives(claim, 100 * share, evidence):
        yield "verdicts", f"{_differing(verdicts)}, and everything else is counted as here"
        return
    share = recounts.as_defined(verdicts.valued, figure)
    if share is not None and _gives(claim, 100 * share, evidence):
        yield "values of samples", f"only samples that have a value in the file are counted ({_differing(verdicts)})"


def _differing(verdicts: Verdicts) -> str:
    differing = verdicts.raised + verdicts.lowered
    total = sum(len(problem.values) for problem in verdicts.valued)
    ways = f"{verdicts.raised:,} higher there, {verdicts.lowered:,} lower"
    return f"the verdicts on {differing:,} of {total:,} samples differ ({ways})"


def _gives(claim: Claim, value: float, evidence: Evidence) -> bool:
    """Whether this is the claim, and not our own figure anyway."""
    same = evidence.ours is not None and abs(value - evidence.ours) <= _ROUNDING_ERROR
    return not same and (claim.may_be(value) if evidence.share else claim.is_rounded(value))
