r"""The forms of an answer before it is compared: ± as two values, 50\% as a quantity, x = 5 as a name and a value."""

from model_accuracy_eval.scoring.maths.approximate_values import real_number
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
    negative,
    product_of,
)
from model_accuracy_eval.scoring.maths.maths_values import same_value

UNIT_OPERATIONS = {"per cent": "%", "degrees": "°"}
_LETTER_UNITS = frozenset("mgshL")
_ROUGHLY = 0.01
"""How far the sides of a ≈ may lie apart; further ones contradict each other."""


def amount(node: Node) -> Node:
    return node.value if isinstance(node, Quantity) else node


def unit(node: Node) -> str:
    return node.unit if isinstance(node, Quantity) else ""


def expanded(node: Node) -> Node:
    """The form that is compared."""
    if isinstance(node, Operation) and node.name in UNIT_OPERATIONS:
        return Quantity(node.operands[0], UNIT_OPERATIONS[node.name])
    if isinstance(node, Operation) and node.name == "negate":
        inside = expanded(node.operands[0])
        if isinstance(inside, Quantity):
            return Quantity(negative(inside.value), inside.unit)
    if isinstance(node, Operation) and node.name == "where":
        return _condition(node)
    if isinstance(node, Operation) and node.name == "multiply":
        node = _scaled(node)
    if isinstance(node, Sequence) and not node.ratio:
        return Sequence(tuple(value for item in node.items for value in _both_signs(item)))
    if isinstance(node, Bracket) and node.opening == "{":
        return Bracket("{", "}", tuple(value for item in node.items for value in _both_signs(item)))
    values = _both_signs(node)
    return node if len(values) == 1 else Sequence(values)


def _condition(node: Operation) -> Node:
    r"""\{x : x > 2\} is x > 2."""
    head, condition = node.operands
    head = head.sides[0] if isinstance(head, Statement) else head
    return condition if isinstance(head, Symbol) and condition.symbols() == head.symbols() else node


def _scaled(node: Operation) -> Node:
    """A number times a matrix is the matrix of the products."""
    matrices = [factor for factor in node.operands if isinstance(factor, Matrix)]
    if len(matrices) != 1:
        return node
    others = tuple(factor for factor in node.operands if factor is not matrices[0])
    return Matrix(tuple(tuple(product_of(*others, entry) for entry in row) for row in matrices[0].rows))


def _both_signs(node: Node) -> tuple[Node, ...]:
    r"""The values of 1 \pm \sqrt{2}: all upper signs, and all lower signs."""
    if not any(isinstance(part, Operation) and part.name in {r"\pm", r"\mp"} for part in node.walk()):
        return (node,)
    return (_with_sign(node, r"\pm"), _with_sign(node, r"\mp"))


def _with_sign(node: Node, positive: str) -> Node:
    if isinstance(node, Operation):
        operands = tuple(_with_sign(operand, positive) for operand in node.operands)
        if node.name in {r"\pm", r"\mp"}:
            return operands[0] if node.name == positive else negative(operands[0])
        return Operation(node.name, operands)
    if isinstance(node, Statement):
        return Statement(node.signs, tuple(_with_sign(side, positive) for side in node.sides))
    if isinstance(node, Bracket):
        return Bracket(node.opening, node.closing, tuple(_with_sign(item, positive) for item in node.items))
    if isinstance(node, Quantity):
        return Quantity(_with_sign(node.value, positive), node.unit)
    return node


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


def name_and_value(node: Statement) -> tuple[Node, Node] | None:
    """Of x = 5, of 5 = x, of x = 2 + 3 = 5, and of x ∈ S. None for other relations, and for a chain that contradicts
    itself."""
    if set(node.signs) != {"="} and node.signs != (r"\in",):
        return None
    first, *values = node.sides
    if not is_name(first):
        if node.signs != ("=",) or not is_name(node.sides[1]):
            return None
        first, values = node.sides[1], [node.sides[0]]
    agree = all(same_value(amount(value), amount(values[-1])) for value in values[:-1])
    return (first, values[-1]) if agree else None


def common_value(node: Statement) -> Node | None:
    """The last side of 1/2 = 0.5, where all sides are the same."""
    agree = set(node.signs) == {"="} and all(same_value(amount(s), amount(node.sides[-1])) for s in node.sides[:-1])
    return node.sides[-1] if agree else None


def same_names(left: Node, right: Node) -> bool:
    """f(x) = 2x and y = 2x give a name to the same thing, and so do x_1 = 5 and x = 5; x = 5 and y = 5 do not."""
    if isinstance(left, Symbol) and isinstance(right, Symbol):
        bare = {name.partition("_")[0] for name in (left.name, right.name)}
        return left == right or (len(bare) == 1 and bool(bare & {left.name, right.name}))
    called = [isinstance(node, Operation) and node.name == "value of function" for node in (left, right)]
    return left == right or (any(called) and all(called[i] or isinstance((left, right)[i], Symbol) for i in (0, 1)))


def with_letter_as_unit(node: Node, other: Node) -> Node:
    """5 m is a length where the other side has no letters; else m is a variable."""
    if isinstance(node, Operation) and node.name == "multiply" and isinstance(amount(other), Constant):
        *factors, last = node.operands
        if len(factors) == 1 and isinstance(factors[0], Constant) and isinstance(last, Symbol):
            return Quantity(factors[0], last.name) if last.name in _LETTER_UNITS else node
    return node
