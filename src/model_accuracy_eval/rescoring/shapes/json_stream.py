"""JSON files of any size, entry by entry: memory holds one entry, never the file."""

import json
import re
from collections.abc import Iterator

import msgspec

from model_accuracy_eval.errors import BadData

_TOKEN = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*("?)|[{}\[\]]', re.DOTALL)
_SCALAR_END = re.compile(rb"[\s,:\]}]")
_NOT_BLANK = re.compile(rb"\S")
_LONE_SURROGATE = re.compile("[\ud800-\udfff]")
_UTF8_MARK = b"\xef\xbb\xbf"
_OTHER_ENCODINGS = {b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}


def decode(data: bytes, where: str) -> object:
    """One JSON value. NaN and halves of surrogate pairs are read too, because tools in Python write them."""
    try:
        return msgspec.json.decode(data)
    except (msgspec.MsgspecError, UnicodeDecodeError):
        pass
    except RecursionError as error:
        raise BadData(f"{where}: this JSON is nested too deeply to be read.") from error
    try:
        return _without_surrogates(json.loads(data.decode()))
    except UnicodeDecodeError as error:
        raise BadData(f"{where}: this is not UTF-8 (byte {error.start:,}: {error.reason}).") from error
    except (ValueError, RecursionError) as error:
        raise BadData(f"{where}: this is not JSON: {error}.") from error


def _without_surrogates(value: object) -> object:
    if isinstance(value, str):
        return _LONE_SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_without_surrogates(entry) for entry in value]
    if isinstance(value, dict):
        return {_LONE_SURROGATE.sub("\ufffd", key): _without_surrogates(entry) for key, entry in value.items()}
    return value


def without_mark(chunks: Iterator[bytes], name: str) -> Iterator[bytes]:
    """The chunks of a file in UTF-8, without the byte order mark."""
    first = next(chunks, b"")
    if encoding := _OTHER_ENCODINGS.get(first[:2]):
        raise BadData(f"{name} is encoded in {encoding}: convert it to UTF-8, such as with `iconv -f {encoding}`.")
    yield first.removeprefix(_UTF8_MARK)
    yield from chunks


def lines(chunks: Iterator[bytes]) -> Iterator[tuple[int, bytes]]:
    """The lines that are not blank, with their numbers. Only a line feed ends a line."""
    rest, number = b"", 0
    for chunk in chunks:
        parts = chunk.split(b"\n")
        parts[0] = rest + parts[0]
        rest = parts.pop()
        for number, line in enumerate(parts, start=number + 1):  # noqa: B020 - the count goes on from chunk to chunk
            if not line.isspace() and line:
                yield number, line
    if rest and not rest.isspace():
        yield number + 1, rest


class JSONScanner:
    """Walks through a JSON text without decoding what nobody asks for."""

    def __init__(self, chunks: Iterator[bytes], name: str) -> None:
        self._chunks = chunks
        self._name = name
        self._data = b""
        self._place = 0
        self.length = 0
        """How many bytes have been read of the file."""

    def peek(self) -> bytes:
        """The next byte that is not blank; empty at the end."""
        while not (found := _NOT_BLANK.search(self._data, self._place)):
            self._place = len(self._data)
            if not self._more():
                return b""
        self._place = found.start()
        return found[0]

    def entries(self) -> Iterator[str | int]:
        """The keys of the object, or the numbers of the entries of the list, that begins here.

        The caller takes each value by `value`, `skip` or `entries` before it asks for the next key.
        """
        opening = self.peek()
        self._place += 1
        closing = b"}" if opening == b"{" else b"]"
        number = 0
        if self.peek() == closing:
            self._place += 1
            return
        while True:
            number += 1
            yield self._key() if opening == b"{" else number
            match self.peek():
                case b",":
                    self._place += 1
                case mark if mark == closing:
                    self._place += 1
                    return
                case b"":
                    raise self._broken_off()
                case mark:
                    raise BadData(
                        f"{self._name}, after entry {number:,}: {mark.decode(errors='replace')!r} is no JSON."
                    )

    def value(self) -> bytes:
        """The bytes of the value that begins here."""
        return b"".join(self._parts())

    def skip(self) -> None:
        for _ in self._parts():
            pass

    def _key(self) -> str:
        if self.peek() != b'"':
            raise BadData(f"{self._name}: a key in quotation marks is missing in an object.")
        key = decode(self.value(), self._name)
        if self.peek() != b":":
            raise BadData(f"{self._name}: after the key {key!r} there is no colon.")
        self._place += 1
        return str(key)

    def _parts(self) -> Iterator[bytes]:
        opening = self.peek()
        if not opening:
            raise self._broken_off()
        return self._nested() if opening in b'{["' else iter((self._scalar(),))

    def _nested(self) -> Iterator[bytes]:
        """The pieces of an object, a list or a text, each as long as what has been read of the file."""
        depth = 0
        while True:
            end = len(self._data)
            for token in _TOKEN.finditer(self._data, self._place):
                if token[1] == b"":
                    end = token.start()
                    break
                if token[1] is None:
                    depth += 1 if token[0] in b"{[" else -1
                if depth == 0:
                    yield self._data[self._place : token.end()]
                    self._place = token.end()
                    return
            yield self._data[self._place : end]
            self._place = end
            if not self._more():
                raise self._broken_off()

    def _scalar(self) -> bytes:
        while not (found := _SCALAR_END.search(self._data, self._place)):
            if not self._more():
                start, self._place = self._place, len(self._data)
                return self._data[start:]
        start, self._place = self._place, found.start()
        if start == self._place:
            raise BadData(f"{self._name}: {found[0].decode(errors='replace')!r} stands where a value is expected.")
        return self._data[start : self._place]

    def _more(self) -> bool:
        chunk = next(self._chunks, b"")
        self._data = self._data[self._place :] + chunk
        self._place = 0
        self.length += len(chunk)
        return bool(chunk)

    def _broken_off(self) -> BadData:
        return BadData(f"{self._name} breaks off before its JSON ends; the tool that wrote it may have been stopped.")
