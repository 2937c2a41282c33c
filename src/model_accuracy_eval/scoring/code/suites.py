"""An answer and its row → the program that tells whether it is right: one function for each way of testing.

`row` has the columns of the task's `extras`, under the names that the published data have.
"""

from collections.abc import Callable, Sequence

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.records import JSONObject
from model_accuracy_eval.records.code import Limits, Mode, Program
from model_accuracy_eval.scoring.code import agreeing, shapes
from model_accuracy_eval.scoring.code.called import called
from model_accuracy_eval.scoring.code.foreign import foreign

Suite = Callable[..., Program]

_EVALPLUS = Limits(wall_seconds=30.0, memory_mb=4096)
_TOO_LARGE = {"combinations_colors"}
"""What these return fits into one process, but not a second time, on its way to another: 128 million texts."""
_HEAVY = Limits(wall_seconds=240.0, memory_mb=4096, processes=64)
"""Plotting and data libraries take their time to load, and start threads."""


def humaneval(code: str, row: JSONObject) -> Program:
    """HumanEval: `test` defines check(candidate)."""
    name = row["entry_point"]
    return Program(code=code, tests=f"{row['test']}\n\ncheck({name})\n", entry_points=(name,))


def asserts(code: str, row: JSONObject) -> Program:
    """MBPP: a list of asserts. What its set-up builds may be of the program's classes, so it comes after the code."""
    lines = [*row.get("test_imports", ()), row.get("test_setup_code", ""), *row["test_list"]]
    name = called(row["test_list"])
    return Program(code=code, tests="\n".join(lines) + "\n", entry_points=(name,), reference=row.get("code", ""))


def agreement(code: str, row: JSONObject, *, inputs: Sequence[str] = ("base_input", "plus_input")) -> Program:
    """HumanEval+ and MBPP+: the reference solution says what is right for every input."""
    name = row["entry_point"]
    given = [arguments for column in inputs for arguments in row[column]]
    if "assertion" in row:
        given = shapes.revived(given, shapes.examples(row["assertion"], name))
        reference = row["canonical_solution"]
    else:
        reference = row["prompt"] + row["canonical_solution"]
    tests = agreeing.tests(entry_point=name, reference=reference, inputs=given, tolerance=row["atol"])
    mode: Mode = "shared" if name in _TOO_LARGE else "split"
    return Program(code=code, tests=tests, entry_points=(name,), mode=mode, limits=_EVALPLUS)


def unit_tests(code: str, row: JSONObject) -> Program:
    """BigCodeBench: a unittest class that looks into the program's own objects, and replaces some of them."""
    return Program(
        code=code,
        tests=row["test"],
        entry_points=(row["entry_point"],),
        mode="shared",
        reference=row["prompt"] + row["canonical_solution"],
        limits=_HEAVY,
    )


def predicted_output(code: str, row: JSONObject) -> Program:
    """CRUXEval: the answer is an expression, compared with what the task's function really gives."""
    program = f"def predicted():\n    return (\n{code}\n    )\n"
    return Program(
        code=program, tests=f"{row['code']}\n\nassert predicted() == f({row['input']})\n", entry_points=("predicted",)
    )


def predicted_input(code: str, row: JSONObject) -> Program:
    """CRUXEval: the answer is a list of arguments; any that bring the output are right."""
    given = "def _given(*args, **kwargs):\n    return args, kwargs\n"
    program = f"{given}\n\ndef predicted():\n    return _given(\n{code}\n    )\n"
    tests = f"{row['code']}\n\n_args, _kwargs = predicted()\nassert f(*_args, **_kwargs) == {row['output']}\n"
    return Program(code=program, tests=tests, entry_points=("predicted",))


SUITES: dict[str, Suite] = {
    "humaneval": humaneval,
    "asserts": asserts,
    "agreement": agreement,
    "unit_tests": unit_tests,
    "predicted_output": predicted_output,
    "predicted_input": predicted_input,
    "foreign": foreign,
}


def find(name: str) -> Suite:
    """The way of testing of that name; an unknown one is answered with the nearest."""
    if name not in SUITES:
        raise UnknownName("way of testing code", name, SUITES)
    return SUITES[name]
