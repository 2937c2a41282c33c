"""Rows of a large file are what they were, wherever they are kept."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from model_accuracy_eval.records import disk_numbers, disk_rows
from model_accuracy_eval.records.disk_rows import DiskRows, rows_in_little_memory

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(st.characters(), max_size=5)
    | st.binary(max_size=3) | st.tuples(st.integers(0, 3)),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner, max_size=2),
    max_leaves=5,
)  # fmt: skip


@given(st.lists(st.dictionaries(st.text(max_size=3), VALUES, max_size=3), max_size=8), st.integers(0, 9))
def test_rows_come_back_as_they_were(rows: list[dict[str, Any]], few: int) -> None:
    """Whatever they hold: numbers beyond 64 bits, tuples in place of lists, text that is no Unicode, -0.0."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(disk_numbers, "BLOCK", 1)
        patch.setattr(disk_rows, "AS_THEY_ARE", few)
        kept = rows_in_little_memory(iter(rows))
    assert isinstance(kept, DiskRows) == (len(rows) > few)
    assert list(map(repr, kept)) == list(map(repr, rows))
    assert [repr(kept[at]) for at in range(-len(rows), len(rows))] == list(map(repr, [*rows, *rows]))
    assert repr(kept[1::2]) == repr(rows[1::2])
