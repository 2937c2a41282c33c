"""A token that cannot be printed by mistake: repr, formatting and pickling do not show it."""

from typing import NoReturn


class Secret:
    """`name` is the input that it came from. Only `reveal` gives the text, which is easy to search for. Two secrets are
    equal only if they are the same object, so that a comparison gives nothing away."""

    __slots__ = ("_text", "name")

    def __init__(self, text: str, name: str = "token") -> None:
        self._text = text.strip()  # a line feed after a pasted token would break the header
        self.name = name

    def reveal(self) -> str:
        return self._text

    def __bool__(self) -> bool:
        """Whether there is any text: an input that was not given is empty."""
        return bool(self._text)

    def __repr__(self) -> str:
        return f"<secret {self.name}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"the secret {self.name} must not leave this process")
