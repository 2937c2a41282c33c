"""`datasets.load_dataset` over rows that the user has: what is not there yet is asked for by the name of its file."""

from collections.abc import Iterable, Mapping
from typing import Any

from model_accuracy_eval.rim.python_tasks.dataset import Dataset, Row


class Wanted(BaseException):
    """Rows that have to be brought first; no `except Exception` of a task keeps it."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


class Loading:
    """Called as the library's function is: by repository, configuration and split, or with the file's own name."""

    def __init__(self, files: Mapping[str, Iterable[Row]]) -> None:
        self._files = files

    def __call__(
        self, path: str, name: str | None = None, *, split: str | None = None, data_files: Any = None, **_: Any
    ) -> Any:
        if data_files is not None and not isinstance(data_files, str):
            raise NotImplementedError(f"load_dataset(data_files={data_files!r}) is not done here: name one file")
        if data_files is not None:
            return self.rows(f"{path}/{data_files}")
        place = path if name is None else f"{path}/{name}"
        return _Splits(self, place) if split is None else self.rows(f"{place}/{split}")

    def rows(self, name: str) -> Dataset:
        if name not in self._files:
            raise Wanted(name)
        return Dataset(self._files[name])


class _Splits(dict[str, Dataset]):
    """Every split, read when it is looked at."""

    def __init__(self, loading: Loading, place: str) -> None:
        super().__init__()
        self._loading = loading
        self._place = place

    def __missing__(self, split: str) -> Dataset:
        self[split] = self._loading.rows(f"{self._place}/{split}")
        return self[split]
