"""Rows of contest benchmarks and cases of task files become programs with all their cases."""

import json
from typing import Any

import pytest
from tests import contest_rows
from tests.contest_rows import PROBLEMS, ContestProblem

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.errors import BadData, BadValue, EvalError
from model_accuracy_eval.records import Problem
from model_accuracy_eval.records.code import CaseProgram
from model_accuracy_eval.sandbox.inside.case_judge import read
from model_accuracy_eval.scoring.code import benchmark_suites, case_programs
from model_accuracy_eval.scoring.filters.filters import EXTRACTORS
from model_accuracy_eval.scoring.metrics.asked_metrics import ask_sandbox
from model_accuracy_eval.tasks import addresses, task_file
from model_accuracy_eval.tasks.views import VIEWS

PROBLEM = Problem(id=0, messages=(), references=("right",), extras={"cases": [{"input": "1", "output": "2"}], "n": "7"})


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        (name, problem)
        for name in ("livecodebench", "apps", "codecontests")
        for problem in PROBLEMS
        if not (name == "codecontests" and problem.function)
    ],
)
def test_every_case_of_a_row_is_there_with_its_right_answer(name: str, problem: ContestProblem) -> None:
    """In three layouts, for programs and functions; CodeContests has no functions."""
    program = getattr(case_programs, name)("answer = 1", getattr(contest_rows, name)(problem))
    suite = read(program.tests)
    assert suite.cases == problem.cases
    assert (program.kind, suite.function) == ("calls" if problem.function else "stdin", problem.function)
    assert program.code.endswith("answer = 1")


def test_imports_from_the_future_stay_first() -> None:
    """The benchmarks' own imports come after them."""
    row = contest_rows.livecodebench(PROBLEMS[0])
    program = case_programs.livecodebench("from __future__ import annotations\nprint(gcd(4, 6))", row)
    compile(program.code, "program", "exec")


def test_public_cases_alone_choose_among_samples() -> None:
    shown = benchmark_suites.shown_tests("answer = 1", contest_rows.livecodebench(PROBLEMS[0]))
    assert shown is not None
    assert len(read(shown.tests).cases) < len(PROBLEMS[0].cases)


REPLY = "First:\n```python\none\n```\nthen\n```\ntwo\n```\nor\n```cpp\nthree\n```\n"


@pytest.mark.parametrize(
    ("step", "args", "text", "code"),
    [
        ("script", {}, REPLY, "one"),
        ("script", {"language": "cpp"}, REPLY, "three"),
        ("script", {"language": "rust"}, REPLY, "two"),
        ("script", {}, "```\nprint(1)", "print(1)"),
        ("script", {}, "print(1)", "print(1)"),
        ("script", {}, "I cannot say.", None),
        ("script", {}, "Nothing", None),
        ("script", {}, "```cpp\nint x;\n```", None),
        ("last_fence", {}, REPLY, "three"),
        ("last_fence", {}, "print(1)", None),
        ("last_fence", {}, "```python\nprint(1)", None),
        ("last_fence", {}, "```python\n```", None),
    ],
)
def test_a_script_is_read_out_of_its_block(step: str, args: dict[str, str], text: str, code: str | None) -> None:
    """The last one of the language; LiveCodeBench takes the last one of all."""
    assert EXTRACTORS[step](text, PROBLEM, **args) == code


def asked(**settings: Any) -> CaseProgram:
    program = ask_sandbox("answer", PROBLEM, **settings)
    assert isinstance(program, CaseProgram)
    return program


def test_cases_are_written_in_the_task_or_named_by_their_column() -> None:
    """Those that are written may name columns; their braces are kept otherwise."""
    assert read(asked(stdin="cases").tests).cases == [("1", "2")]
    assert read(asked(stdin=[{"input": "{n} {m}", "output": "{7}"}]).tests).cases == [("7 {m}", "{7}")]
    for own in ("def check(a, b, c): return True", "from math import isclose\ncheck = isclose"):
        assert json.loads(asked(stdin="cases", checker=own).tests)["checker_source"] == own
    calls = asked(calls=[{"input": "{n}", "output": "[8]"}], function="f", all_cases=True)
    assert (read(calls.tests).cases, calls.kind, calls.all_cases) == ([([7], [8])], "calls", True)


@pytest.mark.parametrize(
    ("rules", "sentence"),
    [
        ({"stdin": "cases", "calls": "cases", "function": "f"}, "not both"),
        ({"calls": "cases"}, "calls and function belong together"),
        ({"stdin": "cases", "tests": "assert f(1) == 1"}, "cases replace them"),
        ({"stdin": [{"input": "1"}]}, "'input' and 'output'"),
        ({"stdin": [{"input": 1, "output": "2"}]}, "put numbers in quotes"),
        ({"stdin": "cases", "checker": "token"}, "did you mean tokens"),
        ({"stdin": "cases", "sdtin": "cases"}, "did you mean stdin"),
    ],
)
def test_rules_that_cannot_be_meant_are_refused(rules: dict[str, object], sentence: str) -> None:
    """When the task file is read."""
    fields = {"name": "own", "data": "own.jsonl", "prompt": {"question": "?"}, "reference": "", "exec": rules}
    with pytest.raises(EvalError, match=sentence):
        task_file.from_fields("own.yaml", fields)


@pytest.mark.parametrize("column", ["case", "none"])
def test_a_column_without_cases_is_a_fault_of_the_data(column: str) -> None:
    """And no program is wrong for it."""
    with pytest.raises(BadData, match="case"):
        ask_sandbox("answer", Problem(id=0, messages=(), references=("",), extras={"none": []}), stdin=column)


def test_a_time_is_written_from_day_to_day() -> None:
    """Either side may be open."""
    task = find("livecodebench_v3")
    for text, kept in [("2024-02-01..", ["b", "c"]), ("..2024-02-01", ["a", "b"]), ("2024-02-01..2024-02-01", ["b"])]:
        window = addresses.some_rows(text)
        assert window
        (step,) = window(task).views
        rows = [{"name": "a", "contest_date": "2024-01-31T23:00:00"}, {"name": "b", "contest_date": "2024-02-01T12:00:00"},
                {"name": "c", "contest_date": "2024-02-02"}]  # fmt: skip
        assert [row["name"] for row in VIEWS["dated"](rows, **step.args)] == kept
    assert addresses.some_rows("mcqa") is addresses.some_rows("..") is None
    for wrong in ("2024-13-01..", "2024-02-01..2024-01-01"):
        with pytest.raises(BadValue, match="time"):
            addresses.some_rows(wrong)
    window = addresses.some_rows("2024-01-01..")
    assert window
    with pytest.raises(BadValue, match="have no date"):
        window(find("humaneval"))
