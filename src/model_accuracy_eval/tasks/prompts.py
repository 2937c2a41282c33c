"""A row → the conversation that is sent, through Jinja templates with a few filters of our own."""

import re
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


def examples(prompt: Prompt, rows: list[Row]) -> list[Message]:
    """Solved examples as earlier turns of the conversation."""
    if prompt.fewshot is None:
        return []
    turns: list[Message] = []
    for number, row in enumerate(rows[: prompt.fewshot.count], start=1):
        where = f"{prompt.fewshot.data.name}, example {number}"
        turns.append(Message(role="user", content=render(prompt.question, row, where)))
        turns.append(Message(role="assistant", content=render(prompt.fewshot.answer, row, where)))
    return turns


def conversation(prompt: Prompt, row: Row, turns: list[Message], where: str) -> tuple[Message, ...]:
    """System message if any, the examples, the question."""
    system = [Message(role="system", content=render(prompt.system, row, where))] if prompt.system else []
    return (*system, *turns, Message(role="user", content=render(prompt.question, row, where)))


def options(template: str | None, row: Row, where: str) -> tuple[str, ...]:
    """The options of a multiple-choice row; the template gives them as a JSON list."""
    if template is None:
        return ()
    source = render(template, row, where)
    try:
        return msgspec.json.decode(source, type=tuple[str, ...])
    except msgspec.DecodeError as error:
        raise BadData(f"{where}: the template {template!r} must give a JSON list of texts: {error}.") from error
