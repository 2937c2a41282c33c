"""Parts of a dataset, groups of datasets, and figures that count from the level of guessing."""

from collections.abc import Sequence
from itertools import product
from math import fsum, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs
from msgspec.structs import replace
from tests.dataset_fixtures import prepared
from tests.unit.scoring.judged_tasks import pipe, problem, said, task

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.errors import BadData, BadValue
from model_accuracy_eval.records import (
    Attempt,
    Counts,
    DatasetResult,
    Fault,
    Grouping,
    GroupMean,
    MetricUse,
    Pipeline,
    Problem,
    ProblemResult,
    Step,
    SummaryRow,
    TaskGroup,
    TaskSpec,
)
from model_accuracy_eval.scoring.figures import groups, intervals
from model_accuracy_eval.scoring.figures.groups import chance_of_right, expected
from model_accuracy_eval.scoring.figures.notes import of_problems
from model_accuracy_eval.scoring.figures.reductions import BEST_SHOWN, REDUCTIONS, reduction
from model_accuracy_eval.scoring.figures.scorecard import Scorecard, metric_names


def marked(spec: TaskSpec, replies: dict[str, str]) -> dict[str, SummaryRow]:
    """One letter is one problem of that part; "a" is right."""
    card = Scorecard(spec, 1, (1,))
    for part, letters in replies.items():
        for letter in letters:
            card.judge(problem(0, category=part, extras={"level": part.lower()}), said(letter))
    return {row.metric: row for row in card.rows("0ba9da")}


def dataset_result(name: str, size: int, *figures: tuple[str, float | None, float | None]) -> DatasetResult:
    problem_result = ProblemResult(
        problem=0, n=1, c=1, values=(1.0,), answers=("a",), why=("right",), references=("a",)
    )
    rows = [
        SummaryRow(dataset=name, version=name * 6, metric=metric, value=value, stderr=error)
        for metric, value, error in figures
    ]
    return DatasetResult(
        dataset=name, version=name * 6, rows=tuple(rows), problem_results=(problem_result,) * size, counts=Counts()
    )


def test_every_part_has_a_row_and_the_mean_weighs_them_alike() -> None:
    """By the category, or by a column; weighed by size the mean is the whole's figure, and has no row of its own."""
    spec = task(pipe("exact_match"), grouping=Grouping(weight_by_size=False))
    found = marked(spec, {"Law": "aab", "Art": "b"})
    told = {name: row.value for name, row in found.items()}
    assert told == pytest.approx({
        "exact_match": 50, "exact_match[Art]": 0, "exact_match[Law]": 200 / 3,
        "exact_match, mean over category": 100 / 3,
    })  # fmt: skip
    assert found["exact_match[Law]"].stderr == pytest.approx(100 * np.std([1, 1, 0], ddof=1) / sqrt(3))
    assert [name for name in metric_names(spec, 1, (1,)) if name in found] == metric_names(spec, 1, (1,))
    by_level = task(pipe("exact_match"), grouping=Grouping(by="level"))
    assert list(marked(by_level, {"Law": "a", "Art": "b"})) == ["exact_match", "exact_match[art]", "exact_match[law]"]


AREAS = {"Law": "society", "Art": "culture", "Music": "culture"}


@given(st.dictionaries(st.sampled_from(sorted(AREAS)), st.text("ab", min_size=1, max_size=6), min_size=1))
def test_every_area_is_the_figure_of_its_parts_together(replies: dict[str, str]) -> None:
    """As if the area were the dataset; its interval and its error, too. Parts keep their rows, and so does the whole."""
    found = marked(task(pipe("exact_match"), grouping=Grouping(areas=AREAS)), replies)
    for area in {AREAS[part] for part in replies}:
        together = {part: letters for part, letters in replies.items() if AREAS[part] == area}
        alone = marked(task(pipe("exact_match")), together)["exact_match"]
        assert found[f"exact_match[{area}]"] == structs.replace(alone, metric=f"exact_match[{area}]")
    assert len(found) == 1 + len({AREAS[part] for part in replies}) + len(replies)
    with pytest.raises(BadData, match="demo is grouped by areas, but 'Chess' is none of the 3 known parts"):
        marked(task(pipe("exact_match"), grouping=Grouping(areas=AREAS)), {"Chess": "a"})


def test_a_problem_that_belongs_to_no_part_is_told() -> None:
    """It says which column is missing where."""
    card = Scorecard(task(pipe("exact_match"), grouping=Grouping(by="level")), 1, (1,))
    with pytest.raises(BadData, match="demo is grouped by 'level', but problem 7 has none"):
        card.judge(problem(7), said("a"))


def test_n16_centred_accuracy_counts_from_the_baseline() -> None:
    """.4 over a baseline of .25 is .2; interval and standard error are stretched with it."""
    found = marked(task(pipe("exact_match"), baseline=0.25), {"": "aabbb"})
    plain, centred = found["exact_match"], found["centred exact_match"]
    assert (plain.value, centred.value) == pytest.approx((40, 20))
    assert plain.interval is not None
    assert centred.interval is not None
    assert centred.interval.low == pytest.approx((plain.interval.low - 25) / 0.75)
    assert centred.stderr == pytest.approx((plain.stderr or 0) / 0.75)
    assert plain.certainty is not None
    assert centred.certainty is not None
    inner, outer = (intervals.limits(each, "problems", 0.9) for each in (plain.certainty, centred.certainty))
    assert (outer.low, outer.high) == pytest.approx(((inner.low - 25) / 0.75, (inner.high - 25) / 0.75))
    with pytest.raises(BadValue, match="a share from 0 up to below 1, not 1"):
        marked(task(pipe("exact_match"), baseline=1.0), {"": "a"})


def test_l35_groups_of_the_harness() -> None:
    """.6 weighed by size, .65 not; the pooled error of .05 and .1."""
    dataset_results = {
        "a": dataset_result("a", 100, ("acc", 50.0, 5.0)),
        "b": dataset_result("b", 50, ("acc", 80.0, 10.0)),
    }
    by_size, plain = (
        TaskGroup(name="all", members=("a", "b"), means=(GroupMean(metric="acc", weight_by_size=by_size),))
        for by_size in (True, False)
    )
    (weighed,), (macro,) = groups.rows(by_size, dataset_results), groups.rows(plain, dataset_results)
    assert (weighed.dataset, weighed.metric) == ("all", "acc")
    assert (weighed.value, macro.value) == pytest.approx((60, 65))
    assert weighed.stderr == pytest.approx(4.7101, abs=1e-4)
    assert macro.stderr == pytest.approx(sqrt(125) / 2)


def test_l35_a_group_takes_the_pipelines_that_it_names() -> None:
    """Each figure apart; without names, all."""
    dataset_results = {
        "a": dataset_result(
            "a",
            2,
            ("acc,strict", 50.0, 1.0),
            ("acc,loose", 70.0, 1.0),
            ("f1", 1.0, 1.0),
            ("acc (5 runs average)", 9.0, 1.0),
        )
    }
    chosen = TaskGroup(name="g", members=("a",), means=(GroupMean(metric="acc", pipelines=("strict",)),))
    assert [row.metric for row in groups.rows(chosen, dataset_results)] == ["acc,strict"]
    everything = TaskGroup(name="g", members=("a",), means=(GroupMean(metric="acc"),))
    assert [row.metric for row in groups.rows(everything, dataset_results)] == [
        "acc,strict",
        "acc,loose",
        "acc (5 runs average)",
    ]


def test_n21_a_group_of_which_a_dataset_is_missing_has_no_figure() -> None:
    """Neither where a dataset was not run, nor where its figure is unknown."""
    whole = TaskGroup(name="core", members=("a", "b"), means=(GroupMean(metric="acc", weight_by_size=False),))
    assert [row.value for row in groups.rows(whole, {"a": dataset_result("a", 2, ("acc", 50.0, 1.0))})] == [None]
    dataset_results = {
        "a": dataset_result("a", 2, ("acc", 50.0, 1.0)),
        "b": dataset_result("b", 2, ("acc", None, None)),
    }
    assert [(row.value, row.stderr) for row in groups.rows(whole, dataset_results)] == [(None, None)]


def test_groups_inside_groups_are_opened() -> None:
    """Every dataset counts once, and a group that holds itself ends."""
    inner = TaskGroup(name="inner", members=("b", "outer"))
    outer = TaskGroup(name="outer", members=("a", "inner", "b"))
    assert set(groups.datasets(outer, {"inner": inner, "outer": outer})) == {"a", "b"}


@given(
    st.lists(st.lists(st.sampled_from("ab?"), min_size=1, max_size=6), min_size=1, max_size=4), st.booleans(), st.data()
)
def test_a_group_lies_within_what_its_lost_samples_can_make_of_it(
    letters: list[list[str]], by_size: bool, data: st.DataObject
) -> None:
    """Plain and by size, centred or not; a dataset without any verdict leaves the group without a figure."""

    def result(name: str, replies: list[str]) -> DatasetResult:
        spec = structs.replace(task(pipe("exact_match"), baseline=0.25), name=name)
        card = Scorecard(spec, 1, (1,))
        results = [
            card.judge(problem(number), said(letter) if letter != "?" else [None])
            for number, letter in enumerate(replies)
        ]
        rows = card.rows("0ba9da")
        return DatasetResult(dataset=name, version="1", rows=rows, problem_results=tuple(results), counts=Counts())

    means = tuple(GroupMean(metric=name, weight_by_size=by_size) for name in ("exact_match", "centred exact_match"))
    names = [f"d{number}" for number in range(len(letters))]
    group = TaskGroup(name="all", members=tuple(names), means=means)
    whole = [[data.draw(st.sampled_from("ab")) if one == "?" else one for one in replies] for replies in letters]
    lossy, exact = (
        {row.metric: row for row in groups.rows(group, dict(zip(names, map(result, names, side), strict=True)))}
        for side in (letters, whole)
    )
    for metric, row in lossy.items():
        true = exact[metric].value
        assert true is not None
        if any(set(replies) == {"?"} for replies in letters):
            assert (row.value, row.bounds) == (None, None)
        elif not any("?" in replies for replies in letters):
            assert row.value == pytest.approx(true)
            assert row.bounds is None
        else:
            assert row.bounds is not None
            assert row.bounds.low is not None
            assert row.bounds.high is not None
            assert row.bounds.low - 1e-9 <= true <= row.bounds.high + 1e-9
            assert row.bounds.samples == sum(replies.count("?") for replies in letters)


def scored(name: str, replies: Sequence[str | None], limit: int | None = None) -> dict[str, SummaryRow]:
    """The figures of a model with these replies; None: the request failed."""
    ready = prepared(find(name))
    card = Scorecard(ready.task, 1, (1,))
    for each, reply in list(zip(ready.problems, replies, strict=True))[:limit]:
        fault = Fault(kind="failed", sentence="503") if reply is None else None
        card.judge(each, [Attempt(problem=each.id, index=0, text=reply or "", fault=fault)])
    return {row.metric: row for row in card.rows(ready.version)}


def test_a_question_counts_only_if_all_of_its_rotations_are_right() -> None:
    """Six rows of five questions; the second question has two rotations, of which one is missed."""
    assert [problem.key for problem in prepared(find("mmbench@circular")).problems] == [
        ("3",), ("7",), ("1000007",), ("9",), ("11",), ("12",)
    ]  # fmt: skip
    rows = scored("mmbench@circular", ["B", "B", "A", "A", "B", "A"])
    assert rows["circular accuracy"].value == pytest.approx(80)
    assert rows["accuracy"].value == pytest.approx(100 * 5 / 6)
    assert rows["circular accuracy[shape]"].value == pytest.approx(50)
    assert rows["circular accuracy"].stderr == pytest.approx(20)  # five observations, not six


def test_a_limit_leaves_no_half_question() -> None:
    """One rotation of two says nothing of the question."""
    rows = scored("mmbench@circular", ["B", "B", "A", "A", "B", "A"], limit=2)
    assert (rows["circular accuracy"].value, rows["accuracy"].value) == (100, 100)
    assert scored("mmbench@circular", ["no"] + ["B"] * 5, limit=2)["circular accuracy"].value == 0


def test_what_is_left_out_is_told() -> None:
    """A limit, or a shard, may cut a question's rotations apart."""
    ready = prepared(find("mmbench@circular"))
    assert list(of_problems(ready)) == []
    (sentence,) = of_problems(replace(ready, problems=ready.problems[:2]))
    assert sentence.startswith("circular accuracy leaves out 1 of 2 groups of rows, because a limit or a shard")


def test_a_lost_row_has_limits() -> None:
    """It counts as wrong; with a wrong rotation beside it, it makes no difference."""
    row = scored("mmbench@circular", ["B", None, "C", "A", None, "A"])["circular accuracy"]
    assert row.bounds is not None
    assert (row.value, row.bounds.low, row.bounds.high) == pytest.approx((60, 60, 100))
    row = scored("mmbench@circular", ["B", None, "D", "A", "B", "A"])["circular accuracy"]
    assert (row.value, row.bounds and row.bounds.high) == pytest.approx((80, 80))


def test_questions_and_pictures_of_hallusionbench() -> None:
    """Two pictures of one question, of which one is missed: qAcc counts the question as wrong, fAcc one picture."""
    rows = scored("hallusionbench", ["yes", "yes", "no", "yes", "yes"])
    figures = {name: rows[name].value for name in ("accuracy", "qAcc", "fAcc")}
    assert figures == pytest.approx({"accuracy": 80, "qAcc": 50, "fAcc": 80})


PLAIN = Pipeline(metrics=(MetricUse(name="exact_match"),))


@pytest.mark.parametrize("name", sorted(set(REDUCTIONS) - {BEST_SHOWN}))
@given(st.integers(1, 6), st.integers(2, 5), st.data())
def test_every_reduction_of_every_sequence_of_guesses(name: str, n: int, options: int, data: st.DataObject) -> None:
    """The mean over all equally likely sequences; the first option is right. Ties as the reduction breaks them."""
    n = min(n, 4) if options > 3 else n
    k = data.draw(st.integers(1, n))
    sequences = [[float(letter == 0) for letter in letters] for letters in product(range(options), repeat=n)]
    results = [reduction(name)(sequence, (k,)) for sequence in sequences]
    means = {key: fsum(result[key] for result in results) / len(results) for key in results[0]}
    assert expected(name, 1 / options, n, (k,)) == pytest.approx(means)


def test_rules_that_are_not_known_have_no_level() -> None:
    """Neither a user's own reduction nor the choice by shown tests."""
    assert expected("best_shown", 0.25, 5, ()) is None
    assert expected("module:function", 0.25, 5, ()) is None


@pytest.mark.parametrize(
    ("asked", "chance"),
    [
        (problem(0, "B", choices=("w", "x", "y", "z")), 0.25),
        (problem(0, "(B)", choices=("w", "x", "y")), 1 / 3),
        (problem(0, "x", choices=("w", "x", "y", "z")), 0.25),
        (problem(0, "x", choices=("w", "x", "y", "z"), gold=(1,)), 0.25),
        (problem(0, "x", choices=("w", "x", "y", "z"), gold=(1, 3)), 0.5),
        (problem(0, "BD", choices=("w", "x", "y", "z")), None),
        (problem(0, "42"), None),
        (problem(0, "w", choices=("w",)), None),
    ],
)
def test_one_guess_is_right_as_often_as_there_are_right_options(asked: Problem, chance: float | None) -> None:
    """Several letters at once are no pick of one option, and without options there is nothing to guess from."""
    assert chance_of_right(asked, PLAIN, 5) == chance


def test_votes_before_judging_have_no_level() -> None:
    """The winner of a vote is right more or less often than a single guess; one sample votes for itself."""
    vote = Pipeline(filters=(Step(name="majority_vote"),), metrics=PLAIN.metrics)
    asked = problem(0, "B", choices=("x", "y"))
    assert (chance_of_right(asked, vote, 5), chance_of_right(asked, vote, 1)) == (None, 0.5)


def test_each_problem_counts_by_its_own_options() -> None:
    """Two and four of them: the mean, as in the figures; one problem without options, and there is no level."""
    card = Scorecard(task(pipe("exact_match"), baseline=0.25), 5, (5,))
    card.judge(problem(0, "A", choices=("x", "y")), said(*"ABABA"))
    card.judge(problem(1, "A", choices=("w", "x", "y", "z")), said(*"ABABA"))
    levels = {row.metric: row.chance for row in card.rows("0ba9da")}
    by_two, by_four = (expected("runs", 1 / options, 5, (5,)) or {} for options in (2, 4))
    assert levels["pass@5"] == pytest.approx(50 * (by_two["pass@5"] + by_four["pass@5"]))
    assert levels["cons@5"] == pytest.approx(50 * (by_two["cons@5"] + by_four["cons@5"]))
    assert levels["centred exact_match (5 runs average)"] == pytest.approx((37.5 - 25) / 0.75)
    card.judge(problem(2, "A"), said(*"ABABA"))
    assert {row.chance for row in card.rows("0ba9da")} == {None}
