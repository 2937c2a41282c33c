"""Restores Python's types in values that were stored as JSON.

JSON knows only lists; a task's own asserts show which of them are tuples, sets or complex numbers.
"""

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from model_accuracy_eval.scoring.code.syntax import parse

Restore = Callable[[Any], Any]
_NUMBERS = {int, float, complex}


def _unchanged(value: Any) -> Any:
    return value


def call_arguments(assertion: str, entry_point: str) -> list[list[Any]]:
    """The arguments of every call of the entry point in the asserts whose arguments are literals."""
    tree = parse(assertion)
    calls: list[list[Any]] = []
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == entry_point:
            try:
                calls.append([ast.literal_eval(argument) for argument in node.args])
            except (ValueError, TypeError):  # an expression, which shows no type
                continue
    return calls


def restore_types(inputs: Sequence[list[Any]], examples: Sequence[list[Any]]) -> list[list[Any]]:
    """Every input with the types that the examples have at the same places."""
    restores = [_restore_like(values) for values in zip(*examples, strict=False)] if examples else []
    return [
        [restores[place](value) if place < len(restores) else value for place, value in enumerate(arguments)]
        for arguments in inputs
    ]


def _restore_like(values: Sequence[Any]) -> Restore:
    """A function that turns a JSON value into a value of the type that these have."""
    kinds = {type(value) for value in values}
    if kinds and kinds <= _NUMBERS:
        return _number
    if not kinds & {list, tuple, set, frozenset, dict} or len(kinds) > 1:
        return _unchanged
    kind = kinds.pop()
    if kind is dict:
        keys = [key for value in values for key in value]
        return _dict(_restore_like(keys), _restore_like([item for value in values for item in value.values()]))
    if kind is tuple and _container_types(values) == {tuple}:
        return _tuples
    return _container(kind, values)


def _container_types(values: Iterable[Any]) -> set[type]:
    """The type of every container in the values, at any depth."""
    kinds = {type(value) for value in values if isinstance(value, (list, tuple, set, frozenset, dict))}
    return kinds.union(*(_container_types(value) for value in values if type(value) in kinds))


def _tuples(value: Any) -> Any:
    """Lists become tuples at every depth, because the examples contain no list."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _number(value: Any) -> Any:
    """JSON stores complex numbers as texts; any other text is left unchanged."""
    if not isinstance(value, str):
        return value
    try:
        return complex(value)
    except ValueError:
        return value


def _dict(restore_key: Restore, restore_item: Restore) -> Restore:
    def restore(value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        return {restore_key(key): restore_item(item) for key, item in value.items()}

    return restore


def _container(kind: type, values: Sequence[Any]) -> Restore:
    """Items of one type are all restored alike; if the examples' items differ by place, each place has its own type."""
    items = [item for value in values for item in value]
    uniform = len({type(item) for item in items}) < 2
    by_place = [] if uniform or kind in {set, frozenset} else [_restore_like(at) for at in zip(*values, strict=False)]
    other = _restore_like(items) if uniform and items else _unchanged

    def restore(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return kind(by_place[at](item) if at < len(by_place) else other(item) for at, item in enumerate(value))

    return restore
