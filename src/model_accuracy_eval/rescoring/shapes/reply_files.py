"""A file of saved replies: which shape it has, and its replies."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice, zip_longest
from string import ascii_uppercase

from msgspec.structs import replace

from model_accuracy_eval.errors import BadData, BadValue, UnknownName
from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes import code_files, harness_files, opencompass_files
from model_accuracy_eval.rescoring.shapes.file_rows import FileRows, SavedFile
from model_accuracy_eval.rescoring.shapes.reply_row import (
    ReplyRow,
    RowPlace,
    Shape,
    as_text,
    samples,
    with_values,
    with_verdicts,
)

KNOWN_SHAPES: tuple[Shape, ...] = (
    *opencompass_files.SHAPES,
    *harness_files.SHAPES,
    *code_files.SHAPES,
)
"""The table of shapes."""
_SHOWN = 30
"""How many fields of an unknown file are named."""
_LOOKED_AT = 20
"""How many rows decide which shape a file has."""


@dataclass(frozen=True)
class ShapedFile:
    """A file whose replies can be read, as often as wanted."""

    file_rows: FileRows
    shape: Shape

    @property
    def name(self) -> str:
        return self.file_rows.name

    def replies(self) -> Iterator[SavedReply]:
        """Every reply, in the order of the file. A row that cannot be read is one that says why."""
        head = self.file_rows.head(self.shape.place).fields
        first_oddity, is_any = "", False
        for row in self.file_rows.rows(self.shape.place):
            try:
                replies = self._of_row(row, head)
            except BadData as error:
                first_oddity = first_oddity or error.sentence
                yield SavedReply(odd=error.sentence)
                continue
            is_any = is_any or bool(replies)
            yield from replies
        if first_oddity and not is_any:
            raise BadData(first_oddity)

    def _of_row(self, row: ReplyRow | BadData, head: Mapping[str, object]) -> list[SavedReply]:
        """What stands beside the rows belongs to each of them."""
        if isinstance(row, BadData):
            raise row
        row = ReplyRow({**head, **row.fields}, row.where, row.key) if head else row
        if lacking := self.shape.lacks(row):
            raise BadData(
                f"{row.where}: the field '{lacking[0]}' is missing ({self.shape.name}); it has {_fields_of(row)}."
            )
        replies = list(self.shape.replies(row))
        if any(not reply.problem and not reply.question.strip() for reply in replies):
            raise BadData(f"{row.where}: there is neither the id nor the question of its problem.")
        return replies


def open_replies(file: SavedFile, fields: Mapping[str, str] | None = None) -> ShapedFile:
    """Recognises the file's shape by its content; `fields` names them where there is no such shape."""
    file_rows = FileRows(file)
    looked_at = {place: list(islice(_readable(file_rows.rows(place)), _LOOKED_AT)) for place in file_rows.places()}
    first_rows = {place: rows[0] for place, rows in looked_at.items() if rows}
    if not first_rows:
        raise next(
            (row for place in looked_at for row in file_rows.rows(place) if isinstance(row, BadData)),
            BadData(f"{file_rows.name} holds no saved replies."),
        )
    if fields:
        return ShapedFile(file_rows, _mapped_shape(file_rows, first_rows, fields))
    best: list[Shape] = []
    for rows in zip_longest(*looked_at.values()):  # the first row may be an odd one
        matches = [
            (shape, row)
            for place, row in zip(looked_at, rows, strict=True)
            for shape in KNOWN_SHAPES
            if row is not None and shape.place == place and not shape.lacks(row)
        ]
        best = [
            shape
            for shape, row in matches
            if not any(shape.fields_in(row) < other.fields_in(other_row) for other, other_row in matches)
        ]
        if best:
            break
    if len(best) == 1:
        return ShapedFile(file_rows, best[0])
    raise _ambiguous(file_rows.name, best) if best else _unknown(file_rows.name, first_rows)


def _readable(rows: Iterable[ReplyRow | BadData]) -> Iterator[ReplyRow]:
    return (row for row in rows if isinstance(row, ReplyRow))


def _ambiguous(name: str, shapes: Sequence[Shape]) -> BadData:
    names = " and ".join(shape.name for shape in shapes)
    return BadData(
        f"{name} fits {names}, so what its fields mean is not certain: name them with --map, such as "
        "--map id=task_id,prediction=response."
    )


def _unknown(name: str, first_rows: Mapping[RowPlace, ReplyRow]) -> BadData:
    """Rows in a field of an object are named before the object itself."""
    place, row = max(first_rows.items(), key=lambda item: item[0] != RowPlace())
    rows = f"rows={place.at}," if place.at else ""
    listing = "\n".join(f"  {shape.name} ({shape.tools}): {_described(shape)}" for shape in KNOWN_SHAPES)
    return BadData(
        f"{name} has none of the known shapes. Its rows have the fields {_fields_of(row)}. If one of them "
        f"holds the replies, name it with --map {rows}id=FIELD,prediction=FIELD.",
        detail=f"Known shapes and the fields by which they are recognised:\n{listing}",
    )


def _fields_of(row: ReplyRow) -> str:
    paths = list(row.leaves())
    return ", ".join([*paths[:_SHOWN], *([f"and {len(paths) - _SHOWN} more"] if len(paths) > _SHOWN else [])]) or "none"


def _described(shape: Shape) -> str:
    fields = ", ".join(field.replace("|", " or ") for field in shape.needs)
    inside = f" in '{shape.at}'" if shape.at else ""
    kinds = {"lists of texts": "lists of texts", "keyed rows": f"objects by id with {fields}"}
    return f"{kinds.get(shape.arrangement, fields)}{inside}"


# `--map id=task_id,prediction=response,…`: the fields of a file whose shape is not in the table.


MEANINGS = {
    "id": "the problem's name or number; without it, an object's key, or else replies are joined by `question`",
    "prediction": "the reply, or a list with a reply for each sample",
    "index": "the number of the sample of its problem, from 0; without it, the order in the file counts",
    "question": "the question",
    "options": "the texts of the options, in their order, or an object of them under A, B, C …",
    "gold": "the right answer, or a list of right answers",
    "part": "subject, subset, language or category",
    "dataset": "the dataset's name",
    "answer": "what the tool read out of the reply, or a list of it for each sample",
    "reasoning": "the reasoning that came before the reply",
    "finish_reason": "why the reply ended, such as `length`",
    "error": "why there is no reply; a row where it is not null is a sample that failed",
    "correct": "whether the tool counts the reply as right, or a list of it for each sample: the claim",
    "rows": "the field of the outermost object that holds the rows",
}
"""What can be mapped."""

_MAY_BE_ABSENT = ("error", "reasoning", "finish_reason", "answer", "correct")


def parse(text: str) -> dict[str, str]:
    """The mapping in the words of the command line."""
    entries = [entry.strip() for entry in text.split(",") if entry.strip()]
    if not entries:
        raise BadValue("--map takes name=field, separated by commas; it is empty.")
    pairs = [(name.strip(), path.strip()) for name, _, path in (entry.partition("=") for entry in entries)]
    if incomplete := [name for name, path in pairs if not (name and path)]:
        raise BadValue(f"--map takes name=field, separated by commas; '{incomplete[0]}' is no such pair.")
    names = [name for name, _ in pairs]
    if twice := [name for name in names if names.count(name) > 1]:
        raise BadValue(f"--map names '{twice[0]}' twice.")
    return dict(pairs)


def _mapped_shape(file_rows: FileRows, first_rows: Mapping[RowPlace, ReplyRow], fields: Mapping[str, str]) -> Shape:
    """Rows whose fields the user names: each must be in every row, or in one at least if it may be absent."""
    for name in fields:
        if name not in MEANINGS:
            raise UnknownName("part of --map", name, MEANINGS)
    if "prediction" not in fields:
        raise BadValue(f"--map lacks 'prediction'; it has {', '.join(fields)}.")
    place = _place_of_rows(first_rows, fields, file_rows.name)
    head = file_rows.head(place)
    for name in (name for name in _MAY_BE_ABSENT if name in fields):
        if fields[name] not in head and not any(fields[name] in row for row in _readable(file_rows.rows(place))):
            raise BadData(f"{file_rows.name}: no row has the field '{fields[name]}' that --map names for '{name}'.")
    needed = {name: path for name, path in fields.items() if name not in (*_MAY_BE_ABSENT, "rows")}
    if "error" in fields:
        needed["prediction"] += f"|{fields['error']}"
    return Shape(
        name="fields named by --map",
        tools="",
        file="",
        at=place.at,
        arrangement=place.arrangement,
        needs=tuple(needed.values()),
        replies=partial(_mapped, fields),
    )


def _place_of_rows(first_rows: Mapping[RowPlace, ReplyRow], fields: Mapping[str, str], name: str) -> RowPlace:
    """Where the rows with the fields are."""
    at = fields.get("rows", "")
    places = {place: row for place, row in first_rows.items() if place.at == at}
    if not places:
        known = ", ".join(sorted({place.at for place in first_rows if place.at})) or "none does"
        raise BadData(f"{name}: no field '{at}' holds rows; those that do: {known}.")
    fitting = [place for place, row in places.items() if fields["prediction"] in row]
    place = (fitting or list(places))[0]
    if not places[place].key and not {"id", "question"} & fields.keys():
        raise BadValue(
            "--map needs 'id' or 'question', so that a reply is assigned to its problem, such as "
            f"--map id=task_id,prediction={fields['prediction']}."
        )
    return place


def _mapped(fields: Mapping[str, str], row: ReplyRow) -> Iterator[SavedReply]:
    paths = {name: fields.get(name, "") for name in MEANINGS}  # no field has an empty name
    reply = SavedReply(
        problem=row.identifier(fields["id"]) if "id" in fields else row.key,
        index=row.count(paths["index"]),
        question=row.text(paths["question"]),
        options=_options(row, fields["options"]) if "options" in fields else (),
        gold=row.plain_texts(paths["gold"]),
        part=" / ".join(row.plain_texts(paths["part"])),
        dataset=row.text(paths["dataset"]),
        reasoning=row.text(paths["reasoning"]),
        finish_reason=row.text(paths["finish_reason"]) or None,
    )
    if (error := row.get(paths["error"])) is not None:
        yield replace(reply, failure=as_text(error))
        return
    each: Iterable[SavedReply] = samples(reply, row, fields["prediction"])
    each = with_values(
        each,
        row.get(paths["answer"]),
        row,
        paths["answer"],
        lambda reply, value: replace(reply, answer=as_text(value)),
    )
    yield from with_verdicts(each, row.get(paths["correct"]), row, paths["correct"])


def _options(row: ReplyRow, path: str) -> tuple[str, ...]:
    """A list of texts, or an object of them under the letters from A on."""
    value = row.get(path)
    if isinstance(value, dict) and "".join(value) == ascii_uppercase[: len(value)]:
        value = list(value.values())
    if not isinstance(value, list) or any(isinstance(entry, dict | list) or entry is None for entry in value):
        raise row.wrong(path, "is no list of texts, and no object of texts under the letters from A on")
    return tuple(map(as_text, value))
