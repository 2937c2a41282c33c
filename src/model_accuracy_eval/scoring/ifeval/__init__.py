"""The instructions that IFEval gives: the table of what holds of a reply that follows each."""

from model_accuracy_eval.scoring.ifeval import (
    case,
    combination,
    content,
    ends,
    formats,
    keywords,
    languages,
    length,
    punctuation,
)
from model_accuracy_eval.scoring.ifeval.checker import Checker

CHECKERS: dict[str, Checker] = {
    **keywords.ROWS,
    **languages.ROWS,
    **length.ROWS,
    **content.ROWS,
    **formats.ROWS,
    **combination.ROWS,
    **ends.ROWS,
    **case.ROWS,
    **punctuation.ROWS,
}
