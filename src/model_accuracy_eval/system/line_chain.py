"""What this process has written to a file, line by line, so that a change by another shows when it is read again."""

import hashlib
import io
from collections.abc import Iterable, Iterator

from model_accuracy_eval.errors import NoHonestScore

_SIZE = 16
"""Bytes of memory for a line."""


class LineChain:
    """A hash for every line, over that line and all before it. It stays in memory, where nobody else can write."""

    def __init__(self, where: str) -> None:
        self._where = where
        self._hashes = bytearray()

    def __len__(self) -> int:
        return len(self._hashes) // _SIZE

    def add(self, data: bytes) -> None:
        """Whole lines, in the order in which they are written."""
        for line in io.BytesIO(data):
            self._hashes += self._hash(line, bytes(self._hashes[-_SIZE:]))

    def checked(self, lines: Iterable[bytes]) -> Iterator[bytes]:
        """The lines as they are read, up to the first that was not written so; lines that came after this call are read
        too."""
        expected, before, number = len(self), b"", 0
        for number, line in enumerate(lines, start=1):
            before = self._hash(line, before)
            if bytes(self._hashes[(number - 1) * _SIZE : number * _SIZE]) != before:
                raise self._error(f"line {number} is not what this run wrote")
            yield line
        if number < expected:
            raise self._error(f"{number} of the {expected} lines that this run wrote are left")

    def _hash(self, line: bytes, before: bytes) -> bytes:
        return hashlib.blake2b(line, key=before, digest_size=_SIZE).digest()

    def _error(self, reason: str) -> NoHonestScore:
        sentence = (
            f"{self._where} was changed by another program while the run was under way: {reason}. So there is no "
            "verdict; find out who can write there, and run again."
        )
        return NoHonestScore(sentence, stage="score")
