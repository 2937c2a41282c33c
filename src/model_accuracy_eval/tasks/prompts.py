"""A row → the conversation that is sent, through Jinja templates with a few filters of our own."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import msgspec
from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Message, Prompt
from model_accuracy_eval.tasks.rows import Row


def without_calculator(text: str) -> str:
    """GSM8K's solutions without their calculator notes: "3*4=<<3*4=12>>12" becomes "3*4=12"."""
    return re.sub(r"<<[^<>]*>>", "", text)


def after(text: str, marker: str) -> str:
    """What stands behind the last marker, without blanks around it."""
    return text.rpartition(marker)[2].strip()


_ENVIRONMENT = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
_ENVIRONMENT.filters |= {"without_calculator": without_calculator, "after": after}


@lru_cache(maxsize=256)
def _compiled(template: str) -> Template:
    return _ENVIRONMENT.from_string(template)


def render(template: str, row: Row, where: str) -> str:
    """The template over the row's fields; a field that is not there is an error, never an empty string."""
    try:
        return _compiled(template).render(row)
    except (TemplateError, TypeError, AttributeError, ArithmeticError, LookupError, ValueError) as error:
        raise BadData(f"{where}: the template {template!r} cannot be filled: {error}.") from error


def listed(template: str | None, row: Row, where: str) -> tuple[str, ...]:
    """What a template gives as a JSON list of texts: options, or right answers."""
    if template is None:
        return ()
    source = render(template, row, where)
    try:
        return msgspec.json.decode(source, type=tuple[str, ...])
    except msgspec.DecodeError as error:
        raise BadData(f"{where}: the template {template!r} must give a JSON list of texts: {error}.") from error


@dataclass(frozen=True, slots=True)
class Shot:
    """One solved example, rendered."""

    question: str
    answer: str


def shot(prompt: Prompt, row: Row, where: str) -> Shot:
    return Shot(render(prompt.question, row, where), render(prompt.answer, row, where))


def conversation(prompt: Prompt, question: str, row: Row, shots: Sequence[Shot], where: str) -> tuple[Message, ...]:
    """System message if any, the examples, the question; `prefix` stands at its end, for want of a better place."""
    fewshot = prompt.fewshot
    system = render(prompt.system, row, where) if prompt.system else ""
    if fewshot and not fewshot.turns:
        question, shots = _before(prompt, row, shots, where) + question, ()
    elif prompt.description:
        system += render(prompt.description, row, where)
    turns: list[Message] = [Message(role="system", content=system)] if system else []
    for one in shots:
        turns += [Message(role="user", content=one.question), Message(role="assistant", content=one.answer)]
    if prompt.prefix:
        question += prompt.delimiter + render(prompt.prefix, row, where)
    return (*turns, Message(role="user", content=question))


def text(prompt: Prompt, row: Row, shots: Sequence[Shot], where: str) -> str:
    """Description, examples and question as one text, up to where the answer begins."""
    whole = _before(prompt, row, shots, where) + render(prompt.question, row, where)
    return whole + prompt.delimiter + render(prompt.prefix, row, where) if prompt.prefix else whole


def _before(prompt: Prompt, row: Row, shots: Sequence[Shot], where: str) -> str:
    between = prompt.fewshot.delimiter if prompt.fewshot else ""
    description = render(prompt.description, row, where) if prompt.description else ""
    return description + "".join(f"{one.question}{prompt.delimiter}{one.answer}{between}" for one in shots)


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def lettered(prompt: Prompt, choices: Sequence[str], row: Row, where: str) -> str:
    """The question with its options behind their letters."""
    if prompt.lettered:
        return render(prompt.lettered, row, where)
    options = "\n".join(f"{letter}. {choice}" for letter, choice in zip(_LETTERS, choices, strict=False))
    question = render(prompt.question, row, where).rstrip()
    return f"{question}\n\n{options}\n\nRespond only with the letter of the correct answer."
