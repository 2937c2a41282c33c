"""Replicas that are alike are called different once in a hundred runs; one that is worse or slower is named."""

import numpy as np
import pytest
from scipy.stats import hypergeom, norm, sem

from model_accuracy_eval.records import Counts, DatasetResult, ProblemResult, ReplicaFigure, ReplicaPace, SummaryRow
from model_accuracy_eval.scoring.figures.replica_statistics import replica_figures, replica_paces

N = 5


def dataset(problems: list[ProblemResult], paces: tuple[ReplicaPace, ...] = ()) -> DatasetResult:
    row = SummaryRow(dataset="d", version="v", metric="accuracy", value=0.0)
    return DatasetResult(
        dataset="d", version="v", rows=(row,), problem_results=tuple(problems), counts=Counts(), paces=paces
    )


def problem(number: int, values: list[float], replicas: list[str]) -> ProblemResult:
    return ProblemResult(
        problem=number, n=len(values), c=None, values=tuple(values), answers=(), why=(), references=("",),
        replicas=tuple(replicas),
    )  # fmt: skip


def drawn(
    rng: np.random.Generator, problems: int, replicas: int, worse: float = 0.0, n: int = N
) -> tuple[ReplicaFigure, ...]:
    """Problems of all difficulties, each asked of two replicas (of one if n is 1); the last one loses some answers."""
    results = []
    for number in range(problems):
        chance = rng.beta(0.5, 0.5)
        first, second = rng.choice(replicas, 2, replace=False)
        who = [first if at < (n + 1) // 2 else second for at in range(n)]
        values = [float(rng.random() < chance * (1 - worse * (each == replicas - 1))) for each in who]
        results.append(problem(number, values, [f"r{each}" for each in who]))
    return replica_figures([dataset(results)])


@pytest.mark.slow
@pytest.mark.parametrize(
    ("problems", "replicas", "n"), [(40, 2, 5), (200, 2, 5), (200, 4, 5), (300, 2, 1), (300, 4, 1)]
)
def test_alike_replicas_are_called_different_once_in_a_hundred_runs(problems: int, replicas: int, n: int) -> None:
    """In 400 runs 4 are expected, and more than 10 would be one chance in 300."""
    rng = np.random.default_rng(problems + replicas + n)
    alarms = sum(any(each.differs for each in drawn(rng, problems, replicas, n=n)) for _ in range(400))
    assert alarms <= 10


@pytest.mark.parametrize(
    ("replicas", "n", "most"),
    [(2, 5, 0), *(pytest.param(*case, marks=pytest.mark.slow) for case in ((4, 5, 2), (2, 1, 10)))],
)
def test_a_worse_replica_is_named_and_no_other(replicas: int, n: int, most: int) -> None:
    """It loses a fifth of its right answers, about ten points, on 1,000 problems; in 20 runs it escapes at most so often.
    Of two, each differs from the other."""
    rng = np.random.default_rng(7)
    named = [{each.replica for each in drawn(rng, 1_000, replicas, 0.2, n) if each.differs} for _ in range(20)]
    different = {"r0", "r1"} if replicas == 2 else {f"r{replicas - 1}"}
    assert named.count(different) >= 20 - most
    assert all(names <= different for names in named)


@pytest.mark.slow
def test_the_interval_holds_the_difference() -> None:
    """A fifth of what all answer right on average, half, is ten points; 99 of 100 intervals hold them."""
    rng = np.random.default_rng(11)
    held = 0
    for _ in range(200):
        (worse,) = [each for each in drawn(rng, 300, 2, 0.2) if each.replica == "r1"]
        assert worse.interval is not None
        held += worse.interval.low <= -10 <= worse.interval.high
    assert held >= 193


def test_unlike_problems_are_no_difference() -> None:
    """One replica had the easy ones, the other the hard ones: far apart in figures, and not compared."""
    easy = [problem(number, [1.0] * N, ["a"] * N) for number in range(100)]
    hard = [problem(number, [0.0] * N, ["b"] * N) for number in range(100, 200)]
    a, b = replica_figures([dataset([*easy, *hard])])
    assert (a.figure, b.figure, a.points, b.points) == (100, 0, None, None)
    assert not a.differs
    assert not b.differs


def test_the_variance_is_that_of_a_permutation() -> None:
    """Of a problem with c right of five samples, three of them one replica's, it has a hypergeometric number."""
    rights = [1, 2, 3, 4, 2, 3, 1, 4, 2, 2, 3, 3]
    own = [1, 2, 3, 3, 2, 3, 1, 3, 2, 2, 3, 3]
    problems = [
        problem(
            at, [1.0] * mine + [0.0] * (3 - mine) + [1.0] * (c - mine) + [0.0] * (2 - c + mine), ["a"] * 3 + ["b"] * 2
        )
        for at, (c, mine) in enumerate(zip(rights, own, strict=True))
    ]
    variance = sum(hypergeom(5, c, 3).var() for c in rights)
    z = (sum(own) - sum(3 * c / 5 for c in rights)) / variance**0.5
    assert z > 2.9  # a difference that is sure
    a, b = replica_figures([dataset(problems)])
    unlike = 100 * np.array([mine / 3 - (c - mine) / 2 for c, mine in zip(rights, own, strict=True)])
    assert a.differs
    assert b.differs
    assert a.points == pytest.approx(unlike.mean())
    reach = norm.ppf(0.995) * sem(unlike)  # all problems weigh alike
    assert b.points == pytest.approx(-unlike.mean())
    assert b.interval is not None
    assert (b.interval.low, b.interval.high) == pytest.approx((-unlike.mean() - reach, -unlike.mean() + reach))


def test_lost_samples_are_nobodys() -> None:
    """They have no replica, and their zeros pull no figure down."""
    problems = [problem(at, [1.0, 0.0, 1.0], ["a", "", "b"]) for at in range(20)]
    assert [(each.samples, each.figure) for each in replica_figures([dataset(problems)])] == [(20, 100), (20, 100)]


def test_one_service_has_no_replicas() -> None:
    """Nothing is said then; of several, one may have answered everything."""
    assert replica_figures([dataset([problem(0, [1.0], [])])]) == ()
    assert [each.samples for each in replica_figures([dataset([problem(0, [1.0], ["a"])])])] == [1]


def paced(rng: np.random.Generator, slower: float, count: int = 2_000, replicas: int = 3) -> tuple[ReplicaFigure, ...]:
    """A load that swings, the same for all, and one replica that is slower by a factor."""
    load = 0.0
    gaps: list[tuple[str, float]] = []
    for _ in range(count):
        load = 0.99 * load + rng.normal(0, 0.05)
        who = int(rng.integers(replicas))
        factor = slower if who == replicas - 1 else 1.0
        gaps.append((f"r{who}", 0.01 * factor * float(np.exp(load + rng.normal(0, 0.3)))))
    return replica_figures([dataset([], replica_paces(gaps))])


def test_two_replicas_are_one_comparison() -> None:
    """Eight blocks in which the same one is slower are one chance in 128."""
    paces = tuple(ReplicaPace(replica=name, gaps=(gap,) * 8) for name, gap in (("a", 1.0), ("b", 2.0)))
    assert [each.differs_in_speed for each in replica_figures([dataset([], paces)])] == [False, True]


def test_a_slow_replica_is_named_and_equal_ones_are_not() -> None:
    """A fifth slower is seen through a load that doubles and halves."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        figures = paced(rng, 1.25)
        assert [each.replica for each in figures if each.differs_in_speed] == ["r2"]
        ratio = figures[-1].ratio
        assert ratio is not None
        assert 1.15 < ratio < 1.35
    alarms = sum(any(each.differs_in_speed for each in paced(rng, 1.0, 600)) for _ in range(100))
    assert alarms <= 4
