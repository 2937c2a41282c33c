"""Messages between host, fork server, tests and program: whole and of the declared types, or refused."""

import json
import os
import struct

import pytest

from model_accuracy_eval.sandbox.inside.messages import (
    CheckOutcome,
    Gone,
    JobOrder,
    JobReport,
    ServerSettings,
    TooLarge,
    Toolchain,
    ValueMessage,
    body_size,
    pack,
    receive,
    send,
    unpack,
)

ORDER = JobOrder(
    kind="exit_code", entry_points=["f"], toolchain=Toolchain("main.c", ["./main"], ["cc", "main.c"]),
    wall_seconds=10, compile_seconds=0.5, memory_mb=1, processes=1, file_mb=1, output_bytes=1,
)  # fmt: skip
MESSAGES = [
    ORDER,
    ORDER._replace(toolchain=None),
    JobReport("passed", "", [CheckOutcome(1, True), CheckOutcome(2, False)]),
    ValueMessage("value", [["list", 1, {"a": None}]], {"0": [1.5]}, "name", [], [7], "text"),
    ServerSettings("/tmp", ["/tmp"], "user", 1, 2, None),
    ValueMessage("value", ["\ud83d\ude00", "\U0001f600", "\udcff"]),  # two halves of a letter are not that letter
]


@pytest.mark.parametrize("message", MESSAGES)
def test_messages_arrive_as_they_were_sent(message: tuple[object, ...]) -> None:
    """Over a pipe, messages within messages too."""
    reader, writer = os.pipe()
    send(writer, message)
    assert receive(reader, type(message)) == message
    os.close(writer)
    with pytest.raises(Gone):
        receive(reader, type(message))
    os.close(reader)


@pytest.mark.parametrize(
    "data",
    [
        3, {}, [], "passed", ["passed"], ["passed", ""], ["passed", "", [], 1], ["passed", "", 7], ["passed", "", [[]]],
        ["passed", "", [[1, False, 0]]], ["passed", "", [[1, "no"]]], ["passed", "", [[True, False]]],
        ["passed", "", [[1.0, True]]], ["passed", "", {"a": [1, True]}], [None, "", []], [{"a": 1}, "", []],
    ],
)  # fmt: skip
def test_messages_of_another_form_are_refused(data: object) -> None:
    """A field too few or too many, or one of another type, at any depth."""
    with pytest.raises(ValueError, match="it is no|is declared"):
        unpack(JobReport, json.dumps(data).encode())


def test_what_is_no_json_is_refused() -> None:
    """By an error that readers expect, as for a malformed message."""
    for body in (b"", b"{", b"\xff", b"[1,"):
        with pytest.raises(ValueError, match=r".+"):
            unpack(JobReport, body)


def test_messages_beyond_every_honest_size_are_refused() -> None:
    """Before anything is read, and before anything is sent."""
    with pytest.raises(TooLarge, match="4,294,967,295 bytes announced"):
        body_size(struct.pack(">I", 2**32 - 1))
    with pytest.raises(TooLarge, match="where at most 33,554,432 may cross"):
        pack(JobReport("x" * (33 << 20)))
