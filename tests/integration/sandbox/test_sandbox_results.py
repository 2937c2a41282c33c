"""What a sandbox tells: limits that were asked for, output, conditions; and what one program leaves for the next."""

from collections.abc import Callable

import pytest
from tests.integration.sandbox.conftest import RunAll

from model_accuracy_eval.ports import Sandbox
from model_accuracy_eval.records.code import Limits, Program

SCAN = """
def f():
    needle, found = bytes(b ^ 1 for b in b'qm`oude,`orvds,5600'), 0
    with open('/proc/self/maps') as maps, open('/proc/self/mem', 'rb') as memory:
        for line in maps:
            place, rights = line.split()[:2]
            low, high = (int(part, 16) for part in place.split('-'))
            if 'rw' in rights and '[v' not in line:
                memory.seek(low)
                found += memory.read(high - low).count(needle)
    print(found)
"""


def test_a_program_finds_no_text_of_an_earlier_one_in_its_memory(kind: str, run_all: RunAll) -> None:
    """Code and tests are read by the processes that need them, never by the one they are all forked from."""
    scan = Program(code=SCAN, tests="f()")
    holding = Program(code=SCAN + "kept = 'planted-' + 'answer-4711' * 2", tests="f()")
    planting = Program(code="def f(): return 'planted-answer-4711'", tests="assert f() == 'planted-answer-4711'")
    before = run_all([scan])[0]
    assert [one.verdict for one in run_all([planting] * 4)] == ["passed"] * 4
    after, own = run_all([scan])[0], run_all([holding])[0]
    assert before.output == after.output != ""
    assert int(own.output) > int(after.output)


def test_limits_are_the_programs_own(run_any: RunAll) -> None:
    """Each of them, larger and smaller than the default, decides."""
    memory = "def f(): return len(bytearray({} << 20))"
    file = "def f():\n    with open('x', 'wb') as out:\n        for _ in range({}): out.write(bytes(1 << 20))\n    return 1"
    threads = (
        "import threading\ndef f():\n    gate = threading.Event()\n    all = [threading.Thread(target=gate.wait) for _ in range({})]\n"
        "    for one in all: one.start()\n    gate.set()\n    return 1"
    )
    output = "def f():\n    print('x' * ({} << 10))\n    return 1"
    cases = [
        (memory.format(900), Limits(memory_mb=1200), "passed"),
        (memory.format(400), Limits(memory_mb=300), "out_of_memory"),
        (file.format(30), Limits(file_mb=40), "passed"),
        (file.format(8), Limits(file_mb=4), "error"),
        (threads.format(40), Limits(processes=60), "passed"),
        (threads.format(12), Limits(processes=8), "error"),
        (output.format(200), Limits(output_kb=300), "passed"),
        (output.format(200), Limits(output_kb=100), "output_limit"),
    ]
    done = run_any(Program(code=code, tests="assert f()", limits=limits) for code, limits, _ in cases)
    assert [one.verdict for one in done] == [verdict for *_, verdict in cases]


def test_an_execution_names_its_conditions(kind: str, boxes: Callable[[str], Sandbox], run_all: RunAll) -> None:
    """Isolation, integrity, what it ran on, what it used, what it printed."""
    code = "def f(x):\n    print('seen', x)\n    return x"
    done = run_all([Program(code=code, tests="assert f(3) == 3")])[0]
    assert (done.isolation, done.integrity, done.passed) == (boxes(kind).isolation, "split", True)
    assert done.isolation == {"docker": "container", "bwrap": "namespace"}.get(kind, kind)
    assert "sha256:" in done.image if kind == "docker" else done.image.startswith("/")
    assert (done.output, done.output_bytes) == ("seen 3\n", 7)
    assert all((done.wall_seconds, done.cpu_seconds, (done.memory_mb or 0) > 1))


@pytest.mark.parametrize(
    ("tests", "integrity"), [("assert f(2) == 4", "shared+control"), ("if f(2) != 4: raise ValueError", "shared")]
)
def test_tests_beside_the_program_say_how_sure_they_are(tests: str, integrity: str, run_any: RunAll) -> None:
    """Without a check that could be made wrong there is no control run."""
    done = run_any([Program(code="def f(x): return x * x", tests=tests, mode="shared")])[0]
    assert (done.verdict, done.integrity) == ("passed", integrity)


FORGED = [
    b"{}", b"[]", b"3", b"[[[[", b"[" * 100_000, b"\xff", b'["passed"]', b'["harness_error", ""]', b'["passed", "", [[1, false]]]',
    b'["passed", "", 7]', b'["passed", {"a": ["\\ud800"]}, [[]]]', b'["gone", ""]',
]  # fmt: skip


@pytest.mark.parametrize("report", [*[len(it).to_bytes(4, "big") + it for it in FORGED], b"\xff\xff\xff\xff", b"\0"])
def test_a_forged_report_is_no_pass_and_no_fault_of_ours(report: bytes, run_any: RunAll) -> None:
    """Beside its tests a program can write what it likes to their channel; the worker takes it as data."""
    code = f"import os, time\nos.write(3, {report!r})\nos.close(3)\nos._exit(0)"
    done = run_any([Program(code=code, tests="assert f(2) == 4", mode="shared")])[0]
    assert done.passed is False, done
    assert done.attempts == 1


CODE = "seen = []\ndef f(x):\n    seen.append(x)\n    return x * x + 1"
TESTS = """
from concurrent.futures import ThreadPoolExecutor
with ThreadPoolExecutor(4) as pool:
    assert list(pool.map(f, [1, 2, 3, 4, 5])) == [2, 5, 10, 17, 26]
"""
TIMES = 40
"""Without order one run in three to one in thirty was wrong."""


def test_no_answer_goes_to_another_thread_of_the_tests(run_any: RunAll) -> None:
    """A right program passes whenever it runs, at the first attempt; a wrong one fails."""
    right = Program(code=CODE, tests=TESTS, entry_points=("f",), limits=Limits(wall_seconds=6.0))
    wrong = Program(code=CODE.replace("+ 1", "+ 2"), tests=TESTS, entry_points=("f",))
    *done, failed = run_any([right] * TIMES + [wrong])
    assert {(one.verdict, one.integrity, one.attempts, one.detail) for one in done} == {("passed", "split", 1, "")}
    assert failed.verdict == "failed"
