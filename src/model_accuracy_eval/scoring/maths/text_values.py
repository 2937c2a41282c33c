"""What one text is worth by itself, without another to compare it with."""

from fractions import Fraction

from model_accuracy_eval.scoring.maths.maths_forms import amount, common_value, expanded, name_and_value, readings
from model_accuracy_eval.scoring.maths.maths_parser import read, read_value
from model_accuracy_eval.scoring.maths.maths_trees import Statement, Unreadable
from model_accuracy_eval.scoring.maths.rational_values import rational


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
        named = name_and_value(node)
        value = named[1] if named else common_value(node)
        if value is None:
            return None
        node = value
    return rational(amount(expanded(node)))
