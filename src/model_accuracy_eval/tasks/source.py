"""A data file → its rows, wherever they are and whatever is made of them."""

from collections.abc import Sequence

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.ports import Hub, MakeRows
from model_accuracy_eval.records import DataFile, Listing
from model_accuracy_eval.tasks import rows


def read(file: DataFile, fields: Sequence[str], data_dir: str | None, hub: Hub, make_rows: MakeRows) -> list[rows.Row]:
    """Rows that a recipe makes need not have the fields beforehand."""

    def named(name: str) -> list[rows.Row]:
        return rows.parse(*hub.read(DataFile(name=name), data_dir), ())

    if file.recipe and file.recipe.made:
        return make_rows(file.recipe, [], named)
    found, data = hub.read(file, data_dir)
    if file.recipe is None:
        whole = rows.parse(found, data, fields)
    else:
        whole = make_rows(file.recipe, rows.parse(found, data, ()), named)
    return _listed(found, whole, file.listed, data_dir, hub) if file.listed else whole


def _listed(found: str, whole: list[rows.Row], listing: Listing, data_dir: str | None, hub: Hub) -> list[rows.Row]:
    """Those that the listing names, in their own order; a name without a row would make it another question."""
    place, data = hub.read(listing.data, data_dir)
    names = {row["text"].strip() for row in rows.parse(place, data, ("text",))}
    kept = [row for row in whole if str(row.get(listing.field)) in names]
    if missing := sorted(names - {str(row[listing.field]) for row in kept}):
        raise BadData(
            f"{place} lists {len(names)} rows by their {listing.field}, but {found} has no row for {len(missing)} of "
            f"them, such as '{missing[0]}'."
        )
    return kept
