"""CSV and TSV files as programs and spreadsheets write them."""

import pytest

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.tasks.rows import parse

ROWS = [{"question": "a; b, c?", "answer": 'say "x"'}, {"question": "two\nlines", "answer": "y"}]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_every_dialect_of_spreadsheets_is_read(mark: str, end: str, encoding: str) -> None:
    """Signs between cells, ends of lines, marks of encodings, quotes, and empty lines and cells at the end."""
    lines = ["question,answer,,", '"a; b, c?","say ""x""",,', '"two\nlines",y,,', ",,,", ""]
    text = end.join(lines).replace(",", mark) if mark != "," else end.join(lines)
    text = text.replace(f"a; b{mark} c?", "a; b, c?")
    assert parse("a.csv", text.encode(encoding), ()) == ROWS


def test_tabs_and_announced_signs_are_taken_as_they_are_said() -> None:
    """A .tsv file has tabs although its header has commas; `sep=` says what a spreadsheet uses."""
    assert parse("a.tsv", b"question\tanswer, short\n?\tx\n", ()) == [{"question": "?", "answer, short": "x"}]
    assert parse("a.csv", b"sep=;\r\nquestion;answer\r\n1, 2?;x\r\n", ()) == [{"question": "1, 2?", "answer": "x"}]
    assert parse("a.csv", b"sep=\t\nquestion\tanswer\n1, 2?\tx\n", ()) == [{"question": "1, 2?", "answer": "x"}]
    assert parse("a.csv", b"sep=ab,answer\n?,x\n", ()) == [{"sep=ab": "?", "answer": "x"}]


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("a.csv", b"question,answer,answer\n?,x,y\n", "line 1: the column 'answer' is there twice"),
        ("a.csv", b"question,,answer\n?,x,y\n", None),
        ("a.csv", b"question,,,answer\n?,x,y,z\n", "line 1: a column in the middle has no name"),
        ("a.csv", b"question,answer\n?,x,y\n", "line 2: the header names 2 columns, but this row has another number"),
        ("a.csv", b"sep=;\nquestion;answer\n?\n", "line 3: the header names 2 columns"),
        ("a.csv", b'question,answer\n"?,x\n', "line 2: unexpected end of data"),
        ("a.csv", "question,answer\nGrün?,x\n".encode("cp1252"), "line 2: byte 0xfc is not UTF-8. Save the file as"),
        ("a.xlsx", b"PK", "spreadsheets are read as they export them: save it as `CSV UTF-8`."),
    ],
)
def test_what_cannot_be_told_apart_is_refused(name: str, data: bytes, sentence: str | None) -> None:
    """With the line."""
    if sentence is None:
        assert parse(name, data, ()) == [{"question": "?", "": "x", "answer": "y"}]
        return
    with pytest.raises(BadData) as error:
        parse(name, data, ())
    assert sentence in error.value.sentence
