"""The stand-in for the library `datasets`: rows in memory, with the methods that task files call on them."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from model_accuracy_eval.records import JSONObject
from model_accuracy_eval.scoring.answers.ultraeval_answers import POSTPROCESS


class Dataset:
    """Every method returns new rows; arguments about caches and workers mean nothing here and are ignored."""

    def __init__(self, rows: Iterable[Mapping[str, Any]]) -> None:
        self._rows: list[JSONObject] = [dict(row) for row in rows]

    def __iter__(self) -> Iterator[JSONObject]:
        return iter(self._rows)

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, key: int | str | slice) -> object:
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
        fn_kwargs: Mapping[str, object] | None = None,
        **_: object,
    ) -> "Dataset":
        if batched:
            raise NotImplementedError("map(batched=True) is not supported here")
        columns = self._call(function, with_indices, fn_kwargs)
        rows = self.remove_columns(remove_columns or ())
        return Dataset({**row, **(further or {})} for row, further in zip(rows, columns, strict=True))

    def filter(
        self,
        function: Callable[..., Any],
        *,
        with_indices: bool = False,
        fn_kwargs: Mapping[str, object] | None = None,
        **_: object,
    ) -> "Dataset":
        results = self._call(function, with_indices, fn_kwargs)
        return Dataset(row for row, result in zip(self._rows, results, strict=True) if result)

    def _call(
        self, function: Callable[..., Any], with_indices: bool, fn_kwargs: Mapping[str, object] | None
    ) -> Iterator[Any]:
        for index, row in enumerate(self._rows):
            yield function(dict(row), *([index] if with_indices else []), **(fn_kwargs or {}))

    def select(self, indices: Iterable[int], **_: object) -> "Dataset":
        return Dataset(self._rows[index] for index in indices)

    def shuffle(self, seed: int | None = None, **_: object) -> "Dataset":
        """In the order that `datasets` would return: NumPy's generator draws it."""
        import numpy  # noqa: PLC0415 - it would double the time that the child process takes to start

        return self.select(numpy.random.default_rng(seed).permutation(len(self._rows)))

    def sort(self, column: str, *, reverse: bool = False, **_: object) -> "Dataset":
        return Dataset(sorted(self._rows, key=lambda row: row[column], reverse=reverse))

    def remove_columns(self, names: str | Sequence[str]) -> "Dataset":
        dropped = [names] if isinstance(names, str) else names
        return Dataset({name: value for name, value in row.items() if name not in dropped} for row in self._rows)

    def rename_column(self, old: str, new: str) -> "Dataset":
        return self.rename_columns({old: new})

    def rename_columns(self, names: Mapping[str, str]) -> "Dataset":
        return Dataset({names.get(name, name): value for name, value in row.items()} for row in self._rows)

    def add_column(self, name: str, column: Sequence[object], **_: object) -> "Dataset":
        return Dataset({**row, name: value} for row, value in zip(self._rows, column, strict=True))

    def to_list(self) -> list[JSONObject]:
        return list(self._rows)

    @classmethod
    def from_list(cls, rows: Iterable[JSONObject], **_: object) -> "Dataset":
        return cls(rows)

    @classmethod
    def from_dict(cls, columns: Mapping[str, Sequence[object]], **_: object) -> "Dataset":
        return cls(dict(zip(columns, values, strict=True)) for values in zip(*columns.values(), strict=True))


def concatenate(datasets: Iterable[Dataset], **_: object) -> Dataset:
    return Dataset(row for dataset in datasets for row in dataset)


class MissingRows(BaseException):
    """Rows that have to be fetched first; it is no `Exception`, so that no handler of a task keeps it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class DatasetLoader:
    """`datasets.load_dataset`: called by repository, configuration and split, or with the file's own name.

    A file whose rows are not there yet is asked for by `MissingRows`.
    """

    def __init__(self, files: Mapping[str, Iterable[JSONObject]]) -> None:
        self._files = files

    def __call__(
        self, path: str, name: str | None = None, *, split: str | None = None, data_files: object = None, **_: object
    ) -> "Dataset | _Splits":
        if data_files is not None and not isinstance(data_files, str):
            raise NotImplementedError(f"load_dataset(data_files={data_files!r}) is not supported here: name one file")
        if data_files is not None:
            return self.rows(f"{path}/{data_files}")
        place = path if name is None else f"{path}/{name}"
        return _Splits(self, place) if split is None else self.rows(f"{place}/{split}")

    def rows(self, name: str) -> Dataset:
        if name not in self._files:
            raise MissingRows(name)
        return Dataset(self._files[name])


class _Splits(dict[str, Dataset]):
    """Every split, loaded when it is used."""

    def __init__(self, loader: DatasetLoader, place: str) -> None:
        super().__init__()
        self._loader = loader
        self._place = place

    def __missing__(self, split: str) -> Dataset:
        self[split] = self._loader.rows(f"{self._place}/{split}")
        return self[split]


# What filters of task files inherit from and are registered with, instead of lm-eval's own: as much as they rely on.
#
# A filter is a class; it is made with its arguments, and `apply` turns replies into answers. Here it can be called like
# a function of both: `filter(resps, docs, **arguments)`.


Registered = TypeVar("Registered")

REGISTERED: dict[str, type] = {}
"""The classes that the task's modules registered when they were loaded, by their names."""


class Filter:
    def __init__(self, **_: object) -> None:
        """Keeps nothing: arguments belong to the classes that inherit from this."""


class RegexFilter(Filter):
    """Returns what a pattern finds; the attributes are those that subclasses use."""

    def __init__(
        self, regex_pattern: str = r"#### (\-?[0-9\.\,]+)", group_select: int = 0, fallback: str = "[invalid]"
    ) -> None:
        self.regex_pattern = regex_pattern
        self.regex = re.compile(regex_pattern)
        self.group_select = group_select
        self.fallback = fallback

    def apply(self, resps: Iterable[Sequence[str]], docs: Sequence[object]) -> list[list[str]]:
        return [[self._answer(reply) for reply in replies] for replies in resps]

    def _answer(self, reply: str) -> str:
        """The match; of several groups the first that is not empty."""
        matches = self.regex.findall(reply)
        if not matches:
            return self.fallback
        match = matches[self.group_select]
        text = match if isinstance(match, str) else next(filter(None, match), self.fallback)
        return text.strip()


def register_filter(*names: str) -> Callable[[type], type]:
    def register(filter_class: type) -> type:
        REGISTERED.update(dict.fromkeys(names, filter_class))
        return filter_class

    return register


def no_registration(*_: object, **__: object) -> Callable[[Registered], Registered]:
    """Decorators that enter what they decorate in tables of lm-eval, which are not used here."""
    return lambda decorated: decorated


def as_function(filter_class: type) -> Callable[..., list[list[Any]]]:
    """The class as a function; its answers become lists, whatever kind of series it returns."""

    def apply(resps: object, docs: object, **arguments: object) -> list[list[Any]]:
        return [list(answers) for answers in filter_class(**arguments).apply(resps, docs)]

    return apply


MODULES: dict[str, Mapping[str, object]] = {
    "lm_eval.api": {},
    "lm_eval.api.filter": {"Filter": Filter},
    "lm_eval.api.registry": {
        "register_filter": register_filter,
        "register_metric": no_registration,
        "register_aggregation": no_registration,
    },
    "lm_eval.filters": {},
    "lm_eval.filters.extraction": {"Filter": Filter, "RegexFilter": RegexFilter, "register_filter": register_filter},
}
"""Modules of lm-eval → what stands in for their members; every other member is a placeholder."""


@dataclass(frozen=True, slots=True)
class Post:
    """A class of UltraEval: called with the inputs and the replies, it returns the inputs and the answers."""

    function: Callable[[str], str | None]

    def __call__(self, raw: list[str], texts: str | list[str]) -> tuple[list[str], list[str | None]]:
        return raw, [self.function(text) for text in ([texts] if isinstance(texts, str) else texts)]


POSTS: dict[str, Callable[[], Post]] = {row.class_name: partial(Post, row.read) for row in POSTPROCESS.values()}
"""The members of `UltraEval.tasks.postprocess`."""
