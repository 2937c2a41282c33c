"""A row → the conversation that is sent, by Jinja templates with the filters and functions of `template_words`."""

from collections.abc import Sequence
from functools import lru_cache

import msgspec
from jinja2 import StrictUndefined, Template, TemplateError
from jinja2.meta import find_undeclared_variables
from jinja2.sandbox import SandboxedEnvironment

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Message, Prompt
from model_accuracy_eval.tasks import messages_media
from model_accuracy_eval.tasks.rows import DataRow
from model_accuracy_eval.tasks.template_words import FILTERS, FUNCTIONS, options

_ENVIRONMENT = SandboxedEnvironment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
_ENVIRONMENT.filters |= FILTERS
_ENVIRONMENT.globals |= FUNCTIONS


@lru_cache(maxsize=256)
def _compiled(template: str) -> Template:
    compiled = _ENVIRONMENT.from_string(template)
    # Jinja copies them for each row, and copies a chain of mappings ten times slower than a mapping.
    compiled.globals = dict(compiled.globals)
    return compiled


@lru_cache(maxsize=256)
def columns(template: str) -> frozenset[str]:
    """The names that a template reads from a row."""
    try:
        return frozenset(find_undeclared_variables(_ENVIRONMENT.parse(template)))
    except TemplateError:  # `render` refuses it with the row's place
        return frozenset()


def render(template: str, row: DataRow, where: str) -> str:
    """The template over the row's fields; a field that is not there is an error, never an empty string."""
    try:
        return _compiled(template).render(row)
    except (TemplateError, TypeError, AttributeError, ArithmeticError, LookupError, ValueError) as error:
        raise BadData(f"{where}: the template {template!r} cannot be filled: {error}.") from error


def listed(template: str | None, row: DataRow, where: str) -> tuple[str, ...]:
    """The list of texts that a template gives: options or right answers."""
    if template is None:
        return ()
    source = render(template, row, where)
    try:
        return tuple(options(source))
    except msgspec.DecodeError as error:
        raise BadData(f"{where}: the template {template!r} must give a JSON list of texts: {error}.") from error


class Shot(msgspec.Struct, frozen=True):
    """One solved example, rendered: as two turns, and as one text with the delimiter before the next."""

    question: str
    answer: str
    text: str
    row: DataRow


def shot(prompt: Prompt, row: DataRow, where: str, *, context: str | None = None, right: str = "") -> Shot:
    """`right` is the answer of a task without an answer template, `context` the question if contexts are the options.

    The example's answer begins with the prefix too. Nothing follows the question of an example without an answer.
    """
    fewshot = prompt.fewshot
    template = fewshot.question if fewshot and fewshot.question is not None else prompt.question
    question = render(template, row, where) if context is None else context
    answer = render(prompt.answer, row, where) if prompt.answer else right
    delimiter = prompt.delimiter
    if fewshot and fewshot.answer_delimiter is not None:
        delimiter = fewshot.answer_delimiter
    end = fewshot.delimiter if fewshot and answer else ""
    if prompt.prefix:
        answer = joined(render(prompt.prefix, row, where), " ", answer)
        return Shot(question, answer, joined(question, delimiter, answer) + end, row)
    return Shot(question, answer, question + delimiter + answer + end if answer else question, row)


def joined(front: str, delimiter: str, back: str) -> str:
    """Both, with the delimiter between them unless one has a blank there."""
    adjacent = front and back and not front[-1].isspace() and not back[0].isspace()
    return f"{front}{delimiter if adjacent else ''}{back}"


def conversation(prompt: Prompt, question: str, row: DataRow, shots: Sequence[Shot], where: str) -> tuple[Message, ...]:
    """The system message if any, the examples, and the question, which ends with the prefix."""
    fewshot, rows_of_examples = prompt.fewshot, [example.row for example in shots]
    system = render(prompt.system, row, where) if prompt.system else ""
    if fewshot and not fewshot.turns:
        question, shots = before(prompt, row, shots, where) + question, ()
    elif prompt.description:
        system += render(prompt.description, row, where)
    turns: list[Message] = [Message(role="system", content=system)] if system else []
    for example in shots:
        turns += [Message(role="user", content=example.question), Message(role="assistant", content=example.answer)]
    if prompt.dialogue:
        turns += [Message(role=message["role"], content=message["content"]) for message in row[prompt.dialogue]]
    last = _with_prefix(prompt, question, row, where)
    if last or not prompt.dialogue:
        turns.append(Message(role="user", content=last))
    return messages_media.with_media(turns, [row, *rows_of_examples], where)


def text(prompt: Prompt, question: str, row: DataRow, shots: Sequence[Shot], where: str) -> str:
    """Description, examples and question as one text, up to where the answer begins."""
    return before(prompt, row, shots, where) + _with_prefix(prompt, question, row, where)


def before(prompt: Prompt, row: DataRow, shots: Sequence[Shot], where: str) -> str:
    """Description and examples, which precede the question in one text."""
    description = render(prompt.description, row, where) if prompt.description else ""
    return description + "".join(example.text for example in shots)


def _with_prefix(prompt: Prompt, question: str, row: DataRow, where: str) -> str:
    return joined(question, prompt.delimiter, render(prompt.prefix, row, where)) if prompt.prefix else question


_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def lettered(prompt: Prompt, choices: Sequence[str], row: DataRow, where: str) -> str:
    """The question with a list of its options, each after its letter."""
    if prompt.lettered:
        return render(prompt.lettered, row, where)
    listing = "\n".join(f"{letter}. {choice}" for letter, choice in zip(_LETTERS, choices, strict=False))
    question = render(prompt.question, row, where).rstrip()
    return f"{question}\n\n{listing}\n\nRespond only with the letter of the correct answer."
