"""What a file, an archive or a folder of replies holds, as rows, however it is packed."""

import json
import re
from collections.abc import Iterator, Sequence
from typing import Literal, Protocol

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Record
from model_accuracy_eval.rescoring.shapes.json_stream import JSONScanner, decode, lines, without_mark
from model_accuracy_eval.rescoring.shapes.reply_row import ReplyRow

Arrangement = Literal["rows", "keyed rows", "lists of rows", "lists of texts"]
"""rows: lines, a list, or one object. The others stand in an object, each under its id; lists of texts may also stand
in a list."""

_ARRANGEMENTS: dict[str, Arrangement] = {"{{": "keyed rows", "{[{": "lists of rows", '{["': "lists of texts"}
"""What an object begins with → how it holds rows."""
_LOOKED_AT = 40
"""How many fields of an object are looked at. An object with more of them has them as rows."""
_SOLUTION = re.compile(r"(?P<task>[^/]+)/(?P<sample>\d+)\.py")
_LOG_SAMPLE = re.compile(r"samples/[^/]+\.json")
_SMALL = 1 << 22
"""The length in bytes up to which one object may be a single row."""


class SavedFile(Protocol):
    """A file to read replies from; what is packed by gzip is unpacked."""

    @property
    def name(self) -> str: ...

    def chunks(self) -> Iterator[bytes]: ...

    def members(self) -> Sequence["SavedFile"]:
        """The files in a folder or a zip archive, by their names in it; none for any other file."""
        ...


class RowPlace(Record, frozen=True, kw_only=True):
    """A way to read the contents as rows."""

    at: str = ""
    """The field of the outermost object that holds the rows; empty: they are what is outermost."""
    arrangement: Arrangement = "rows"


class FileRows:
    """The rows of a file."""

    def __init__(self, file: SavedFile) -> None:
        self.name = file.name
        self._members = {member.name: member for member in file.members()}
        solutions = filter(None, map(_SOLUTION.fullmatch, self._members))
        self._solutions = sorted(solutions, key=lambda match: (match["task"], int(match["sample"])))
        self._samples = [name for name in self._members if _LOG_SAMPLE.fullmatch(name)]
        self._file = file
        if self._members and not self._solutions and not self._samples:
            self._file = self._only_json()

    def places(self) -> list[RowPlace]:
        """Every way in which the contents may be read."""
        if self._solutions:
            return [RowPlace()]
        if self._samples:
            return [RowPlace(at="samples")]
        scan = self._scan()
        match scan.peek():
            case b"[":
                next(iter(scan.entries()), None)
                return [RowPlace(arrangement="rows" if scan.peek() == b"{" else "lists of texts")]
            case b"{":
                return [RowPlace()] if self._has_lines() else list(self._in_object())
            case b"":
                raise BadData(f"{self.name} is empty.")
        beginning = next(self._file.chunks(), b"")[:20]
        raise BadData(f"{self.name} is not JSON: it begins with {beginning.decode(errors='replace')!r}.")

    def rows(self, place: RowPlace) -> Iterator[ReplyRow]:
        if self._solutions:
            yield from map(self._solution, self._solutions)
        elif self._samples:
            yield from map(self._member_row, self._samples)
        elif place == RowPlace() and self._scan().peek() == b"{":
            yield from self._objects()
        else:
            yield from self._entries(place)

    def head(self, place: RowPlace) -> ReplyRow:
        """The fields beside the rows."""
        if self._samples:
            names = [name for name in ("header.json", "_journal/start.json") if name in self._members]
            return self._member_row(names[0]) if names else ReplyRow({}, self.name)
        scan, fields = self._scan(), dict[str, object]()
        for key in scan.entries() if place.at else ():
            if key == place.at:
                scan.skip()
            else:
                fields[str(key)] = decode(scan.value(), f"{self.name}, field '{key}'")
        return ReplyRow(fields, self.name)

    def _chunks(self) -> Iterator[bytes]:
        return without_mark(self._file.chunks(), self.name)

    def _scan(self) -> JSONScanner:
        return JSONScanner(self._chunks(), self.name)

    def _objects(self) -> Iterator[ReplyRow]:
        """One object, one in each line, or indented ones, one after the other."""
        if not self._has_lines():
            yield _row(decode(b"".join(self._chunks()), self.name), self.name)
        elif self._first_line().rstrip().endswith(b"}"):
            for number, line in lines(self._chunks()):
                where = f"{self.name}, line {number:,}"
                yield _row(decode(line, where), where)
        else:
            scan, number = self._scan(), 0
            while scan.peek():
                number += 1
                where = f"{self.name}, entry {number:,}"
                yield _row(decode(scan.value(), where), where)

    def _first_line(self) -> bytes:
        """As much of it as there is in the first piece of the file."""
        return next(self._chunks()).lstrip().partition(b"\n")[0]

    def _has_lines(self) -> bool:
        """Whether the object that the file begins with is not all of it."""
        scan = self._scan()
        scan.skip()
        return bool(scan.peek())

    def _in_object(self) -> Iterator[RowPlace]:
        scan, kinds = self._scan(), dict[str, str]()
        for key in scan.entries():
            kinds[str(key)] = _kind(scan)
            if len(kinds) == _LOOKED_AT:
                break
        else:
            if scan.length <= _SMALL:
                yield RowPlace()
        for kind, arrangement in _ARRANGEMENTS.items():
            if kinds and all(f"{{{found}".startswith(kind) for found in kinds.values()):
                yield RowPlace(arrangement=arrangement)
        for key, found in kinds.items():
            if found.startswith("[{"):
                yield RowPlace(at=key)
            for kind, arrangement in _ARRANGEMENTS.items():
                if found.startswith(kind):
                    yield RowPlace(at=key, arrangement=arrangement)

    def _entries(self, place: RowPlace) -> Iterator[ReplyRow]:
        scan, seen = self._scan(), set[str]()
        if place.at:
            _enter(scan, place.at)
        for key in scan.entries():
            where = f"{self.name}, entry {key:,}" if isinstance(key, int) else f"{self.name}, entry '{key}'"
            name = str(key - 1) if isinstance(key, int) else key
            if isinstance(key, str) and key in seen:
                raise BadData(f"{where} is there twice, and which of the two was judged is not known.")
            if isinstance(key, str):
                seen.add(name)
            yield from _arranged(decode(scan.value(), where), place.arrangement, where, name)
        if not place.at and (more := scan.peek()):
            raise BadData(f"{self.name}: after its JSON has ended, {more.decode(errors='replace')!r} follows.")

    def _only_json(self) -> SavedFile:
        names = [name for name in self._members if name.endswith((".json", ".jsonl")) and "__MACOSX" not in name]
        if len(names) == 1:
            return self._members[names[0]]
        raise BadData(
            f"{self.name} holds {len(self._members):,} files, {len(names):,} of them JSON. What can be read is one "
            "file, an archive of one file, a log of inspect, or a folder of solutions such as HumanEval_0/0.py."
        )

    def _solution(self, match: re.Match[str]) -> ReplyRow:
        """A program in a folder, in the words of EvalPlus, which reads HumanEval_0 as HumanEval/0."""
        where = f"{self.name}/{match[0]}"
        try:
            text = b"".join(self._members[match[0]].chunks()).decode()
        except UnicodeDecodeError as error:
            raise BadData(f"{where} is not UTF-8 (byte {error.start:,}: {error.reason}).") from error
        task = match["task"].replace("_", "/")
        return ReplyRow({"task_id": task, "solution": text, "sample": int(match["sample"])}, where)

    def _member_row(self, name: str) -> ReplyRow:
        where = f"{self.name}, {name}"
        return _row(decode(b"".join(self._members[name].chunks()), where), where)


def _kind(scan: JSONScanner, depth: int = 3) -> str:
    """What a value begins with, and what its first entry begins with, …: `{[{` is an object of lists of objects."""
    mark = scan.peek().decode(errors="replace")
    if mark not in ("{", "[") or depth == 0:
        scan.skip()
        return mark
    inside = ""
    for place, _ in enumerate(scan.entries()):
        if place:
            scan.skip()
        else:
            inside = _kind(scan, depth - 1)
    return mark + inside


def _enter(scan: JSONScanner, field: str) -> None:
    for key in scan.entries():
        if key == field:
            return
        scan.skip()


def _arranged(value: object, arrangement: Arrangement, where: str, key: str) -> Iterator[ReplyRow]:
    match arrangement:
        case "rows":
            yield _row(value, where)
        case "keyed rows":
            yield _row(value, where, key)
        case "lists of rows":
            yield from (_row(entry, where, key) for entry in _list(value, where))
        case "lists of texts":
            yield ReplyRow({"samples": _list(value, where)}, where, key)


def _row(value: object, where: str, key: str = "") -> ReplyRow:
    if not isinstance(value, dict):
        raise BadData(f"{where}: an object is expected here, not {json.dumps(value)[:60]}.")
    return ReplyRow(value, where, key)


def _list(value: object, where: str) -> list[object]:
    if not isinstance(value, list):
        raise BadData(f"{where}: a list is expected here, not {json.dumps(value)[:60]}.")
    return value
