"""The rows of a sheet of an .xlsx file, with its cells as the sheet shows them: dates as 2024-08-31, shares as 50%."""

import io
import re
import zipfile
from collections.abc import Iterator
from datetime import datetime, timedelta, timezone
from typing import Any
from xml.etree import ElementTree

from model_accuracy_eval.errors import BadData

_MOST_BYTES = 1 << 29
"""Of one part of the file, unpacked."""
_DATES = {*range(14, 23), *range(45, 48)}
_SHARES = {9, 10}
"""The numbers of built-in formats."""
_QUOTED = re.compile(r"\"[^\"]*\"|\\.|\[[^\]]*\]")
_RELATION = "{http://schemas.openxmlformats.org/officeDocument/2006/relationships}id"


def is_sheet(name: str) -> bool:
    """Whether a name is that of an .xlsx file, or of a sheet of one: file.xlsx#Sheet."""
    return file_of(name).lower().endswith(".xlsx")


def file_of(name: str) -> str:
    """The name without that of a sheet."""
    file, mark, _ = name.partition("#")
    return file if mark and file.lower().endswith(".xlsx") else name


def rows(name: str, data: bytes) -> Iterator[tuple[str, dict[str, Any]]]:
    """Each row below the header with its number. The first sheet, unless the name says which."""
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as book:
            cells = _Book(name, book).cells(name[len(file_of(name)) + 1 :])
    except (zipfile.BadZipFile, ElementTree.ParseError, KeyError, ValueError, IndexError) as error:
        raise BadData(f"{name}: it is no .xlsx file, or a damaged one: {error}. Save it as `CSV UTF-8`.") from error
    if not cells:
        raise BadData(f"{name}: there is not a single row in this sheet.")
    (first, header), *others = cells
    names = {place: str(value).strip() for place, value in header.items()}
    if len({*names.values()}) < len(names):
        raise BadData(f"{name}, row {first}: a column is there twice, so nobody knows which of its cells counts.")
    for number, row in others:
        if strange := sorted(row.keys() - names.keys()):
            raise BadData(f"{name}, row {number}: column {strange[0]} has a value, but no name in row {first}.")
        yield f"row {number}", {called: row.get(place) for place, called in names.items()}


class _Book:
    def __init__(self, name: str, book: zipfile.ZipFile) -> None:
        self._name, self._book = name, book
        self._texts = [self._text(entry) for entry in self._tree("xl/sharedStrings.xml", optional=True)]
        styles = self._tree("xl/styles.xml", optional=True)
        own = {int(one.get("numFmtId", 0)): one.get("formatCode", "") for one in styles.iter("numFmt")}
        used = [int(one.get("numFmtId", 0)) for formats in styles.iter("cellXfs") for one in formats]
        self._codes = [_QUOTED.sub("", own.get(number, "")) for number in used]
        self._is_date = [number in _DATES or bool(re.search("[ymdhs]", self._codes[place], re.IGNORECASE))
                         for place, number in enumerate(used)]  # fmt: skip
        self._is_share = [number in _SHARES or "%" in self._codes[place] for place, number in enumerate(used)]

    def _tree(self, part: str, *, optional: bool = False) -> ElementTree.Element:
        """A part without its name spaces."""
        if optional and part not in self._book.namelist():
            return ElementTree.Element("none")
        if self._book.getinfo(part).file_size > _MOST_BYTES:
            raise BadData(f"{self._name}: {part} has more than {_MOST_BYTES:,} bytes.")
        source = self._book.read(part)
        if b"<!DOCTYPE" in source or b"<!ENTITY" in source:
            raise BadData(f"{self._name}: {part} defines entities, which no spreadsheet does.")
        tree = ElementTree.fromstring(source)  # noqa: S314 - without entities nothing can be expanded
        for element in tree.iter():
            element.tag = element.tag.rpartition("}")[2]
        return tree

    def cells(self, wanted: str) -> list[tuple[int, dict[str, Any]]]:
        """The rows that have anything: number, and column → value."""
        book = self._tree("xl/workbook.xml")
        sheets = {one.get("name", ""): one.get(_RELATION) for one in book.iter("sheet")}
        if wanted and wanted not in sheets:
            raise BadData(f"{self._name}: there is no sheet '{wanted}'; there are: {', '.join(sheets)}.")
        relation = sheets[wanted] if wanted else next(iter(sheets.values()))
        parts = {one.get("Id"): one.get("Target", "") for one in self._tree("xl/_rels/workbook.xml.rels")}
        target = parts[relation]
        epoch = datetime(1904, 1, 1, tzinfo=timezone.utc)
        if not any(one.get("date1904") in {"1", "true"} for one in book.iter("workbookPr")):
            epoch = datetime(1899, 12, 30, tzinfo=timezone.utc)
        sheet = self._tree(target[1:] if target.startswith("/") else f"xl/{target}")
        found = []
        for number, row in enumerate(sheet.iter("row"), 1):
            named = ((cell.get("r", "").rstrip("0123456789") or str(place), cell) for place, cell in enumerate(row))
            values = {column: value for column, cell in named if (value := self._value(cell, epoch)) not in {None, ""}}
            if values:
                found.append((int(row.get("r") or number), values))
        return found

    def _value(self, cell: ElementTree.Element, epoch: datetime) -> Any:
        kind, held = cell.get("t", "n"), cell.findtext("v")
        if kind == "inlineStr":
            return self._text(cell)
        if held is None or kind in {"str", "e", "d"}:
            return held
        if kind == "s":
            return self._texts[int(held)]
        if kind == "b":
            return held == "1"
        number, style = float(f"{float(held):.15g}"), int(cell.get("s", 0))
        if style < len(self._is_date) and self._is_date[style]:
            moment = epoch + timedelta(seconds=round(number * 86400))
            return f"{moment:%H:%M:%S}" if 0 <= number < 1 else f"{moment:%Y-%m-%d %H:%M:%S}".removesuffix(" 00:00:00")
        return f"{number * 100:.10g}%" if style < len(self._is_share) and self._is_share[style] else number

    @staticmethod
    def _text(element: ElementTree.Element) -> str:
        """All its runs but those that say how it is pronounced."""
        spoken = {id(text) for phonetic in element.iter("rPh") for text in phonetic.iter("t")}
        return "".join(text.text or "" for text in element.iter("t") if id(text) not in spoken)
