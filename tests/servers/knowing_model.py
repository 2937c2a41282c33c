"""A language model that knows some texts by heart: behind the beginning of one, its next token is nearly certain."""

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt
from tests.servers.hash_model import HashModel, Vocabulary

_SURE, _UNLIKELY = -0.01, -20.0


class KnowingModel(HashModel):
    """Everything else is equally unlikely to it."""

    def __init__(self, texts: Iterable[str], vocabulary: Vocabulary | None = None) -> None:
        super().__init__(vocabulary)
        known = {self._spelt(self.vocabulary.encode(text, bos=True)) for text in texts}
        self._known = sorted(known | {text[1:] for text in known})

    @staticmethod
    def _spelt(ids: Sequence[int]) -> str:
        """Tokens as characters, so that beginnings are compared as texts are."""
        return "".join(map(chr, ids))

    def logprobs(self, ids: Sequence[int]) -> npt.NDArray[np.float64]:
        row = np.full(self.vocabulary.size, _UNLIKELY)
        begun = self._spelt(ids)
        for text in self._known:
            if text.startswith(begun) and len(text) > len(begun):
                row[ord(text[len(begun)])] = _SURE
        return row
