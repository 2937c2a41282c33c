"""Whether two mathematical answers are the same: text → tokens → tree, and trees compared by what they are worth.

Every step is bounded by sizes and none by a clock, so a verdict is the same on every machine.
"""

from model_accuracy_eval.scoring.maths.maths_equality import equal, is_readable, value_of
from model_accuracy_eval.scoring.maths.maths_text import Unreadable, last_boxes

__all__ = ["Unreadable", "equal", "is_readable", "last_boxes", "value_of"]
