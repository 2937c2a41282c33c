"""Runs a program and its tests in one process, for tests that look into the program's objects.

The program can forge what is reported from here, so it is taken as data only. The host therefore wants to see each test
reach its end, and runs a second time, where a part of the expectations is wrong: exactly that part must fail.
"""

from collections.abc import Sequence

from model_accuracy_eval.sandbox.inside.failed_checks import explained, failed_check
from model_accuracy_eval.sandbox.inside.messages import CheckOutcome, JobReport
from model_accuracy_eval.sandbox.inside.program_process import describe_error, flush, load
from model_accuracy_eval.sandbox.inside.test_ends import CHECKED, compile_tests
from model_accuracy_eval.sandbox.inside.unit_tests import run_test_cases, test_cases


def run(code: str, tests: str, ends: Sequence[int]) -> JobReport:
    """`ends` are the numbers that the tests' ends report."""
    checks: list[CheckOutcome] = []
    try:
        names = load(code).__dict__
        names[CHECKED] = lambda number, held: checks.append(CheckOutcome(number, held))
        before = dict(names)
        exec(compile_tests(tests, ends), names)  # noqa: S102 - the task's own tests
        report = JobReport("passed", run_test_cases(test_cases(names, before)))
        flush()
    except AssertionError as error:
        check = failed_check(error, tests)
        report = JobReport("failed", explained(_sentence(error), check), failed_check=check)
    except MemoryError as error:
        report = JobReport("out_of_memory", _sentence(error))
    except BaseException as error:  # noqa: BLE001 - leaving is not passing
        report = JobReport("error", _sentence(error), failed_check=failed_check(error, tests))
    return report._replace(checks=checks)


def _sentence(error: BaseException) -> str:
    where = f"{test}: " if (test := getattr(error, "unit_test", "")) else ""
    return f"{where}{describe_error(error)}"
