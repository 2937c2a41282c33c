"""Programs that are looked at for what they put out: equal outputs have equal marks, and no program makes its own."""

import json
from typing import Any

import pytest
from tests.integration.sandbox.conftest import RunAll
from tests.integration.sandbox.test_sandbox_cases import program

from model_accuracy_eval.records.code import CaseProgram, Execution

INPUTS = [("1 2\n", "nobody looks at this"), ("3 4\n", "nor at this")]
ADD = "a, b = map(int, input().split())\n"


def marks(executions: list[Execution]) -> list[list[str]]:
    return [[case.mark for case in one.cases] for one in executions]


def called(code: str, *expressions: str, setup: str = "") -> CaseProgram:
    tests: dict[str, Any] = {"expressions": expressions, "setup": setup, "function": "f"}
    return CaseProgram(code=code, tests=json.dumps(tests), kind="calls")


def test_programs_that_print_the_same_agree(run_all: RunAll) -> None:
    """Whatever was expected, and however it is printed; other words, and another order, do not agree."""
    same = ["print(a + b)", "print(f'  {a + b}  ')", "import sys\nsys.stdout.write(str(b + a))"]
    others = ["print(a)", "print(a + b, '!')", "print(*str(a + b * 10))"]
    done = run_all(program(f"{ADD}{line}", INPUTS, compared=False) for line in [*same, *others])
    assert {one.verdict for one in done} == {"passed"}
    agreeing, different = marks(done)[: len(same)], marks(done)[len(same) :]
    assert len({tuple(one) for one in agreeing}) == 1
    assert len({tuple(one) for one in [*agreeing, *different]}) == 1 + len(others)
    assert all(len(one) == 2 and len({*one}) == 2 for one in agreeing)


def test_cases_that_are_compared_have_marks_too(run_any: RunAll) -> None:
    """Right or wrong: where all cases run, nothing has to run again."""
    done = run_any(
        program(code, [("1 2\n", "3"), ("2 2\n", "5")], all_cases=True)
        for code in (f"{ADD}print(a + b)", f"{ADD}print(b + a)", "raise ValueError")
    )
    right, again, broken = marks(done)
    assert right == again
    assert all(right)
    assert broken == ["", ""]


@pytest.mark.parametrize(
    ("first", "second", "agree"),
    [
        ("[1, 2]", "list((1, 2))", True),
        ("[1, 2]", "(1, 2)", False),
        ("0.1 + 0.2", "0.3", True),
        ("1", "True", True),
        ("1", "'1'", False),
        ("{3, 1, 2}", "{2, 3, 1}", True),
        ("{'a': 1, 'b': 2}", "__import__('collections').OrderedDict(b=2, a=1)", True),
        ("10 ** 20000", "10 ** 20000 + 1", False),
    ],
)
def test_values_agree_by_their_content(run_any: RunAll, first: str, second: str, agree: bool) -> None:
    """As tests would compare them."""
    done = run_any(called(f"def f(): return {value}", "f()") for value in (first, second))
    one, two = marks(done)
    assert all([*one, *two]), [execution.detail for execution in done]
    assert (one == two) is agree


def test_what_a_program_says_of_its_own_objects_is_no_mark(run_all: RunAll) -> None:
    """An object that equals everything, one that prints as it likes, a list of the program's own, a generator."""
    objects = [
        "class It:\n    __eq__ = lambda *_: True\n    __hash__ = lambda _: 0\n    __repr__ = lambda _: '6'\ndef f(x): return It()",
        "class It(list):\n    __iter__ = lambda _: iter([6])\n    __len__ = lambda _: 1\ndef f(x): return It()",
        "def f(x): yield 6",
        "def f(x):\n    inner = []\n    inner.append(inner)\n    return inner",
    ]
    done = run_all(called(code, "f(3)") for code in objects)
    assert [one.cases[0].mark for one in done] == [""] * len(objects)


def test_calls_run_as_the_tests_write_them(run_all: RunAll) -> None:
    """With their set-up, in the judge's process; the program is ended by none of its faults but its own."""
    done = run_all(
        [
            called("def f(x): return x", "f(math.floor(2.5))", "f(two())", setup="import math\ndef two(): return 2"),
            called("def f(x): raise ValueError(x)", "f(1)", "f(2)"),
            called("import os\ndef f(x): os._exit(0)", "f(1)"),
            called("def g(x): return x", "f(1)"),
        ]
    )
    assert [one.verdict for one in done] == ["passed", "error", "exited", "error"]
    assert marks(done)[0] == [marks(done)[0][0]] * 2
    assert [mark for one in marks(done)[1:] for mark in one if mark] == []
