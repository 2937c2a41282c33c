"""A row → the conversation that is sent, by Jinja templates; what they have besides Jinja's own is here too."""

import random
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import islice
from string import ascii_uppercase
from typing import Any

import msgspec
from jinja2 import StrictUndefined, Template, TemplateError, pass_context
from jinja2.meta import find_undeclared_variables
from jinja2.runtime import Context
from jinja2.sandbox import SandboxedEnvironment
from msgspec.structs import replace

from model_accuracy_eval.benchmarks.prompt_parts import answers, as_python, placed, without_calculator
from model_accuracy_eval.errors import BadData, UnknownName
from model_accuracy_eval.records import DataRow, Media, Message, Prompt, Step
from model_accuracy_eval.records.problem import KNOWN_FORMATS, MARKS, NOUNS, media_in
from model_accuracy_eval.scoring.code.code_syntax import called_function

# Pictures, sounds and videos of rows in the messages that show them.


_NEXT = "<image>"
"""Where a text of lm-eval wants the next one."""


def _completed(message: Message, rows: Sequence[DataRow], where: str) -> Message:
    """The message with what its marks stand for; refuses what no service could show to its model."""
    known = {media.sha256: media for media in media_in(list(rows))}
    shown = tuple(known[digest] for digest in dict.fromkeys(MARKS.findall(message.content)) if digest in known)
    if message.role != "user":
        raise BadData(f"{where}: a message of {message.role} shows {shown[0].shown}; only those of user can.")
    for media in shown:
        _check(media, where)
    return replace(message, media=shown)


def _check(media: Media, where: str) -> None:
    noun = NOUNS[media.kind]
    if media.size == 0:
        raise BadData(f"{where}: the {noun} '{media.name}' is not in the file, only its name is.")
    if not media.format and not media.url:
        raise BadData(
            f"{where}: a {noun}{f' ({media.name})' if media.name else ''} of {media.size:,} bytes is in none of the "
            f"formats that are known by how they begin: {KNOWN_FORMATS}."
        )


def in_order(text: str, media: Sequence[Any]) -> str:
    """The text with marks where `<image>` stands, the first picture first; if it stands nowhere, they go before it."""
    shown = [one for entry in media for one in (entry if isinstance(entry, list) else [entry]) if one is not None]
    if others := [one for one in shown if not isinstance(one, Media)]:
        raise ValueError(f"{others[0]!r} is no picture")
    pieces = text.split(_NEXT)
    if len(pieces) == 1:
        return "\n".join([*map(str, shown), text])
    if len(pieces) - 1 != len(shown):
        raise ValueError(f"the text shows {len(pieces) - 1} pictures, but there are {len(shown)}")
    return pieces[0] + "".join(f"{one}{piece}" for one, piece in zip(shown, pieces[1:], strict=True))


# The filters and functions that templates have besides Jinja's own.


def after(text: str, marker: str) -> str:
    """What follows the last marker, without blanks around it."""
    return text.rpartition(marker)[2].strip()


def regex_replace(text: str, pattern: str, repl: str, count: int = 0) -> str:
    """`re.sub`, as in lm-eval's templates."""
    return re.sub(pattern, repl, text, count=count)


def letter_choices(choices: Sequence[str], sep: str = "\n", style: str = ". ") -> str:
    """Options after their letters, as in the templates of lm-eval 0.5."""
    return sep.join(f"{letter}{style}{choice}" for letter, choice in zip(ascii_uppercase, choices, strict=False))


def answer_key_to_index(key: str | int, labels: Sequence[str] | None = None) -> int:
    """The position of a label among the labels; without these, that of a letter from A or of a number from 1."""
    label = str(key).strip()
    if labels is not None:
        return list(labels).index(label)
    return ascii_uppercase.index(label.upper()) if len(label) == 1 and label.isalpha() else int(label) - 1


@pass_context
def column(context: Context, name: str) -> Any:
    """The row's value of that column, or the name itself if there is no such column."""
    return context.get(name, name)


def options(source: str) -> list[str]:
    """A list of texts, from JSON or a Python literal."""
    try:
        return msgspec.json.decode(source, type=list[str])
    except msgspec.DecodeError:
        value = as_python(source)
        if isinstance(value, list) and all(isinstance(entry, str) for entry in value):
            return value
        raise


def positions(reference: str, choices: Sequence[str]) -> tuple[int, ...] | None:
    """Positions of the right options. The reference is a position, a list of positions, or an option's text or letter.
    None if it is none of these."""
    if reference in choices and not reference.isdigit():
        return (choices.index(reference),)
    value = as_python(reference)
    if isinstance(value, str) and value in choices:
        return (choices.index(value),)
    if isinstance(value, int):
        return (int(value),)
    if isinstance(value, list) and all(isinstance(entry, int) for entry in value):
        return tuple(value)
    if len(reference) == 1 and "A" <= reference < chr(ord("A") + len(choices)):
        return (ord(reference) - ord("A"),)
    return None


def places(reference: str, choices: Sequence[str]) -> list[int]:
    """The same as a list, for templates; an error if there is no right option."""
    right = positions(reference, choices)
    if right is None:
        raise ValueError(f"the right answer '{reference}' is none of the {len(choices)} options")
    return list(right)


def letters(reference: str, choices: Sequence[str]) -> list[str]:
    """Letters of the right options."""
    return [chr(ord("A") + place) for place in places(reference, choices)]


def greatest(scores: dict[str, float]) -> list[int]:
    """Positions of the names with the highest score."""
    values = list(scores.values())
    return [place for place, value in enumerate(values) if value == max(values)]


FILTERS = {
    "in_order": in_order,
    "placed": placed,
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
    "called": called_function,
}
FUNCTIONS = {"column": column}


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
    rows = [row, *rows_of_examples]
    return tuple(_completed(turn, rows, where) if MARKS.search(turn.content) else turn for turn in turns)


def text(prompt: Prompt, question: str, row: DataRow, shots: Sequence[Shot], where: str) -> str:
    """Description, examples and question as one text, up to where the answer begins."""
    return before(prompt, row, shots, where) + _with_prefix(prompt, question, row, where)


def before(prompt: Prompt, row: DataRow, shots: Sequence[Shot], where: str) -> str:
    """Description and examples, which precede the question in one text."""
    description = render(prompt.description, row, where) if prompt.description else ""
    return description + "".join(example.text for example in shots)


def _with_prefix(prompt: Prompt, question: str, row: DataRow, where: str) -> str:
    return joined(question, prompt.delimiter, render(prompt.prefix, row, where)) if prompt.prefix else question


def lettered(prompt: Prompt, choices: Sequence[str], row: DataRow, where: str) -> str:
    """The question with a list of its options, each after its letter."""
    if prompt.lettered:
        return render(prompt.lettered, row, where)
    question = render(prompt.question, row, where).rstrip()
    return f"{question}\n\n{letter_choices(choices)}\n\nRespond only with the letter of the correct answer."


# Samplers of solved examples: they choose from a pool which examples precede a question.
#
# A sampler is made once for a dataset and then called for each question, in the order of the file.


Choose = Callable[[int, DataRow], Sequence[int]]
"""(place of the question, its row) → places in the pool."""
Sampler = Callable[..., Choose]


def first(pool: Sequence[DataRow], count: int, own: bool, *, field: str = "", pool_field: str | None = None) -> Choose:
    """The first rows of the pool, or of those whose `pool_field` equals the question's `field`, such as its subject or
    language; a question is not its own example."""
    places: dict[Any, list[int]] = {}
    for at, row in enumerate(pool):
        places.setdefault(row[pool_field or field] if field else "", []).append(at)

    def draw(place: int, row: DataRow) -> Sequence[int]:
        alike = places.get(row[field] if field else "", [])
        examples = list(islice((at for at in alike if not (own and pool[at] == row)), count))
        if field and len(examples) < count:
            raise BadData(
                f"There are {len(examples)} examples with the {field} '{row[field]}', but {count} are to be shown."
            )
        return examples

    return draw


def random_draws(pool: Sequence[DataRow], count: int, own: bool, *, seed: int = 1234) -> Choose:
    """One generator for the dataset, as in lm-eval: a draw depends on the questions before it."""
    generator = random.Random(seed)  # noqa: S311 - a draw of examples, no secret

    def draw(place: int, row: DataRow) -> Sequence[int]:
        drawn = generator.sample(range(len(pool)), count + own)
        others = [at for at in drawn if not (own and pool[at] == row)][:count]
        if len(others) < count:  # several rows that equal the question were drawn
            others = generator.sample([at for at in range(len(pool)) if pool[at] != row], count)
        return others

    return draw


def per_item(pool: Sequence[DataRow], count: int, own: bool, *, seed: int = 1234) -> Choose:
    """One generator for each question, so that a question in a slice has the same examples as in the whole dataset."""

    def draw(place: int, row: DataRow) -> Sequence[int]:
        drawn = random.Random(seed + place).sample(range(len(pool) - own), count)  # noqa: S311 - as above
        return [at + (own and at >= place) for at in drawn]

    return draw


def others(pool: Sequence[DataRow], count: int, own: bool, *, seed: int = 1234) -> Choose:
    """As `per_item`, but without rows that equal the question, as in UltraEval: if several equal ones are drawn, an
    example is missing."""

    def draw(place: int, row: DataRow) -> Sequence[int]:
        drawn = random.Random(seed + place).sample(range(len(pool)), count + own)  # noqa: S311 - as above
        return [at for at in drawn if not (own and pool[at] == row)][:count]

    return draw


SAMPLERS: dict[str, Sampler] = {
    "first": first,
    "random": random_draws,
    "per_item": per_item,
    "others": others,
    "same": first,
}


def chooser(step: Step, pool: Sequence[DataRow], count: int, *, own: bool) -> Choose:
    """`own`: whether the pool holds the questions themselves."""
    if step.name not in SAMPLERS:
        raise UnknownName("sampler of examples", step.name, SAMPLERS)
    return SAMPLERS[step.name](pool, count, own, **step.args)
