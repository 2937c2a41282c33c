"""Rows that belong together: the rotations of one question, or one sentence in two languages."""

from collections import Counter
from collections.abc import Mapping, Sequence

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.tasks.rows import DataRow


def grouped(rows: list[DataRow], *, columns: Mapping[str, Sequence[str]]) -> list[DataRow]:
    """The view: with a column for each kind of group, that has its name and how many rows of the file it has.

    `columns`: the new column → those that are equal in all rows of a group.
    """
    for column, of in columns.items():
        rows = in_groups(rows, ["/".join(str(row[name]) for name in of) for row in rows], column)
    return rows


def in_groups(rows: list[DataRow], names: Sequence[str], column: str = "group") -> list[DataRow]:
    """Each row with the name and the size of its group, as the metric `whole_group` reads them."""
    sizes = Counter(names)
    return [{**row, column: {"name": name, "rows": sizes[name]}} for row, name in zip(rows, names, strict=True)]


def side_by_side(rows: list[DataRow], *, key: str, role: str, column: str) -> list[DataRow]:
    """The view: one row of all with the same key, with a column of each one's role that has its `column`.

    The other columns are the first one's. Rows without a partner are refused: a text would be asked for that nobody
    knows.
    """
    roles = list(dict.fromkeys(str(row[role]) for row in rows))
    together: dict[str, DataRow] = {}
    for row in rows:
        own = {str(row[role]): row[column]}
        together[str(row[key])] = {**row, **together.get(str(row[key]), {}), **own}
    for name, row in together.items():
        if lacking := [one for one in roles if one not in row]:
            raise BadData(f"The row whose {key} is {name} has no {lacking[0]}: the files are of different splits.")
    if len(together) * len(roles) != len(rows):
        raise BadData(f"{len(rows):,} rows have {len(together):,} different values of {key}: some occur twice.")
    return list(together.values())
