"""What an answer is read into: trees of numbers, symbols and operations, and the lists, sets and intervals of them."""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction


class Unreadable(Exception):
    """A text that is no mathematics, or none that is known here: it is compared as text."""


@dataclass(frozen=True, slots=True)
class Node:
    """Anything in a tree."""

    @property
    def parts(self) -> tuple["Node", ...]:
        return ()

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

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.operands


@dataclass(frozen=True, slots=True)
class Bracket(Node):
    """Items between brackets: a point, an interval, a set."""

    opening: str
    closing: str
    items: tuple[Node, ...]

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.items


@dataclass(frozen=True, slots=True)
class Sequence(Node):
    """Items without brackets: "1, 2", "1 or 2". Their order does not count, that of a ratio does."""

    items: tuple[Node, ...]
    ratio: bool = False

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.items


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

    @property
    def parts(self) -> tuple[Node, ...]:
        return self.sides


@dataclass(frozen=True, slots=True)
class Quantity(Node):
    """A value with a unit, per cent and degrees included."""

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


ZERO = Constant(Fraction(0))
ONE = Constant(Fraction(1))


def sum_of(*terms: Node) -> Node:
    return Operation("add", terms)


def product_of(*factors: Node) -> Node:
    return Operation("multiply", factors)


def negative(term: Node) -> Node:
    return Operation("negate", (term,))


def quotient_of(over: Node, under: Node) -> Node:
    return product_of(over, inverse(under))


def inverse(factor: Node) -> Node:
    return Operation("inverse", (factor,))


def difference(left: Node, right: Node) -> Node:
    return sum_of(left, negative(right))
