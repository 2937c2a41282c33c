"""What has been understood of a file, in sentences for the terminal and the page."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from string import ascii_uppercase

from model_accuracy_eval.scoring.answer_kinds import KINDS
from model_accuracy_eval.tasks.own_questions import cells, decisions
from model_accuracy_eval.tasks.own_questions.question_shape import QuestionShape
from model_accuracy_eval.tasks.rows import DataRow


def about(
    raw: Sequence[DataRow], read: Sequence[DataRow], shape: QuestionShape, *, position_is_shown: bool
) -> Iterator[str]:
    """`raw` are the rows as they are written, `read` the same rows in the common form."""
    yield _columns(shape)
    yield from _options(raw, read, shape, position_is_shown=position_is_shown)
    counts = Counter(row["kind"] for row in read)
    kinds = [f"{_rows(count)} by {KINDS[kind].reading}" for kind, count in counts.items()]
    yield f"Judged: {', '.join(kinds)}."
    several = [place for place, row in enumerate(read, start=1) if len(row["answers"]) > 1]
    if several:
        shown = " or ".join(f"'{text}'" for text in read[several[0] - 1]["answers"][:3])
        yield f"{_rows(len(several))} with several right answers, any of which counts: row {several[0]} takes {shown}."
    yield from _numbers(read)
    if found := _contradicting(read):
        yield (
            f"Rows {found[0]} and {found[1]} ask the same, but have different right answers, so that no model can be "
            "right in both."
        )
    entities = [place for place, row in enumerate(read, start=1) if cells.has_entity(row["question"])]
    if entities:
        yield f"{_rows(len(entities))} with HTML's entities, sent as they are: the question of row {entities[0]}."
    ids = Counter(row.get("id", "") for row in read)
    if repeated := [(name, count) for name, count in ids.items() if name and count > 1]:
        name, count = repeated[0]
        others = f", and {len(repeated) - 1} more such ids" if len(repeated) > 1 else ""
        yield f"An id stands in several rows: '{name}' in {count} of them{others}."
    if unused := decisions.unused(raw, shape.columns):
        yield f"Not used: {', '.join(unused)}."


def _columns(shape: QuestionShape) -> str:
    columns = shape.columns
    parts = [f"question from '{columns.question}'"]
    parts += [f"after '{name}'" for name in columns.context]
    parts += [f"with '{columns.more}' below it"] * bool(columns.more)
    parts += [f"system message from '{columns.system}'"] * bool(columns.system)
    answers = " and ".join(f"'{name}'" for name in (columns.answer, *columns.also))
    parts.append(f"right answer from {answers}" + (f" after {shape.after}" if shape.after else ""))
    parts += [f"ids from '{columns.id}'"] * bool(columns.id)
    header = "The file has no header line. " if shape.header else ""
    return f"{header}Read: {', '.join(parts)}."


def _options(
    raw: Sequence[DataRow], read: Sequence[DataRow], shape: QuestionShape, *, position_is_shown: bool
) -> Iterator[str]:
    places = [place for place, row in enumerate(read) if row["choices"]]
    if not places:
        return
    counts = sorted({len(read[place]["choices"]) for place in places})
    number = f"{counts[0]}" if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    from_columns = ", ".join(f"'{name}'" for name in shape.columns.choices)
    first = read[places[0]]
    right = first["choices"][ascii_uppercase.index(first["answers"][0])]
    written = cells.short(cells.value_at(raw[places[0]], shape.columns.answer))
    unclear = "" if position_is_shown else "; no row shows whether they count from 0 or 1, say it with answer_is"
    yield (
        f"Options: {number} a row from {from_columns}; the right one is written as its {shape.answer_is}{unclear} "
        f"(row {places[0] + 1}: {written} is '{right}')."
    )


_POINT = re.compile(r"[1-9]\d{0,2}\.(\d+)")


def _numbers(read: Sequence[DataRow]) -> Iterator[str]:
    """How numbers are read that somebody may have meant otherwise."""
    numbers = [
        (place, text.strip())
        for place, row in enumerate(read, start=1)
        if row["kind"] == "number"
        for text in row["answers"]
    ]
    if percentages := [(place, text) for place, text in numbers if text.endswith(("%", "％"))]:
        place, text = percentages[0]
        number = text[:-1].strip()
        yield f"Of percentages the number counts: the answer of row {place}, {text}, is {number}, and no share of 1."
    if padded := [(place, text) for place, text in numbers if re.match(r"[-+]?0\d", text)]:
        place, text = padded[0]
        yield f"Zeros in front of a number do not count: the answer of row {place}, {text}, is also {text.lstrip('0')}."
    points = [(place, text, match[1]) for place, text in numbers if (match := _POINT.fullmatch(text))]
    if points and all(len(digits) == len("000") for _, _, digits in points):
        place, text, _ = points[0]
        yield f"A point is a decimal point: the answer of row {place}, {text}, is not {text.replace('.', '')}."


def _contradicting(read: Sequence[DataRow]) -> tuple[int, int] | None:
    """Two rows with one question and no right answer in common."""
    seen: dict[str, tuple[int, set[str]]] = {}
    for place, row in enumerate(read, start=1):
        asked = repr((row["question"], row["earlier"], row["choices"]))
        first, answers = seen.setdefault(asked, (place, set(row["answers"])))
        if answers.isdisjoint(row["answers"]):
            return first, place
    return None


def _rows(count: int) -> str:
    return f"{count:,} row{'s' * (count != 1)}"
