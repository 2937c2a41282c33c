"""What templates may say beyond Jinja's own words: filters and functions over a row's fields."""

import ast
import re
from typing import Any

import msgspec
from jinja2 import pass_context
from jinja2.runtime import Context

from model_accuracy_eval.scoring.code.called import called


def without_calculator(text: str) -> str:
    """GSM8K's solutions without their calculator notes: "3*4=<<3*4=12>>12" becomes "3*4=12"."""
    return re.sub(r"<<[^<>]*>>", "", text)


def after(text: str, marker: str) -> str:
    """What stands behind the last marker, without blanks around it."""
    return text.rpartition(marker)[2].strip()


def regex_replace(text: str, pattern: str, repl: str, count: int = 0) -> str:
    """`re.sub`, as lm-eval's templates have it."""
    return re.sub(pattern, repl, text, count=count)


@pass_context
def column(context: Context, name: str) -> Any:
    """The row's value under that name; where there is none, the name is a text and stands for itself."""
    return context.get(name, name)


def options(source: str) -> list[str]:
    """A list of texts, as JSON or as Python writes it."""
    try:
        return msgspec.json.decode(source, type=list[str])
    except msgspec.DecodeError:
        written = as_python(source)
        if isinstance(written, list) and all(isinstance(one, str) for one in written):
            return written
        raise


def answers(source: Any) -> list[str]:
    """Right answers: a list's entries, or those of a text that reads as a list; else the one value, as a text."""
    if isinstance(source, str) and source[:1] + source[-1:] == "[]":
        written = as_python(source)
        source = source if written is None else written
    return [str(one) for one in source] if isinstance(source, list) else [str(source)]


def as_python(source: str) -> Any:
    """The value of a Python literal; None where the text is none."""
    try:
        return ast.literal_eval(source)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def greatest(worth: dict[str, float]) -> list[int]:
    """Places of the names that are worth the most."""
    values = list(worth.values())
    return [place for place, value in enumerate(values) if value == max(values)]


FILTERS = {
    "without_calculator": without_calculator,
    "after": after,
    "regex_replace": regex_replace,
    "options": options,
    "answers": answers,
    "literal": repr,
    "greatest": greatest,
    "called": called,
}
FUNCTIONS = {"column": column}
