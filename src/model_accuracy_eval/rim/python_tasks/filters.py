"""What filters of task files inherit from and are registered with, in place of lm-eval's own: as much as they rely on.

A filter is a class; it is made with its arguments, and `apply` makes answers of replies. One that can be called here
looks like a function of both: `filter(resps, docs, **arguments)`.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

Found = TypeVar("Found")

REGISTERED: dict[str, type] = {}
"""What the task's modules registered when they were loaded, by its name."""


class Filter:
    def __init__(self, **_: Any) -> None:
        """Keeps nothing: arguments belong to the classes that inherit from this."""


class RegexFilter(Filter):
    """What a pattern finds; the attributes are those that heirs look at."""

    def __init__(
        self, regex_pattern: str = r"#### (\-?[0-9\.\,]+)", group_select: int = 0, fallback: str = "[invalid]"
    ) -> None:
        self.regex_pattern = regex_pattern
        self.regex = re.compile(regex_pattern)
        self.group_select = group_select
        self.fallback = fallback

    def apply(self, resps: Iterable[Sequence[str]], docs: Sequence[Any]) -> list[list[str]]:
        return [[self._found(reply) for reply in replies] for replies in resps]

    def _found(self, reply: str) -> str:
        """Of several groups the first that is not empty."""
        matches = self.regex.findall(reply)
        if not matches:
            return self.fallback
        match = matches[self.group_select]
        text = match if isinstance(match, str) else next(filter(None, match), self.fallback)
        return text.strip()


def register_filter(*names: str) -> Callable[[type], type]:
    def registered(found: type) -> type:
        REGISTERED.update(dict.fromkeys(names, found))
        return found

    return registered


def left_alone(*_: Any, **__: Any) -> Callable[[Found], Found]:
    """Decorators that enter what they decorate in tables of lm-eval's, which nobody looks at here."""
    return lambda found: found


def called(found: type) -> Callable[..., list[list[Any]]]:
    """The class as a function; its answers are listed, whatever kind of series it gives."""

    def applied(resps: Any, docs: Any, **arguments: Any) -> list[list[Any]]:
        return [list(answers) for answers in found(**arguments).apply(resps, docs)]

    return applied


MODULES: dict[str, dict[str, Any]] = {
    "lm_eval.api": {},
    "lm_eval.api.filter": {"Filter": Filter},
    "lm_eval.api.registry": {
        "register_filter": register_filter,
        "register_metric": left_alone,
        "register_aggregation": left_alone,
    },
    "lm_eval.filters": {},
    "lm_eval.filters.extraction": {"Filter": Filter, "RegexFilter": RegexFilter, "register_filter": register_filter},
}
"""Modules of lm-eval → what stands in for their members; all else in them is a placeholder."""
