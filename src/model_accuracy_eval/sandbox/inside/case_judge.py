"""The process that judges cases: it gives the program one input after the other and compares what comes back.

The program's process gets inputs alone. What is expected stays here, so a program passes by giving it, and only so.
"""

import base64
import binascii
import io
import json
import math
import pickle
import re
import sys
import zlib
from collections.abc import Callable
from contextlib import suppress
from copy import deepcopy
from typing import Any, NamedTuple

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

# What makes the output of a program right: one function for each rule. Those of benchmarks come with their cases.
#
# Each takes the case's input, what is expected and what the program gave. They run in the judge's process.


CaseChecker = Callable[[Any, Any, Any], bool]

DEFAULT_TOLERANCE = 1e-6
_NUMBER = re.compile(r"[+-]?(?:(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:e[+-]?[0-9]+)?|inf|infinity|nan)")
_MAX_NUMBER = 400
"""Characters of a number that is compared as one; longer texts are compared as texts."""


def exact(_given: str, expected: str, output: str) -> bool:
    """The same text; the last line need not end."""
    return output.removesuffix("\n") == expected.removesuffix("\n")


def tokens(_given: str, expected: str, output: str) -> bool:
    """The same words, whatever blanks and line ends are between them."""
    return output.split() == expected.split()


def floats(tolerance: float) -> CaseChecker:
    """The same words, and numbers that differ absolutely or relatively by the tolerance at most."""

    def check(_given: str, expected: str, output: str) -> bool:
        wanted, got = expected.split(), output.split()
        return len(wanted) == len(got) and all(map(close, wanted, got))

    def close(wanted: str, got: str) -> bool:
        if wanted == got:
            return True
        first, second = _number(wanted), _number(got)
        if first is None or second is None or not (math.isfinite(first) and math.isfinite(second)):
            return False
        return abs(first - second) <= tolerance * max(1.0, abs(first))

    return check


def _number(word: str) -> float | None:
    """Written as any language writes it: Python alone reads 1_0 and digits of other alphabets."""
    return float(word) if len(word) <= _MAX_NUMBER and _NUMBER.fullmatch(word.lower()) else None


def equal_values(_given: Any, expected: Any, output: Any) -> bool:
    """LiveCodeBench: equal values; a tuple is as good as a list."""
    return bool((list(output) if isinstance(output, tuple) else output) == expected)


CHECKERS: dict[str, CaseChecker] = {"tokens": tokens, "exact": exact, "equal": equal_values}
"""Beside `floats`, which has a tolerance."""


_MAX_UNPACKED = 1 << 30


class UnreadableCases(Exception):
    """The task's data are at fault, so nothing is known about any program."""


class CasePair(NamedTuple):
    """What goes in and what is to come out: texts, or a function's arguments and its value."""

    given: Any
    expected: Any


class CaseSuite(NamedTuple):
    """Everything that judges a program."""

    cases: list[CasePair]
    check: CaseChecker
    function: str


class _TextUnpickler(pickle.Unpickler):
    """Reads texts and nothing that could call anything."""

    def find_class(self, module: str, name: str) -> Any:
        raise UnreadableCases(f"packed cases name {module}.{name}, and may hold text alone")


def read(source: str) -> CaseSuite:
    """The suite in the JSON text that the host writes."""
    data = json.loads(source)
    is_call = bool(data.get("function"))
    cases = [case for part in data["cases"] for case in _cases(part, is_call=is_call)]
    if not cases:
        raise UnreadableCases("there is not a single one")
    if data.get("whole_keys"):
        cases = [_with_whole_keys(case) for case in cases]
    return CaseSuite(cases, _checker(data), data.get("function", ""))


def _cases(part: Any, *, is_call: bool) -> list[CasePair]:
    """The cases in a list of objects or an object of two lists, which may be JSON, also packed as in LiveCodeBench."""
    entries = _unpacked(part) if isinstance(part, str) else part
    read_case = _written_call if is_call else _texts
    try:
        if isinstance(entries, dict):
            names = ("inputs", "outputs") if "inputs" in entries else ("input", "output")
            pairs = zip(*(entries[name] for name in names), strict=True)
            return [CasePair(*pair) if is_call else _texts(*pair) for pair in pairs]
        return [read_case(entry["input"], entry["output"]) for entry in entries]
    except (TypeError, KeyError, ValueError, AttributeError) as error:
        raise UnreadableCases(f"a case has no input and output of the right form: {error}") from error


def _written_call(given: str, expected: str) -> CasePair:
    """A call whose arguments are lines of JSON."""
    return CasePair([json.loads(line) for line in given.split("\n")], json.loads(expected))


def _texts(given: str | list[str], expected: str | list[str]) -> CasePair:
    """What APPS has as a list are lines."""
    return CasePair(*("\n".join(text) if isinstance(text, list) else str(text) for text in (given, expected)))


def _with_whole_keys(case: CasePair) -> CasePair:
    """JSON makes texts of the keys of a dictionary, which are numbers where they can be."""
    given, expected = case
    if given and isinstance(given[0], dict):
        given = [_whole_keys(given[0])] if _is_whole(given[0]) else given
    if isinstance(expected, dict) and _is_whole(expected):
        expected = [_whole_keys(expected)]
    elif isinstance(expected, list) and expected and isinstance(expected[0], dict) and _is_whole(expected[0]):
        expected = [_whole_keys(expected[0])]
    return CasePair(given, expected)


def _whole_keys(data: dict[str, Any]) -> dict[int, Any]:
    return {int(key): value for key, value in data.items()}


def _is_whole(data: dict[str, Any]) -> bool:
    try:
        return bool(_whole_keys(data)) or not data
    except ValueError:
        return False


def _unpacked(text: str) -> Any:
    if text.lstrip().startswith(("[", "{")):
        return json.loads(text)
    try:
        inflater = zlib.decompressobj()
        content = inflater.decompress(base64.b64decode(text, validate=True), _MAX_UNPACKED)
        if not inflater.eof:
            raise UnreadableCases("packed cases are cut off, or are larger than a gigabyte")
        return json.loads(_TextUnpickler(io.BytesIO(content)).load())
    except (binascii.Error, zlib.error, pickle.UnpicklingError, ValueError, TypeError, EOFError) as error:
        raise UnreadableCases(f"packed cases cannot be unpacked: {error}") from error


def _checker(data: dict[str, Any]) -> CaseChecker:
    if source := data.get("checker_source"):
        names: dict[str, Any] = {"__name__": "checker"}
        exec(compile(source, "<checker>", "exec"), names)  # noqa: S102 - the task's own
        own: CaseChecker = names["check"]
        return own
    name = data["checker"]
    if name == "floats":
        return floats(float(data.get("tolerance", DEFAULT_TOLERANCE)))
    return CHECKERS[name]


# The judging: one case after the other.


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
    *,
    open_program: OpenProgram,
    watch: Callable[[], None],
) -> JobReport:
    """The verdict on the program at the other end of the connection. `watch` begins when a checker has been read."""
    getattr(sys, "set_int_max_str_digits", id)(0)  # of this process, where no program runs
    try:
        suite = read(source)
    except UnreadableCases as error:
        return JobReport("harness_error", f"The task's cases cannot be read: {error}.")
    except Exception as error:  # noqa: BLE001 - a checker of the task's own may raise anything
        return JobReport("harness_error", f"The task's cases cannot be used: {type(error).__name__}: {error}.")
    try:
        connection.wait_until_ready()
        watch()
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
