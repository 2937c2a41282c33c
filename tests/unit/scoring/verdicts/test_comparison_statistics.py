"""Two runs of one dataset: differences, their intervals and flips, against oracles that count in another way."""

from fractions import Fraction
from math import comb, sqrt
from statistics import NormalDist

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from scipy.stats import t
from tests.unit.scoring.judged_tasks import counted

from model_accuracy_eval.records import (
    ChangeCertainty,
    Counts,
    DatasetResult,
    Difference,
    FigureBounds,
    Flips,
    Interval,
    Sharing,
    SummaryRow,
)
from model_accuracy_eval.scoring.verdicts import comparison_statistics
from model_accuracy_eval.scoring.verdicts.comparison_statistics import whole_figures

SMALL = st.integers(0, 60)
DIFFERENCES = st.lists(st.floats(-1, 1), min_size=2, max_size=60)


def rows(figures: dict[str, float], *, shares: bool = True) -> tuple[SummaryRow, ...]:
    interval = Interval(low=0, high=100) if shares else None
    return tuple(
        SummaryRow(dataset="demo", version="0ba9da", metric=name, value=value, interval=interval)
        for name, value in figures.items()
    )


def side(cs: dict[int, int], *, n: int = 5, version: str = "0ba9da", shares: bool = True) -> DatasetResult:
    """A dataset whose problem `id` has `cs[id]` of n samples right."""
    figures = {
        f"avg@{n}": 100 * sum(cs.values()) / n / len(cs),
        f"pass@{n}": 100 * sum(c > 0 for c in cs.values()) / len(cs),
        f"cons@{n}": 100 * sum(2 * c > n for c in cs.values()) / len(cs),
    }
    return DatasetResult(
        dataset="demo",
        version=version,
        rows=rows(figures, shares=shares),
        problem_results=tuple(counted(name, n, c) for name, c in cs.items()),
        counts=Counts(),
    )


def found(old: DatasetResult, new: DatasetResult, metric: str) -> Difference:
    return next(one for one in comparison_statistics.compare(old, new).differences if one.metric == metric)


@given(DIFFERENCES)
def test_averages_give_the_interval_of_two_more_problems(differences: list[float]) -> None:
    """Mean ± z standard errors by NumPy over the differences, a whole gain and a whole loss."""
    grown = np.array([*differences, 1.0, -1.0])
    half = NormalDist().inv_cdf(0.975) * grown.std() / sqrt(len(grown))
    expected = max(-1, grown.mean() - half), min(1, grown.mean() + half)
    assert comparison_statistics.paired_interval(differences) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize(("gain", "loss", "problems"), [(0.05, 0.05, 100), (0.1, 0.02, 200), (0.01, 0.01, 1319)])
def test_the_interval_covers_the_truth(gain: float, loss: float, problems: int) -> None:
    """In simulated pairs of runs it holds the true difference at least 94 times of 100."""
    flips = np.random.default_rng(7).multinomial(problems, [gain, loss, 1 - gain - loss], size=2000)
    spans = [
        comparison_statistics.paired_interval([1.0] * up + [-1.0] * down + [0.0] * same) for up, down, same in flips
    ]
    assert np.mean([low <= gain - loss <= high for low, high in spans]) >= 0.94


@given(SMALL, SMALL)
def test_the_sign_test_is_exact(gained: int, lost: int) -> None:
    """Against the sum of binomial coefficients in whole numbers."""
    flips = gained + lost
    tail = sum(comb(flips, heads) for heads in range(min(gained, lost) + 1))
    exact = min(Fraction(1), 2 * Fraction(tail, 2**flips))
    assert comparison_statistics.sign_test(gained, lost) == pytest.approx(float(exact), rel=1e-9)
    assert comparison_statistics.sign_test(gained, lost) == comparison_statistics.sign_test(lost, gained)


def test_the_sign_test_has_room_for_many_flips() -> None:
    """A quarter of a million flips: as the normal approximation says, without overflow."""
    z = (1000 - 1) / sqrt(250_000)
    assert comparison_statistics.sign_test(125_500, 124_500) == pytest.approx(2 * (1 - NormalDist().cdf(z)), rel=1e-3)
    assert comparison_statistics.sign_test(250_000, 0) == 0


@given(st.dictionaries(st.integers(0, 40), st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2))
def test_old_and_new_are_the_figures_of_the_two_runs(cs: dict[int, tuple[int, int]]) -> None:
    """Over the same problems: the published ones, their difference, and an interval around it."""
    old, new = (side({name: pair[place] for name, pair in cs.items()}) for place in (0, 1))
    change = comparison_statistics.compare(old, new)
    assert change.problems == len(cs)
    assert change.notes == ()
    for one in change.differences:
        assert one.old == pytest.approx(whole_figures(old.rows)[one.metric])
        assert one.new == pytest.approx(whole_figures(new.rows)[one.metric])
        assert one.points == pytest.approx((one.new or 0) - (one.old or 0))
        assert one.interval is not None
        assert one.interval.low - 1e-9 <= (one.points or 0) <= one.interval.high + 1e-9


@given(st.dictionaries(st.integers(0, 40), st.tuples(st.integers(0, 5), st.integers(0, 5)), min_size=2))
def test_every_changed_problem_is_gained_or_lost(cs: dict[int, tuple[int, int]]) -> None:
    """Those with more right samples and those with fewer; the most changed ones come first, twenty at most."""
    old, new = (side({name: pair[place] for name, pair in cs.items()}) for place in (0, 1))
    flips = comparison_statistics.compare(old, new).flips
    assert flips is not None
    gained = sorted((before - after, name) for name, (before, after) in cs.items() if after > before)
    lost = sorted((after - before, name) for name, (before, after) in cs.items() if after < before)
    assert (flips.gained, flips.lost) == (len(gained), len(lost))
    assert flips.first_gained == tuple(name for _, name in gained)[:20]
    assert flips.first_lost == tuple(name for _, name in lost)[:20]


def test_problems_are_paired_by_id_and_not_by_place() -> None:
    """Another order changes nothing; problems of one run alone are left out, and that is said."""
    old = side({0: 5, 1: 0, 2: 5, 3: 5})
    new = side({2: 5, 0: 0, 1: 0})
    change = comparison_statistics.compare(old, new)
    assert change.flips == Flips(gained=0, lost=1, first_gained=(), first_lost=(0,), p=1.0)
    one = found(old, new, "avg@5")
    assert (one.old, one.new) == pytest.approx((200 / 3, 100 / 3))
    assert change.notes == (
        "3 problems are judged in both runs (of 4 then and 3 now); the figures are those of these problems.",
    )


def test_another_version_is_another_question() -> None:
    """Both figures are shown, nothing is subtracted, and a sentence says why."""
    change = comparison_statistics.compare(side({0: 1, 1: 2}), side({0: 1, 1: 5}, version="ffffff"))
    assert change.flips is None
    assert all((one.points, one.interval) == (None, None) for one in change.differences)
    assert all(one.old is not None and one.new is not None for one in change.differences)
    assert "Version 0ba9da then and ffffff now" in change.notes[0]


def test_figures_that_are_no_means_over_problems_get_no_interval() -> None:
    """Their difference is told all the same."""
    one = found(side({0: 1, 1: 2}, shares=False), side({0: 5, 1: 2}, shares=False), "avg@5")
    assert one.points == pytest.approx(40.0)
    assert one.interval is None


@pytest.mark.parametrize("figure", [29.99, 99.0])
def test_a_figure_that_its_problems_do_not_make_up_gets_no_interval(figure: float) -> None:
    """An interval of something else would be worse than none."""
    old, new = side({0: 1, 1: 2}), side({0: 5, 1: 2})
    one = found(replace(old, rows=rows({"avg@5": figure})), new, "avg@5")
    assert (one.old, one.interval) == (figure, None)


def test_another_number_of_samples_shares_no_metric() -> None:
    """Each metric stands with the run that has it, and a sentence says why nothing is subtracted."""
    change = comparison_statistics.compare(side({0: 1, 1: 2}), side({0: 1, 1: 1}, n=1))
    assert all(None in (one.old, one.new) and one.points is None for one in change.differences)
    assert change.notes[-1].startswith("5 samples of every problem then and 1 now")


def with_losses(cs: dict[int, int], lost: dict[int, int], *, n: int = 5) -> DatasetResult:
    """The same, but of `lost[id]` samples nothing is known; they count as wrong."""
    exact = side(cs, n=n)
    problems = []
    for problem in exact.problem_results:
        count = min(lost[problem.problem], n - cs[problem.problem])
        ends = {
            f"avg@{n}": (cs[problem.problem] / n, (cs[problem.problem] + count) / n),
            f"pass@{n}": (float(cs[problem.problem] > 0), float(cs[problem.problem] + count > 0)),
            f"cons@{n}": (float(2 * cs[problem.problem] > n), float(2 * (cs[problem.problem] + count) > n)),
        }
        bounds = {
            name: FigureBounds(low=100 * low, high=100 * high, samples=count)
            for name, (low, high) in ends.items()
            if low < high
        }
        problems.append(replace(problem, bounds=bounds))
    number = sum(min(lost[name], n - c) for name, c in cs.items())
    return replace(exact, problem_results=tuple(problems), counts=Counts(rejected=number))


COUNTS = st.fixed_dictionaries({name: st.integers(0, 5) for name in range(4)})


@given(COUNTS, COUNTS, COUNTS, COUNTS, st.data())
def test_the_change_is_inside_its_limits_whatever_the_lost_samples_were(
    olds: dict[int, int], news: dict[int, int], old_lost: dict[int, int], new_lost: dict[int, int], data: st.DataObject
) -> None:
    """On either side; without losses it is exact, and the problems that changed for certain are the ones counted."""
    lossy = with_losses(olds, old_lost), with_losses(news, new_lost)

    def completed(cs: dict[int, int], lost: dict[int, int]) -> DatasetResult:
        return side({name: c + data.draw(st.integers(0, min(lost[name], 5 - c))) for name, c in cs.items()})

    true = completed(olds, old_lost), completed(news, new_lost)
    for metric in ("avg@5", "pass@5", "cons@5"):
        difference, exact = found(*lossy, metric), found(*true, metric)
        assert exact.points is not None
        assert difference.interval is not None
        if difference.bounds is None:
            assert difference.points == pytest.approx(exact.points)
            continue
        low, high = difference.bounds.low, difference.bounds.high
        assert low is not None
        assert high is not None
        assert low - 1e-9 <= exact.points <= high + 1e-9
        # The interval is of two more problems, one gained and one lost, so it is nearer to 0.
        assert difference.interval.low <= low * 4 / 6 + 1e-9
        assert difference.interval.high >= high * 4 / 6 - 1e-9
    change = comparison_statistics.compare(*lossy)
    flips = change.flips
    assert flips is not None
    open_problems = {problem.problem for outcome in lossy for problem in outcome.problem_results if problem.bounds}
    certain = olds.keys() - open_problems
    assert flips.gained + flips.lost == sum(olds[name] != news[name] for name in certain)
    assert any("no verdict" in note for note in change.notes) == bool(
        lossy[0].counts.rejected + lossy[1].counts.rejected
    )


def test_a_problem_without_limits_may_be_worth_anything() -> None:
    """From nothing to everything."""
    old, new = side({0: 5, 1: 0}), side({0: 5, 1: 0})
    open_ended = replace(new.problem_results[0], bounds={"avg@5": FigureBounds(low=None, high=None, samples=2)})
    found_ = found(old, replace(new, problem_results=(open_ended, new.problem_results[1])), "avg@5")
    assert found_.bounds == FigureBounds(low=-50.0, high=0.0, samples=2)


def test_two_problems_are_the_least_that_vary() -> None:
    assert found(side({0: 1}), side({0: 2}), "avg@5").interval is None
    assert found(side({0: 1, 1: 1}), side({0: 2, 1: 2}), "avg@5").interval is not None


@pytest.mark.parametrize(("sharing", "freedom"), [(None, 11), (Sharing(clusters=5, independent=4.5), 5.5)])
def test_limits_of_a_change_have_students_quantile(sharing: Sharing | None, freedom: float) -> None:
    """Of the problems that share nothing, or of their clusters; two were added. No change is beyond its scale."""
    certainty = ChangeCertainty(
        problems=12, worst=-10.0, worst_stderr=3.0, best=20.0, best_stderr=40.0, sharing=sharing
    )
    limits = comparison_statistics.change_limits(certainty, 0.95)
    assert limits.low == pytest.approx(-10 - 3 * t.ppf(0.95, freedom))
    assert limits.high == pytest.approx(20 + 40 * t.ppf(0.95, freedom))
    assert comparison_statistics.change_limits(replace(certainty, best=80.0), 0.95).high == 100.0


def test_the_interval_of_clusters_has_as_many_degrees_as_two_more() -> None:
    """Three passages of two questions each: with the two that are added they are five."""
    differences, passages = [0.2, 0.1, 0.0, 0.0, -0.1, 0.1], ["a", "a", "b", "b", "c", "c"]
    sums = np.array([0.3, 0.0, 0.0, 2.0, -2.0])
    centre = sums.sum() / 10
    reach = t.ppf(0.975, 4) * sqrt(((sums - 2 * centre) ** 2).sum()) / 10
    found_ = comparison_statistics.paired_interval(differences, passages)
    assert found_ == pytest.approx((max(-1, centre - reach), min(1, centre + reach)))


def test_a_figure_of_the_whole_dataset_changes_within_the_limits_of_both() -> None:
    """A perplexity that lacks texts has no greatest value, so the change has none either; nor a least one backwards."""
    old = side({0: 1, 1: 2}, shares=False)
    limits = FigureBounds(low=20.0, high=None, samples=3)
    new = replace(
        old, rows=(replace(old.rows[0], bounds=limits),), counts=Counts(rejected=4, failed=3, missing=2, unjudged=1)
    )
    assert "0 samples then and 10 now have no verdict" in comparison_statistics.compare(old, new).notes[0]
    forward, back = found(old, new, "avg@5").bounds, found(new, old, "avg@5").bounds
    assert forward == FigureBounds(low=-10.0, high=None, samples=3)
    assert back == FigureBounds(low=None, high=10.0, samples=3)


def test_a_part_is_paired_over_its_own_problems() -> None:
    """Both parts were at the mean of the whole, before and after: what the other one gained is none of its gain."""

    def parted(cs: dict[int, int]) -> DatasetResult:
        whole = side(cs)
        problems = [replace(each, category="odd" if each.problem % 2 else "even") for each in whole.problem_results]
        figures = {
            f"avg@5[{part}]": 20 * sum(cs[at] for at in cs if at % 2 == rest) / sum(at % 2 == rest for at in cs)
            for part, rest in (("odd", 1), ("even", 0))
        }
        return replace(whole, problem_results=tuple(problems), rows=(*whole.rows, *rows(figures)))

    old = parted(dict.fromkeys(range(8), 2))
    new = parted(dict.fromkeys(range(8), 3))
    (whole, odd) = (found(old, new, metric) for metric in ("avg@5", "avg@5[odd]"))
    assert whole.certainty is not None
    assert odd.certainty is not None
    assert (whole.certainty.problems, odd.certainty.problems) == (10, 6)
    # Where no sample is lost, the best that the change may be is the worst.
    for known in (whole.certainty, odd.certainty):
        assert (known.best, known.best_stderr) == (known.worst, known.worst_stderr)
    assert odd.points == pytest.approx(20)
    unlike = parted({at: 5 if at % 2 else 1 for at in range(8)})
    assert found(old, unlike, "avg@5[odd]").points == pytest.approx(60)
    assert found(old, unlike, "avg@5[even]").points == pytest.approx(-20)
    area = replace(new, rows=rows({"avg@5[all]": 60.0}))
    assert found(area, area, "avg@5[all]").certainty is None
