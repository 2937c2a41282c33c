"""HumanEval+ and MBPP+ as EvalPlus judges them: a program has to agree with the reference solution, input by input.

The rules are those of its release `VERSION`: the types of the inputs, equality with a tolerance where floats are
expected, exceptions for functions with several right answers, and time for each input by what the reference takes.
The tests run the reference, so it is out of a program's reach and as fast as this machine.
"""

import ast
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from model_accuracy_eval.records import JSONObject, TaskSpec
from model_accuracy_eval.records.code import Limits, Mode, Program
from model_accuracy_eval.scoring.code.code_syntax import parse_source

VERSION = "0.3.1"

_LIMITS = Limits(wall_seconds=180.0, memory_mb=4096)
"""Time for both halves and for the reference; the tests have EvalPlus' limits, which are shorter."""
_SECONDS_OF_HALF = 62.0
"""What a program may take for the original inputs, and again for the added ones, with its start."""
_LARGE_RESULTS = {"combinations_colors"}
"""Functions whose result (128 million texts) fits into one process, but not a second time into another one."""


def agreement(code: str, row: JSONObject, *, inputs: Sequence[str] = ("base_input", "plus_input")) -> Program:
    """The reference solution says what is right for every input of these columns."""
    name, is_mbpp = row["entry_point"], "assertion" in row
    halves = [row[column] for column in inputs]
    if is_mbpp:
        shapes = _SHAPES.get(int(row["task_id"].rpartition("/")[2]), "")
        halves = [[with_types(arguments, shapes) for arguments in half] for half in halves]
    oracle = _ORACLES.get(name, _Oracle())
    tests = _TESTS.format(
        reference=_renamed(row["canonical_solution"] if is_mbpp else row["prompt"] + row["canonical_solution"]),
        tolerance=row["atol"],
        expected=oracle.expected,
        agrees=oracle.agrees,
        halves=halves,
        seconds=_SECONDS_OF_HALF,
        name=name,
    )
    mode: Mode = "shared" if name in _LARGE_RESULTS else "split"
    return Program(code=code, tests=tests, entry_points=(name,), mode=mode, limits=_LIMITS)


def notes(task: TaskSpec) -> Iterator[str]:
    """One sentence if a task is judged so."""
    if any(use.args.get("suite") == "agreement" for pipeline in task.pipelines for use in pipeline.metrics):
        yield (
            f"Judged by the rules of EvalPlus {VERSION}, with time as core time, and with HumanEval/32 as its rule is "
            "meant: that release passes no program there."
        )


_TESTS = """
{reference}

from copy import deepcopy as _copy
from itertools import zip_longest as _zip_longest
from math import inf, nan, sqrt as _sqrt
from time import process_time as _core_time

def _is_floats(value):
    if isinstance(value, (list, tuple)) and value:
        return all(isinstance(one, float) for one in value)
    return isinstance(value, float)

def _as_array(value):
    if isinstance(value, (int, float, complex)):
        return (), [value]
    if not isinstance(value, (list, tuple)):
        raise ValueError("no number")
    parts = [_as_array(one) for one in value]
    shapes = {{shape for shape, _ in parts}}
    if len(shapes) > 1:
        raise ValueError("no array")
    return (len(parts), *(shapes.pop() if shapes else ())), [number for _, numbers in parts for number in numbers]

def _is_close(got, expected, tolerance):
    if not tolerance or type(got) != type(expected):
        return False
    try:
        (shape, numbers), (wanted_shape, wanted) = _as_array(got), _as_array(expected)
    except ValueError:
        return False
    return shape == wanted_shape and all(
        one == other or abs(one - other) <= tolerance + 1e-7 * abs(other) for one, other in zip(numbers, wanted))

def _crossing():
    begun = _core_time()
    _copy([_arguments, _expected])
    return 4 * (_core_time() - begun)

for _inputs in {halves!r}:
    _tolerance, _seconds = {tolerance!r}, {seconds!r}
    for _number, _arguments in enumerate(_inputs):
        _given, _begun = _copy(_arguments), _core_time()
        _expected = _of_reference_{name}(*_given)
        _limit = max(1.0, 4 * (_core_time() - _begun))
        _expected = {expected}
        _got, _used = __within__(min(_limit, _seconds), _crossing, {name}, *_copy(_arguments))
        _seconds -= _used
        _agrees = {agrees}
        _tolerance = _tolerance or 1e-6 * _is_floats(_expected)
        assert _agrees or _is_close(_got, _expected, _tolerance), (
            f"input {{_number}}: {{repr(_got)[:200]}} is not {{repr(_expected)[:200]}}")
"""
"""A tolerance that one input has brought stays for those after it, as there."""


@lru_cache(maxsize=16)  # samples of a problem come together
def _renamed(reference: str) -> str:
    """The source with other names for its functions, because the program has its own under these."""
    tree = parse_source(reference)
    names = {node.name for node in tree.body if isinstance(node, ast.FunctionDef)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id in names:
            node.id = f"_of_reference_{node.id}"
        elif isinstance(node, ast.FunctionDef) and node.name in names:
            node.name = f"_of_reference_{node.name}"
        elif isinstance(node, ast.arg) and node.arg in names:
            node.arg = f"_of_reference_{node.arg}"
    return ast.unparse(tree)


class _Oracle(NamedTuple):
    """Two expressions: what is expected of the program, and whether it agrees without any tolerance."""

    agrees: str = "_got == _expected"
    expected: str = "_expected"


_UNORDERED = {
    "similar_elements", "find_char_long", "common_in_nested_lists", "extract_singly", "larg_nnum", "intersection_array",
    "find_dissimilar", "Diff",
}  # fmt: skip
_MATCH_OR_NONE = {"check_str", "text_match_three", "text_starta_endb"}
"""Functions that may return any object for yes, and None for no."""
_ORACLES = {
    "are_equivalent": _Oracle("True"),
    "sum_div": _Oracle("_got == _expected or _got == 0"),
    # The height of a pyramid may be meant along its side, or upright.
    "surface_Area": _Oracle(
        "_got == _expected or abs(_got - round((lambda base, height: base**2 + 2 * base * _sqrt((base / 2)**2 "
        "+ height**2))(*_arguments))) <= _tolerance"
    ),
    # Numbers of different lengths may be compared from their last digits on.
    "digit_distance_nums": _Oracle(
        "_got == _expected or _got == sum(abs(int(one) - int(other)) for one, other in "
        "_zip_longest(*(str(number)[::-1] for number in _arguments), fillvalue='0'))"
    ),
    "find_zero": _Oracle("abs(_of_reference_poly(*_arguments, _got)) <= _tolerance", expected="None"),
    **dict.fromkeys(_UNORDERED, _Oracle("set(_got) == set(_expected)")),
    **dict.fromkeys(
        _MATCH_OR_NONE,
        _Oracle("(_got if isinstance(_got, bool) else _got is not None) == _expected", "_expected is not None"),
    ),
}


# The types of MBPP+'s inputs: JSON has neither tuples, sets nor complex numbers, so the evaluator knows them by task.


def with_types(arguments: Sequence[Any], shapes: str) -> list[Any]:
    """The arguments as these words say: the letters of the containers from the outermost inwards, or that of a number.
    The last word is for all further arguments, too."""
    words = shapes.split() or ["-"]
    return [_with_type(it, words[min(place, len(words) - 1)]) for place, it in enumerate(arguments)]


def _with_type(value: Any, word: str) -> Any:
    make = _NUMBERS.get(word)
    if make:
        return make(value)
    if word == "T":
        return tuple(_with_type(item, word) for item in value) if isinstance(value, list) else value
    if word in {"", "-"}:
        return value
    if isinstance(value, dict):
        return {key: _with_type(item, word[1:]) for key, item in value.items()}
    if not isinstance(value, list):
        return value
    items = [_with_type(item, word[1:]) for item in value]
    return tuple(items) if word[0] == "t" else items if word[0] == "l" else set(items) or {}


_NUMBERS: dict[str, Callable[[Any], Any]] = {"c": complex, "f": float}
_SHAPES_OF = {
    "t": (2, 116, 132, 143, 222, 261, 273, 394, 399, 421, 424, 429, 470, 560, 579, 596, 616, 630, 726, 740, 744, 809),
    "lt": (63, 64, 70, 94, 120, 237, 272, 299, 400, 409, 417, 438, 473, 614, 780),
    "tt": (259, 278, 401, 445),
    "T": (580, 615, 791),
    "t -": (250, 307, 405, 446, 617, 720, 763, 808),
    "- t": (106, 750),
    "lt -": (75, 413, 444, 753),
    "ls": (115,),
    "dt -": (722,),
    "c": (252,),
    "f c": (124,),
}
"""T: every list at any depth becomes a tuple; t, l, d and s: a tuple, a list, the values of a mapping, and a set, which
the evaluator leaves an empty mapping where it has nothing."""
_SHAPES = {number: shapes for shapes, numbers in _SHAPES_OF.items() for number in numbers}
