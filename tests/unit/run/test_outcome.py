"""How a run ends: the gate that a run without one is told of, what was not asked, and defects."""

import re
import shlex

import pytest
from msgspec.structs import replace
from tests.dataset_fixtures import prepared
from tests.unit.scoring.verdicts.test_gates import compared

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.errors import BadData, Defect
from model_accuracy_eval.records import (
    Attempt,
    Counts,
    DatasetResult,
    Difference,
    GroupMean,
    Interval,
    SummaryRow,
    TaskGroup,
)
from model_accuracy_eval.run import plan_parts
from model_accuracy_eval.run.outcome import attempt, conclude, is_worse
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.verdicts import gate_lines


@pytest.mark.parametrize(
    ("name", "n", "metric"),
    [
        ("mmbench@circular", 5, "circular accuracy (5 runs average)"),
        ("mmbench@circular", 1, "circular accuracy"),
        ("mmbench", 5, "avg@5"),
        ("hallusionbench", 5, "avg@5"),
        ("squad", 5, "avg@5"),
    ],
)
def test_it_is_on_the_first_figure(name: str, n: int, metric: str) -> None:
    """And not on the mean of another one that stands beside it; a run takes it as it is typed."""
    ready = prepared(find(name))
    card = Scorecard(ready.task, n, (n,))
    for problem in ready.problems:
        card.judge(problem, [Attempt(problem=problem.id, index=index, text="A") for index in range(n)])
    samples = Counts(planned=n * len(ready.problems), answered=n * len(ready.problems))
    judged = DatasetResult(dataset=name, version="0ba9da", rows=card.rows("0ba9da"), problem_results=(), counts=samples)
    values = {"endpoint": "http://x:1", "datasets": name, "num-return-sequences": n}
    sentence = conclude(plan_parts.plan(values, {}), None, (), "outputs/x", (judged,)).sentence
    (typed,) = re.findall(r"a gate would say: (--gate .*)\.$", sentence)
    option, gate = shlex.split(typed.replace("NUMBER", "60"))
    (resolved,) = plan_parts.plan({**values, option.removeprefix("--"): gate}, {}).gates
    assert (resolved.dataset, resolved.metric, resolved.threshold) == (name, metric, 60.0)


@pytest.mark.parametrize("name", ["mine", "own questions", "it's <b>", 'say "x"', "a;b$(c)"])
def test_it_can_be_typed_whatever_the_dataset_is_called(name: str) -> None:
    """In a shell it is one word, which is a gate on that dataset."""
    row = SummaryRow(dataset=name, version="0ba9da", metric="accuracy", mode="gen", value=50.0)
    judged = DatasetResult(dataset=name, version="0ba9da", rows=(row,), problem_results=(), counts=Counts())
    sentence = conclude(
        plan_parts.plan({"endpoint": "http://x:1", "datasets": "demo_gsm8k"}, {}), None, (), "outputs/x", (judged,)
    ).sentence
    (typed,) = re.findall(r"a gate would say: (--gate .*)\.$", sentence)
    _option, gate = shlex.split(typed)
    (read,) = gate_lines.parse(gate.replace("NUMBER", "60"))
    assert (read.dataset, read.metric) == (name, "accuracy")


def test_of_a_sample_the_limits_are_those_of_all_problems() -> None:
    """Which is what a gate goes by; several datasets are told until it is too much."""
    plan = plan_parts.plan({"endpoint": "http://x:1", "datasets": "demo_gsm8k"}, {})
    row = SummaryRow(
        dataset="d", version="1", metric="accuracy", value=50.0, interval=Interval(low=40, high=60), of=400
    )
    judged = [
        DatasetResult(
            dataset=name, version="1", rows=(replace(row, dataset=name),), problem_results=(), counts=Counts()
        )
        for name in "abcde"
    ]
    sentence = conclude(plan, None, (), "outputs/x", judged).sentence
    assert sentence.startswith("a: accuracy is 50.00 %, and 40.00 .. 60.00 on all 400 problems (95 %). b: accuracy")
    assert "2 more datasets are in the report. Whether that is good enough" in sentence


def test_a_merged_run_that_lacks_samples_is_undecided() -> None:
    """It says which shards are missing, and of which datasets most samples."""
    plan = replace(
        plan_parts.plan({"endpoint": "http://x:1", "datasets": "demo_gsm8k"}, {}), absent_shards=("1/4", "3/4")
    )
    lost = {"one": 1, "two": 1200, "three": 0}
    judged = [
        DatasetResult(dataset=name, version="0ba9da", rows=(), problem_results=(), counts=Counts(missing=number))
        for name, number in lost.items()
    ]
    outcome = conclude(plan, None, (), "outputs/x", judged)
    assert (outcome.conclusion, outcome.exit_code) == ("undecided", 7)
    assert "merged without 1/4, 3/4, so 1201 samples were never asked (two: 1,200, one: 1): merge" in outcome.sentence


def test_it_is_on_the_group_of_all_datasets() -> None:
    """Not on a group inside it, nor on one of the datasets."""
    means = (GroupMean(metric="accuracy", weight_by_size=False),)
    inner, both = (
        TaskGroup(name="inner", members=("a",), means=means),
        TaskGroup(name="both", members=("inner", "b"), means=means),
    )
    asked = replace(plan_parts.plan({"endpoint": "http://x:1", "datasets": "demo_gsm8k"}, {}), groups=(inner, both))
    judged = [
        DatasetResult(dataset=name, version="1", rows=(SummaryRow(dataset=name, version="1", metric="accuracy", value=value),),
                      problem_results=(), counts=Counts())
        for name, value in (("a", 40.0), ("b", 60.0))
    ]  # fmt: skip
    sentence = conclude(asked, None, (), "outputs/x", judged).sentence
    assert "both: accuracy is 50" in sentence
    assert "--gate 'both: accuracy >= NUMBER'" in sentence


def test_work_ends_with_its_result_or_an_error() -> None:
    """What nobody foresaw is a defect that says what it ended."""
    refusal = BadData("There is nothing.")

    def refuse() -> None:
        raise refusal

    assert attempt("the judging", lambda: 3) == 3
    assert attempt("the judging", refuse) is refusal
    defect = attempt("the judging of d", lambda: 1 / 0)
    assert isinstance(defect, Defect)
    assert defect.sentence.startswith("A defect of model-accuracy-eval ended the judging of d (ZeroDivisionError: ")
    assert "1 / 0" in defect.detail


@pytest.mark.parametrize(
    ("low", "high", "rises", "worse"),
    [
        (-3, -0.5, True, True),
        (-3, 0.5, True, False),
        (0.5, 3, True, False),
        (0.5, 3, False, True),
        (-0.5, 3, False, False),
    ],
)
def test_a_figure_is_worse_where_all_of_its_change_is(low: float, high: float, rises: bool, worse: bool) -> None:
    row = SummaryRow(dataset="demo", version="1", metric="accuracy", value=50.0, higher_is_better=rises)
    judged = DatasetResult(dataset="demo", version="1", rows=(row,), problem_results=(), counts=Counts())
    change = Difference(metric="accuracy", old=51, new=50, points=-1, interval=Interval(low=low, high=high))
    assert is_worse((), [judged], compared(change)) == worse
    assert not is_worse((), [judged], None)
