"""A language model without weights: what it thinks of a token is a hash of the tokens before it.

`Vocabulary(pieces)` reads UTF-8 greedily, longest piece first; every single byte is a token too, so that characters
may be split, and pieces may straddle any boundary. Ids: 0–255 the bytes, then the pieces, then `<s>`.
`HashModel(vocabulary)` gives `logprobs(ids) → array over the vocabulary` and `loglikelihood(ids, begin) → (sum, greedy)`,
which is the oracle for everything that a server says about the same model.
"""

import hashlib
from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np
import numpy.typing as npt

PIECES = (
    "the", " the", " is", " a", " cat", " sat", " mat", " Paris", " Rome", " Lon", " London", "don", "New", " York",
    " Y", "or", "Question", "Answer", ":", "\n\n", " ", "  ", " A", " B", " C", " D", "é", "bc", "d.",
)  # fmt: skip
LETTERS = dict.fromkeys("ABCD", 9.0) | {f" {letter}": 8.0 for letter in "ABCD"}


class Vocabulary:
    """Bytes, some longer pieces, and a token for the beginning of a text."""

    def __init__(self, pieces: Sequence[str] = PIECES, *, bos: str = "<s>") -> None:
        self.tokens: list[bytes] = [bytes([byte]) for byte in range(256)]
        self.tokens += [piece.encode() for piece in pieces if len(piece.encode()) > 1]
        self.bos = len(self.tokens)
        self.bos_text = bos
        self.size = self.bos + 1
        self._ids = {token: number for number, token in enumerate(self.tokens)}
        self._longest = max(map(len, self.tokens))

    def encode(self, text: str, *, bos: bool = False) -> list[int]:
        """`<s>` in the text is the token of that name, wherever it stands."""
        ids = [self.bos] if bos else []
        for number, part in enumerate(text.split(self.bos_text)):
            ids += [self.bos] if number else []
            ids += self._plain(part.encode())
        return ids

    def _plain(self, data: bytes) -> list[int]:
        ids, place = [], 0
        while place < len(data):
            lengths = range(min(self._longest, len(data) - place), 0, -1)
            length = next(length for length in lengths if data[place : place + length] in self._ids)
            ids.append(self._ids[data[place : place + length]])
            place += length
        return ids

    def name(self, token: int) -> str:
        """As servers show a token by itself: half a character is U+FFFD."""
        return self.bos_text if token == self.bos else self.tokens[token].decode("utf-8", "replace")

    def decode(self, ids: Sequence[int]) -> str:
        return b"".join(self.tokens[token] for token in ids if token != self.bos).decode("utf-8", "replace")


class HashModel:
    """`liked`: texts of tokens → what is added to their scores, for answers that are worth reading."""

    def __init__(
        self, vocabulary: Vocabulary | None = None, *, liked: Mapping[str, float] = LETTERS, salt: str = ""
    ) -> None:
        self.vocabulary = vocabulary or Vocabulary()
        self._salt = salt.encode()
        self._bonus = np.zeros(self.vocabulary.size)
        for text, more in liked.items():
            (token,) = self.vocabulary.encode(text)
            self._bonus[token] += more
        self._row = lru_cache(maxsize=4096)(self._compute)

    def logprobs(self, ids: Sequence[int]) -> npt.NDArray[np.float64]:
        """Of every token behind these."""
        return self._row(tuple(ids))

    def _compute(self, ids: tuple[int, ...]) -> npt.NDArray[np.float64]:
        seed = hashlib.blake2b(repr(ids).encode() + self._salt, digest_size=8).digest()
        scores = np.random.default_rng(int.from_bytes(seed, "big")).normal(0, 2.5, self.vocabulary.size) + self._bonus
        row: npt.NDArray[np.float64] = scores - np.log(np.exp(scores).sum())
        return row

    def loglikelihood(self, ids: Sequence[int], begin: int) -> tuple[float, bool]:
        """Sum over the tokens from `begin` on, and whether each is the likeliest at its place."""
        rows = [(self.logprobs(ids[:place]), ids[place]) for place in range(begin, len(ids))]
        return float(sum(row[token] for row, token in rows)), all(int(row.argmax()) == token for row, token in rows)

    def greedy(self, ids: Sequence[int], count: int) -> list[int]:
        """What greedy decoding adds."""
        grown = list(ids)
        for _ in range(count):
            grown.append(int(self.logprobs(grown).argmax()))
        return grown[len(ids) :]
