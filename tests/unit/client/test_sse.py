"""Server-sent events: the standard's rules, whatever the bytes are split into."""

import itertools
import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from model_accuracy_eval.client import stream_parser
from model_accuracy_eval.client.stream_parser import EventStream, EventTooLongError


def events(*reads: bytes) -> list[bytes]:
    stream = EventStream()
    return [event for read in reads for event in stream.feed(read)] + stream.close()


lines = st.one_of(
    st.just(b""),
    st.just(b": ping"),
    st.just(b"event: message"),
    st.just(b"data:x"),
    st.just(b"data"),
    st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=12).map(
        lambda text: b"data: " + json.dumps({"text": text}, ensure_ascii=False).encode()
    ),
    st.binary(max_size=6).map(lambda junk: junk.replace(b"\r", b"").replace(b"\n", b"")),
)
endings = st.sampled_from([b"\n", b"\n", b"\n", b"\r\n", b"\r"])
usual = st.integers(0, 99).map(lambda number: b'data: {"n": %d}\n\n' % number)
bodies = st.tuples(
    st.sampled_from([b"", b"", stream_parser.BOM]),
    st.lists(st.one_of(usual, st.tuples(lines, endings).map(b"".join)), max_size=12).map(b"".join),
    lines,
).map(b"".join)


@given(body=bodies, cuts=st.lists(st.integers(0, 400), max_size=12))
@example(body=b"data: a\n\n\xef\xbb\xbfdata: b\n\n", cuts=[9])
@example(body=b"data: a\r\n\r\ndata: b\n\n", cuts=[8, 10])
@example(body=stream_parser.BOM + b"data: a\n\n", cuts=[1, 2])
def test_any_split_of_the_bytes_gives_the_same_events(body: bytes, cuts: list[int]) -> None:
    """How a body falls into reads changes nothing, not even inside a character or between CR and LF."""
    edges = [0, *sorted(min(cut, len(body)) for cut in cuts), len(body)]
    pieces = [body[start:stop] for start, stop in itertools.pairwise(edges)]
    assert events(*pieces) == events(body)


@given(body=bodies)
def test_the_events_are_those_of_a_plain_reading_of_the_standard(body: bytes) -> None:
    """The fast path agrees with a slow, obvious parser."""
    text = body.removeprefix(stream_parser.BOM).replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    expected: list[bytes] = []
    data: list[bytes] = []
    for line in [*text.split(b"\n"), b""]:
        if not line and data:
            expected.append(b"\n".join(data))
            data = []
        name, _, value = line.partition(b":")
        if name == b"data":
            data.append(value.removeprefix(b" "))
    assert events(body) == expected


def test_a_line_that_never_ends_is_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    """No server can fill the memory with one endless line."""
    monkeypatch.setattr(stream_parser, "LIMIT", 100)
    stream = EventStream()
    with pytest.raises(EventTooLongError, match="an event of more than"):
        for _ in range(20):
            stream.feed(b"data: xxx")
