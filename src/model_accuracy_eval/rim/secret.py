"""A token that cannot be printed by mistake: neither repr, nor a format, nor a pickle shows it."""

from typing import NoReturn


class Secret:
    """`name` tells people which input it came from. Two secrets are equal only if they are the same object, so a
    comparison tells nothing; `reveal` is the one way to the text, and easy to search for."""

    __slots__ = ("_text", "name")

    def __init__(self, text: str, name: str = "token") -> None:
        self._text = text.strip()  # a line feed after a pasted token would break the header
        self.name = name

    def reveal(self) -> str:
        return self._text

    def __bool__(self) -> bool:
        """Whether there is any text: inputs that were not given are empty."""
        return bool(self._text)

    def __repr__(self) -> str:
        return f"<secret {self.name}>"

    def __reduce__(self) -> NoReturn:
        raise TypeError(f"the secret {self.name} must not leave this process")
