"""A file of saved replies: which shape it has, and its replies."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes import (
    chat_files,
    code_files,
    field_map,
    lm_eval_samples,
    opencompass_files,
)
from model_accuracy_eval.rescoring.shapes.file_rows import FileRows, SavedFile
from model_accuracy_eval.rescoring.shapes.reply_row import ReplyRow, RowPlace, Shape

KNOWN_SHAPES: tuple[Shape, ...] = (
    *opencompass_files.SHAPES,
    *lm_eval_samples.SHAPES,
    *chat_files.SHAPES,
    *code_files.SHAPES,
)
"""The table of shapes."""
_SHOWN = 30
"""How many fields of an unknown file are named."""


@dataclass(frozen=True)
class ShapedFile:
    """A file whose replies can be read, as often as wanted."""

    file_rows: FileRows
    place: RowPlace
    shape: Shape | None
    """None: the fields are named by `fields`."""
    fields: Mapping[str, str]

    @property
    def name(self) -> str:
        return self.file_rows.name

    @property
    def description(self) -> str:
        return self.shape.name if self.shape else "fields named by --map"

    def replies(self) -> Iterator[SavedReply]:
        """Every reply, in the order of the file."""
        rows = self.file_rows.rows(self.place)
        if not self.shape:
            yield from field_map.mapped(rows, self.file_rows.head(self.place), self.fields, self.file_rows.name)
            return
        head = self.file_rows.head(self.place)
        for row in rows:
            if lacking := self.shape.lacks(row):
                raise BadData(
                    f"{row.where}: the field '{lacking[0]}' is missing, though the file is {self.shape.name}."
                )
            yield from self.shape.replies(row, head)


def open_replies(file: SavedFile, fields: Mapping[str, str] | None = None) -> ShapedFile:
    """Recognises the file's shape by its content; `fields` names them where there is no such shape."""
    file_rows = FileRows(file)
    first_rows = {place: row for place in file_rows.places() for row in _first(file_rows, place)}
    if not first_rows:
        raise BadData(f"{file_rows.name} holds no saved replies.")
    if fields:
        field_map.check(fields)
        return ShapedFile(file_rows, field_map.place_of_rows(first_rows, fields, file_rows.name), None, fields)
    matches = [
        (shape, row)
        for place, row in first_rows.items()
        for shape in KNOWN_SHAPES
        if shape.place == place and not shape.lacks(row)
    ]
    best = [
        shape
        for shape, row in matches
        if not any(shape.fields_in(row) < other.fields_in(other_row) for other, other_row in matches)
    ]
    if len(best) == 1:
        return ShapedFile(file_rows, best[0].place, best[0], {})
    raise _ambiguous(file_rows.name, best) if best else _unknown(file_rows.name, first_rows)


def _first(file_rows: FileRows, place: RowPlace) -> Iterator[ReplyRow]:
    for row in file_rows.rows(place):
        yield row
        return


def _ambiguous(name: str, shapes: Sequence[Shape]) -> BadData:
    names = " and ".join(shape.name for shape in shapes)
    return BadData(
        f"{name} fits {names}, so what its fields mean is not certain: name them with --map, such as "
        "--map id=task_id,prediction=response."
    )


def _unknown(name: str, first_rows: Mapping[RowPlace, ReplyRow]) -> BadData:
    """Rows in a field of an object are named before the object itself."""
    place, row = max(first_rows.items(), key=lambda item: item[0] != RowPlace())
    paths = list(row.leaves())
    shown = [*paths[:_SHOWN], f"and {len(paths) - _SHOWN} more"] if len(paths) > _SHOWN else paths
    rows = f"rows={place.at}," if place.at else ""
    listing = "\n".join(f"  {shape.name} ({shape.tools}): {_described(shape)}" for shape in KNOWN_SHAPES)
    return BadData(
        f"{name} has none of the known shapes. Its rows have the fields {', '.join(shown) or 'none'}. If one of them "
        f"holds the replies, name it with --map {rows}id=FIELD,prediction=FIELD.",
        detail=f"Known shapes and the fields by which they are recognised:\n{listing}",
    )


def _described(shape: Shape) -> str:
    fields = ", ".join(field.replace("|", " or ") for field in shape.needs)
    inside = f" in '{shape.at}'" if shape.at else ""
    kinds = {"lists of texts": "lists of texts", "keyed rows": f"objects by id with {fields}"}
    return f"{kinds.get(shape.arrangement, fields)}{inside}"
