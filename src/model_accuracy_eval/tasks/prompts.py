"""A row → the conversation that is sent, through Jinja templates; `template_words` has the words of our own."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import msgspec
from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.sandbox import SandboxedEnvironment

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Message, Prompt
from model_accuracy_eval.tasks.rows import Row
from model_accuracy_eval.tasks.template_words import FILTERS, FUNCTIONS, options

_ENVIRONMENT = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
_ENVIRONMENT.filters |= FILTERS
_ENVIRONMENT.globals |= FUNCTIONS


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
    """What a template gives as a list of texts: options, or right answers."""
    if template is None:
        return ()
    source = render(template, row, where)
    try:
        return tuple(options(source))
    except msgspec.DecodeError as error:
        raise BadData(f"{where}: the template {template!r} must give a JSON list of texts: {error}.") from error


@dataclass(frozen=True, slots=True)
class Shot:
    """One solved example, rendered: as two turns, and as one text with what parts it from the next."""

    question: str
    answer: str
    text: str


def shot(prompt: Prompt, row: Row, where: str, *, context: str | None = None, right: str = "") -> Shot:
    """`right` is the answer of a task that renders none, `context` the question where contexts are weighed.

    The prefix begins the example's reply too; an example without a reply has nothing behind its question.
    """
    fewshot = prompt.fewshot
    asked = fewshot.question if fewshot and fewshot.question is not None else prompt.question
    question = render(asked, row, where) if context is None else context
    answer = render(prompt.answer, row, where) if prompt.answer else right
    delimiter = prompt.delimiter
    if fewshot and fewshot.answer_delimiter is not None:
        delimiter = fewshot.answer_delimiter
    end = fewshot.delimiter if fewshot and answer else ""
    if prompt.prefix:
        answer = joined(render(prompt.prefix, row, where), " ", answer)
        return Shot(question, answer, joined(question, delimiter, answer) + end)
    return Shot(question, answer, question + delimiter + answer + end if answer else question)


def joined(front: str, delimiter: str, back: str) -> str:
    """Both, with the delimiter between them where neither has a blank there."""
    bare = front and back and not front[-1].isspace() and not back[0].isspace()
    return f"{front}{delimiter if bare else ''}{back}"


def conversation(prompt: Prompt, question: str, row: Row, shots: Sequence[Shot], where: str) -> tuple[Message, ...]:
    """System message if any, the examples, the question; `prefix` stands at its end, for want of a better place."""
    fewshot = prompt.fewshot
    system = render(prompt.system, row, where) if prompt.system else ""
    if fewshot and not fewshot.turns:
        question, shots = before(prompt, row, shots, where) + question, ()
    elif prompt.description:
        system += render(prompt.description, row, where)
    turns: list[Message] = [Message(role="system", content=system)] if system else []
    for one in shots:
        turns += [Message(role="user", content=one.question), Message(role="assistant", content=one.answer)]
    if prompt.dialogue:
        turns += [Message(role=one["role"], content=one["content"]) for one in row[prompt.dialogue]]
    asked = _begun(prompt, question, row, where)
    return (*turns, Message(role="user", content=asked)) if asked or not prompt.dialogue else tuple(turns)


def text(prompt: Prompt, question: str, row: Row, shots: Sequence[Shot], where: str) -> str:
    """Description, examples and question as one text, up to where the answer begins."""
    return before(prompt, row, shots, where) + _begun(prompt, question, row, where)


def before(prompt: Prompt, row: Row, shots: Sequence[Shot], where: str) -> str:
    """What stands in front of the question, where all is one text."""
    description = render(prompt.description, row, where) if prompt.description else ""
    return description + "".join(one.text for one in shots)


def _begun(prompt: Prompt, question: str, row: Row, where: str) -> str:
    return joined(question, prompt.delimiter, render(prompt.prefix, row, where)) if prompt.prefix else question


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def lettered(prompt: Prompt, choices: Sequence[str], row: Row, where: str) -> str:
    """The question with its options behind their letters."""
    if prompt.lettered:
        return render(prompt.lettered, row, where)
    listing = "\n".join(f"{letter}. {choice}" for letter, choice in zip(_LETTERS, choices, strict=False))
    question = render(prompt.question, row, where).rstrip()
    return f"{question}\n\n{listing}\n\nRespond only with the letter of the correct answer."
