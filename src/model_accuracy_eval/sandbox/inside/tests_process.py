"""The process that the tests run in. Apart from the program, names that they do not define are asked of it."""

import importlib
import sys
import unittest
from collections.abc import Callable, Iterable, Sequence
from types import TracebackType
from typing import Any, NamedTuple

from model_accuracy_eval.sandbox.inside.messages import NOT_DATA, PROGRAM_ENDED, CheckOutcome, Gone, JobReport
from model_accuracy_eval.sandbox.inside.program_connection import OutOfTime, ProgramConnection
from model_accuracy_eval.sandbox.inside.program_process import describe_error, flush, load
from model_accuracy_eval.sandbox.inside.tests_ends import CHECKED, WITHIN, compile_tests, failed_check
from model_accuracy_eval.sandbox.inside.value_forms import NotData

# Runs the TestCases that tests define. The first problem ends them, as it ends plain asserts.


# ruff: noqa: N802 - the names of unittest


_Raised = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]


class StrictResult(unittest.TestResult):
    """Raises the first problem. That a test was skipped is for the host to judge: its end is not reported."""

    def addError(self, test: unittest.TestCase, err: _Raised) -> None:
        raise _within(test, err[1])

    def addFailure(self, test: unittest.TestCase, err: _Raised) -> None:
        raise _within(test, err[1])

    def addSubTest(self, test: unittest.TestCase, _subtest: unittest.TestCase, err: _Raised | None) -> None:
        if err is not None:
            raise _within(test, err[1])

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, f"{_name(test)} was skipped: {reason}")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        raise _within(test, AssertionError("it passed where a failure is expected"))


def test_cases(names: dict[str, Any], before: dict[str, Any]) -> list[type[unittest.TestCase]]:
    """The TestCases among the names that were not there before the tests: a program's own are none of them."""
    return [
        value
        for name, value in list(names.items())
        if isinstance(value, type) and issubclass(value, unittest.TestCase) and before.get(name) is not value
    ]


def run_test_cases(cases: Iterable[type[unittest.TestCase]]) -> str:
    """Returns what was skipped. What the first failing test raises is raised, with the test's name as `unit_test`."""
    skipped = []
    for case in cases:
        suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
        expected, result = suite.countTestCases(), StrictResult()
        suite.run(result)
        if result.testsRun + len(result.skipped) < expected:
            raise AssertionError(f"{result.testsRun} of {expected} tests were run")
        skipped += [sentence for _, sentence in result.skipped]
    return "; ".join(skipped)[:2000]


def _within(test: unittest.TestCase, error: BaseException | None) -> BaseException:
    found = error or AssertionError("it failed")
    found.unit_test = _name(test)  # type: ignore[attr-defined]
    return found


def _name(test: unittest.TestCase) -> str:
    return test.id().rpartition(".")[2]


class Tests(NamedTuple):
    """Tests, and the names that they take from the program."""

    source: str
    entry_points: Sequence[str] = ()
    borrowed: Sequence[str] = ()
    ends: Sequence[int] = ()
    """The numbers that their ends report."""
    helpers: str = ""
    """Source that is executed before them."""


class Namespace(dict[str, object]):
    """The names of the tests; those that they do not define are looked up when they are used."""

    def __init__(self, connection: ProgramConnection, tests: Tests) -> None:
        super().__init__(__name__="tests")
        self._connection, self._tests = connection, tests

    def __missing__(self, name: str) -> object:
        """An entry point is always the program's, and what Python itself has never is (see `names_of_tests`)."""
        tests = self._tests
        is_module = name in sys.stdlib_module_names and name not in tests.entry_points
        if not (self._connection.has(name) if is_module else name in {*tests.entry_points, *tests.borrowed}):
            raise KeyError(name)
        # Where only the program imports a module, such as math, plain Python would give the tests the program's.
        self[name] = importlib.import_module(name) if is_module else self._connection.find(name)
        return self[name]


def judge_apart(tests: Tests, connection: ProgramConnection, watch: Callable[[], None]) -> JobReport:
    """To pass, the tests must run to their end and have called the program at least once. Of what this process
    executes, `watch` lets nothing pass from then on but what the tests have written."""
    try:
        report = _run(tests, connection, watch)
    except NotData as error:
        return JobReport(NOT_DATA, str(error))
    # The tests may have caught it.
    return JobReport(NOT_DATA, connection.not_data) if connection.not_data else report


def _run(tests: Tests, connection: ProgramConnection, watch: Callable[[], None]) -> JobReport:
    source = tests.source
    checks: list[CheckOutcome] = []
    try:
        connection.wait_until_ready()
        if "seed" in source:
            connection.follow_seeds()
        namespace = Namespace(connection, tests)
        helpers, compiled = compile(tests.helpers, "<string>", "exec"), compile_tests(source, tests.ends)
        watch()
        exec(helpers, namespace)  # noqa: S102 - what the task itself gives
        namespace[CHECKED] = lambda number, held: checks.append(CheckOutcome(number, held))
        namespace[WITHIN] = connection.within
        exec(compiled, namespace)  # noqa: S102 - the task's own tests
        skipped = run_test_cases(test_cases(namespace, {}))
    except NotData:
        raise
    except Gone:
        return JobReport(PROGRAM_ENDED)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the tests did not end well
        return _failure(error, source)
    if not connection.calls:
        return JobReport("failed", "The tests ended without a call of the program.")
    return JobReport("passed", skipped, checks)


def judge_together(code: str, tests: str, ends: Sequence[int]) -> JobReport:
    """In the program's own process, where it can forge what is reported. The host therefore wants to see each test
    reach its end, and runs a second time, where a part of the expectations is wrong: exactly that part must fail."""
    checks: list[CheckOutcome] = []
    try:
        names = load(code).__dict__
        names[CHECKED] = lambda number, held: checks.append(CheckOutcome(number, held))
        names[WITHIN] = lambda _limit, _crossing, function, *arguments: (function(*arguments), 0.0)
        before = dict(names)
        exec(compile_tests(tests, ends), names)  # noqa: S102 - the task's own tests
        report = JobReport("passed", run_test_cases(test_cases(names, before)))
        flush()
    except BaseException as error:  # noqa: BLE001 - leaving is not passing
        report = _failure(error, tests)
    return report._replace(checks=checks)


def _failure(error: BaseException, tests: str) -> JobReport:
    if isinstance(error, OutOfTime):
        (limit,) = error.args
        return JobReport("timeout", f"A call used more than {limit:.3g} s of core time.", limit_seconds=limit)
    is_check = isinstance(error, AssertionError)
    verdict = "failed" if is_check else "out_of_memory" if isinstance(error, MemoryError) else "error"
    text: str = vars(error).get("program_text") or describe_error(error)
    line, compared = failed_check(error, tests)
    if compared:  # a plain assert has no text of its own
        text = f"{text.removesuffix(': ')}: {compared}"
    if test := vars(error).get("unit_test", ""):
        text = f"{test}: {text}"
    where = f" (line {line} of the tests)" if line else ""
    return JobReport(verdict, f"{text[:2000]}{where}")
