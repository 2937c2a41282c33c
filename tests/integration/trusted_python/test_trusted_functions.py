"""Functions of a task's author: loaded into a process of their own, and called there as if they were here."""

import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.scoring.judged_tasks import pipe, rows, task, values

from model_accuracy_eval.errors import BadData, BadValue
from model_accuracy_eval.records import Loglikelihood, Message, MetricUse, Opinion, Problem, Question, Step
from model_accuracy_eval.records.code import Execution, Program
from model_accuracy_eval.scoring.filters import filters
from model_accuracy_eval.scoring.metrics import user_functions
from model_accuracy_eval.scoring.metrics.metric_table import metric
from model_accuracy_eval.trusted_python.child_process import Sealed
from model_accuracy_eval.trusted_python.trusted_functions import TrustedFunctions

SOURCE = """
import os, no_such_scorer
from dataclasses import dataclass
import lm_eval.api.filter
from lm_eval.api.filter import Filter
from lm_eval.api.registry import register_filter, register_metric
from lm_eval.filters.extraction import RegexFilter
from model_accuracy_eval.records import Message
from model_accuracy_eval.records.code import Program
from model_accuracy_eval.records import Question
from model_accuracy_eval import Metric
assert lm_eval.api.filter.Filter is Filter

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

def ask(answer, problem, *, limit=3.0):
    if answer == "nothing":
        return None
    if answer == "strange":
        return Program(code=5, tests="")
    program = Program(code=answer, tests="assert f()", files={"a.txt": problem.extras["text"]})
    question = Question(messages=(Message(role="user", content=answer),), max_tokens=9)
    return program if answer == "one" else (program, question)

def worth(ran, said=None, *, problem, limit=3.0):
    return float(ran.passed) + limit * (said is not None and said.text == "yes")

def equal(answer, references):
    return float(answer in references)

ASKING = Metric(score=worth, asks=ask, reads="findings", higher_is_better=False)
PLAIN = Metric(score=equal, yes_or_no=True)

class Sealing(Filter):
    def __init__(self, mark="!", **rest):
        super().__init__(**rest)
        self.mark = mark

    def apply(self, resps, docs):
        return ((one + self.mark for one in several) for several in resps)

class Marked(RegexFilter):
    def __init__(self, *args, ignored=None, **kwargs):
        super().__init__(*args, **kwargs)

@register_filter("shouting")
class Loud(Filter):
    def apply(self, resps, docs):
        return [[one.upper() + doc["end"] for one in several] for several, doc in zip(resps, docs)]

@register_metric(metric="same", higher_is_better=True)
def registered(answer, references):
    return 2.0

def forgives(answer, references):
    try:
        return float(no_such_scorer.run(answer))
    except Exception:
        return 0.0

class Parsing(no_such_scorer.Visitor):
    pass

def inherits(answer, references):
    try:
        return Parsing().visit(answer)
    except AttributeError:
        return None

def leaves(answer, references):
    os._exit(7)

def never(answer, references):
    while True: ...
"""


@pytest.fixture
def file(tmp_path: Path) -> Iterator[str]:
    """The author's file; functions are loaded into a process of their own while the test lasts."""
    (tmp_path / "utils.py").write_text(SOURCE)
    functions = TrustedFunctions(os.environ, seconds=20)
    token = user_functions.LOADER.set(functions)
    yield str(tmp_path / "utils.py")
    user_functions.LOADER.reset(token)
    functions.close()


def one(measure: MetricUse, replies: list[list[str]], references: list[str]) -> dict[str, float | None]:
    return values(rows(task(pipe(measure)), replies, references))


def test_l31_a_metric_that_only_pairs_leaves_the_figure_to_its_aggregation(file: str) -> None:
    """Called with [gold, prediction], as a function without the usual names is; the aggregation sees all pairs."""
    measure = MetricUse(name=f"lm_eval:{file}:pair", label="pair", aggregation=f"{file}:share_of_equal")
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
    judged = metric(f"{user_functions.RESULTS}{file}:judge")
    assert (judged.score("x", asked, part="right"), judged.score("y", asked, part="right")) == (1.0, 0.0)
    assert judged.score("x", asked, part="rest") == (1, [2.5, "x"])
    assert judged.score("x", asked, part="no such") is None
    weighed = [Loglikelihood(logprob=-3.0, greedy=False), Loglikelihood(logprob=-1.0, greedy=True)]
    options = Problem(id=0, messages=(), references=("1",), extras={"gold": 1})
    assert metric(f"{user_functions.LIKELIHOODS}{file}:best").score(weighed, options, part="acc") == 1.0


def test_what_is_no_plain_value_goes_back_as_it_came(file: str) -> None:
    """Objects of the author's classes are never made here, and reach the aggregation whole."""
    assert isinstance(metric(f"{file}:strange").score("abc", ("x",)), Sealed)
    measure = MetricUse(name=f"{file}:strange", label="strange", aggregation=f"{file}:opened")
    assert one(measure, [["abc"], ["de"]], ["x", "y"]) == {"strange": 5.0}


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("asks_too_much", r"asks_too_much failed: ImportError: no_such_scorer\.run\(\) is not installed"),
        ("forgives", r"forgives failed: ImportError: no_such_scorer\.run\(\) is not installed"),
        ("inherits", r"inherits failed: ImportError: no_such_scorer\.Visitor\.visit is not installed"),
        ("leaves", r"leaves ended its process, with exit code 7"),
    ],
)
def test_functions_that_fail_are_told_by_name(file: str, name: str, sentence: str) -> None:
    """What was raised, or how the process ended; a library that is missing is told even where that is caught."""
    with pytest.raises(BadData, match=sentence):
        metric(f"{file}:{name}").score("a", ("a",))


def test_a_figure_that_is_no_number_is_refused(file: str) -> None:
    """With the number of values that it was made of."""
    with pytest.raises(BadData, match=r"The aggregation .*utils.py:pair of 2 values gives no number"):
        one(MetricUse(name=f"{file}:strange", aggregation=f"{file}:pair"), [["a"], ["b"]], ["a", "b"])


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
        (f"{tmp_path}/none.py:x", "there is no file"),
        ("no_such_package.at_all:x", "ImportError: no_such_package.at_all is not installed"),
    ):
        with pytest.raises(BadValue, match=f"cannot be loaded: {sentence}"):
            metric(path)


@pytest.mark.parametrize(
    ("returned", "sentence"),
    [("'x'", "returned 'x' for a reply: its mean is wanted"), ("{'p': [1]}", "its mean is wanted"), ("2", "0 and 1")],
)
def test_values_that_cannot_be_counted_are_the_functions_mistake(tmp_path: Path, returned: str, sentence: str) -> None:
    """And no defect of ours."""
    source = f"from model_accuracy_eval import Metric\ndef own(answer, right_answers):\n    return {returned}\n"
    (tmp_path / "odd.py").write_text(f"{source}row = Metric(score=own, yes_or_no=True)\n")
    with pytest.raises(BadData, match=sentence):
        rows(task(pipe(f"{tmp_path}/odd.py:row")), [["a"]], ["a"])


def test_a_row_of_the_users_own_is_a_row_here(file: str) -> None:
    """Its functions are called over there, and whatever else it says counts here."""
    row = metric(f"{file}:PLAIN")
    assert (row.yes_or_no, row.reads, row.asks) == (True, "answers", None)
    assert row.score("a", ("a", "b")) == 1.0


TEXT = Problem(id=0, messages=(), references=("x",), extras={"text": "beside it"})
RAN = Execution(verdict="passed", isolation="none", integrity="split")


def test_asks_come_through_the_pipe_and_findings_go_back(file: str) -> None:
    """A program, or a program and a question, as the records that they are; None where nothing has to be found out."""
    row = metric(f"{file}:ASKING")
    assert (row.reads, row.higher_is_better) == ("findings", False)
    assert row.asks
    program = Program(code="one", tests="assert f()", files={"a.txt": "beside it"})
    assert row.asks("one", TEXT) == (program,)
    both = row.asks("two", TEXT, limit=1.0)
    assert both == (
        Program(code="two", tests="assert f()", files={"a.txt": "beside it"}),
        Question(messages=(Message(role="user", content="two"),), max_tokens=9),
    )
    assert row.asks("nothing", TEXT) is None
    assert row.score(RAN, problem=TEXT) == 1.0
    assert row.score(RAN, Opinion(text="yes"), problem=TEXT, limit=0.5) == 1.5


def test_an_ask_that_is_none_is_refused(file: str) -> None:
    """With the field that is wrong, and before anything runs."""
    row = metric(f"{file}:ASKING")
    assert row.asks
    with pytest.raises(BadData, match=r"utils.py:ASKING.asks asks for something malformed: Expected `str`, got `int`"):
        row.asks("strange", TEXT)


def replied(name: str, *replies: str, **args: Any) -> list[str | None]:
    problem = Problem(id=0, messages=(), references=("x",), extras={"end": "."})
    return filters.run([Step(name="custom", args={"filter_fn": name, **args})], list(replies), problem)


def test_l13_classes_that_inherit_from_lm_evals_are_filters(file: str) -> None:
    """Made with their arguments, one that searches by a pattern too; any series of answers is a list here."""
    assert replied(f"{file}:Sealing", "a", "b", mark="?") == ["a?", "b?"]
    assert replied(f"{file}:Sealing", "a", unknown=1) == ["a!"]
    assert replied(f"{file}:Marked", "x #### 1,2 .", "none", ignored=True) == ["1,2", None]
    either = r"(\d+)?-(\w+)?"
    assert replied(f"{file}:Marked", "5-a -b -", regex_pattern=either, group_select=1) == ["b"]
    assert replied(f"{file}:Marked", "-", regex_pattern=either, fallback="0") == ["0"]


def test_filters_are_found_by_the_names_that_they_were_registered_under(file: str) -> None:
    """Once their module is loaded; other decorators of lm-eval's leave alone what they decorate."""
    assert replied(f"{file}:shouting", "a") == ["A."]
    assert metric(f"{file}:registered").score("a", ("b",)) == 2.0
    with pytest.raises(BadValue, match=r"utils.py:whispering' cannot be loaded: AttributeError"):
        filters.check(Step(name=f"{file}:whispering"))
