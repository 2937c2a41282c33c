"""Functions of a task's author: loaded into a process of their own, and called there as if they were here."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.scoring.judged_tasks import pipe, rows, task, values

from model_accuracy_eval.errors import BadData, BadValue
from model_accuracy_eval.records import Likelihood, Measure, Problem
from model_accuracy_eval.rim.python_tasks.functions import TrustedFunctions
from model_accuracy_eval.rim.python_tasks.wire import Sealed
from model_accuracy_eval.scoring import paths
from model_accuracy_eval.scoring.metrics import harness, metric

SOURCE = """
import os, no_such_scorer
from dataclasses import dataclass

def where(answer, references):
    return {"pid": os.getpid(), "secret": float("SECRET_TOKEN" in os.environ)}

def pair(items):
    return items

def share_of_equal(items):
    return sum(gold == said for gold, said in items) / len(items)

class Strange:
    def __init__(self, value):
        self.value = value

def strange(answer, references):
    return Strange(len(answer))

def opened(values):
    return sum(value.value for value in values)

def same(predictions, references, ignore_case=False):
    (said,), (right,) = predictions, references
    return float(said.lower() == right.lower() if ignore_case else said == right)

def judge(doc, results):
    return {"right": float(results[0] == doc["gold"]), "rest": (1, [2.5, "x"])}

def best(doc, results):
    return {"acc": float(max(results)[0] == results[doc["gold"]][0])}

def asks_too_much(answer, references):
    return no_such_scorer.run(answer) + 1

def leaves(answer, references):
    os._exit(7)

def never(answer, references):
    while True: ...
"""


@pytest.fixture
def file(tmp_path: Path) -> Iterator[str]:
    """The author's file; functions are loaded into a process of their own while the test lasts."""
    (tmp_path / "utils.py").write_text(SOURCE)
    functions = TrustedFunctions({**os.environ, "SECRET_TOKEN": "marker-of-a-secret"}, seconds=20)
    token = paths.LOADER.set(functions)
    yield str(tmp_path / "utils.py")
    paths.LOADER.reset(token)
    functions.close()


def one(measure: Measure, replies: list[list[str]], references: list[str]) -> dict[str, float | None]:
    return values(rows(task(pipe(measure)), replies, references))


def test_they_run_in_another_process_that_knows_no_secret(file: str) -> None:
    """Another process number, and nothing of our environment but the path."""
    found = one(Measure(name=f"{file}:where"), [["a"]], ["a"])
    assert found["pid"] != os.getpid()
    assert found["secret"] == 0


def test_l31_a_metric_that_only_pairs_leaves_the_figure_to_its_aggregation(file: str) -> None:
    """Called with [gold, prediction], as a function without the usual names is; the aggregation sees all pairs."""
    measure = Measure(name=f"lm_eval:{file}:pair", label="pair", aggregation=f"{file}:share_of_equal")
    assert one(measure, [["a"], ["b"], ["c"], ["x"]], ["a", "b", "c", "d"]) == {"pair": 0.75}


def test_l31_a_metric_is_called_with_references_and_predictions(file: str) -> None:
    """And its arguments; of several right answers one is enough."""
    row = metric(f"lm_eval:{file}:same")
    assert row.score("Ab", ("aB",), ignore_case=True) == 1.0
    assert row.score("Ab", ("aB",)) == 0.0
    assert (row.score("x", ("y", "x")), row.score("x", ("y", "z"))) == (1.0, 0.0)


def test_l31_process_results_sees_the_row_and_what_was_said(file: str) -> None:
    """The whole row and the replies, or a pair for every option; a value that is not given is not counted."""
    asked = Problem(id=0, messages=(), references=("x",), extras={"gold": "x"})
    judged = metric(f"{harness.RESULTS}{file}:judge")
    assert (judged.score("x", asked, part="right"), judged.score("y", asked, part="right")) == (1.0, 0.0)
    assert judged.score("x", asked, part="rest") == (1, [2.5, "x"])
    assert judged.score("x", asked, part="no such") is None
    weighed = [Likelihood(logprob=-3.0, greedy=False), Likelihood(logprob=-1.0, greedy=True)]
    options = Problem(id=0, messages=(), references=("1",), extras={"gold": 1})
    assert metric(f"{harness.LIKELIHOODS}{file}:best").score(weighed, options, part="acc") == 1.0


def test_what_is_no_plain_value_goes_back_as_it_came(file: str) -> None:
    """Objects of the author's classes are never made here, and reach the aggregation whole."""
    assert isinstance(metric(f"{file}:strange").score("abc", ("x",)), Sealed)
    measure = Measure(name=f"{file}:strange", label="strange", aggregation=f"{file}:opened")
    assert one(measure, [["abc"], ["de"]], ["x", "y"]) == {"strange": 5.0}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("asks_too_much", r"asks_too_much failed: ImportError: no_such_scorer\.run\(\) is not installed"),
        ("leaves", r"leaves ended its process, with exit code 7"),
    ],
)
def test_functions_that_fail_are_told_by_name(file: str, name: str, sentence: str) -> None:
    """What was raised, or how the process ended."""
    with pytest.raises(BadData, match=sentence):
        metric(f"{file}:{name}").score("a", ("a",))


def test_a_figure_that_is_no_number_is_refused(file: str) -> None:
    """With the number of values that it was made of."""
    with pytest.raises(BadData, match=r"The aggregation .*utils.py:pair of 2 values gives no number"):
        one(Measure(name=f"{file}:strange", aggregation=f"{file}:pair"), [["a"], ["b"]], ["a", "b"])


def test_after_an_end_the_next_call_finds_a_new_process(file: str) -> None:
    """One function's crash takes no other with it."""
    with pytest.raises(BadData):
        metric(f"{file}:leaves").score("a", ("a",))
    assert metric(f"lm_eval:{file}:same").score("a", ("a",)) == 1.0


def test_a_function_that_does_not_end_is_ended(file: str) -> None:
    """After its time, with the seconds that it had."""
    hurried = TrustedFunctions({}, seconds=0.5)
    with pytest.raises(BadData, match=r"utils.py:never had not answered after 0\.5 seconds"):
        hurried(f"{file}:never")("a", ("a",))
    hurried.close()


def test_names_that_lead_nowhere_are_told_before_anything_runs(file: str, tmp_path: Path) -> None:
    """A missing function, a missing file, and a module that nothing provides."""
    for path, sentence in (
        (f"{file}:nobody", "AttributeError"),
        (f"{tmp_path}/none.py:x", "FileNotFoundError"),
        ("no_such_package.at_all:x", "ImportError: no_such_package.at_all is not installed"),
    ):
        with pytest.raises(BadValue, match=f"cannot be loaded: {sentence}"):
            metric(path)


def test_folders_with_modules_of_one_name_do_not_meet(file: str, tmp_path: Path) -> None:
    """Each folder has a process of its own, however many there are."""
    made: list[Any] = []
    for number in range(10):
        (tmp_path / str(number)).mkdir()
        (tmp_path / str(number) / "utils.py").write_text(f"def told(answer, references):\n    return {number}\n")
        made.append(metric(f"{tmp_path}/{number}/utils.py:told"))
    assert [row.score("a", ()) for row in made] == list(range(10))


def test_parts_of_installed_packages_are_no_placeholders(file: str, tmp_path: Path) -> None:
    """A library that looks whether a part of its own is there is told the truth."""
    source = "try:\n    import numpy.no_such_part\nexcept ImportError:\n    HERE = 0\nelse:\n    HERE = 1\n"
    (tmp_path / "parts.py").write_text(source + "def told(answer, references):\n    return HERE\n")
    assert metric(f"{tmp_path}/parts.py:told").score("a", ("a",)) == 0
