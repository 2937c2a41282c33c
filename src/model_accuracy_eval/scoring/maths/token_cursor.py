"""A place in a list of tokens, and the ways to look at and to take what follows it."""

from model_accuracy_eval.scoring.maths.maths_tokens import MathsToken
from model_accuracy_eval.scoring.maths.maths_trees import Unreadable

_DEEPEST = 30
"""Levels of brackets; deeper texts are compared letter by letter."""


class TokenCursor:
    def __init__(self, stream: list[MathsToken]) -> None:
        self._stream = stream
        self._place = 0
        self._depth = 0

    @property
    def next(self) -> MathsToken | None:
        return self._stream[self._place] if self._place < len(self._stream) else None

    def _kind(self) -> str:
        return self.next.kind if self.next else ""

    def _at(self, *texts: str) -> bool:
        """Whether one of these signs, commands or separators follows."""
        token = self.next
        return token is not None and token.kind in {"sign", "command", "separator"} and token.text in texts

    def _take(self) -> MathsToken:
        token = self.next
        if token is None:
            raise Unreadable("the end")
        self._place += 1
        return token

    def _took(self, *texts: str) -> bool:
        if self._at(*texts):
            self._place += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._took(text):
            raise Unreadable(f"no {text}")

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Unreadable(f"more than {_DEEPEST} levels")

    def _leave(self) -> None:
        self._depth -= 1

    def _letters(self) -> str:
        """The next token, or all tokens of the next group in braces, as one name."""
        if not self._took("{"):
            return self._take().text
        parts = []
        while not self._took("}"):
            parts.append(self._take().text)
        return "".join(parts)
