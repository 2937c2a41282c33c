"""What has been understood of a file, in sentences for the terminal and the page."""

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


def _rows(count: int) -> str:
    return f"{count:,} row{'s' * (count != 1)}"
