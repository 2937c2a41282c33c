"""Instructions about punctuation marks."""

from model_accuracy_eval.scoring.ifeval.checker import Checker


def no_comma(reply: str) -> bool:
    """The Western one: others count as none."""
    return "," not in reply


ROWS: dict[str, Checker] = {"punctuation:no_comma": no_comma}
