"""A data file → its rows, wherever they are and whatever is made of them."""

from collections.abc import Sequence

from model_accuracy_eval.ports import Hub, MakeRows
from model_accuracy_eval.records import DataFile
from model_accuracy_eval.tasks import rows


def read(file: DataFile, fields: Sequence[str], data_dir: str | None, hub: Hub, make_rows: MakeRows) -> list[rows.Row]:
    """Rows that a recipe makes need not have the fields beforehand."""
    found, data = hub.read(file, data_dir)
    if file.recipe is None:
        return rows.parse(found, data, fields)
    return make_rows(file.recipe, rows.parse(found, data, ()))
