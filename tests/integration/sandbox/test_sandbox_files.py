"""Files beside a program: it reads and imports them, and nothing of them is there for the next one."""

from collections.abc import Callable

import msgspec
import pytest
from tests.integration.sandbox.conftest import RunAll, runner

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


COUNTING = "assert f() == len(open('data/cities.csv').readlines())"
CITIES = {"data/cities.csv": "Bonn\nKiel\n"}
READS = "def f():\n    with open('data/cities.csv') as file: return len(file.readlines())\n"
TOUCHING = {
    "empties its own": "open('data/cities.csv', 'w').close()\ndef f(): return 0",
    "removes its own": "import shutil\nshutil.rmtree('data')\ndef f(): return 0",
    "empties those of the tests": """
import glob, os
def f():
    for path in glob.glob('/dev/shm/*/data/cities.csv') + glob.glob(os.getcwd() + '/*/data/cities.csv'):
        for place in (path, os.path.dirname(path)): os.chmod(place, 0o777)
        open(path, 'w').close()
    return 0
""",
    "puts others in their place": """
import glob, os
def f():
    for path in glob.glob('/dev/shm/*/data') + glob.glob(os.getcwd() + '/*/data'):
        os.chmod(os.path.dirname(path), 0o777)
        os.rename(path, path + '2')
        os.mkdir(path)
        open(path + '/cities.csv', 'w').close()
    return 0
""",
}


@pytest.mark.parametrize("solution", ["", READS])
def test_tests_read_files_that_no_program_has_changed(
    kind: str, solution: str, boxes: Callable[[str], Sandbox]
) -> None:
    """Theirs are another copy, and one that was touched is no pass; a right program may do with its own what it likes."""
    codes = [
        READS,
        READS.replace("return", "found =") + "    open('data/cities.csv', 'w').close()\n    return found",
        *TOUCHING.values(),
    ]
    programs = [
        Program(code=code, tests=COUNTING, entry_points=("f",), files=CITIES, reference=solution) for code in codes
    ]
    found = runner(boxes(kind))(programs)
    assert [(one.passed, one.integrity) for one in found] == [(True, "split")] * 2 + [(False, "split")] * len(
        TOUCHING
    ), found


def test_tests_that_share_files_with_a_program_are_beside_it(run_any: RunAll) -> None:
    """They read what it writes, or write what it reads; the label says so."""
    writes = "def f():\n    with open('out.txt', 'w') as file: file.write('7')\n"
    tests = [
        "f()\nassert open('out.txt').read() == '7'",
        "open('in.txt', 'w').close()\nf()\nassert open('out.txt').read() == '7'",
    ]
    programs = [Program(code=writes, tests=text, entry_points=("f",), files=CITIES) for text in tests]
    assert {(one.verdict, one.integrity) for one in run_any(programs)} == {("passed", "shared+control")}
    alone = msgspec.structs.replace(programs[0], files={})
    assert [(one.verdict, one.integrity) for one in run_any([alone])] == [("passed", "split")]


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
