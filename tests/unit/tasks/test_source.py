"""A data file → its rows, wherever they are and whatever is made of them."""

import io
import sys
from typing import Any

import pytest

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import DataFile, Listing, Recipe
from model_accuracy_eval.tasks import parquet, source
from model_accuracy_eval.tasks.rows import parse
from model_accuracy_eval.testing import MemoryHub

HUB = MemoryHub({"a.jsonl": b'{"n": 1}\n{"n": 2}\n'})


def test_a_recipe_is_followed_before_anything_looks_at_the_rows() -> None:
    """The columns that are asked for need be there only afterwards; without a recipe nothing is made."""

    def doubled(recipe: Recipe, rows: list[dict[str, Any]], read: object) -> list[dict[str, Any]]:
        assert recipe.rows == "utils.double"
        return [{"m": 2 * row["n"]} for row in rows]

    made = DataFile(name="a.jsonl", recipe=Recipe(folder="here", rows="utils.double"))
    assert source.read(made, ("m",), None, HUB, doubled) == [{"m": 2}, {"m": 4}]
    assert source.read(DataFile(name="a.jsonl"), ("n",), None, HUB, doubled) == [{"n": 1}, {"n": 2}]


def test_parquet_needs_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """The sentence says which command brings it."""
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(
        BadData, match=r"a\.parquet: Parquet needs an extra: pip install 'model-accuracy-eval\[parquet\]'"
    ):
        parquet.read("a.parquet", b"")


def test_rows_of_a_parquet_file_are_those_that_were_written() -> None:
    """Nested values too; bytes that are no Parquet, and a file without rows, are told."""
    pyarrow = pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    writer = pytest.importorskip("pyarrow.parquet")
    wanted = [{"q": "1+1", "choices": {"text": ["1", "2"]}}, {"q": "é", "choices": {"text": []}}]

    def written(content: list[dict[str, Any]]) -> bytes:
        file = io.BytesIO()
        writer.write_table(pyarrow.Table.from_pylist(content), file)
        return file.getvalue()

    assert parse("a.parquet", written(wanted), ("q",)) == wanted
    with pytest.raises(BadData, match=r"a\.parquet, row 1: the field 'x' is missing"):
        parse("a.parquet", written(wanted), ("x",))
    with pytest.raises(BadData, match="is no Parquet file that could be read"):
        parse("a.parquet", b"PAR1", ())
    with pytest.raises(BadData, match="not a single row"):
        parse("a.parquet", written([]), ())


def test_a_listing_chooses_rows_by_a_column() -> None:
    """In the order of the rows' own file; a value that no row has is told, as it would be another question."""
    hub = MemoryHub({"rows.jsonl": b'{"id": "a/1"}\n{"id": "a/2"}\n{"id": "a/3"}\n', "ids.txt": b"a/3\na/1\n"})

    def read(ids: str) -> list[dict[str, Any]]:
        listing = Listing(field="id", data=DataFile(name=ids))
        return source.read(
            DataFile(name="rows.jsonl", listed=listing), ("id",), None, hub, lambda recipe, rows, _: rows
        )

    assert read("ids.txt") == [{"id": "a/1"}, {"id": "a/3"}]
    hub = MemoryHub({"rows.jsonl": b'{"id": "a/1"}\n', "ids.txt": b"a/3\na/1\n"})
    with pytest.raises(BadData, match=r"lists 2 rows by their id, but .*rows\.jsonl has no row for 1 of them.*'a/3'"):
        read("ids.txt")
