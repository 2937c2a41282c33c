"""The folder of a run: open for writing, or read after the run has ended."""

from collections.abc import Iterable, Iterator
from typing import Protocol


class Store(Protocol):
    """The folder of one run. Names are relative paths. A write leaves the whole file or nothing."""

    @property
    def root(self) -> str: ...

    def path(self, name: str) -> str:
        """Returns the absolute path of a file that another program will write, and makes its folder."""

    def append(self, name: str, data: bytes) -> None:
        """Adds whole lines at the end, in one write that survives the death of this process."""

    def write(self, name: str, data: bytes | Iterable[bytes]) -> None:
        """`data`: the whole file, or its parts in turn, so that it need not be in memory."""

    def read(self, name: str) -> bytes | None: ...

    def parts(self, name: str) -> Iterator[bytes]:
        """The file in parts of bounded size; none if it is not there."""

    def lines(self, name: str) -> Iterator[bytes]:
        """Yields the complete lines; a last line that a crash cut off is left out.

        Raises `NoHonestScore` if what was appended since the store was opened is not there any more as it was.
        """

    def lines_at(self, name: str, places: Iterable[int]) -> Iterator[bytes]:
        """The lines that begin at these bytes."""

    def remove(self, name: str) -> None: ...

    def names(self) -> list[str]:
        """Lists every file of the folder, sorted."""

    def close(self) -> None: ...


class Archive(Protocol):
    """The files of a run that has ended, for reading."""

    def names(self) -> list[str]:
        """Lists every file, sorted."""

    @property
    def root(self) -> str: ...

    def read(self, name: str) -> bytes | None: ...

    def parts(self, name: str) -> Iterator[bytes]:
        """The file in parts of bounded size; none if it is not there."""

    def lines(self, name: str) -> Iterator[bytes]:
        """Yields the complete lines, one at a time; a last line that a crash cut off is left out."""
