"""Files of no known shape, files that fit two, and rows that differ from the others."""

import json
from math import isfinite
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.saved_bytes import SavedBytes, read

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes.file_rows import FileRows, decode
from model_accuracy_eval.rescoring.shapes.reply_files import KNOWN_SHAPES
from model_accuracy_eval.rescoring.shapes.reply_row import ReplyRow, RowPlace


def as_lines(rows: list[Any]) -> bytes:
    return b"\n".join(row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows)


def refusal(*rows: Any) -> BadData:
    with pytest.raises(BadData) as error:
        read(as_lines(list(rows)), "x.json")
    return error.value


def test_an_unknown_file_is_told_its_fields_and_all_shapes() -> None:
    """With a mapping to fill in."""
    error = refusal([{"task_id": 1, "output": {"text": "x"}, "scores": [1, 2]}, {}])
    assert error.sentence == (
        "x.json has none of the known shapes. Its rows have the fields task_id, output.text, scores. If one of them "
        "holds the replies, name it with --map id=FIELD,prediction=FIELD."
    )
    for shape in KNOWN_SHAPES:
        assert f"  {shape.name} (" in error.detail


def test_rows_within_an_object_are_proposed_with_their_place() -> None:
    """`rows` names the field that holds them."""
    error = refusal({"model": "m", "answers": [{"qid": 1, "reply": "x", "meta": {"target": 2}}]})
    assert error.sentence.endswith("name it with --map rows=answers,id=FIELD,prediction=FIELD.")


@pytest.mark.parametrize(
    "content",
    [
        {"accuracy": 0.5, "correct_count": 1, "total_count": 2},
        {"results": {"gsm8k": {"exact_match,none": 0.5}}, "configs": {}},
        [{"task_id": 11, "text": "Write a function.", "code": "def f(): ...", "test_list": ["assert f()"]}],
        [{"question_id": 70, "question": "?", "options": ["a"], "answer": "A", "answer_index": 0, "category": "law"}],
        {"keyword": "x", "example": [{"index": 0, "question": "?", "answer": ["A"], "analysis": ""}]},
        [{"prompt": "?", "instruction_id_list": ["a:b"], "key": 1, "kwargs": [{}]}],
        [{"custom_id": "q1", "method": "POST", "url": "/v1/chat/completions", "body": {"messages": []}}],
        [{"id": "simple_0", "question": [[{"role": "user", "content": "?"}]], "function": []}],
        [{"id": "simple_0", "ground_truth": [{"f": {"a": [1]}}]}],
    ],
    ids=["BFCL's scores", "lm-eval's results", "MBPP", "MMLU-Pro", "GAOKAO", "IFEval", "a batch's requests", "BFCL", "BFCL's answers"],
)  # fmt: skip
def test_datasets_results_and_requests_are_no_replies(content: Any) -> None:
    """Their texts must never be judged as if a model had written them."""
    assert "has none of the known shapes" in refusal(content).sentence


def test_a_file_that_fits_two_shapes_is_refused() -> None:
    """Neither asks for the other's fields, so nobody knows which of the two texts is the reply."""
    error = refusal([{"id": 1, "prediction": "a", "task_id": 1, "completion": "b"}])
    assert "fits plain rows and programs" in error.sentence
    assert "--map" in error.sentence


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        ([{"id": None, "prediction": "x"}], "x.json: the field 'id' is null, which names no problem."),
        (
            [{"id": 1, "prediction": {"a": 1}}],
            "x.json: the field 'predictions|prediction' holds something else than texts.",
        ),
        (
            [{"id": 1, "predictions": ["a", "b"], "correct": [True]}],
            "x.json: the field 'correct' has 1 entries for 2 replies.",
        ),
        (
            [{"id": 1, "prediction": "a", "correct": "C"}],
            "x.json: the field 'correct' holds C for a verdict, which is neither true, false nor a share of 1.",
        ),
        ([b'{"id": 1, "prediction": "a", "correct": NaN}'], "x.json: the field 'correct' holds NaN for a verdict"),
        ([b'[{"id": 1, "prediction": "a"}] [1]'], "x.json: this is not JSON: Extra data"),
        ([b""], "x.json is empty."),
        ([b"[]"], "x.json holds no saved replies."),
        ([b"{}"], "x.json has none of the known shapes."),
        ([b"task_id,completion"], "x.json is not JSON: it begins with 'task_id,completion'."),
    ],
)
def test_what_cannot_be_understood_is_one_sentence_with_its_place(rows: list[Any], sentence: str) -> None:
    """File and line or entry, and what is wrong."""
    assert refusal(*rows).sentence.startswith(sentence)


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (
            [{"task_id": "a/1", "completion": "x"}, {"task_id": "a/2"}],
            "x.json, line 2: the field 'solution|completion|generation' is missing (programs); it has task_id.",
        ),
        ([{"id": 1, "prediction": "x"}, {"doc_id": 1, "resps": []}], "x.json, line 2: the field 'id' is missing"),
        ([{"id": 1, "prediction": "x"}, [1]], "x.json, line 2: an object is expected here, not [1]."),
        ([{"id": 1, "prediction": "x"}, b'{"id": 2, "predic'], "x.json, line 2: this is not JSON: "),
        ([b'{"id": 1, "prediction": x}', {"id": 1, "prediction": "x"}], "x.json, line 1: this is not JSON: "),
        ([{"id": 1, "prediction": "x"}, b"\xff"], "x.json, line 2: this is not UTF-8"),
        ([{"id": 1, "prediction": "x"}, {"id": 2, "prediction": ["a", {}]}], "x.json, line 2: the field 'predictions"),
        ([{"id": 1, "prediction": "x"}, {"id": 2, "prediction": "y", "correct": "C"}], "x.json, line 2: the field 'co"),
        (
            [{"question": "", "id": ""}, {"id": 1, "prediction": "x"}],
            "x.json, line 1: the field 'prediction|predictions'",
        ),
    ],
)
def test_an_odd_row_costs_no_other(rows: list[Any], sentence: str) -> None:
    """It says why it is none, wherever it stands; also the first one, by which shapes are known."""
    replies = read(as_lines(rows), "x.json")
    odd, sound = (next(reply for reply in replies if bool(reply.odd) is is_odd) for is_odd in (True, False))
    assert (odd, len(replies)) == (SavedReply(odd=odd.odd), 2)
    assert odd.odd.startswith(sentence)
    assert sound.text == "x"


FIELDS = sorted(
    {part for shape in KNOWN_SHAPES for field in shape.needs for name in field.split("|") for part in name.split(".")}
)
FURTHER = ["passed", "correct", "gold", "graded_list", "score", "error", "status_code", "body", "message", "content", "value", "reasoning",
           "success", "index", "filter", "metrics", "arguments", "doc", "question", "loglikelihoods", "rounds", "error_info", "sample", "text"]  # fmt: skip
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-2, 3)
    | st.floats()
    | st.sampled_from(["", "a", "12_s3", "[1", "attachment://x", "²"])
)
ANYTHING = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*FIELDS, *FURTHER]), inner, max_size=3)
    ),
    max_leaves=6,
)


@st.composite
def almost_files(draw: st.DrawFn) -> object:
    """A file of some shape, and anything at all in its fields."""
    shape = draw(st.sampled_from(KNOWN_SHAPES))
    row: dict[str, Any] = {}
    for field in shape.needs:
        *path, last = draw(st.sampled_from(field.split("|"))).split(".")
        place = row
        for step in path:
            place = place.setdefault(step.replace("*", "m"), {})
        place[last] = draw(ANYTHING)
    row |= draw(st.dictionaries(st.sampled_from(FURTHER), ANYTHING, max_size=3))
    arranged = {
        "rows": [row] if shape.at else row,
        "keyed rows": {"k": row},
        "lists of rows": {"k": [row]},
        "lists of texts": {"k": [draw(ANYTHING)]},
    }[shape.arrangement]
    return {shape.at: arranged} if shape.at else arranged


@given(almost_files())
def test_whatever_the_fields_hold_it_is_read_or_refused_in_a_sentence(content: object) -> None:
    """Never a crash, and never a reply that cannot be written as JSON again."""
    refused, replies = "", list[SavedReply]()
    try:
        replies = read(json.dumps(content).encode(), "x.json")
    except BadData as error:
        refused = error.sentence
    assert not refused or (refused.startswith("x.json") and refused.endswith("."))
    for reply in replies:
        assert all(isfinite(value) for value in reply.claimed.values())
        msgspec.json.encode(reply)


# JSON as programs in Python write it, and files that are none.

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(TEXTS, min_size=2), st.integers(1, 9), st.sampled_from(["\n", "\r\n", "\n\n \n"]))
def test_lines_are_those_between_line_feeds(texts: list[str], step: int, end: str) -> None:
    """Not those that Unicode would break; numbers count the blank ones too, wherever a piece of the file ends."""
    data = end.join(json.dumps({"a": text}, ensure_ascii=False) for text in texts).encode()
    rows = [row for row in FileRows(SavedBytes(data, "x.json", step)).rows(RowPlace()) if isinstance(row, ReplyRow)]
    assert [row.fields["a"] for row in rows] == texts
    assert rows[1].where == f"x.json, line {1 + end.count(chr(10))}"


@pytest.mark.parametrize(
    ("data", "value"),
    [
        (b"[NaN, Infinity, 1e999]", ["nan", "inf", "inf"]),
        (b'["\\ud83d", "\\ud83d\\ude00", "\xe2\x80\xa8"]', ["\ufffd", "\U0001f600", "\u2028"]),
        (b'{"\\udead": "\\udead\\udead"}', {"\ufffd": "\ufffd\ufffd"}),
        (b"123456789012345678901234567890", 123456789012345678901234567890),
    ],
)
def test_what_python_writes_is_read(data: bytes, value: object) -> None:
    """NaN, and halves of surrogate pairs, which no other text may hold."""
    found = decode(data, "x.json")
    assert (list(map(str, found)) if data.startswith(b"[N") else found) == value
    json.dumps(found).encode()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b'["\xff"]', r"x\.json, line 7: this is not UTF-8 \(byte 2: invalid start byte\)"),
        (b"[1,]", r"x\.json, line 7: this is not JSON: "),
        (b'{"a": "b', r"x\.json, line 7: this is not JSON: "),
        (b"[" * 100_000, r"x\.json, line 7: this is not JSON"),
    ],
)
def test_what_is_no_json_is_refused_with_its_place(data: bytes, sentence: str) -> None:
    """The caller knows the line."""
    with pytest.raises(BadData, match=sentence):
        decode(data, "x.json, line 7")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_another_encoding_is_named(encoding: str) -> None:
    """With the command that converts it."""
    mark = b"" if encoding == "utf-16" else b"\xfe\xff"
    with pytest.raises(BadData, match=r"is encoded in UTF-16: convert it to UTF-8, such as with `iconv"):
        FileRows(SavedBytes(mark + "[]".encode(encoding), "x.json", 1)).places()
