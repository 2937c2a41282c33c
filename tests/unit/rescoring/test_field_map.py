"""`--map`: files of any other shape, by the names of their fields."""

import json
from typing import Any

import pytest
from tests.saved_bytes import SavedBytes

from model_accuracy_eval.errors import BadData, EvalError
from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes.reply_files import MEANINGS, open_replies, parse

R = SavedReply
ROWS = [
    {"meta": {"key": 7, "topic": "law"}, "out": [{"text": "a"}, {"text": "b"}], "ok": [1, 0], "opts": ["x", "y"], "gold.label": "x"},
    {"meta": {"key": 8, "topic": "art"}, "out": [{"text": "c"}], "ok": [True], "opts": ["x", "y"], "gold.label": "y"},
]  # fmt: skip


def mapped(content: Any, text: str) -> list[SavedReply]:
    rows = content if isinstance(content, list) else [content]
    data = b"\n".join(json.dumps(row).encode() for row in rows)
    return list(open_replies(SavedBytes(data, "x.json"), parse(text)).replies())


def test_paths_lead_into_objects_and_lists() -> None:
    """`*` is each entry; a list is one reply for each sample; a name may have dots of its own."""
    found = mapped(
        ROWS, "id=meta.key, prediction=out.*.text, correct=ok, options=opts, gold=gold.label, part=meta.topic"
    )
    assert found == [
        R(problem="7", text="a", claimed={"correct": 1.0}, options=("x", "y"), gold=("x",), part="law"),
        R(problem="7", text="b", claimed={"correct": 0.0}, options=("x", "y"), gold=("x",), part="law"),
        R(problem="8", text="c", claimed={"correct": 1.0}, options=("x", "y"), gold=("y",), part="art"),
    ]


def test_what_stands_beside_the_rows_belongs_to_each() -> None:
    """GAOKAO-Bench names the subject once."""
    found = mapped(
        {"keyword": "History", "example": [{"index": 0, "out": "A"}]},
        "rows=example,id=index,part=keyword,prediction=out",
    )
    assert found == [R(problem="0", part="History", text="A")]


def test_everything_that_can_be_mapped() -> None:
    """One field each."""
    row = {
        "a": "p1", "b": "reply", "c": 3, "d": "Why?", "e": ["x"], "f": ["y", "z"], "g": "part", "h": "set", "i": "y", "j": "Hm.",
        "k": "length", "l": None, "m": False,
    }  # fmt: skip
    fields = (
        "id=a,prediction=b,index=c,question=d,options=e,gold=f,part=g,dataset=h,answer=i,reasoning=j,finish_reason=k,"
    )
    assert set(MEANINGS) == set(parse(f"{fields}error=l,correct=m,rows=r"))
    assert mapped({"r": [row]}, f"{fields}error=l,correct=m,rows=r") == [
        R(
            problem="p1", text="reply", index=3, question="Why?", options=("x",), gold=("y", "z"), part="part",
            dataset="set", answer="y", reasoning="Hm.", finish_reason="length", claimed={"correct": 0.0},
        )
    ]  # fmt: skip


@pytest.mark.parametrize("options", [["3", 4], {"A": "3", "B": "4"}])
def test_options_are_texts_in_their_order(options: object) -> None:
    """Some programs keep them under their letters."""
    row = {"id": 1, "text": "B", "options": options}
    assert mapped(row, "id=id,prediction=text,options=options") == [R(problem="1", text="B", options=("3", "4"))]


@pytest.mark.parametrize(
    "options", [{"B": "3", "A": "4"}, {"text": ["3"], "label": ["A"]}, [{"text": "3"}], "3", None, [None]]
)
def test_options_in_any_other_form_are_refused(options: object) -> None:
    """Their texts would be taken for something else."""
    with pytest.raises(
        BadData, match="the field 'options' is no list of texts, and no object of texts under the letters"
    ):
        mapped({"id": 1, "text": "B", "options": options}, "id=id,prediction=text,options=options")


def test_a_row_with_an_error_is_a_sample_that_failed() -> None:
    """It needs no reply."""
    rows = [{"id": 1, "text": "x"}, {"id": 2, "error": {"code": 500}}]
    failed = R(problem="2", failure='{"code": 500}')
    assert mapped(rows, "id=id,prediction=text,error=error") == [R(problem="1", text="x"), failed]


def test_the_keys_of_an_object_are_ids() -> None:
    """Where no field is named for them."""
    replies = mapped({"q1": {"reply": "a"}, "q2": {"reply": "b"}}, "prediction=reply")
    assert replies == [R(problem="q1", text="a"), R(problem="q2", text="b")]


def test_without_an_id_the_question_names_the_problem() -> None:
    """It is what the reply is joined by."""
    assert mapped([{"q": "Why?", "a": "So."}], "question=q,prediction=a") == [R(question="Why?", text="So.")]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("id=meta.key,reply=out", "There is no part of --map called 'reply'"),
        ("id=meta.key", "--map lacks 'prediction'; it has id."),
        ("prediction=out.*.text", "--map needs 'id' or 'question'"),
        ("id", "--map takes name=field, separated by commas; 'id' is no such pair."),
        ("", "--map takes name=field, separated by commas; it is empty."),
        ("id=a,id=b,prediction=c", "--map names 'id' twice."),
        (
            "id=task_id,prediction=out.*.text",
            "x.json, line 1: the field 'task_id' is missing (fields named by --map); it has meta.key, meta.topic, out.*.text, ok, ",
        ),
        ("id=meta.key,prediction=out.²", "x.json, line 1: the field 'out.²' is missing (fields named by --map); it has meta.key"),
        ("id=meta.key,prediction=out", "x.json, line 1: the field 'out' holds something else than texts."),
        ("id=out,prediction=out.*.text", "x.json, line 1: the field 'out' is [{\"text\": \"a\"}, "),
        ("id=meta.key,prediction=out.0.text,error=failure", "x.json: no row has the field 'failure' that --map names"),
        ("id=meta.key,prediction=out.0.text,rows=answers", "x.json: no field 'answers' holds rows; those that do: none"),
        ("id=meta.key,prediction=out.0.text,index=meta.topic", "x.json, line 1: the field 'meta.topic' is \"law\", not"),
    ],
)  # fmt: skip
def test_what_the_file_does_not_have_is_refused(text: str, sentence: str) -> None:
    """With the fields that it has."""
    with pytest.raises(EvalError) as error:
        mapped(ROWS, text)
    assert error.value.sentence.startswith(sentence)
    assert error.value.exit_code == 2


def test_a_row_without_a_field_is_odd() -> None:
    """A right answer that is missing in one row must not count that row as wrong in silence."""
    first, second = mapped([{"id": 1, "a": "x", "gold": "x"}, {"id": 2, "a": "x"}], "id=id,prediction=a,gold=gold")
    assert (first.gold, second.odd) == (
        ("x",),
        "x.json, line 2: the field 'gold' is missing (fields named by --map); it has id, a.",
    )
