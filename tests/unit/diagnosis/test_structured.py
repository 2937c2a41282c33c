"""Answers that must have a form: a service that keeps it, and each way in which one does not."""

import asyncio
import json
from collections.abc import Sequence

import pytest
from tests.fake_ports import MuteSubject

from model_accuracy_eval.diagnosis.probe import QUESTIONS, Needle, question
from model_accuracy_eval.diagnosis.structured import structured
from model_accuracy_eval.records import Fault, Request, ScoredReply, ToolCall

NEEDLES = [Needle(question(text), "42") for text in QUESTIONS]
RIGHT = {"answer": "yes", "sure": True}


class Forming(MuteSubject):
    """Holds each answer to what is asked for, but for its fault."""

    def __init__(self, fault: str = "") -> None:
        self._fault = fault

    async def answered(self, asked: Sequence[tuple[Request, bool]], at_once: int = 1) -> list[ScoredReply | Fault]:
        return [self._answer(request, streamed, at) for at, (request, streamed) in enumerate(asked)]

    def _answer(self, request: Request, streamed: bool, at: int) -> ScoredReply | Fault:
        is_call = "tools" in request.extra
        if self._fault == "takes none" or (self._fault == "takes no tools" and is_call):
            return Fault(kind="rejected", sentence="HTTP 400.")
        if self._fault == "passes it over" or (is_call and "tool_choice" not in request.extra):
            return ScoredReply(text="42", finish_reason="stop")
        value = {"answer": "maybe"} if self._fault == "unlike the schema" and at % 3 == 0 else RIGHT
        # Blanks and ids are a server's own; what is cut at its cap says nothing.
        said = json.dumps(value, indent=None if streamed else 1)
        if self._fault == "loses the last piece of streams" and streamed:
            said = said[:-4]
        if self._fault == "changes by itself":
            said = json.dumps({"answer": "no" if at % 5 else "yes", "sure": bool(at % 7)})
        end = "length" if at == 0 else "tool_calls" if is_call else "stop"
        if self._fault == "streamed calls end by stop" and streamed and is_call:
            end = "stop"
        if not is_call:
            return ScoredReply(text="".join(said.split()), finish_reason=end)
        return ScoredReply(text="", finish_reason=end, calls=(ToolCall(id=f"c{at}", name="reply", arguments=said),))


@pytest.mark.parametrize(
    ("fault", "state", "words"),
    [
        ("", "PASS", "11 JSON by a schema, 11 calls of a required tool, 12 answers beside a tool"),
        ("takes no tools", "PASS", "11 JSON by a schema."),
        ("takes none", "SKIP", "takes neither a schema nor tools"),
        ("passes it over", "SKIP", "takes neither a schema nor tools"),
        ("unlike the schema", "FAIL", 'Of 11 JSON by a schema, 3 do not fit it: \'stop: {"answer":"maybe"}\'.'),
        ("loses the last piece of streams", "FAIL", "Of 11 JSON by a schema, 11 differ when streamed: "),
        ("streamed calls end by stop", "FAIL", "Of 11 calls of a required tool, 11 differ when streamed: "),
    ],
)
def test_what_is_said_of_each(fault: str, state: str, words: str) -> None:
    found = asyncio.run(structured(Forming(fault), NEEDLES))
    assert found.state == state, found
    assert words in found.sentence


def test_what_changes_by_itself_is_no_fault_of_streams() -> None:
    """An answer that is not the same twice in one piece says nothing about its stream."""
    assert asyncio.run(structured(Forming("changes by itself"), NEEDLES)).state != "FAIL"
