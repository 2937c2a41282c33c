"""Sheets of .xlsx files → rows."""

import io
import zipfile

import pytest

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.tasks.importers import own_questions
from model_accuracy_eval.tasks.rows import parse

MAIN = 'xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"'
RELATIONS = 'xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships"'
STYLES = (
    f'<styleSheet {MAIN}><numFmts><numFmt numFmtId="164" formatCode="dd/mm/yyyy"/><numFmt numFmtId="165" '
    'formatCode="0.0\\ &quot;days&quot;"/></numFmts><cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="10"/>'
    '<xf numFmtId="165"/><xf numFmtId="20"/></cellXfs></styleSheet>'
)
HEADER = '<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>'


def book(rows: str, *, second: str = "", more: str = "") -> bytes:
    """A file with two sheets, Main and Second."""
    parts = {
        "xl/workbook.xml": f'<workbook {MAIN} {RELATIONS}><sheets><sheet name="Main" r:id="x2"/><sheet name="Second" '
        'r:id="x1"/></sheets></workbook>',
        "xl/_rels/workbook.xml.rels": '<Relationships><Relationship Id="x1" Target="/xl/worksheets/b.xml"/>'
        '<Relationship Id="x2" Target="worksheets/a.xml"/></Relationships>',
        "xl/sharedStrings.xml": f"<sst {MAIN}><si><t>question</t></si><si><r><t>ans</t></r><r><t>wer</t></r><rPh><t>x</t>"
        "</rPh></si></sst>",
        "xl/styles.xml": STYLES,
        "xl/worksheets/a.xml": f"{more}<worksheet {MAIN}><sheetData>{HEADER}{rows}</sheetData></worksheet>",
        "xl/worksheets/b.xml": f"<worksheet {MAIN}><sheetData>{second}</sheetData></worksheet>",
    }
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as archive:
        for name, text in parts.items():
            archive.writestr(name, text)
    return target.getvalue()


def row(cell: str) -> str:
    return f'<row r="3"><c r="A3" t="inlineStr"><is><t>1+1?</t></is></c>{cell}</row>'


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ('<c r="B3"><v>2</v></c>', 2.0),
        ('<c r="B3"><v>0.30000000000000004</v></c>', 0.3),
        ('<c r="B3" t="str"><f>A1</f><v>two</v></c>', "two"),
        ('<c r="B3" t="b"><v>1</v></c>', True),
        ('<c r="B3" t="e"><v>#N/A</v></c>', "#N/A"),
        ('<c r="B3" s="1"><v>45535</v></c>', "2024-08-31"),
        ('<c r="B3" s="1"><v>45535.5</v></c>', "2024-08-31 12:00:00"),
        ('<c r="B3" s="4"><v>0.5</v></c>', "12:00:00"),
        ('<c r="B3" s="2"><v>0.5</v></c>', "50%"),
        ('<c r="B3" s="3"><v>2.5</v></c>', 2.5),
        ("", None),
    ],
)
def test_cells_are_what_the_sheet_shows(cell: str, value: object) -> None:
    """Not the days since 1899 nor the half that a share is."""
    assert parse("a.xlsx", book(row(cell)), ()) == [{"question": "1+1?", "answer": value}]


def test_a_sheet_is_named_behind_the_file() -> None:
    data = book(row('<c r="B3"><v>2</v></c>'), second=HEADER + '<row r="2"><c r="B2"><v>7</v></c></row>')
    assert parse("a.xlsx#Second", data, ()) == [{"question": None, "answer": 7.0}]
    assert own_questions.looks_like_file("a.xlsx#Second")
    assert own_questions.from_file("my/a.xlsx#Main", data).name == "a"


@pytest.mark.parametrize(
    ("name", "data", "sentence"),
    [
        ("a.xlsx#Third", book(""), "there is no sheet 'Third'; there are: Main, Second"),
        ("a.xlsx#Second", book(""), "there is not a single row"),
        ("a.xlsx", book(""), "there is not a single row"),
        ("a.xlsx", book(row('<c r="C3"><v>2</v></c>')), "row 3: column C has a value, but no name in row 1"),
        ("a.xlsx", book("", more='<!DOCTYPE a [<!ENTITY b "c">]>'), "defines entities, which no spreadsheet does"),
        ("a.xlsx", book("<row>"), "it is no .xlsx file, or a damaged one"),
    ],
)
def test_what_is_no_sheet_of_questions_is_refused(name: str, data: bytes, sentence: str) -> None:
    with pytest.raises(BadData, match=sentence):
        parse(name, data, ())
