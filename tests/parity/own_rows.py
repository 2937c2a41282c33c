"""Rows for the task files in `own`: columns that they use, made up as those of `families` are."""

from tests.parity.families import Row, several, some


def _row(i: int) -> Row:
    options = several(i, 4)
    return {"question": f"{i}. {some(i, 1)}?", "options": options, "letter": "ABCD"[i % 4], "label": i % 2, "number": i,
            "right": [i % 4, (i + 1 + i % 2) % 4], "several": ["ABCD"[i % 4], f"the answer is {'ABCD'[i % 3]}."]}  # fmt: skip


ROWS = {
    "own/texts": _row,
    "own/options": _row,
    "own/few": lambda i: _row(i) if i % 3 else None,
}
"""Dataset path → one row by its number; None: there is no such row."""
