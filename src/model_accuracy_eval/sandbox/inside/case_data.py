"""The cases of a task as the judge's process reads them; the program's process never sees what is expected."""

import base64
import binascii
import io
import json
import math
import pickle
import re
import zlib
from collections.abc import Callable
from typing import Any, NamedTuple

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
