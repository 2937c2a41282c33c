"""JSON read entry by entry is the JSON that `json` reads at once, however the bytes arrive."""

import json
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.rescoring.shapes.json_stream import JSONScanner, decode, lines, without_mark

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)
CONTAINERS = st.lists(VALUES, max_size=5) | st.dictionaries(st.text(), VALUES, max_size=5)
SPELLINGS = st.sampled_from([{}, {"indent": 1}, {"ensure_ascii": False}, {"separators": (",", ":")}])


def pieces(data: bytes, step: int) -> Iterator[bytes]:
    return (data[start : start + step] for start in range(0, len(data), step))


def entries(data: bytes, step: int) -> object:
    scan = JSONScanner(pieces(data, step), "x.json")
    opening = scan.peek()
    found = [(key, decode(scan.value(), "x.json")) for key in scan.entries()]
    assert scan.peek() == b""
    return dict(found) if opening == b"{" else [value for _, value in found]


@given(CONTAINERS, SPELLINGS, st.integers(1, 9))
def test_entries_are_those_that_json_reads(value: object, spelling: dict[str, object], step: int) -> None:
    """Whatever is nested in them, and wherever a piece of the file ends."""
    data = json.dumps(value, **spelling).encode()  # type: ignore[arg-type]
    assert entries(data, step) == json.loads(data)


@given(CONTAINERS.filter(bool), SPELLINGS, st.integers(1, 9), st.data())
def test_a_file_that_breaks_off_is_never_read_to_its_end(
    value: object, spelling: dict[str, object], step: int, data: st.DataObject
) -> None:
    """Every proper beginning of an object or a list is refused."""
    whole = json.dumps(value, **spelling).encode()  # type: ignore[arg-type]
    beginning = whole[: data.draw(st.integers(1, len(whole) - 1))]
    with pytest.raises(BadData, match=r"x\.json"):
        entries(beginning, step)


@given(CONTAINERS, st.integers(1, 9))
def test_what_is_skipped_ends_where_it_ends(value: object, step: int) -> None:
    """The value behind it is read."""
    scan = JSONScanner(pieces(json.dumps([value, "behind"]).encode(), step), "x.json")
    numbers = scan.entries()
    next(numbers)
    scan.skip()
    next(numbers)
    assert scan.value() == b'"behind"'


@given(st.lists(st.text(st.characters(exclude_characters="\n", exclude_categories=["Cs"]))), st.integers(1, 9))
def test_lines_are_those_between_line_feeds(texts: list[str], step: int) -> None:
    """Not those that Unicode would break; numbers count the blank ones too."""
    data = "\n".join(texts).encode()
    expected = [(number, line) for number, line in enumerate(data.split(b"\n"), start=1) if line and not line.isspace()]
    assert list(lines(pieces(data, step))) == expected


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
    assert (list(map(str, found)) if data.startswith(b"[N") and isinstance(found, list) else found) == value
    json.dumps(found).encode()


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b'["\xff"]', r"x\.json, line 7: this is not UTF-8 \(byte 2: invalid start byte\)"),
        (b"[1,]", r"x\.json, line 7: this is not JSON: "),
        (b'{"a": "b', r"x\.json, line 7: this is not JSON: "),
        (b"[" * 100_000, r"x\.json, line 7: this JSON is nested too deeply|this is not JSON"),
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
        list(without_mark(iter([mark + "[]".encode(encoding)]), "x.json"))


@pytest.mark.parametrize("data", [b"[1 2]", b"{1: 2}", b'{"a" 2}', b"[,]", b'{"a": }', b"[1}"])
def test_marks_in_the_wrong_place_are_refused(data: bytes) -> None:
    """Nothing is read over."""
    with pytest.raises(BadData, match=r"x\.json"):
        entries(data, 3)
