"""A process that holds the program and its tests alike, for tests that look into the program's objects.

What it reports may be forged by the program, and is taken as data only. The host therefore runs a second time, with
expectations that are wrong, and believes a pass only when every one of those was seen to fail.
"""

import unittest
from collections.abc import Callable
from types import ModuleType
from typing import Any

from model_accuracy_eval.rim.sandbox.inside.program import flush, load, told

CHECKED = "__checked__"
"""The function that falsified tests report to: the number of a check, and whether it held."""


def run(code: str, tests: str, report: Callable[[list[Any]], None]) -> None:
    checks: list[list[Any]] = []
    try:
        module = load(code)
        module.__dict__[CHECKED] = lambda number, held: checks.append([number, held])
        exec(compile(tests, "<tests>", "exec"), module.__dict__)  # noqa: S102 - the task's own tests
        verdict = _unit_tests(module)
        flush()
    except AssertionError as error:
        verdict = ["failed", _sentence(error)]
    except MemoryError as error:
        verdict = ["out_of_memory", _sentence(error)]
    except BaseException as error:  # noqa: BLE001 - leaving is not passing
        verdict = ["error", _sentence(error)]
    report([*verdict, checks])


def _unit_tests(module: ModuleType) -> list[str]:
    """Runs the TestCases that are there; without any, the tests were plain statements and have run."""
    suite = unittest.defaultTestLoader.loadTestsFromModule(module)
    result = unittest.TestResult()
    suite.run(result)
    for kind, found in (("error", result.errors), ("failed", result.failures)):
        if found:
            return [kind, f"{found[0][0]}: {found[0][1].strip().splitlines()[-1]}"[:2000]]
    if suite.countTestCases() != result.testsRun:
        return ["failed", f"{result.testsRun} of {suite.countTestCases()} tests were run."]
    return ["passed", ""]


def _sentence(error: BaseException) -> str:
    names, said = told(error)
    return f"{names[0]}: {said}"
