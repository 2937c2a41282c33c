"""Sets of real numbers as intervals, however they are written: (2, ∞) is x > 2, and x ≠ 3 is (-∞, 3) ∪ (3, ∞)."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction

from model_accuracy_eval.scoring.maths.maths_trees import (
    Bracket,
    Constant,
    Node,
    Operation,
    Sequence,
    Statement,
    Symbol,
    difference,
    mapped,
    negative,
    product_of,
    quotient_of,
    sum_of,
)
from model_accuracy_eval.scoring.maths.maths_values import same_value
from model_accuracy_eval.scoring.maths.numeric_values import real_number

_INFINITY = Symbol("\\infty")
CONSTANT_NAMES = frozenset(("\\pi", "e", "i", "\\infty", "\\mathbbR", "\\emptyset"))
TURNED = {"<": ">", ">": "<", r"\le": r"\ge", r"\ge": r"\le", r"\ne": r"\ne"}
_MOST_PIECES = 50


@dataclass(frozen=True, slots=True)
class End:
    number: float
    node: Node
    closed: bool

    def meets(self, other: "End") -> bool:
        return self.number == other.number or same_value(self.node, other.node)


@dataclass(frozen=True, slots=True)
class Piece:
    """An interval; a single point is one that begins and ends there."""

    low: End
    high: End


RealSet = tuple[Piece, ...]
"""Pieces in order, with gaps between them."""

_LEFT = End(-math.inf, negative(_INFINITY), closed=False)
_RIGHT = End(math.inf, _INFINITY, closed=False)
_ALL: RealSet = (Piece(_LEFT, _RIGHT),)


def real_set(node: Node) -> RealSet | None:
    """None for what is no set of real numbers with known ends."""
    if isinstance(node, Symbol):
        return _SYMBOLS.get(node.name)
    for kind, reader in _READERS.items():
        if isinstance(node, kind):
            return reader(node)
    return None


def is_combination(node: Node) -> bool:
    """Whether it is a union, an intersection or a difference of sets."""
    return isinstance(node, Operation) and node.name in _COMBINATIONS


def equal_sets(left: Node, right: Node) -> bool | None:
    """None where one of them is no set of real numbers with known ends."""
    ours, theirs = real_set(left), real_set(right)
    if ours is None or theirs is None:
        return None
    ends = [[end for piece in pieces for end in (piece.low, piece.high)] for pieces in (ours, theirs)]
    return len(ours) == len(theirs) and all(
        one.closed == other.closed and one.meets(other) for one, other in zip(*ends, strict=True)
    )


def _end(node: Node, *, closed: bool) -> End | None:
    number = real_number(node)
    return None if number is None else End(number, node, closed and math.isfinite(number))


def _interval(low: End | None, high: End | None) -> RealSet | None:
    if low is None or high is None:
        return None
    if low.meets(high):
        return (Piece(low, high),) if low.closed and high.closed else ()
    return (Piece(low, high),) if low.number < high.number else ()


def _of_bracket(node: Bracket) -> RealSet | None:
    if node.opening == "{":
        ends = [_end(item, closed=True) for item in node.items]
        points = [Piece(end, end) for end in ends if end is not None and math.isfinite(end.number)]
        return _union(points) if len(points) == len(ends) else None
    if len(node.items) != 2:
        return None
    low, high = node.items
    return _interval(_end(low, closed=node.opening == "["), _end(high, closed=node.closing == "]")) or None


def _of_relation(node: Statement) -> RealSet | None:
    """Inequalities of one symbol with constants, and chains of two of them around it."""
    if node.signs == (r"\in",) and _is_variable(node.sides[0]):
        return real_set(node.sides[1])
    if any(sign not in TURNED for sign in node.signs):
        return None
    places = [place for place, side in enumerate(node.sides) if side.symbols() - CONSTANT_NAMES]
    if len(places) != 1 or len(node.sides) > 3 or (len(node.sides) == 3 and places[0] != 1):
        return None
    (place,) = places
    variable, result = node.sides[place], _ALL
    for index, sign in enumerate(node.signs):
        constant = node.sides[index if index + 1 == place else index + 1]
        part = _solution(variable, TURNED[sign] if index + 1 == place else sign, constant)
        if part is None:
            return None
        result = _intersection(result, part)
    return result


def _solution(side: Node, sign: str, constant: Node) -> RealSet | None:
    """Of 2x + 2 > 3 and of |x - 1| > 3: the larger x, and the smaller ones."""
    absolute = isinstance(side, Operation) and side.name == "absolute value"
    inside = side.parts[0] if absolute else side
    upper = _linear_solution(inside, sign, constant)
    if upper is None or not absolute:
        return upper
    lower = _linear_solution(inside, TURNED[sign], negative(constant))
    return lower and (_intersection(upper, lower) if sign in {"<", r"\le", r"\ne"} else _union([*upper, *lower]))


def _linear_solution(side: Node, sign: str, constant: Node) -> RealSet | None:
    if _is_variable(side):
        return _half_line(sign, constant)
    names = side.symbols() - CONSTANT_NAMES
    if len(names) != 1:
        return None
    name = Symbol(*names)
    offset, one = _with_value(side, name, 0), _with_value(side, name, 1)
    slope = difference(one, offset)
    size = real_number(slope)
    if not size or not same_value(side, sum_of(product_of(slope, name), offset)):
        return None
    return _half_line(sign if size > 0 else TURNED[sign], quotient_of(difference(constant, offset), slope))


def _with_value(node: Node, name: Symbol, value: int) -> Node:
    return mapped(node, lambda part: Constant(Fraction(value)) if part == name else part)


def _is_variable(node: Node) -> bool:
    if isinstance(node, Operation):
        return node.name == "value of function" and isinstance(node.operands[1], Symbol)
    return isinstance(node, Symbol) and real_number(node) is None


def _half_line(sign: str, constant: Node) -> RealSet | None:
    """All x with "x sign constant"."""
    end = _end(constant, closed=sign in {r"\le", r"\ge"})
    if end is None or math.isinf(end.number):
        return None
    if sign == r"\ne":
        return (Piece(_LEFT, end), Piece(end, _RIGHT))
    return (Piece(_LEFT, end),) if sign in {"<", r"\le"} else (Piece(end, _RIGHT),)


def _of_relations(node: Sequence) -> RealSet | None:
    """Inequalities of the same symbol: those that hold together are meant together, others are alternatives."""
    if (
        not all(isinstance(item, Statement) for item in node.items)
        or len({frozenset(item.symbols()) for item in node.items}) != 1
    ):
        return None
    sets = [real_set(item) for item in node.items]
    known = [item for item in sets if item is not None]
    if len(known) < len(sets):
        return None
    together = known[0]
    for other in known[1:]:
        together = _intersection(together, other)
    return together or _union(piece for item in known for piece in item)


def _union(pieces: Iterable[Piece]) -> RealSet | None:
    """Pieces that touch or overlap become one."""
    result: list[Piece] = []
    ordered = sorted(pieces, key=lambda piece: (piece.low.number, not piece.low.closed))
    if len(ordered) > _MOST_PIECES:
        return None
    for piece in ordered:
        last = result[-1] if result else None
        if last is None or not _touch(last.high, piece.low):
            result.append(piece)
        elif piece.high.number > last.high.number or (piece.high.meets(last.high) and piece.high.closed):
            result[-1] = Piece(last.low, piece.high)
    return tuple(result)


def _touch(high: End, low: End) -> bool:
    return (high.closed or low.closed) if high.meets(low) else high.number > low.number


def _intersection(left: RealSet, right: RealSet) -> RealSet:
    pieces: list[Piece] = []
    for one in left:
        for other in right:
            low, high = _inner(one.low, other.low, larger=True), _inner(one.high, other.high, larger=False)
            pieces += _interval(low, high) or ()
    return tuple(sorted(pieces, key=lambda piece: piece.low.number))


def _inner(one: End, other: End, *, larger: bool) -> End:
    """The end that is further inside; of two at the same place, the open one."""
    if one.meets(other):
        return other if one.closed else one
    return one if (one.number > other.number) == larger else other


def _without(left: RealSet, right: RealSet) -> RealSet:
    for piece in right:
        outside: RealSet = (
            Piece(_LEFT, End(piece.low.number, piece.low.node, not piece.low.closed)),
            Piece(End(piece.high.number, piece.high.node, not piece.high.closed), _RIGHT),
        )
        left = _intersection(left, outside)
    return left


_COMBINATIONS: dict[str, Callable[[RealSet, RealSet], RealSet | None]] = {
    "union": lambda left, right: _union([*left, *right]),
    "intersection": _intersection,
    "without": _without,
}


def _of_combination(node: Operation) -> RealSet | None:
    if node.name not in _COMBINATIONS:
        return None
    result, *others = [real_set(operand) for operand in node.operands]
    for other in others:
        if result is None or other is None:
            return None
        result = _COMBINATIONS[node.name](result, other)
    return result


_SYMBOLS: dict[str, RealSet] = {"\\mathbbR": _ALL, "\\emptyset": ()}
_READERS: dict[type[Node], Callable[..., RealSet | None]] = {
    Bracket: _of_bracket,
    Statement: _of_relation,
    Sequence: _of_relations,
    Operation: _of_combination,
}
