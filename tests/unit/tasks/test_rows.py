"""Bytes of a data file → rows, and the sentence for everything that can be wrong with one."""

import contextlib
import csv
import io
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fake_ports import MemoryHub

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import DataFile, DataSource, Recipe
from model_accuracy_eval.tasks import rows as files
from model_accuracy_eval.tasks.rows import parse

FIELDS = ("question", "answer")
TEXTS = st.text(st.characters(codec="utf-8"), min_size=1).filter(str.strip)
TABLES = st.lists(st.fixed_dictionaries({"question": TEXTS, "answer": TEXTS}), min_size=1, max_size=5)
CSV_TEXTS = TEXTS.filter(lambda text: "\x00" not in text)  # which Python 3.10 does not write
CSV_TABLES = st.lists(st.fixed_dictionaries({"question": CSV_TEXTS, "answer": CSV_TEXTS}), min_size=1, max_size=5)


@given(TABLES, st.booleans(), st.sampled_from(["\n", "\r\n"]))
def test_what_was_written_as_jsonl_is_read(rows: list[dict[str, str]], escaped: bool, newline: str) -> None:
    """Any text survives, escaped or as it is, with either line end; U+2028 and its like end no line."""
    text = newline.join(json.dumps(row, ensure_ascii=escaped) for row in rows)
    assert parse("a.jsonl", text.encode(), FIELDS) == rows


@given(CSV_TABLES, st.sampled_from(["\n", "\r\n"]))
def test_what_was_written_as_csv_is_read(rows: list[dict[str, str]], newline: str) -> None:
    """Quotes, commas and newlines inside a cell come back as they were."""
    target = io.StringIO()
    writer = csv.DictWriter(target, FIELDS, lineterminator=newline, quoting=csv.QUOTE_ALL)
    writer.writeheader()
    writer.writerows(rows)
    assert parse("a.csv", target.getvalue().encode(), FIELDS) == rows


@given(st.binary(max_size=60), st.sampled_from([".jsonl", ".json", ".csv"]))
def test_any_bytes_give_rows_or_a_sentence(data: bytes, suffix: str) -> None:
    """Never another error."""
    rows: list[dict[str, Any]] = []
    with contextlib.suppress(BadData):
        rows = list(parse(f"a{suffix}", data, ("q",)))
    assert all(row["q"] is not None for row in rows)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "dir.v1/a.JSONL", "/x/a.b.jsonl"])
def test_the_ending_tells_the_format(name: str) -> None:
    """`.gz` behind it and capital letters change nothing."""
    assert parse(name, b'{"question": "1+1", "answer": 2}\n', FIELDS) == [{"question": "1+1", "answer": 2}]


@pytest.mark.parametrize("name", ["a.jsonl", "a.json", "a.csv"])
def test_the_mark_that_some_editors_put_in_front_is_skipped(name: str) -> None:
    """A byte order mark is no part of the first field's name."""
    sources = {"a.jsonl": '{"q": "1"}', "a.json": '[{"q": "1"}]', "a.csv": "q\n1\n"}
    assert parse(name, b"\xef\xbb\xbf" + sources[name].encode(), ("q",)) == [{"q": "1"}]


def test_empty_lines_are_skipped_and_counted() -> None:
    """Line numbers are those of an editor."""
    assert parse("a.jsonl", b'\n{"q": 1}\n\n  \n{"q": 2}\n\n', ("q",)) == [{"q": 1}, {"q": 2}]
    with pytest.raises(BadData, match="line 3"):
        parse("a.jsonl", b'\n{"q": 1}\n{"r": 2}\n', ("q",))


def test_zero_and_false_are_values() -> None:
    """Only what is not there, null and blanks are empty."""
    assert parse("a.jsonl", b'{"q": 0}\n{"q": false}', ("q",)) == [{"q": 0}, {"q": False}]


GOOD = b'{"question": "1+1", "answer": "2"}\n'

BAD = {
    "broken JSON": ("a.jsonl", GOOD * 2 + b'{"question": ', "a.jsonl, line 3: this is no JSON: "),
    "missing field": (
        "a.jsonl",
        GOOD + b'{"question": "2+2", "target": 4}',
        "a.jsonl, line 2: the field 'answer' is missing; there are: question, target.",
    ),
    "empty field": ("a.jsonl", b'{"question": "", "answer": "2"}', "a.jsonl, line 1: the field 'question' is empty."),
    "blanks": ("a.csv", b"question,answer\n1+1, \n", "a.csv, line 2: the field 'answer' is empty."),
    "list": ("a.jsonl", GOOD + b'["1+1", "2"]', "a.jsonl, line 2: a row is an object, but this one is a list."),
    "object": ("a.json", GOOD, "a.json: a .json data file holds a list of objects, or one in its field "),
    "not UTF-8": ("a.jsonl", GOOD * 2 + b'{"question": "\xe9"}', "a.jsonl, line 3: byte 0xe9 is not UTF-8."),
    "not UTF-8 behind a mark": ("a.csv", b"\xef\xbb\xbfq\n\xff\n", "a.csv, line 2: byte 0xff is not UTF-8."),
    "too few columns": (
        "a.csv",
        b"question,answer\n1+1,2\n2+2\n",
        "a.csv, line 3: the header names 2 columns, but this row has another number of them.",
    ),
    "too many columns": ("a.csv", b"question,answer\n1,000,2\n", "a.csv, line 2: the header names 2 columns"),
    "open quote": ("a.csv", b'question,answer\n"1+1,2\n', "a.csv, line 2: "),
    "header alone": ("a.csv", b"question,answer\n", "a.csv: there is not a single row in it."),
    "empty .jsonl": ("a.jsonl", b"", "a.jsonl: there is not a single row in it."),
    "unknown suffix": (
        "a.dat",
        b"PAR1",
        "a.dat: rows are read from .jsonl, .json, .csv, .tsv, .txt, .xlsx, .parquet and .arrow files (each also as .gz), not from",
    ),
}


@pytest.mark.parametrize(("name", "data", "sentence"), BAD.values(), ids=BAD.keys())
def test_bad_data_is_told_with_its_place(name: str, data: bytes, sentence: str) -> None:
    """File, line and field stand in the sentence."""
    with pytest.raises(BadData) as error:
        parse(name, data, FIELDS)
    assert error.value.sentence.startswith(sentence), error.value.sentence
    assert error.value.stage == "data"


def test_a_list_of_words_is_rows_of_texts() -> None:
    """One row a line; empty lines are none."""
    assert parse("words.txt", b"apple\n\nb a\r\n", ("text",)) == [{"text": "apple"}, {"text": "b a"}]


def test_rows_may_stand_inside_an_object() -> None:
    """In the field that other collections use for them, or as its entries, where these are asked for."""
    assert parse("a.json", b'{"canary": "\xe2\x80\xa6", "examples": [{"question": "q"}]}', ("question",)) == [
        {"question": "q"}
    ]
    assert parse("a.json", b'{"one": "text"}', ("key", "value")) == [{"key": "one", "value": "text"}]


HUB = MemoryHub({"a.jsonl": b'{"n": 1}\n{"n": 2}\n'})


def test_a_recipe_is_followed_before_anything_looks_at_the_rows() -> None:
    """The columns that are asked for need be there only afterwards; without a recipe nothing is made."""

    def doubled(recipe: Recipe, rows: list[dict[str, Any]], read: object) -> list[dict[str, Any]]:
        assert recipe.rows == "utils.double"
        return [{"m": 2 * row["n"]} for row in rows]

    made = DataFile(name="a.jsonl", recipe=Recipe(folder="here", rows="utils.double"))
    assert files.read(made, ("m",), None, HUB, doubled) == [{"m": 2}, {"m": 4}]
    assert files.read(DataFile(name="a.jsonl"), ("n",), None, HUB, doubled) == [{"n": 1}, {"n": 2}]


def test_rows_of_a_parquet_file_are_those_that_were_written() -> None:
    """Nested values too; bytes that are no Parquet, and a file without rows, are told."""
    pyarrow = pytest.importorskip("pyarrow")
    writer = pytest.importorskip("pyarrow.parquet")
    wanted = [{"q": "1+1", "choices": {"text": ["1", "2"]}}, {"q": "é", "choices": {"text": []}}]

    def written(content: list[dict[str, Any]]) -> bytes:
        file = io.BytesIO()
        writer.write_table(pyarrow.Table.from_pylist(content), file)
        return file.getvalue()

    assert parse("a.parquet", written(wanted), ("q",)) == wanted
    with pytest.raises(BadData, match=r"a\.parquet, row 1: the field 'x' is missing"):
        parse("a.parquet", written(wanted), ("x",))
    with pytest.raises(BadData, match="is no Parquet or Arrow file that could be read"):
        parse("a.parquet", b"PAR1", ())
    with pytest.raises(BadData, match="not a single row"):
        parse("a.parquet", written([]), ())


def test_a_file_may_add_what_only_its_name_tells() -> None:
    """C-Eval has a file for each subject and no column for it."""
    hub = MemoryHub({"law.jsonl": b'{"q": "1"}\n', "logic.jsonl": b'{"q": "2"}\n'})
    logic = DataFile(name="logic.jsonl", adds={"subject": "logic"})
    both = DataFile(name="law.jsonl", adds={"subject": "law"}, more=(logic,))
    wanted = [{"q": "1", "subject": "law"}, {"q": "2", "subject": "logic"}]
    assert files.read(both, ("q", "subject"), None, hub, lambda recipe, rows, _: rows) == wanted


def test_a_file_may_be_one_text() -> None:
    """A prompt with its line ends, beside what its name tells."""
    hub = MemoryHub({"bbh/cot-prompts/a.txt": b"one\n\ntwo\n"})
    text = DataFile(name="bbh/cot-prompts/a.txt", source=DataSource(url="github:a/b@c/a.txt"), adds={"key": "a"})
    file = DataFile(name="prompts.json", instead=(text,))
    assert files.read(file, ("key", "value"), None, hub, lambda recipe, rows, _: rows) == [
        {"key": "a", "value": "one\n\ntwo\n"}
    ]


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
@pytest.mark.parametrize("name", ["a.csv", "a.jsonl", "a.json"])
def test_another_encoding_without_a_mark_is_refused(name: str, encoding: str) -> None:
    """It would be rows of zeros and letters."""
    with pytest.raises(
        BadData, match=r"neither UTF-8 nor UTF-16 with a mark at its beginning\. Save the file as UTF-8"
    ):
        parse(name, 'q,a\n[{"q": "x"}]\n'.encode(encoding), ())


# CSV and TSV files as programs and spreadsheets write them.


SPREADSHEET = [{"question": "a; b, c?", "answer": 'say "x"'}, {"question": "two\nlines", "answer": "y"}]


@pytest.mark.parametrize("mark", [",", ";", "\t", "|"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_every_dialect_of_spreadsheets_is_read(mark: str, end: str, encoding: str) -> None:
    """Signs between cells, ends of lines, marks of encodings, quotes, and empty lines and cells at the end."""
    lines = ["question,answer,,", '"a; b, c?","say ""x""",,', '"two\nlines",y,,', ",,,", ""]
    text = end.join(lines).replace(",", mark) if mark != "," else end.join(lines)
    text = text.replace(f"a; b{mark} c?", "a; b, c?")
    assert parse("a.csv", text.encode(encoding), ()) == SPREADSHEET


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
        ("a.xlsx", b"PK", "a.xlsx: it is no .xlsx file, or a damaged one: File is not a zip file."),
        ("a.ods", b"PK", "a.ods: of spreadsheets, .xlsx files are read: save it as one, or as `CSV UTF-8`."),
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
