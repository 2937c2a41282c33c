"""What a sandbox tells: limits that were asked for, output, conditions; and what one program leaves for the next."""

import asyncio
from collections.abc import Callable

import pytest
from tests.integration.sandbox.conftest import RunAll

from model_accuracy_eval.ports import Sandbox
from model_accuracy_eval.records.code import Limits, Program
from model_accuracy_eval.system.clock import run

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

    def memory(megabytes: int, limit: int) -> Program:
        return Program(
            code=f"def f(): return len(bytearray({megabytes} << 20))",
            tests="assert f()",
            limits=Limits(memory_mb=limit),
        )

    def file(megabytes: int, limit: int) -> Program:
        code = f"def f():\n    with open('x', 'wb') as out:\n        for _ in range({megabytes}): out.write(bytes(1 << 20))\n    return 1"
        return Program(code=code, tests="assert f() == 1", limits=Limits(file_mb=limit))

    def threads(count: int, limit: int) -> Program:
        code = (
            "import threading\ndef f(n):\n    gate = threading.Event()\n    all = [threading.Thread(target=gate.wait) for _ in range(n)]\n"
            "    for one in all: one.start()\n    gate.set()\n    return n"
        )
        return Program(code=code, tests=f"assert f({count}) == {count}", limits=Limits(processes=limit))

    def output(kilobytes: int, limit: int) -> Program:
        return Program(
            code=f"def f():\n    print('x' * {kilobytes << 10})\n    return 1",
            tests="assert f() == 1",
            limits=Limits(output_kb=limit),
        )

    cases = [
        memory(900, 1200),
        memory(400, 300),
        file(30, 40),
        file(8, 4),
        threads(40, 60),
        threads(12, 8),
        output(200, 300),
        output(200, 100),
    ]
    assert [one.verdict for one in run_any(cases)] == [
        "passed", "out_of_memory", "passed", "error", "passed", "error", "passed", "output_limit",
    ]  # fmt: skip


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


@pytest.mark.parametrize("family", ["AF_INET", "AF_INET6", "AF_NETLINK"])
def test_a_program_talks_to_itself_where_no_network_is_but_its_own(family: str, kind: str, run_all: RunAll) -> None:
    """A namespace of its own has a loopback and nothing else; on the machine's network there is no socket at all."""
    code = f"import socket\ndef f(): socket.socket(socket.{family}, socket.SOCK_DGRAM).close()"
    allowed = kind in ("docker", "bwrap") and family != "AF_NETLINK"
    (done,) = run_all([Program(code=code, tests="f()")])
    assert done.verdict == ("passed" if allowed else "error"), done.detail


def test_the_event_loop_goes_on_while_programs_run(boxes: Callable[[str], Sandbox]) -> None:
    """Other work of the same loop is done in between, hundreds of times on a machine that has time."""
    slow = Program(code="import time\ndef f(): time.sleep(0.5)", tests="f()")

    async def story() -> int:
        running, turns = asyncio.create_task(boxes("docker").run(slow)), 0
        while not running.done():
            await asyncio.sleep(0.001)
            turns += 1
        return turns

    assert run(story()) > 10


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
