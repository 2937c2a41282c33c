"""HumanEval+ and MBPP+ as EvalPlus judges them: the same verdicts on solutions that are slow, alternative or altered."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from tests.real_data import real
from tests.sandboxed import run_all

from model_accuracy_eval.benchmarks import dataset_table as tasks
from model_accuracy_eval.records.code import Program
from model_accuracy_eval.scoring.code.evalplus import VERSION, agreement

PYTHON = Path(".venv-evalplus/bin/python").absolute()
pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

STEP = 24
ALWAYS = {
    f"Mbpp/{number}"
    for number in (2, 7, 111, 115, 124, 140, 164, 222, 252, 294, 295, 558, 579, 581, 737, 769, 787, 794, 98, 120, 278, 597)
}  # fmt: skip
"""Tasks with an oracle, a tolerance or types of their own."""
LONG = {f"Mbpp/{number}" for number in (255, 389, 392, 583, 599, 603, 630)}
"""Tasks whose references take seconds; time is compared by the solutions below."""
RELEASED_WRONG = {"HumanEval/32"}
"""Where this release fails every program, its reference included."""

CHANGES = {
    "none": "it",
    "another object": "copy.deepcopy(it)",
    "floats a little off": "each(it, lambda one: one + 5e-7 if type(one) is float else one)",
    "floats off": "each(it, lambda one: one + 3e-5 if type(one) is float else one)",
    "numbers off": "each(it, lambda one: one + 1 if type(one) in (int, float) else one)",
    "whole numbers as floats": "each(it, lambda one: float(one) if type(one) is int and abs(one) < 2**50 else one)",
    "the other sequence": "tuple(it) if type(it) is list else list(it) if type(it) is tuple else it",
    "backwards": "it[::-1] if type(it) in (list, tuple) else it",
    "twice": "it + it if type(it) in (list, tuple) else it",
    "its truth": "bool(it)",
    "nothing": "None",
    "zero": "0",
}
ALTERED = """
{source}
import copy
def each(it, change):
    return type(it)(each(one, change) for one in it) if type(it) in (list, tuple) else change(it)
_right = {name}
def {name}(*arguments):
    it = _right(*arguments)
    return {change}
"""
SLOW = {
    "HumanEval/31": "def is_prime(n):\n    return n > 1 and all(n % it for it in range(2, n))",
    "HumanEval/39": (
        "def prime_fib(n):\n    a, b = 1, 2\n    while True:\n        n -= all(a % it for it in range(2, a)) and a > 1\n"
        "        if not n:\n            return a\n        a, b = b, a + b"
    ),
    "HumanEval/83": (
        "def starts_one_ends(n):\n"
        "    return sum('1' in (str(it)[0], str(it)[-1]) for it in range(10 ** (n - 1), 10 ** n))"
    ),
}
"""By trying what can be reckoned: right, and slower than four times the reference and a second."""
ALTERNATIVE = {
    "Mbpp/581": (
        "def surface_Area(base, height):\n    return round(base ** 2 + 2 * base * (base * base / 4 + height ** 2) ** 0.5)"
    ),
    "Mbpp/558": (
        "def digit_distance_nums(one, other):\n    width = max(len(str(one)), len(str(other)))\n"
        "    return sum(abs(int(a) - int(b)) for a, b in zip(str(one).zfill(width), str(other).zfill(width)))"
    ),
    "HumanEval/31": "def is_prime(n):\n    return n > 1 and all(n % it for it in range(2, int(n ** 0.5) + 1))",
}


class Compared(NamedTuple):
    """One program, and how both sides judged it: by the original inputs, and by all."""

    what: str
    ours: tuple[bool | None, bool | None]
    theirs: tuple[bool, bool]


def chosen(name: str) -> dict[str, dict[str, Any]]:
    found = [json.loads(line) for line in real(tasks.find(name).data).splitlines()]
    wanted = {*ALWAYS, *SLOW, *RELEASED_WRONG}
    return {
        row["task_id"]: row
        for place, row in enumerate(found)
        if row["task_id"] in wanted or (place % STEP == 0 and row["task_id"] not in LONG)
    }


@pytest.fixture(scope="module")
def compared(tmp_path_factory: pytest.TempPathFactory) -> list[Compared]:
    if not PYTHON.is_file():
        if os.environ.get("PARITY") == "required":
            pytest.fail(f"{PYTHON} is not there: `make parity` makes it.")
        pytest.skip(f"EvalPlus is not installed at {PYTHON}: `make parity` installs it there.")
    code = "import importlib.metadata as m; print(m.version('evalplus'))"
    assert subprocess.run([PYTHON, "-c", code], capture_output=True, text=True, check=True).stdout.strip() == VERSION
    data = {"humaneval": chosen("humaneval_plus"), "mbpp": chosen("mbpp_plus")}
    job: dict[str, Any] = {"programs": []}
    named: list[str] = []
    ours: list[Program] = []
    for dataset, rows in data.items():
        job[dataset] = str(tmp_path_factory.mktemp("rows") / dataset)
        Path(job[dataset]).write_text("".join(f"{json.dumps(row)}\n" for row in rows.values()))
        for task_id, row in rows.items():
            source = row["prompt"] + row["canonical_solution"]
            name = row["entry_point"]
            # Its clock is the wall's, so only what takes seconds is left to its least limit.
            solutions = [
                (change, ALTERED.format(source=source, name=name, change=text), 60.0)
                for change, text in CHANGES.items()
            ]
            solutions += [("slow", SLOW[task_id], 1.0)] if task_id in SLOW else []
            solutions += [("alternative", ALTERNATIVE[task_id], 60.0)] if task_id in ALTERNATIVE else []
            for what, solution, seconds in solutions:
                job["programs"].append((dataset, task_id, solution, seconds))
                named.append(f"{task_id}, {what}")
                ours += [agreement(solution, row, inputs=["base_input"]), agreement(solution, row)]
    oracle = [str(PYTHON), str(Path(__file__).with_name("evalplus_oracle.py"))]
    done = subprocess.run(oracle, input=json.dumps(job), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-4000:]
    passed = [one.passed for one in run_all("none", ours)]
    pairs = zip(passed[::2], passed[1::2], strict=True)
    theirs = json.loads(done.stdout.splitlines()[-1])
    return [Compared(what, one, tuple(other)) for what, one, other in zip(named, pairs, theirs, strict=True)]


def test_every_verdict_is_the_same(compared: list[Compared]) -> None:
    """Of the original inputs and of all of them; but where the release fails its own reference."""
    other = {one.what: one for one in compared if one.ours != one.theirs}
    assert {what.partition(",")[0] for what in other} <= RELEASED_WRONG, list(other.values())[:10]
    assert {verdict for one in compared for verdict in one.theirs} == {True, False}


def test_what_is_too_slow_there_is_too_slow_here(compared: list[Compared]) -> None:
    """Three right solutions that try what can be reckoned."""
    slow = {one.what: (one.ours[1], one.theirs[1]) for one in compared if one.what.endswith(", slow")}
    assert slow == {f"{task}, slow": (False, False) for task in SLOW}


def test_a_right_answer_of_another_meaning_passes_there_and_here(compared: list[Compared]) -> None:
    """Those that the oracles are for, and a reference of another kind."""
    found = {one.what: (one.ours, one.theirs) for one in compared if one.what.endswith(", alternative")}
    assert found == {f"{task}, alternative": ((True, True), (True, True)) for task in ALTERNATIVE}


def test_the_zero_of_a_polynomial_is_judged_by_the_rule_that_is_meant(compared: list[Compared]) -> None:
    """The release forgets to count its inputs, and so passes nobody."""
    found = {one.what: one for one in compared if one.what.startswith("HumanEval/32,")}
    assert not any(verdict for one in found.values() for verdict in one.theirs)
    assert found["HumanEval/32, none"].ours == (True, True)
    assert found["HumanEval/32, numbers off"].ours == (False, False)
