"""The sentences for files whose shape is not known, or not certain."""

from collections.abc import Mapping, Sequence

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.rescoring.shapes.file_rows import RowPlace
from model_accuracy_eval.rescoring.shapes.known_shapes import KNOWN_SHAPES
from model_accuracy_eval.rescoring.shapes.reply_row import ReplyRow
from model_accuracy_eval.rescoring.shapes.shape import Shape

_SHOWN = 30
_IDS = ("task_id", "id", "question_id", "problem_id", "qid", "idx", "index", "key", "name", "custom_id", "doc_id")
_REPLIES = (
    "prediction", "response", "completion", "output", "generation", "model_output", "model_response", "generated_text",
    "text", "content", "reply", "result", "solution", "answer",
)  # fmt: skip
_GOLD = ("gold", "ground_truth", "target", "reference", "gt", "label")
"""Names that such fields often have, the surest first, to propose a mapping."""


def ambiguous(name: str, shapes: Sequence[Shape]) -> BadData:
    names = " and ".join(shape.name for shape in shapes)
    return BadData(
        f"{name} fits {names}, so what its fields mean is not certain: name them with --map, such as "
        "--map id=task_id,prediction=response."
    )


def unknown(name: str, first_rows: Mapping[RowPlace, ReplyRow]) -> BadData:
    place, row = _nearest_rows(first_rows)
    paths = list(row.leaves())
    shown = [*paths[:_SHOWN], f"and {len(paths) - _SHOWN} more"] if len(paths) > _SHOWN else paths
    sentence = f"{name} has none of the known shapes. Its rows have the fields {', '.join(shown) or 'none'}"
    if shape := nearest(place, row):
        lacking = ", ".join(f"'{field.replace('|', ' or ')}'" for field in shape.lacks(row))
        sentence += f"; the nearest shape is {shape.name}, for which they lack {lacking}"
    listing = "\n".join(f"  {shape.name} ({shape.tools}): {_described(shape)}" for shape in KNOWN_SHAPES)
    return BadData(
        f"{sentence}. {_next_step(place, row, paths)}",
        detail=f"Known shapes and the fields by which they are recognised:\n{listing}",
    )


def nearest(place: RowPlace, row: ReplyRow) -> Shape | None:
    """The shape of which the largest part of the fields is there, if any is."""
    shapes = [shape for shape in KNOWN_SHAPES if shape.place == place]
    best = max(shapes, key=lambda shape: _present(shape, row), default=None)
    return best if best and _present(best, row) else None


def _present(shape: Shape, row: ReplyRow) -> float:
    return 1 - len(shape.lacks(row)) / len(shape.needs)


def _nearest_rows(first_rows: Mapping[RowPlace, ReplyRow]) -> tuple[RowPlace, ReplyRow]:
    def likeness(rows: tuple[RowPlace, ReplyRow]) -> tuple[float, bool]:
        place, row = rows
        shape = nearest(place, row)
        return _present(shape, row) if shape else 0.0, place != RowPlace()

    return max(first_rows.items(), key=likeness)


def _described(shape: Shape) -> str:
    fields = ", ".join(field.replace("|", " or ") for field in shape.needs)
    inside = f" in '{shape.at}'" if shape.at else ""
    kinds = {"lists of texts": "lists of texts", "keyed rows": f"objects by id with {fields}"}
    return f"{kinds.get(shape.arrangement, fields)}{inside}"


def _next_step(place: RowPlace, row: ReplyRow, paths: Sequence[str]) -> str:
    prediction = _likely(paths, _REPLIES, "")
    if not prediction:
        return "If one of them holds the replies, name it with --map id=FIELD,prediction=FIELD."
    names = {"rows": place.at, "id": "" if row.key else _likely(paths, _IDS, "FIELD"), "prediction": prediction}
    names["gold"] = _likely(paths, _GOLD, "")
    proposal = ",".join(f"{name}={path}" for name, path in names.items() if path)
    return f"Name the fields, such as with --map {proposal}."


def _likely(paths: Sequence[str], names: Sequence[str], otherwise: str) -> str:
    matches = (path for name in names for path in paths if path.rpartition(".")[2] == name)
    return next(matches, otherwise)
