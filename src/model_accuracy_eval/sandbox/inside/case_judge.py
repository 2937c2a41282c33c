"""The process that judges cases: it gives the program one input after the other and compares what comes back.

The program's process gets inputs alone. What is expected stays here, so a program passes by giving it, and only so.
"""

import sys
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from typing import Any

from model_accuracy_eval.sandbox.inside.case_data import CasePair, CaseSuite, UnreadableCases, read
from model_accuracy_eval.sandbox.inside.messages import (
    CASE_BEGINS,
    CASE_ENDS,
    PROGRAM_ENDED,
    CaseOutcome,
    Gone,
    JobOrder,
    JobReport,
    TooLarge,
)
from model_accuracy_eval.sandbox.inside.program_connection import ProgramConnection, ProgramError
from model_accuracy_eval.sandbox.inside.value_forms import NotData

_SHOWN = 200
"""Characters of a text in a sentence."""

RunCase = Callable[[Any], Any]
"""Gives the program an input, or arguments; returns what it printed, or returned."""
OpenProgram = Callable[[ProgramConnection, CaseSuite], RunCase]


class CaseFailed(Exception):
    """The program left nothing to compare."""

    def __init__(self, verdict: str, detail: str) -> None:
        super().__init__(detail)
        self.verdict = verdict


def _judge_cases(suite: CaseSuite, order: JobOrder, run_case: RunCase, send: Callable[[JobReport], None]) -> JobReport:
    """Stops at the first case that fails, unless all are wanted; the server, which has the clock, is told when each
    begins and ends."""
    failed: CaseOutcome | None = None
    untold: list[CaseOutcome] = []
    for number, case in list(enumerate(suite.cases))[order.first_case :]:
        send(JobReport(CASE_BEGINS, cases=untold, all_cases=len(suite.cases)))
        given, fault = _given(case, run_case)
        send(JobReport(CASE_ENDS))
        outcome = CaseOutcome(number, "passed")
        if detail := _sentence(fault) if fault else _difference(suite, case, given):
            outcome = CaseOutcome(number, _verdict(fault), f"Case {number + 1} of {len(suite.cases)}: {detail}")
            failed = failed or outcome
        untold = [outcome]
        if failed and not order.all_cases:
            break
    return JobReport(failed.verdict if failed else "passed", failed.detail if failed else "", cases=untold)


def _given(case: CasePair, run_case: RunCase) -> tuple[Any, BaseException | None]:
    try:
        return run_case(deepcopy(case.given)), None
    except (Gone, TooLarge):
        raise
    except NotData as error:  # equal to nothing
        return error, None
    except BaseException as error:  # noqa: BLE001 - raised by the program, in its own process
        return None, error


def _difference(suite: CaseSuite, case: CasePair, given: Any) -> str:
    """Why what the program gave is wrong; empty if it is right."""
    try:
        if suite.check(case.given, case.expected, given):
            return ""
    except ProgramError as error:
        return str(error)
    except Exception as error:  # noqa: BLE001 - it is what this output brings the checker to
        return f"the checker raised {type(error).__name__}: {_short(str(error))}; it was given {_short(given)}"
    return f"expected {_short(case.expected)}, but it gave {_short(given)} for {_short(case.given)}."


def judge(
    source: str,
    order: JobOrder,
    connection: ProgramConnection,
    send: Callable[[JobReport], None],
    open_program: OpenProgram,
) -> JobReport:
    """The verdict on the program at the other end of the connection."""
    getattr(sys, "set_int_max_str_digits", id)(0)  # of this process, where no program runs
    try:
        suite = read(source)
    except UnreadableCases as error:
        return JobReport("harness_error", f"The task's cases cannot be read: {error}.")
    except Exception as error:  # noqa: BLE001 - a checker of the task's own may raise anything
        return JobReport("harness_error", f"The task's cases cannot be used: {type(error).__name__}: {error}.")
    try:
        connection.wait_until_ready()
        return _judge_cases(suite, order, open_program(connection, suite), send)
    except Gone:
        return JobReport(PROGRAM_ENDED)
    except TooLarge as error:
        return JobReport("harness_error", f"The input of a case cannot be given to a program: {error}.")
    except BaseException as error:  # noqa: BLE001 - it did not get as far as its first case
        return JobReport("error", _sentence(error))


def open_script(connection: ProgramConnection, _suite: CaseSuite) -> RunCase:
    """Each case is a run of the whole program: its input on standard input, its output to compare."""

    def run_case(text: str) -> str:
        ended = connection.run(text)
        if not (isinstance(ended, list) and len(ended) == 3 and all(isinstance(part, str) for part in ended)):
            raise CaseFailed("error", "an end of the program that cannot be read")
        verdict, detail, output = ended
        if verdict:
            raise CaseFailed(verdict if verdict in _ENDS else "error", detail)
        return str(output)

    return run_case


_ENDS = ("error", "crashed", "output_limit", "out_of_memory")


def open_function(connection: ProgramConnection, suite: CaseSuite) -> RunCase:
    """Each case is a call: of a method where the program has a class Solution, else of a function."""
    function = suite.function
    for find in (connection.method_of_solution, connection.find):
        with suppress(KeyError):
            found = find(function)
            return lambda arguments: found(*arguments)
    raise CaseFailed("error", f"the program has neither {function} nor a class Solution")


def _verdict(fault: BaseException | None) -> str:
    if isinstance(fault, CaseFailed):
        return fault.verdict
    return "failed" if fault is None else "out_of_memory" if isinstance(fault, MemoryError) else "error"


def _sentence(error: BaseException) -> str:
    if isinstance(error, CaseFailed):
        return str(error)
    text = getattr(error, "program_text", None) or f"{type(error).__name__}: {error}"
    return str(text)[:2000]


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[: _SHOWN // 2]} … {text[-_SHOWN // 2 :]}"
