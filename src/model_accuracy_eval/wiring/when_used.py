"""Parts that few runs use: each is built, and its modules are loaded, when something of it is first used."""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

T = TypeVar("T")


class _Waiting:
    def __init__(self, build: Callable[[], Any]) -> None:
        self._build = cache(build)

    def __getattr__(self, name: str) -> Any:
        """Called once for each method that is used: afterwards it is the part's own."""
        value = getattr(self._build(), name)
        setattr(self, name, value)
        return value

    def __call__(self, *values: Any, **named: Any) -> Any:
        return self._build()(*values, **named)


def when_used(build: Callable[[], T]) -> T:
    """Used as what `build` returns."""
    return cast("T", _Waiting(build))
