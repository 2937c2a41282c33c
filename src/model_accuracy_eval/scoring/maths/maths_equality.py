r"""The forms of an answer before it is compared: ± as two values, 50\% as a quantity, x = 5 as a name and a value."""

import re
from collections import Counter
from collections.abc import Callable
from collections.abc import Sequence as Items
from dataclasses import replace
from fractions import Fraction
from functools import partial
from itertools import takewhile

from model_accuracy_eval.scoring.maths import units
from model_accuracy_eval.scoring.maths.maths_parser import read, read_value
from model_accuracy_eval.scoring.maths.maths_text import Unreadable, last_boxes, letters
from model_accuracy_eval.scoring.maths.maths_trees import (
    Bracket,
    Constant,
    Matrix,
    Node,
    Operation,
    Quantity,
    Sequence,
    Statement,
    Symbol,
    difference,
    mapped,
    negative,
    product_of,
    quotient_of,
)
from model_accuracy_eval.scoring.maths.maths_values import ratio_sign, rational, real_number, same_value
from model_accuracy_eval.scoring.maths.real_sets import CONSTANT_NAMES, TURNED, equal_sets, is_combination

_INTEGERS = frozenset("klmn")
_PI = Symbol("\\pi")
_ROUGHLY = 0.01
"""How far the sides of a ≈ may lie apart; further ones contradict each other."""


def amount(node: Node) -> Node:
    return node.value if isinstance(node, Quantity) else node


def unit(node: Node) -> str:
    return node.unit if isinstance(node, Quantity) else ""


def expanded(node: Node) -> Node:
    """The form that is compared: ± as two values, and signs and factors within quantities and matrices."""
    match node:
        case Operation("negate", (operand,)) if isinstance(inside := expanded(operand), Quantity):
            return Quantity(negative(inside.value), inside.unit)
        case Operation("multiply"):
            node = _scaled(node)
        case Sequence(ratio=False) | Bracket("{"):
            return replace(node, items=tuple(value for item in node.items for value in _both_signs(item)))
    values = _both_signs(node)
    return node if len(values) == 1 else Sequence(values)


def _scaled(node: Operation) -> Node:
    """A number times a matrix is the matrix of the products, and a number times 30° is an angle."""
    for factor in node.operands:
        others = tuple(other for other in node.operands if other is not factor)
        if isinstance(factor, Matrix) and not any(isinstance(other, Matrix) for other in others):
            return Matrix(tuple(tuple(product_of(*others, entry) for entry in row) for row in factor.rows))
        if isinstance(factor, Quantity):
            return Quantity(product_of(*others, factor.value), factor.unit)
    return node


def _both_signs(node: Node) -> tuple[Node, ...]:
    r"""The values of 1 \pm \sqrt{2}: all upper signs, and all lower signs."""
    if not any(isinstance(part, Operation) and part.name in {r"\pm", r"\mp"} for part in node.walk()):
        return (node,)

    def with_sign(node: Node, *, positive: str) -> Node:
        if isinstance(node, Operation) and node.name in {r"\pm", r"\mp"}:
            return node.operands[0] if node.name == positive else negative(node.operands[0])
        return node

    return tuple(mapped(node, partial(with_sign, positive=positive)) for positive in (r"\pm", r"\mp"))


def readings(node: Node) -> tuple[Node, ...]:
    """An answer that adds its rounded value is right if either is what was asked for: 1/3 ≈ 0.33."""
    if not isinstance(node, Statement) or node.signs[-1] != r"\approx":
        return (node,)
    *exact, rough = node.sides
    if is_name(exact[-1]):
        return (Statement((*node.signs[:-1], "="), node.sides),)
    first, second = real_number(amount(exact[-1])), real_number(amount(rough))
    if first is None or second is None or abs(first - second) > _ROUGHLY * abs(first):
        return (node,)
    name = exact[:-1] if len(exact) == 2 and is_name(exact[0]) else []
    rest = Statement(node.signs[:-1], tuple(exact)) if len(exact) > 1 else exact[0]
    return (*readings(rest), Statement(("=",), (*name, rough)) if name else rough)


def is_name(node: Node) -> bool:
    """Whether an = gives a value to it: x, f(2), AB, |AB|, AB/CD, (x, y), x : y."""
    if isinstance(node, Bracket | Sequence):
        return all(is_name(part) for part in node.parts) and (isinstance(node, Bracket) or node.ratio)
    if isinstance(node, Operation):
        called = node.name == "value of function"
        return called or (node.name in {"multiply", "inverse", "absolute value"} and all(map(is_name, node.operands)))
    return isinstance(node, Symbol) and node.name not in {"i", "e", "\\pi"}


def name_and_value(node: Statement) -> tuple[Node | None, Node] | None:
    """Of x = 5, of 5 = x, of x = 2 + 3 = 5, and of x ∈ S; without a name of 1/2 = 0.5. None for other relations, and
    for a chain that contradicts itself."""
    name, *values = node.sides
    is_named = is_name(name)
    if {*node.signs} != {"="} and (node.signs != (r"\in",) or not is_named):
        return None
    if not is_named and len(values) == 1 and is_name(values[0]):
        return values[0], name
    values = values if is_named else [*node.sides]
    agree = all(same_value(amount(value), amount(values[-1])) for value in values[:-1])
    return (name if is_named else None, values[-1]) if agree else None


def same_names(left: Node, right: Node) -> bool:
    """f(x) = 2x and y = 2x give a name to the same thing, and so do x_1 = 5 and x = 5; x = 5 and y = 5 do not."""
    if isinstance(left, Symbol) and isinstance(right, Symbol):
        bare = {name.partition("_")[0] for name in (left.name, right.name)}
        return left == right or (len(bare) == 1 and bool(bare & {left.name, right.name}))
    others = [node for node in (left, right) if not isinstance(node, Operation) or node.name != "value of function"]
    return left == right or (len(others) == 1 and isinstance(others[0], Symbol))


def _with_one_integer(left: Node, right: Node) -> tuple[Node, Node]:
    """π/4 + 2πn is π/4 + 2πk: whole numbers of periods have one name on both sides."""
    (left, ours), (right, theirs) = _periodic(left), _periodic(right)
    if ours is None or theirs is None or ours == theirs:
        return left, right
    return left, mapped(right, lambda node: ours if node == theirs else node)


def _periodic(node: Node) -> tuple[Node, Symbol | None]:
    """The answer, and the k of a "k ∈ ℤ" behind it, or the n that is a number of periods wherever it stands: in a sum
    with 2πn or 360° n."""
    match node:
        case Sequence((*items, Statement((r"\in",), (Symbol() as name, Symbol("\\mathbbZ")))), False) if items:
            return items[0] if len(items) == 1 else Sequence(tuple(items)), name
    names = node.symbols() & _INTEGERS
    sums = [part for part in node.walk() if isinstance(part, Operation) and part.name == "add"]
    terms = [[*term.walk()] for part in sums for term in part.operands if term.symbols() & names]
    periods = all(any(part == _PI or unit(part) == "°" for part in term) for term in terms)
    bound = periods and len(names) == 1 and len(terms) == [*node.walk()].count(name := Symbol(*names))
    return node, name if bound else None


def with_letter_as_unit(node: Node, other: Node) -> Node:
    """5 m is a length where the other side has no letters, and so is 5 m/s a speed; else m is a variable."""
    if not isinstance(node, Operation) or node.name != "multiply" or amount(other).symbols() - CONSTANT_NAMES:
        return node
    values = tuple(takewhile(lambda factor: not factor.symbols() - CONSTANT_NAMES, node.operands))
    names = [_unit_of(factor) for factor in node.operands[len(values) :]]
    distinct = all(names) and len({*names}) == len(names)
    return Quantity(product_of(*values), "".join(names)) if values and names and distinct else node


def _unit_of(node: Node) -> str:
    """The unit that a symbol, a power or a quotient of symbols may be; empty for others."""
    match node:
        case Symbol(name) if units.is_unit(name):
            return units.canonical(name)
        case Operation("inverse", (under,)) if name := _unit_of(under):
            return f"/{name}"
        case Operation("power", (base, Constant(Fraction(denominator=1) as exponent))) if name := _unit_of(base):
            return f"{name}^{exponent}"
        case Operation("multiply", factors) if all(map(_unit_of, factors)):
            return "".join(map(_unit_of, factors))
    return ""


# Whether two answers are the same: `\frac{1}{2}` is `0.5`, `x = 5` is `5`, `\{1, 2\}` is `\{2, 1\}`.


_TURNED = TURNED | {"=": "="}
_OPTION = re.compile(
    r"\s*(\\(?:text|math)(?:bf|rm)?\s*\{\s*)?(\()?([A-J])(?(2)\)|[.)])[\s.:]*(?(1)\}|(?<=[\s.:]))"
    r"(?:[\s~]|\\ |\\q?quad)*"
    r"(?=-?[\w\\($])(?!\\(?:c[au]p|cdot|times|div|[mp]|[lg]eq?|in)(?![A-Za-z]))"
)
_SIGNS = re.compile(r"[\\^_=]")
"""Where one stands, letters are names: q is not Q there, as it is in words."""
_MOST_COMPARISONS = 2500
"""Between the items of two lists without an order. Lists with more items to compare are not the same."""


def equal(answer: str, reference: str) -> bool:
    """What cannot be read as mathematics is compared letter by letter, without blanks, and words without case."""
    answer, reference = (", ".join(last_boxes(text)) or text for text in (answer, reference))
    (ours, left), (theirs, right) = map(_option, (answer, reference))
    if ours and theirs:
        return ours == theirs and _equal(left, right)
    return _equal(left, right) or _equal(ours or left, theirs or right)


def _option(text: str) -> tuple[str, str]:
    r"""The B and the 12 of \textbf{(B)}\ 12."""
    found = _OPTION.match(text)
    return (found[3], text[found.end() :]) if found else ("", text)


def _equal(answer: str, reference: str) -> bool:
    ours, theirs = letters(answer), letters(reference)
    if ours == theirs:
        return bool(ours)
    try:
        left, right = read_value(answer), read_value(reference)
    except Unreadable:
        return not _SIGNS.search(ours) and ours.casefold() == theirs.casefold()
    left, right = _with_one_integer(left, right)
    return any(_same(one, other) for one in readings(left) for other in readings(right))


def _same(left: Node, right: Node) -> bool:
    left, right = expanded(left), expanded(right)
    left, right = with_letter_as_unit(left, right), with_letter_as_unit(right, left)
    if left == right:
        return True
    for kinds, compare in _COMPARISONS:
        if isinstance(left, kinds) or isinstance(right, kinds):
            return compare(left, right)
    if is_combination(left) or is_combination(right):
        return _same_collections(left, right)
    return same_value(left, right)


def _is_point(node: Node) -> bool:
    """(1, 2) and [1, 2] may be points as well as intervals: between two of them only brackets and items count."""
    return isinstance(node, Bracket) and node.opening != "{"


def _same_relations(left: Node, right: Node) -> bool:
    ours, theirs = (name_and_value(node) if isinstance(node, Statement) else None for node in (left, right))
    if not isinstance(left, Statement) or not isinstance(right, Statement):
        given, other = (ours, right) if isinstance(left, Statement) else (theirs, left)
        return _same(given[1], other) if given else equal_sets(left, right) or False
    if ours and theirs and ours[0] and theirs[0] and same_names(ours[0], theirs[0]):
        return _same(ours[1], theirs[1])
    if left.symbols() - CONSTANT_NAMES != right.symbols() - CONSTANT_NAMES:
        return False
    same = equal_sets(left, right)
    return _same_equations(left, right) or _same_chains(left, right) if same is None else same


def _same_equations(left: Statement, right: Statement) -> bool:
    """2x + 4y = 6 is x + 2y = 3, and 2x > 6 is 3 < x: one difference of the sides is the other times a constant."""
    signs = (*left.signs, *right.signs)
    if len(signs) != 2 or not {*signs} <= _TURNED.keys() or not left.symbols() - CONSTANT_NAMES:
        return False
    scale = ratio_sign(difference(*map(amount, left.sides)), difference(*map(amount, right.sides)))
    return scale != 0 and signs[0] == (signs[1] if scale > 0 else _TURNED[signs[1]])


def _same_chains(left: Statement, right: Statement) -> bool:
    turned = Statement(tuple(_TURNED.get(sign, "") for sign in reversed(right.signs)), tuple(reversed(right.sides)))
    return any(left.signs == other.signs and _in_order(left.sides, other.sides) for other in (right, turned))


def _same_quantities(left: Node, right: Node) -> bool:
    """Without units, unless both have one and they differ.

    50 % is 50, as references often leave the sign out, and 0.5, which it is; 90° is 90 and π/2.
    """
    if units.differ(unit(left), unit(right)):
        return False
    return _same(amount(left), amount(right)) or same_value(left, right)


def _same_matrices(left: Node, right: Node) -> bool:
    shapes = [[len(row) for row in node.rows] if isinstance(node, Matrix) else [] for node in (left, right)]
    if _is_point(left) or _is_point(right):  # which is a row or a column
        shape = shapes[0] or shapes[1]
        return 1 in {len(shape), *shape} and _in_order(left.parts, right.parts)
    return shapes[0] == shapes[1] and _in_order(left.parts, right.parts)


def _same_collections(left: Node, right: Node) -> bool:
    points = [node for node in (left, right) if _is_point(node)]
    if len(points) < 2 and (same := equal_sets(left, right)) is not None:
        return same
    if is_combination(left) or is_combination(right):
        return _same_combinations(left, right)
    if not points:
        return _same_lists(left, right)
    if isinstance(left, Bracket) and isinstance(right, Bracket):
        brackets = [(node.opening, node.closing) for node in (left, right)]
        return brackets[0] == brackets[1] and _in_order(left.items, right.items)
    other = right if left is points[0] else left
    is_list = isinstance(other, Sequence) and not other.ratio and (_gives_names(other) or _is_no_interval(points[0]))
    return is_list and _in_order(points[0].parts, other.parts)


def _same_combinations(left: Node, right: Node) -> bool:
    """Unions and intersections of sets that are only known by name."""
    if not isinstance(left, Operation) or not isinstance(right, Operation) or left.name != right.name:
        return False
    if left.name == "without":
        return _in_order(left.operands, right.operands)
    return _same_items(left.operands, right.operands, repeated=True)


def _same_lists(left: Node, right: Node) -> bool:
    """Sets, and lists without brackets, have no order; ratios have one, and 3 : 2 is 3/2."""
    lists = [node for node in (left, right) if isinstance(node, Sequence)]
    if any(node.ratio for node in lists):
        if len(lists) < 2:
            quotients = (
                quotient_of(*node.parts) if node in lists and len(node.parts) == 2 else node for node in (left, right)
            )
            return same_value(*quotients)
        return lists[0].ratio == lists[1].ratio and _in_order(left.parts, right.parts)
    items = [node.items if isinstance(node, Sequence | Bracket) else (node,) for node in (left, right)]
    return _same_items(*items, repeated=len(lists) == 2)


def _gives_names(node: Sequence) -> bool:
    """X = 1, y = 2 is the point (1, 2)."""
    given = [name_and_value(item) for item in node.items if isinstance(item, Statement)]
    return len({one[0] for one in given if one and one[0]}) == len(node.items)


def _is_no_interval(point: Node) -> bool:
    """(3, -4) and (1, 2, 3) are written without brackets too; (1, 2) may be an interval, which 1, 2 is not."""
    ends = [end for part in point.parts if (end := real_number(part)) is not None]
    return len(point.parts) > 2 or (len(ends) == 2 and ends[0] > ends[1])


def _in_order(left: Items[Node], right: Items[Node]) -> bool:
    return len(left) == len(right) and all(map(_same, left, right))


def _same_items(left: Items[Node], right: Items[Node], *, repeated: bool) -> bool:
    """In any order; whether an item that is there twice counts twice is for the caller to say."""
    ours, theirs = Counter(left), Counter(right)
    rest, others = list((ours - theirs).elements()), list((theirs - ours).elements())
    if len(rest) * len(others) > _MOST_COMPARISONS:
        return False
    if not repeated:
        return all(any(_same(item, other) for other in right) for item in rest) and all(
            any(_same(other, item) for item in left) for other in others
        )
    for item in rest:
        match = next((other for other in others if _same(item, other)), None)
        if match is None:
            return False
        others.remove(match)
    return not others


_COMPARISONS: tuple[tuple[tuple[type[Node], ...], Callable[[Node, Node], bool]], ...] = (
    ((Statement,), _same_relations),
    ((Quantity,), _same_quantities),
    ((Matrix,), _same_matrices),
    ((Sequence, Bracket), _same_collections),
)
"""By the kinds of the two: the first row counts that fits one of them."""


# What one text is worth by itself, without another to compare it with.


def is_readable(text: str) -> bool:
    """Whether it is mathematics."""
    try:
        read(text)
    except Unreadable:
        return False
    return True


def value_of(text: str) -> Fraction | None:
    """The number that a text is worth, without its unit; None for several values, formulas and irrational numbers."""
    node = readings(read_value(text))[0]
    if isinstance(node, Statement):
        given = name_and_value(node)
        if given is None:
            return None
        _, node = given
    return rational(amount(expanded(node)))
