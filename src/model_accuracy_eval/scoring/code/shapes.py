"""JSON knows lists alone; a task's own asserts show which of them are tuples, sets or complex numbers in Python."""

import ast
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from model_accuracy_eval.scoring.code.syntax import parse

Revive = Callable[[Any], Any]
_NUMBERS = {int, float, complex}


def _same(value: Any) -> Any:
    return value


def examples(assertion: str, entry_point: str) -> list[list[Any]]:
    """The arguments of every call of the entry point in the asserts, where they are written out as values."""
    tree = parse(assertion)
    found: list[list[Any]] = []
    for node in ast.walk(tree) if tree else ():
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == entry_point:
            try:
                found.append([ast.literal_eval(argument) for argument in node.args])
            except (ValueError, TypeError):  # an expression: it shows no shape
                continue
    return found


def revived(inputs: Sequence[list[Any]], like: Sequence[list[Any]]) -> list[list[Any]]:
    """Every input with the types that the arguments at its places have in the examples."""
    made = [_like(values) for values in zip(*like, strict=False)] if like else []
    return [
        [made[place](value) if place < len(made) else value for place, value in enumerate(arguments)]
        for arguments in inputs
    ]


def _like(values: Sequence[Any]) -> Revive:
    """How JSON becomes a value of the kind that these have."""
    kinds = {type(value) for value in values}
    if kinds and kinds <= _NUMBERS:
        return _number
    if not kinds & {list, tuple, set, frozenset, dict} or len(kinds) > 1:
        return _same
    kind = kinds.pop()
    if kind is dict:
        return _dict(
            _like([key for one in values for key in one]), _like([item for one in values for item in one.values()])
        )
    if kind is tuple and _containers(values) == {tuple}:
        return _tuples
    return _container(kind, values)


def _containers(values: Iterable[Any]) -> set[type]:
    """Every kind of container in the values, at any depth."""
    found = {type(value) for value in values if isinstance(value, (list, tuple, set, frozenset, dict))}
    return found.union(*(_containers(value) for value in values if type(value) in found))


def _tuples(value: Any) -> Any:
    """Lists become tuples however deep they lie: nothing in the examples was ever a list."""
    return tuple(map(_tuples, value)) if isinstance(value, list) else value


def _number(value: Any) -> Any:
    """JSON has complex numbers as texts; a text that is no number stays one."""
    if not isinstance(value, str):
        return value
    try:
        return complex(value)
    except ValueError:
        return value


def _dict(key: Revive, item: Revive) -> Revive:
    def revive(value: Any) -> Any:
        return {key(name): item(one) for name, one in value.items()} if isinstance(value, dict) else value

    return revive


def _container(kind: type, values: Sequence[Any]) -> Revive:
    """Items of one kind share a shape; where the examples' items differ by place, each place has its own."""
    items = [item for one in values for item in one]
    one_kind = len({type(item) for item in items}) < 2
    places = [] if one_kind or kind in {set, frozenset} else [_like(at) for at in zip(*values, strict=False)]
    every = _like(items) if one_kind and items else _same

    def revive(value: Any) -> Any:
        if not isinstance(value, list):
            return value
        return kind(places[at](item) if at < len(places) else every(item) for at, item in enumerate(value))

    return revive
