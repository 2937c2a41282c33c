"""Files beside a program: it reads and imports them, and nothing of them is there for the next one."""

from collections.abc import Callable

import pytest

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.ports import Sandbox
from model_accuracy_eval.records.code import Limits, Mode, Program
from model_accuracy_eval.sandbox.program_environment import check_files
from model_accuracy_eval.system.clock import run

FILES = {"helper.py": "def twice(x): return 2 * x\n", "data/numbers.txt": "1 2 3 é\n", "pack/__init__.py": "SIZE = 4\n"}
USING = """
from helper import twice
from pack import SIZE
def f():
    with open("data/numbers.txt", encoding="utf-8") as file:
        return twice(SIZE), file.read()
"""


@pytest.mark.parametrize("mode", ["split", "shared"])
def test_a_program_reads_and_imports_its_files(kind: str, mode: Mode, boxes: Callable[[str], Sandbox]) -> None:
    """In every kind of isolation and both modes; the program after it finds none of them."""
    box = boxes(kind)
    tests = "assert f() == (8, '1 2 3 é\\n')"
    assert run(box.run(Program(code=USING, tests=tests, entry_points=("f",), mode=mode, files=FILES))).passed
    looking = Program(code="import os\ndef f(): return os.path.exists('helper.py')", tests="assert f() is False")
    assert run(box.run(looking)).passed


def test_tests_never_import_what_the_program_may_have_changed(boxes: Callable[[str], Sandbox]) -> None:
    """A program that rewrites a module beside it gains nothing in the process of its tests."""
    code = "open('helper.py', 'w').write('import os; os._exit(0)')\ndef f(): return 1"
    tests = "import helper\nassert f() == 2"
    program = Program(code=code, tests=tests, entry_points=("f",), files=FILES)
    found = run(boxes("none").run(program))
    assert found.passed is False


def test_other_languages_find_their_files(boxes: Callable[[str], Sandbox]) -> None:
    """In the folder where the program is started."""
    program = Program(code="test $(cat data/n) = 7", tests="", language="bash", files={"data/n": "7\n"})
    assert run(boxes("none").run(program)).passed


@pytest.mark.parametrize(
    ("program", "said"),
    [
        (Program(code="", tests="", files={"/etc/passwd": ""}), "must be named by a path below its folder"),
        (Program(code="", tests="", files={"a/../../b": ""}), "must be named by a path below its folder"),
        (Program(code="", tests="", files={"": ""}), "must be named by a path below its folder"),
        (Program(code="", tests="", language="c", files={"main.c": ""}), "would be overwritten: c programs"),
        (Program(code="", tests="", files={"a": "é" * 600_000}, limits=Limits(file_mb=1)), "have 1,200,000 bytes"),
    ],
)
def test_files_that_cannot_lie_there_are_refused(program: Program, said: str) -> None:
    """Before anything runs, with the name or the size."""
    with pytest.raises(BadValue, match=said):
        check_files(program)
