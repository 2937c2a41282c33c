"""What filters of task files inherit from and are registered with, instead of lm-eval's own: as much as they rely on.

A filter is a class; it is made with its arguments, and `apply` turns replies into answers. Here it can be called like a
function of both: `filter(resps, docs, **arguments)`.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, TypeVar

Registered = TypeVar("Registered")

REGISTERED: dict[str, type] = {}
"""The classes that the task's modules registered when they were loaded, by their names."""


class Filter:
    def __init__(self, **_: object) -> None:
        """Keeps nothing: arguments belong to the classes that inherit from this."""


class RegexFilter(Filter):
    """Returns what a pattern finds; the attributes are those that subclasses use."""

    def __init__(
        self, regex_pattern: str = r"#### (\-?[0-9\.\,]+)", group_select: int = 0, fallback: str = "[invalid]"
    ) -> None:
        self.regex_pattern = regex_pattern
        self.regex = re.compile(regex_pattern)
        self.group_select = group_select
        self.fallback = fallback

    def apply(self, resps: Iterable[Sequence[str]], docs: Sequence[object]) -> list[list[str]]:
        return [[self._answer(reply) for reply in replies] for replies in resps]

    def _answer(self, reply: str) -> str:
        """The match; of several groups the first that is not empty."""
        matches = self.regex.findall(reply)
        if not matches:
            return self.fallback
        match = matches[self.group_select]
        text = match if isinstance(match, str) else next(filter(None, match), self.fallback)
        return text.strip()


def register_filter(*names: str) -> Callable[[type], type]:
    def register(filter_class: type) -> type:
        REGISTERED.update(dict.fromkeys(names, filter_class))
        return filter_class

    return register


def no_registration(*_: object, **__: object) -> Callable[[Registered], Registered]:
    """Decorators that enter what they decorate in tables of lm-eval, which are not used here."""
    return lambda decorated: decorated


def as_function(filter_class: type) -> Callable[..., list[list[Any]]]:
    """The class as a function; its answers become lists, whatever kind of series it returns."""

    def apply(resps: object, docs: object, **arguments: object) -> list[list[Any]]:
        return [list(answers) for answers in filter_class(**arguments).apply(resps, docs)]

    return apply


MODULES: dict[str, Mapping[str, object]] = {
    "lm_eval.api": {},
    "lm_eval.api.filter": {"Filter": Filter},
    "lm_eval.api.registry": {
        "register_filter": register_filter,
        "register_metric": no_registration,
        "register_aggregation": no_registration,
    },
    "lm_eval.filters": {},
    "lm_eval.filters.extraction": {"Filter": Filter, "RegexFilter": RegexFilter, "register_filter": register_filter},
}
"""Modules of lm-eval → what stands in for their members; every other member is a placeholder."""
