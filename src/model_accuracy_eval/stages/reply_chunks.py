"""The compressed replies while pages are made: as many as fit into the page in memory, others in the run folder."""

from collections.abc import Iterator

from model_accuracy_eval.ports import Store
from model_accuracy_eval.report import page


class ReplyChunks:
    """Those of all datasets of a run. Closing it removes what is in the folder."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._files: list[str] = []
        self.left = page.LARGEST
        """Bytes that memory still takes."""

    def new(self) -> "DatasetChunks":
        """For another dataset."""
        self._files.append(f".replies-{len(self._files)}.chunks")
        self._store.remove(self._files[-1])  # a killed run may have left it
        return DatasetChunks(self, self._store, self._files[-1])

    def close(self) -> None:
        for name in self._files:
            self._store.remove(name)


class DatasetChunks:
    """Those of one dataset."""

    def __init__(self, chunks: ReplyChunks, store: Store, file: str) -> None:
        self._chunks = chunks
        self._store = store
        self._file = file
        self._in_memory: list[str] = []

    def append(self, chunk: str) -> None:
        self._chunks.left -= len(chunk)
        if self._chunks.left >= 0:
            self._in_memory.append(chunk)
        else:
            self._store.append(self._file, chunk.encode() + b"\n")

    def __iter__(self) -> Iterator[str]:
        yield from self._in_memory
        yield from (line[:-1].decode() for line in self._store.lines(self._file))
