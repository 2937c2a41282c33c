"""The process of the tests against a program's process that sends whatever it likes."""

import json
import os
import socket
import struct
from collections.abc import Callable, Iterator

import pytest

from model_accuracy_eval.sandbox.inside import tests_process
from model_accuracy_eval.sandbox.inside.messages import NOT_DATA, JobReport, Json, ValueMessage, pack
from model_accuracy_eval.sandbox.inside.program_connection import ProgramConnection
from model_accuracy_eval.sandbox.inside.tests_process import judge_apart

FUNCTION = ValueMessage("function", name="f")
ASSERTION: Json = ["exception", -3, ["named", "builtins", "AssertionError"], ["tuple", 0, "no"], ["dict", 0], None]
MALFORMED: list[Json] = [
    ["int"], ["no such tag", 1], [["list"], 1], ["fraction", 1, 0], ["named", "builtins", "print"], ["ref", 99], ["ref", "x"],
    ["named", "unittest.case", "SkipTest"], ["named", "unittest.mock", "ANY"], ["named", "os", "system"], ["program's", "f"],
    ["named", "builtins", "type"], ["named", "tests", "A"], ["list", 1, 2], ["list", 3],
    ["exception", -9, ["named", "builtins", "int"], 1, 1, None], ["deque", 0], ["bytes", "x"], ["set", 0, ["list", 0]],
]  # fmt: skip
"""None of them stands for a value that a program may send."""
Judge = Callable[..., JobReport]
TESTS = tests_process.Tests("assert f([1]) == 2")


@pytest.fixture
def judged() -> Iterator[Judge]:
    """Judges `assert f([1]) == 2` with these bytes as all that the program's process sends."""
    ours, theirs = socket.socketpair()
    lifeline, writer = os.pipe()

    def run(*sent: bytes, tests: tests_process.Tests = TESTS) -> JobReport:
        theirs.sendall(b"".join(sent))
        theirs.shutdown(socket.SHUT_WR)
        connection = ProgramConnection(ours.fileno(), lifeline, os.getpid())
        return judge_apart(tests._replace(entry_points=["f"]), connection, lambda: None)

    yield run
    ours.close()
    theirs.close()
    os.close(lifeline)
    os.close(writer)


@pytest.mark.parametrize(("value", "verdict"), [(2, "passed"), (3, "failed")])
def test_honest_replies_decide(judged: Judge, value: int, verdict: str) -> None:
    """Compared here, as plain data; the other tests differ from these."""
    replies = [ValueMessage("ready"), FUNCTION, ValueMessage("value", [value])]
    assert judged(*map(pack, replies)).verdict == verdict


@pytest.mark.parametrize(
    "body",
    [
        b"", b"{", b"\xff", b"3", b"[]", b'["passed"]', b'["passed", "", []]', b"[" * 100_000,
        *(json.dumps([*ValueMessage("value", [value])]).encode() for value in MALFORMED),
        json.dumps([*ValueMessage("value", [2], changed=[["list", 7, 1]])]).encode(),
        json.dumps([*ValueMessage("value", [2], changed=[["dict", 1]])]).encode(),
        json.dumps([*ValueMessage("value", [2], changed=[7])]).encode(),
        json.dumps(["value", 2]).encode(),
    ],
    ids=repr,
)  # fmt: skip
def test_a_malformed_reply_is_an_error_of_the_program(judged: Judge, body: bytes) -> None:
    """No other form of a reply is taken for a value, and none ends the judging in any other way."""
    report = judged(pack(ValueMessage("ready")), pack(FUNCTION), struct.pack(">I", len(body)) + body)
    assert (report.verdict, report.checks) == ("error", [])
    assert "ProgramError: an answer that cannot be read" in report.detail


def test_a_reply_that_never_ends_is_not_read(judged: Judge) -> None:
    """Its announced length is enough."""
    report = judged(pack(ValueMessage("ready")), pack(FUNCTION), b"\xff\xff\xff\xff")
    assert report.verdict == "error"
    assert "4,294,967,295 bytes announced" in report.detail


def test_an_assertion_error_of_the_program_is_none_of_the_tests(judged: Judge) -> None:
    """It is raised as another exception, which tests may not take for their own."""
    raised = ValueMessage("raised", [ASSERTION], text="AssertionError: no")
    report = judged(pack(ValueMessage("ready")), pack(FUNCTION), pack(raised))
    assert (report.verdict, "AssertionError: no" in report.detail) == ("error", True)


def test_tests_that_never_call_the_program_do_not_pass(judged: Judge) -> None:
    """They would pass for every program."""
    assert judged(pack(ValueMessage("ready")), tests=tests_process.Tests("x = 1")).verdict == "failed"


@pytest.mark.parametrize("around", ["{}", "try: {}\nexcept BaseException: pass", "f([1])"])
def test_what_is_no_data_ends_the_judging_here(judged: Judge, around: str) -> None:
    """Whatever the tests make of it, and whoever would have sent it."""
    tests = tests_process.Tests(around.format("f(x for x in [1])"))
    report = judged(*map(pack, [ValueMessage("ready"), FUNCTION, ValueMessage(NOT_DATA, text="an object of type generator")]), tests=tests)  # fmt: skip
    assert report == JobReport(NOT_DATA, "an object of type generator")
