"""JSON as programs in Python write it, and files that are none."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.saved_bytes import SavedBytes

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.rescoring.shapes.file_rows import FileRows, decode
from model_accuracy_eval.rescoring.shapes.reply_row import RowPlace

TEXTS = st.text(st.characters(exclude_categories=["Cs"]))


@given(st.lists(TEXTS, min_size=2), st.integers(1, 9), st.sampled_from(["\n", "\r\n", "\n\n \n"]))
def test_lines_are_those_between_line_feeds(texts: list[str], step: int, end: str) -> None:
    """Not those that Unicode would break; numbers count the blank ones too, wherever a piece of the file ends."""
    data = end.join(json.dumps({"a": text}, ensure_ascii=False) for text in texts).encode()
    rows = list(FileRows(SavedBytes(data, "x.json", step)).rows(RowPlace()))
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
