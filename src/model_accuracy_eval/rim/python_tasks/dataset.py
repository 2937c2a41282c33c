"""Rows in memory, with those methods of `datasets.Dataset` that task files call on them."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

Row = dict[str, Any]


class Dataset:
    """Every method gives new rows; arguments about caches and workers mean nothing here and are left aside."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self._rows: list[Row] = [dict(row) for row in rows]

    def __iter__(self) -> Iterator[Row]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, str):
            return [row[key] for row in self._rows]
        if isinstance(key, slice):
            return {name: [row[name] for row in self._rows[key]] for name in self.column_names}
        return self._rows[key]

    @property
    def column_names(self) -> list[str]:
        return list(dict.fromkeys(name for row in self._rows for name in row))

    @property
    def features(self) -> dict[str, None]:
        return dict.fromkeys(self.column_names)

    @property
    def num_rows(self) -> int:
        return len(self._rows)

    def map(
        self,
        function: Callable[..., Any],
        *,
        with_indices: bool = False,
        batched: bool = False,
        remove_columns: str | Sequence[str] | None = None,
        fn_kwargs: Row | None = None,
        **_: Any,
    ) -> "Dataset":
        if batched:
            raise NotImplementedError("map(batched=True) is not done here")
        kept = self.remove_columns(remove_columns or ())
        made = (
            function(dict(row), *([at] if with_indices else []), **(fn_kwargs or {}))
            for at, row in enumerate(self._rows)
        )
        return Dataset({**row, **(more or {})} for row, more in zip(kept, made, strict=True))

    def filter(
        self, function: Callable[..., Any], *, with_indices: bool = False, fn_kwargs: Row | None = None, **_: Any
    ) -> "Dataset":
        found = enumerate(self._rows)
        return Dataset(
            row for at, row in found if function(dict(row), *([at] if with_indices else []), **(fn_kwargs or {}))
        )

    def select(self, indices: Iterable[int], **_: Any) -> "Dataset":
        return Dataset(self._rows[at] for at in indices)

    def shuffle(self, seed: int | None = None, **_: Any) -> "Dataset":
        """In the order that `datasets` would give: NumPy's generator draws it."""
        import numpy  # noqa: PLC0415 - a tenth of a second that few tasks pay

        return self.select(numpy.random.default_rng(seed).permutation(len(self._rows)))

    def sort(self, column: str, *, reverse: bool = False, **_: Any) -> "Dataset":
        return Dataset(sorted(self._rows, key=lambda row: row[column], reverse=reverse))

    def remove_columns(self, names: str | Sequence[str]) -> "Dataset":
        dropped = [names] if isinstance(names, str) else names
        return Dataset({name: value for name, value in row.items() if name not in dropped} for row in self._rows)

    def rename_column(self, old: str, new: str) -> "Dataset":
        return self.rename_columns({old: new})

    def rename_columns(self, names: Mapping[str, str]) -> "Dataset":
        return Dataset({names.get(name, name): value for name, value in row.items()} for row in self._rows)

    def add_column(self, name: str, column: Sequence[Any], **_: Any) -> "Dataset":
        return Dataset({**row, name: value} for row, value in zip(self._rows, column, strict=True))

    def to_list(self) -> list[Row]:
        return list(self._rows)

    @classmethod
    def from_list(cls, rows: Iterable[Row], **_: Any) -> "Dataset":
        return cls(rows)

    @classmethod
    def from_dict(cls, columns: Mapping[str, Sequence[Any]], **_: Any) -> "Dataset":
        return cls(dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))


def concatenate(several: Iterable[Dataset], **_: Any) -> Dataset:
    return Dataset(row for one in several for row in one)
