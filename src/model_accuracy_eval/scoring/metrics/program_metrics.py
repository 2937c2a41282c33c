"""Metrics of answers that are programs: a sandbox runs them with their tests.

`asks` makes the program to run, and `score` reads how it ended. If the sandbox could not decide, the value is None: the
sample is counted as unjudged, never as wrong.
"""

from collections.abc import Callable
from typing import Any

from model_accuracy_eval.records import Problem
from model_accuracy_eval.records.code import Execution, Limits, Mode, Program
from model_accuracy_eval.scoring.code.benchmark_suites import find_suite, shown_tests
from model_accuracy_eval.scoring.code.code_syntax import called_function
from model_accuracy_eval.scoring.code.contest_programs import CaseRules, WrittenCases, case_program
from model_accuracy_eval.scoring.metrics.judge_metrics import columns
from model_accuracy_eval.scoring.metrics.metric_type import Metric, fill_template

_CODE_EVAL_SECONDS = 3.0


def ask_sandbox(
    answer: str,
    problem: Problem,
    *,
    code: str = "{answer}",
    tests: str = "{reference}",
    entry_points: tuple[str, ...] = (),
    mode: Mode = "split",
    solution: str = "",
    files: dict[str, str] | None = None,
    language: str = "python",
    seconds: float = 10.0,
    memory_mb: int = 512,
    stdin: WrittenCases | str = (),
    calls: WrittenCases | str = (),
    function: str = "",
    checker: str = "",
    tolerance: float = 1e-6,
    all_cases: bool = False,
) -> Program:
    """The answer as a program with the problem's tests; `code` and `tests` may use the answer and the columns.

    `solution`, `files` and cases may use only the columns: whatever finds the mode must not depend on the answer.
    `stdin` and `calls` are cases, or name the column that has them; they replace `tests`.
    """
    row = columns(problem)
    values = {**row, "answer": answer}
    program = Program(
        code=fill_template(code, values),
        tests=fill_template(tests, values),
        entry_points=tuple(fill_template(name, values) for name in entry_points),
        mode=mode,
        reference=fill_template(solution, row),
        files={name: fill_template(text, row) for name, text in (files or {}).items()},
        language=language,
        limits=Limits(wall_seconds=seconds, memory_mb=memory_mb),
    )
    if not (stdin or calls):
        return program
    rules = CaseRules(fill_template(function, row), checker, tolerance, all_cases)
    return case_program(program, stdin or calls, rules, problem, row)


def ask_tests(answer: str, problem: Problem, *, suite: str, **settings: object) -> Program:
    """The answer with its row's tests, as the named suite puts them together."""
    return find_suite(suite)(answer, problem.extras, **settings)


def ask_tests_twice(answer: str, problem: Problem, *, suite: str, **settings: object) -> tuple[Program, ...]:
    """The tests, and the examples that the question itself shows."""
    shown = shown_tests(answer, problem.extras)
    hidden = ask_tests(answer, problem, suite=suite, **settings)
    return (hidden, shown) if shown else (hidden,)


def ask_code_eval(answer: str, problem: Problem) -> Program:
    """A whole program; the right answer is the lines that test it. The time limit is that of `code_eval`."""
    tests = problem.references[0]
    name = called_function([line for line in tests.splitlines() if line.startswith("assert ")])
    return Program(
        code=answer, tests=tests, entry_points=(name,) if name else (), limits=Limits(wall_seconds=_CODE_EVAL_SECONDS)
    )


def passed(execution: Execution, problem: Problem, **ask_settings: object) -> float | None:
    """1 if the tests passed; None if the sandbox could not decide."""
    return None if execution.passed is None else float(execution.passed)


def cases_passed(execution: Execution, problem: Problem, **ask_settings: object) -> float | None:
    """The share of the cases that passed."""
    if execution.passed is None:
        return None
    return sum(case.verdict == "passed" for case in execution.cases) / max(1, execution.all_cases)


def passed_and_shown(
    hidden: Execution, shown: Execution | None = None, *, problem: Problem, **ask_settings: object
) -> float | None:
    """1 for a pass, and 2 more if the sample passes the shown examples: `best_shown` chooses by that."""
    if hidden.passed is None or (shown is not None and shown.passed is None):
        return None
    return float(hidden.passed) + 2.0 * bool(shown is not None and shown.passed)


def _findings(score: Callable[..., float | None], asks: Callable[..., Any], **more: Any) -> Metric:
    return Metric(score=score, asks=asks, reads="findings", **more)


PROGRAM_METRICS = {
    "code": _findings(passed, ask_sandbox, yes_or_no=True),
    "code_eval": _findings(passed, ask_code_eval, yes_or_no=True),
    "tests": _findings(passed, ask_tests, yes_or_no=True),
    "code_cases": _findings(cases_passed, ask_sandbox),
    "tests_cases": _findings(cases_passed, ask_tests),
    "best_of_n": _findings(passed_and_shown, ask_tests_twice, limits=lambda problem: (0.0, 3.0)),
}
