"""What templates may say beyond Jinja's own words: filters and functions over a row's fields."""

import ast
import re
from collections.abc import Sequence
from string import ascii_uppercase
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


def letter_choices(choices: Sequence[str], sep: str = "\n", style: str = ". ") -> str:
    """Options behind their letters, as the templates of lm-eval 0.5 list them."""
    return sep.join(f"{letter}{style}{choice}" for letter, choice in zip(ascii_uppercase, choices, strict=False))


def answer_key_to_index(key: str | int, labels: Sequence[str] | None = None) -> int:
    """The place of a label among the labels; without these, of a letter from A or of a number from 1."""
    label = str(key).strip()
    if labels is not None:
        return list(labels).index(label)
    return ascii_uppercase.index(label.upper()) if len(label) == 1 and label.isalpha() else int(label) - 1


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


def positions(reference: str, choices: Sequence[str]) -> tuple[int, ...] | None:
    """Places of the right options: a position, the text of an option, or its letter; several positions as a JSON list.
    None where it is none of these."""
    if reference in choices and not reference.isdigit():
        return (choices.index(reference),)
    written = as_python(reference)
    if isinstance(written, str) and written in choices:
        return (choices.index(written),)
    if isinstance(written, int):
        return (int(written),)
    if isinstance(written, list) and all(isinstance(one, int) for one in written):
        return tuple(written)
    if len(reference) == 1 and "A" <= reference < chr(ord("A") + len(choices)):
        return (ord(reference) - ord("A"),)
    return None


def places(reference: str, choices: Sequence[str]) -> list[int]:
    """The same as a list, for templates, which fail where there is nothing right."""
    found = positions(reference, choices)
    if found is None:
        raise ValueError(f"the right answer '{reference}' is none of the {len(choices)} options")
    return list(found)


def letters(reference: str, choices: Sequence[str]) -> list[str]:
    """Letters of the right options."""
    return [chr(ord("A") + place) for place in places(reference, choices)]


def greatest(worth: dict[str, float]) -> list[int]:
    """Places of the names that are worth the most."""
    values = list(worth.values())
    return [place for place, value in enumerate(values) if value == max(values)]


FILTERS = {
    "without_calculator": without_calculator,
    "after": after,
    "regex_replace": regex_replace,
    "letter_choices": letter_choices,
    "answer_key_to_index": answer_key_to_index,
    "options": options,
    "answers": answers,
    "literal": repr,
    "greatest": greatest,
    "letters": letters,
    "places": places,
    "called": called,
}
FUNCTIONS = {"column": column}
