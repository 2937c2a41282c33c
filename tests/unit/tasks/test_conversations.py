"""Files of conversations: what is sent, what is compared, and what is wrong with a line."""

import json
from typing import Any

import pytest

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.tasks import preparation
from model_accuracy_eval.tasks.importers import own_questions
from model_accuracy_eval.tasks.rows import parse

SYSTEM = {"role": "system", "content": "Be brief."}
ASK = {"role": "user", "content": "Hello?"}
SAY = {"role": "assistant", "content": "Yes."}


def lines(*rows: Any) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def as_shared(talk: list[dict[str, str]]) -> list[dict[str, str]]:
    """In ShareGPT's words."""
    names = {"user": "human", "assistant": "gpt", "system": "system"}
    return [{"from": names[turn["role"]], "value": turn["content"]} for turn in talk]


@pytest.mark.parametrize("form", ["lists", "objects", "ShareGPT"])
def test_n15_everything_up_to_the_last_reply_is_sent(form: str) -> None:
    """Lists of messages, or objects that hold one: the last reply is the reference, the rest the conversation."""
    talks = [
        [SYSTEM, ASK, SAY, {"role": "user", "content": "Who?"}, {"role": "assistant", "content": "Me."}],
        [ASK, SAY],
    ]
    wrapped: dict[str, list[Any]] = {
        "lists": list(talks),
        "objects": [{"messages": talk} for talk in talks],
        "ShareGPT": [{"id": "1", "conversations": as_shared(talk)} for talk in talks],
    }
    data = lines(*wrapped[form])
    task = own_questions.from_file("talk.jsonl", data)
    problems = preparation.assemble(task, lambda file, fields: parse(file.name, data, fields)).problems
    assert [problem.references for problem in problems] == [("Me.",), ("Yes.",)]
    sent = [[(turn.role, turn.content) for turn in problem.messages] for problem in problems]
    assert [[(role, text.partition("\n\nThink it through")[0]) for role, text in turns] for turns in sent] == [
        [(turn["role"], turn["content"]) for turn in talk[:-1]] for talk in talks
    ]


def test_long_last_replies_are_compared_word_by_word() -> None:
    """Nobody can ask for the form of a letter; short ones are judged as any own question is."""
    kinds = {"Yes.": "own_equal", "Dear friend, " * 10: "token_f1"}
    for said, metric in kinds.items():
        task = own_questions.from_file("talk.jsonl", lines([ASK, {"role": "assistant", "content": said}]))
        assert task.pipelines[0].metrics[0].name == metric


@pytest.mark.parametrize(
    ("talk", "sentence"),
    [
        ([ASK, ASK], "line 2: message 2 must be of assistant, but is of 'user'"),
        ([SYSTEM, SAY, ASK], "line 2: message 2 must be of user, but is of 'assistant'"),
        ([ASK], "line 2: a conversation has 2 messages or more besides the system's, but this one has 1"),
        ([SYSTEM, ASK], "but this one has 1"),
        ([ASK, SAY, ASK], "line 2: the last message must be of assistant"),
        ([ASK, {"role": "assistant", "content": 7}], "line 2: message 2 has no text as its content"),
        ([ASK, {"role": "assistant"}], "line 2: message 2 has no text as its content"),
        ([{"role": "User", "content": "?"}, SAY], "line 2: message 1 must be of user, but is of 'User'"),
        ({"conversations": [{"from": "human", "value": "Hi"}, {"from": "bing", "value": "Hi"}]}, "but is of 'bing'"),
        ({"messages": "Hello?"}, "line 2: a conversation is a list of messages with role and content"),
    ],
)
def test_n15_a_line_that_is_no_conversation_is_named(talk: Any, sentence: str) -> None:
    """With its number, and the number of the message."""
    with pytest.raises(BadData) as error:
        own_questions.from_file("talk.jsonl", lines([ASK, SAY], talk))
    assert error.value.sentence.startswith("talk.jsonl, line 2: ")
    assert sentence in error.value.sentence
