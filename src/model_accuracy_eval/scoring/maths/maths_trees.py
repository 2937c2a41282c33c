"""What an answer is read into: trees of numbers, symbols and operations, and lists, sets and intervals."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar


@dataclass(frozen=True, slots=True)
class Node:
    """Anything in a tree."""

    content: ClassVar[str] = ""
    """The name of the field that has the parts."""

    @property
    def parts(self) -> tuple["Node", ...]:
        return getattr(self, self.content) if self.content else ()

    def symbols(self) -> frozenset[str]:
        return frozenset(node.name for node in self.walk() if isinstance(node, Symbol))

    def walk(self) -> Iterator["Node"]:
        yield self
        for part in self.parts:
            yield from part.walk()


@dataclass(frozen=True, slots=True)
class Constant(Node):
    value: Fraction
    places: int = 0
    """How many digits were written behind the point; 0 for whole numbers and repeating decimals."""


@dataclass(frozen=True, slots=True)
class Symbol(Node):
    name: str


@dataclass(frozen=True, slots=True)
class Operation(Node):
    """An arithmetic operation, a function, or one of the operations on sets."""

    name: str
    operands: tuple[Node, ...]
    content: ClassVar[str] = "operands"


@dataclass(frozen=True, slots=True)
class Bracket(Node):
    """Items between brackets: a point, an interval, a set."""

    opening: str
    closing: str
    items: tuple[Node, ...]
    content: ClassVar[str] = "items"


@dataclass(frozen=True, slots=True)
class Sequence(Node):
    """Items without brackets: "1, 2", "1 or 2". Their order does not count, that of a ratio does."""

    items: tuple[Node, ...]
    ratio: bool = False
    content: ClassVar[str] = "items"


@dataclass(frozen=True, slots=True)
class Matrix(Node):
    rows: tuple[tuple[Node, ...], ...]

    @property
    def parts(self) -> tuple[Node, ...]:
        return tuple(entry for row in self.rows for entry in row)


@dataclass(frozen=True, slots=True)
class Statement(Node):
    """Sides with signs between them: x = 5, 0 < x ≤ 1."""

    signs: tuple[str, ...]
    sides: tuple[Node, ...]
    content: ClassVar[str] = "sides"


@dataclass(frozen=True, slots=True)
class Quantity(Node):
    """A value with a unit. Per cent and degrees also have a value as numbers."""

    value: Node
    unit: str

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.value,)


@dataclass(frozen=True, slots=True)
class Numeral(Node):
    """Digits in a base that is written with them: 204 with the subscript 5."""

    digits: str
    base: int


INFINITY = Symbol("\\infty")


def number(value: int) -> Node:
    return Constant(Fraction(value))


def sum_of(*terms: Node) -> Node:
    return terms[0] if len(terms) == 1 else Operation("add", terms)


def product_of(*factors: Node) -> Node:
    return factors[0] if len(factors) == 1 else Operation("multiply", factors)


def negative(term: Node) -> Node:
    return Operation("negate", (term,))


def quotient_of(over: Node, under: Node) -> Node:
    return product_of(over, inverse(under))


def inverse(factor: Node) -> Node:
    return Operation("inverse", (factor,))


def difference(left: Node, right: Node) -> Node:
    return sum_of(left, negative(right))


def mapped(node: Node, change: Callable[[Node], Node]) -> Node:
    """The tree with every part of it changed, from the leaves up; matrices stay as they are."""
    parts = tuple(mapped(part, change) for part in node.parts)
    if isinstance(node, Quantity):
        node = Quantity(parts[0], node.unit)
    elif node.content:
        content: dict[str, Any] = {node.content: parts}
        node = replace(node, **content)
    return change(node)


def determinant(rows: tuple[tuple[Node, ...], ...]) -> Node:
    """Laplace's expansion along the first row."""
    if len(rows) == 1:
        return rows[0][0]
    minors = [determinant(tuple(row[:place] + row[place + 1 :] for row in rows[1:])) for place in range(len(rows))]
    terms = [product_of(entry, minor) for entry, minor in zip(rows[0], minors, strict=True)]
    return sum_of(*(negative(term) if place % 2 else term for place, term in enumerate(terms)))
