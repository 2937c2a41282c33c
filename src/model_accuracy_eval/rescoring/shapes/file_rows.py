"""What a file, an archive or a folder of replies holds, as rows, however it is packed.

Lines are read one by one, any other JSON as a whole.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, Protocol

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.rescoring.shapes.reply_row import Arrangement, ReplyRow, RowPlace

_ARRANGEMENTS: dict[str, Arrangement] = {"{{": "keyed rows", "{[{": "lists of rows", '{["': "lists of texts"}
"""What an object begins with → how it holds rows."""
_LOOKED_AT = 40
"""How many fields of an object are looked at. An object with more of them has them as rows."""
_SOLUTION = re.compile(r"(?P<task>[^/]+)/(?P<sample>\d+)\.py")
_LOG_SAMPLE = re.compile(r"samples/[^/]+\.json")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_UTF8_MARK = b"\xef\xbb\xbf"
_UTF16_MARKS = (b"\xff\xfe", b"\xfe\xff")


class SavedFile(Protocol):
    """A file to read replies from; what is packed by gzip is unpacked."""

    @property
    def name(self) -> str: ...

    def chunks(self) -> Iterator[bytes]: ...

    def members(self) -> Sequence["SavedFile"]:
        """The files in a folder or a zip archive, by their names in it; none for any other file."""
        ...


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
        if self._are_lines():
            return [RowPlace()]
        match self._whole():
            case list() as entries:
                of_rows = not entries or isinstance(entries[0], dict)
                return [RowPlace(arrangement="rows" if of_rows else "lists of texts")]
            case dict() as fields:
                return list(_in_object(fields))
        raise BadData(f"{self.name} holds neither objects nor a list.")

    def rows(self, place: RowPlace) -> Iterator[ReplyRow | BadData]:
        """The rows; for one that cannot be read, why."""
        if self._solutions:
            yield from (_attempt(self._solution, solution) for solution in self._solutions)
        elif self._samples:
            yield from (_attempt(self._member_row, sample) for sample in self._samples)
        elif self._are_lines():
            for number, line in self._lines():
                yield _attempt(_line, line, f"{self.name}, line {number:,}")
        else:
            yield from self._of_whole(place)

    def head(self, place: RowPlace) -> ReplyRow:
        """The fields beside the rows."""
        if self._samples:
            names = [name for name in ("header.json", "_journal/start.json") if name in self._members]
            return self._member_row(names[0]) if names else ReplyRow({}, self.name)
        whole = self._whole() if place.at else {}
        return ReplyRow({key: value for key, value in whole.items() if key != place.at}, self.name)

    def _lines(self) -> Iterator[tuple[int, bytes]]:
        """The lines that are not blank, with their numbers. Only a line feed ends a line."""
        rest, number = b"", 0
        for chunk in self._chunks():
            *ended, rest = (rest + chunk).split(b"\n")
            for number, line in enumerate(ended, start=number + 1):  # noqa: B020 - the count goes on
                if line and not line.isspace():
                    yield number, line
        if rest and not rest.isspace():
            yield number + 1, rest

    def _chunks(self) -> Iterator[bytes]:
        chunks = self._file.chunks()
        first = next(chunks, b"")
        while len(first) < len(_UTF8_MARK) and (more := next(chunks, b"")):
            first += more
        if first[:2] in _UTF16_MARKS:
            raise BadData(f"{self.name} is encoded in UTF-16: convert it to UTF-8, such as with `iconv -f UTF-16`.")
        yield first.removeprefix(_UTF8_MARK)
        yield from chunks

    def _are_lines(self) -> bool:
        """Whether there are several objects, each in a line."""
        first, *more = [line.strip() for _, line in islice(self._lines(), 2)] or [b""]
        return bool(more) and first.startswith(b"{") and first.endswith(b"}")

    def _whole(self) -> Any:
        """All of a file that is not made of lines."""
        data = b"".join(self._chunks())
        if not data.strip():
            raise BadData(f"{self.name} is empty.")
        if data.lstrip()[:1] not in (b"{", b"["):
            beginning = data.lstrip()[:20].decode(errors="replace")
            raise BadData(f"{self.name} is not JSON: it begins with {beginning!r}.")
        return decode(data, self.name)

    def _of_whole(self, place: RowPlace) -> Iterator[ReplyRow | BadData]:
        whole = self._whole()
        if place == RowPlace() and isinstance(whole, dict):
            yield _row(whole, self.name)
            return
        entries = whole[place.at] if place.at else whole
        for key, value in entries.items() if isinstance(entries, dict) else enumerate(entries):
            where = f"{self.name}, entry {key + 1:,}" if isinstance(key, int) else f"{self.name}, entry '{key}'"
            yield from _arranged(value, place.arrangement, where, str(key))

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
        text = _text(b"".join(self._members[match[0]].chunks()), where)
        task = match["task"].replace("_", "/")
        return ReplyRow({"task_id": task, "solution": text, "sample": int(match["sample"])}, where)

    def _member_row(self, name: str) -> ReplyRow:
        where = f"{self.name}, {name}"
        return _row(decode(b"".join(self._members[name].chunks()), where), where)


def decode(data: bytes, where: str) -> Any:
    """One JSON value. NaN and halves of surrogate pairs are read too, because tools in Python write them."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
        pass
    try:
        return _without_surrogates(json.loads(_text(data, where)))
    except (ValueError, RecursionError) as error:
        raise BadData(f"{where}: this is not JSON: {error}.") from error


def _text(data: bytes, where: str) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise BadData(f"{where}: this is not UTF-8 (byte {error.start:,}: {error.reason}).") from error


def _without_surrogates(value: object) -> object:
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(entry) for entry in value]
    if isinstance(value, dict):
        return {_LONE_SURROGATE.sub("\ufffd", key): _without_surrogates(entry) for key, entry in value.items()}
    return value


def _in_object(fields: Mapping[str, object]) -> Iterator[RowPlace]:
    kinds = {key: _kind(fields[key]) for key in islice(fields, _LOOKED_AT)}
    if len(fields) < _LOOKED_AT:
        yield RowPlace()
    for kind, arrangement in _ARRANGEMENTS.items():
        fitting = [f"{{{found}".startswith(kind) for found in kinds.values()]
        if 2 * sum(fitting) > len(fitting):  # a few entries may be odd
            yield RowPlace(arrangement=arrangement)
    for key, found in kinds.items():
        if found.startswith("[{"):
            yield RowPlace(at=key)
        for kind, arrangement in _ARRANGEMENTS.items():
            if found.startswith(kind):
                yield RowPlace(at=key, arrangement=arrangement)


def _kind(value: object, depth: int = 3) -> str:
    """What a value is, and its first entry, …: `{[{` is an object of lists of objects."""
    if not isinstance(value, dict | list) or not depth:
        return '"' if isinstance(value, str) else "{" if isinstance(value, dict) else ""
    first = list(islice(value.values() if isinstance(value, dict) else value, 1))
    return ("{" if isinstance(value, dict) else "[") + "".join(_kind(inner, depth - 1) for inner in first)


def _arranged(value: object, arrangement: Arrangement, where: str, key: str) -> Iterator[ReplyRow | BadData]:
    key = "" if arrangement == "rows" else key
    if arrangement in ("rows", "keyed rows"):
        yield _attempt(_row, value, where, key)
    elif not isinstance(value, list):
        yield BadData(f"{where}: a list is expected here, not {json.dumps(value)[:60]}.")
    elif arrangement == "lists of rows":
        yield from (_attempt(_row, entry, where, key) for entry in value)
    else:
        yield ReplyRow({"samples": value}, where, key)


def _attempt(read: Callable[..., ReplyRow], *args: object) -> ReplyRow | BadData:
    """The row, or why it cannot be read: one odd row must not cost the others."""
    try:
        return read(*args)
    except BadData as error:
        return error


def _line(line: bytes, where: str) -> ReplyRow:
    return _row(decode(line, where), where)


def _row(value: object, where: str, key: str = "") -> ReplyRow:
    if not isinstance(value, dict):
        raise BadData(f"{where}: an object is expected here, not {json.dumps(value)[:60]}.")
    return ReplyRow(value, where, key)
