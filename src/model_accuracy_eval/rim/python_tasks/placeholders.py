"""What stands for the members of a library that is not installed, and whether anything came to hang on one."""

from typing import Any, NoReturn

LOOKED_AT: list[str] = []
"""Names of placeholders that were looked at. A task that catches what comes of it would take that for an answer."""


class Placeholder:
    """Something of a library that is not installed: may be named, called and inherited from, but never looked at."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> "Placeholder":
        if name.startswith("__"):
            raise AttributeError(name)
        return Placeholder(f"{self._name}.{name}")

    def __call__(self, *_: Any, **__: Any) -> "Placeholder":
        return Placeholder(f"{self._name}()")

    def __mro_entries__(self, bases: tuple[Any, ...]) -> tuple[type, ...]:
        return (_base(self._name),)


def check() -> None:
    """Nothing that was made since the list was cleared hangs on a library that is not installed."""
    if LOOKED_AT:
        raise ImportError(_told(LOOKED_AT[0]))


def _told(name: str) -> str:
    return f"{name} is not installed where the task's Python runs"


def _refuse(self: Placeholder, *_: Any) -> NoReturn:
    LOOKED_AT.append(self._name)
    raise ImportError(_told(self._name))


def _base(name: str) -> type:
    """A class whose heirs have what they define themselves; what they would have inherited is looked at in vain."""

    def missing(_: object, attribute: str) -> NoReturn:
        if not attribute.startswith("__"):
            LOOKED_AT.append(f"{name}.{attribute}")
        raise AttributeError(_told(f"{name}.{attribute}"))

    return type("Missing", (), {"__getattr__": missing})


_LOOKS = (
    *("str", "repr", "format", "int", "float", "bool", "len", "iter"),
    *("eq", "lt", "contains", "getitem", "add", "enter"),
)
for _look in _LOOKS:
    setattr(Placeholder, f"__{_look}__", _refuse)
