"""Runs a program and its tests in one process, for tests that look into the program's objects.

The program can forge what is reported from here, so it is taken as data only. The host therefore runs a second time,
with expectations that are wrong, and believes a pass only when every one of those was seen to fail.
"""

import unittest
from types import ModuleType

from model_accuracy_eval.sandbox.inside.messages import CheckOutcome, JobReport
from model_accuracy_eval.sandbox.inside.program_process import describe_error, flush, load

CHECKED = "__checked__"
"""The function that negated tests report to: the number of a check, and whether it held."""


def run(code: str, tests: str) -> JobReport:
    checks: list[CheckOutcome] = []
    try:
        module = load(code)
        module.__dict__[CHECKED] = lambda number, held: checks.append(CheckOutcome(number, held))
        exec(compile(tests, "<tests>", "exec"), module.__dict__)  # noqa: S102 - the task's own tests
        report = _run_unit_tests(module)
        flush()
    except AssertionError as error:
        report = JobReport("failed", _sentence(error))
    except MemoryError as error:
        report = JobReport("out_of_memory", _sentence(error))
    except BaseException as error:  # noqa: BLE001 - leaving is not passing
        report = JobReport("error", _sentence(error))
    return report._replace(checks=checks)


def _run_unit_tests(module: ModuleType) -> JobReport:
    """Runs the module's TestCases. Where there are none, the tests were plain statements, which have run already."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = unittest.TestResult()
    suite.run(result)
    for verdict, problems in (("error", result.errors), ("failed", result.failures)):
        if problems:
            test, trace = problems[0]
            return JobReport(verdict, f"{test}: {trace.strip().splitlines()[-1]}"[:2000])
    if suite.countTestCases() != result.testsRun:
        return JobReport("failed", f"{result.testsRun} of {suite.countTestCases()} tests were run.")
    return JobReport("passed")


def _sentence(error: BaseException) -> str:
    classes, text = describe_error(error)
    return f"{classes[0]}: {text}"
