"""A file of saved replies: which shape it has, and its replies."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes import field_map
from model_accuracy_eval.rescoring.shapes.file_rows import FileRows, RowPlace, SavedFile
from model_accuracy_eval.rescoring.shapes.known_shapes import KNOWN_SHAPES
from model_accuracy_eval.rescoring.shapes.refusals_of_shapes import ambiguous, unknown
from model_accuracy_eval.rescoring.shapes.reply_row import ReplyRow
from model_accuracy_eval.rescoring.shapes.shape import Shape


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
    raise ambiguous(file_rows.name, best) if best else unknown(file_rows.name, first_rows)


def _first(file_rows: FileRows, place: RowPlace) -> Iterator[ReplyRow]:
    for row in file_rows.rows(place):
        yield row
        return
