"""The process that the tests run in: names that they do not define are asked of the program, in another process."""

import importlib
import sys
from collections.abc import Sequence
from typing import NamedTuple

from model_accuracy_eval.sandbox.inside.failed_checks import explained, failed_check
from model_accuracy_eval.sandbox.inside.messages import (
    NOT_DATA,
    PROGRAM_ENDED,
    CheckOutcome,
    ComparedSides,
    Gone,
    JobReport,
)
from model_accuracy_eval.sandbox.inside.program_connection import ProgramConnection
from model_accuracy_eval.sandbox.inside.test_ends import CHECKED, compile_tests
from model_accuracy_eval.sandbox.inside.unit_tests import run_test_cases, test_cases
from model_accuracy_eval.sandbox.inside.value_forms import NotData


class ProgramNames(NamedTuple):
    """Names that the tests take from the program."""

    entry_points: list[str]
    borrowed: list[str]


class Namespace(dict[str, object]):
    """The names of the tests; those that they do not define are looked up when they are used."""

    def __init__(self, connection: ProgramConnection, names: ProgramNames) -> None:
        super().__init__(__name__="tests")
        self._connection, self._names = connection, names

    def __missing__(self, name: str) -> object:
        """An entry point is always the program's, and what Python itself has never is (see `names_of_tests`)."""
        is_module = name in sys.stdlib_module_names and name not in self._names.entry_points
        if not (is_module or name in self._names.entry_points or name in self._names.borrowed):
            raise KeyError(name)
        if is_module and not self._connection.has(name):
            raise KeyError(name)
        # Where only the program imports a module, such as math, plain Python would give the tests the program's.
        self[name] = importlib.import_module(name) if is_module else self._connection.find(name)
        return self[name]


class Tests(NamedTuple):
    source: str
    ends: Sequence[int] = ()
    """The numbers that their ends report."""
    helpers: str = ""
    """Source that is executed before them."""


def judge(tests: Tests, names: ProgramNames, connection: ProgramConnection) -> JobReport:
    """To pass, the tests must run to their end and have called the program at least once."""
    try:
        report = _run(tests, names, connection)
    except NotData as error:
        return JobReport(NOT_DATA, str(error))
    # The tests may have caught it.
    return JobReport(NOT_DATA, connection.not_data) if connection.not_data else report


def _run(tests: Tests, names: ProgramNames, connection: ProgramConnection) -> JobReport:
    source, ends = tests.source, tests.ends
    checks: list[CheckOutcome] = []
    try:
        connection.wait_until_ready()
        if "seed" in source:
            connection.follow_seeds()
        namespace = Namespace(connection, names)
        exec(tests.helpers, namespace)  # noqa: S102 - what the task itself gives
        namespace[CHECKED] = lambda number, held: checks.append(CheckOutcome(number, held))
        exec(compile_tests(source, ends), namespace)  # noqa: S102 - the task's own tests
        skipped = run_test_cases(test_cases(namespace, {}))
    except NotData:
        raise
    except Gone:
        return JobReport(PROGRAM_ENDED)
    except AssertionError as error:
        check = failed_check(error, source)
        return JobReport("failed", _sentence(error, check), failed_check=check)
    except MemoryError as error:
        return JobReport("out_of_memory", _sentence(error))
    except BaseException as error:  # noqa: BLE001 - whatever it is, the tests did not end well
        return JobReport("error", _sentence(error), failed_check=failed_check(error, source))
    if not connection.calls:
        return JobReport("failed", "The tests ended without a call of the program.")
    return JobReport("passed", skipped, checks)


def _sentence(error: BaseException, check: ComparedSides | None = None) -> str:
    text: str = vars(error).get("program_text") or f"{type(error).__name__}: {error}"
    text = explained(text, check)
    if test := vars(error).get("unit_test", ""):
        text = f"{test}: {text}"
    trace, line = error.__traceback__, 0
    while trace:
        line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == "<tests>" else line
        trace = trace.tb_next
    return f"{text[:2000]} (line {line} of the tests)" if line else text[:2000]
