"""Sets of real numbers by the places where they begin and end: (2, ∞) is x > 2, and x ≠ 3 is (-∞, 3) ∪ (3, ∞)."""

import math
from collections.abc import Callable
from functools import cmp_to_key, reduce
from typing import NamedTuple

from model_accuracy_eval.scoring.maths.maths_trees import (
    INFINITY,
    Bracket,
    Node,
    Operation,
    Sequence,
    Statement,
    Symbol,
    difference,
    mapped,
    negative,
    number,
    product_of,
    quotient_of,
    sum_of,
)
from model_accuracy_eval.scoring.maths.maths_values import real_number, same_value

CONSTANT_NAMES = frozenset(("\\pi", "e", "i", "\\infty", "\\mathbbR", "\\emptyset"))
TURNED = {"<": ">", ">": "<", r"\le": r"\ge", r"\ge": r"\le", r"\ne": r"\ne"}
_MOST_CUTS = 100
_NEAR = 1e-5
"""Numbers further apart than this are never the same value."""


class Cut(NamedTuple):
    """A place on the line: just before a number, or just after it."""

    number: float
    node: Node
    after: bool

    def meets(self, other: "Cut") -> bool:
        if self.number == other.number:
            return True
        near = math.isclose(self.number, other.number, rel_tol=_NEAR, abs_tol=_NEAR)
        return near and same_value(self.node, other.node)

    def order(self, other: "Cut") -> int:
        if self.meets(other):
            return self.after - other.after
        return -1 if self.number < other.number else 1


RealSet = tuple[Cut, ...]
"""In order: the set begins at the first cut, ends at the second, and so on; after the last it may go on for ever."""

_LEFT = Cut(-math.inf, negative(INFINITY), after=False)
_SYMBOLS: dict[str, RealSet] = {"\\mathbbR": (_LEFT,), "\\emptyset": ()}
_COMBINATIONS: dict[str, Callable[[bool, bool], bool]] = {
    "union": lambda left, right: left or right,
    "intersection": lambda left, right: left and right,
    "without": lambda left, right: left and not right,
}


def is_combination(node: Node) -> bool:
    """Whether it is a union, an intersection or a difference of sets."""
    return isinstance(node, Operation) and node.name in _COMBINATIONS


def equal_sets(left: Node, right: Node) -> bool | None:
    """None where one of them is no set of real numbers with known ends."""
    ours, theirs = _real_set(left), _real_set(right)
    if ours is None or theirs is None:
        return None
    return len(ours) == len(theirs) and not any(one.order(other) for one, other in zip(ours, theirs, strict=True))


def _real_set(node: Node) -> RealSet | None:  # noqa: PLR0911 - one for each form
    """None for what is no set of real numbers with known ends."""
    match node:
        case Symbol(name):
            return _SYMBOLS.get(name)
        case Bracket("{", _, items):
            return _combined("union", [_interval(item, item, closed=(True, True)) for item in items])
        case Bracket(opening, closing, (low, high)):
            return _interval(low, high, closed=(opening == "[", closing == "]"))
        case Statement((r"\in",), (variable, members)) if _is_variable(variable):
            return _real_set(members)
        case Statement():
            return _of_inequalities(node)
        case Sequence(items) if all(isinstance(item, Statement) for item in items):
            # Those that hold together are meant together, others are alternatives.
            sets = [_real_set(item) for item in items]
            if len({item.symbols() for item in items}) > 1:
                return None
            return _combined("intersection", sets) or _combined("union", sets)
        case Operation(name, operands) if name in _COMBINATIONS:
            return _combined(name, [_real_set(operand) for operand in operands])
    return None


def _combined(name: str, sets: list[RealSet | None]) -> RealSet | None:
    """One after the other; None if one is not known, or too many numbers are in it."""
    known = [one for one in sets if one is not None]
    if len(known) < len(sets) or sum(map(len, known)) > _MOST_CUTS:
        return None
    return reduce(lambda left, right: _swept(left, right, _COMBINATIONS[name]), known) if known else ()


def _swept(left: RealSet, right: RealSet, holds: Callable[[bool, bool], bool]) -> RealSet:
    """Where it holds of being in the one and in the other, from left to right."""
    inside, result = [False, False], list[Cut]()
    cuts = [(cut, side) for side, pieces in enumerate((left, right)) for cut in pieces]
    for cut, side in sorted(cuts, key=lambda it: cmp_to_key(Cut.order)(it[0])):
        inside[side] = not inside[side]
        if holds(*inside) != bool(len(result) % 2):
            if result and not result[-1].order(cut):
                result.pop()  # nothing is between a place and itself
            else:
                result.append(cut)
    return tuple(result)


def _interval(low: Node, high: Node, *, closed: tuple[bool, bool]) -> RealSet | None:
    """None if one of them is no number, or nothing is between them."""
    first, last = real_number(low), real_number(high)
    if first is None or last is None:
        return None
    begin = Cut(first, low, after=not closed[0] and math.isfinite(first))
    end = Cut(last, high, after=closed[1] and math.isfinite(last))
    if begin.order(end) >= 0:
        return None
    return (begin,) if last == math.inf else (begin, end)


def _of_inequalities(node: Statement) -> RealSet | None:
    """Inequalities of one symbol with constants, and chains of two of them around it."""
    places = [place for place, side in enumerate(node.sides) if side.symbols() - CONSTANT_NAMES]
    around = len(node.sides) == 2 or (len(node.sides) == 3 and places == [1])
    if not {*node.signs} <= TURNED.keys() or len(places) != 1 or not around:
        return None
    (place,) = places
    turned = [TURNED[sign] if index < place else sign for index, sign in enumerate(node.signs)]
    constants = (side for index, side in enumerate(node.sides) if index != place)
    solutions = [_solution(node.sides[place], *each) for each in zip(turned, constants, strict=True)]
    return _combined("intersection", solutions)


def _solution(side: Node, sign: str, constant: Node) -> RealSet | None:
    """Of 2x + 2 > 3 and of |x - 1| > 3: the larger x, and the smaller ones."""
    if not (isinstance(side, Operation) and side.name == "absolute value"):
        return _linear_solution(side, sign, constant)
    ends = [(sign, constant), (TURNED[sign], negative(constant))]
    together = "intersection" if sign in {"<", r"\le", r"\ne"} else "union"
    return _combined(together, [_linear_solution(side.operands[0], *end) for end in ends])


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
    return mapped(node, lambda part: number(value) if part == name else part)


def _is_variable(node: Node) -> bool:
    if isinstance(node, Operation):
        return node.name == "value of function" and isinstance(node.operands[1], Symbol)
    return isinstance(node, Symbol) and real_number(node) is None


def _half_line(sign: str, constant: Node) -> RealSet | None:
    """All x with "x sign constant"."""
    place = real_number(constant)
    if place is None or math.isinf(place):
        return None
    before, after = Cut(place, constant, after=False), Cut(place, constant, after=True)
    return {
        "<": (_LEFT, before),
        r"\le": (_LEFT, after),
        ">": (after,),
        r"\ge": (before,),
        r"\ne": (_LEFT, before, after),
    }[sign]
