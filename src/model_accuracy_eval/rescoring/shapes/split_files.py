"""The parts into which OpenCompass splits a long dataset: each counts its problems from 0 again."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes.reply_files import ShapedFile


def joined(parts: Sequence[ShapedFile]) -> Iterator[SavedReply]:
    """The replies of all parts, with the problems counted through, as OpenCompass counts them."""
    start = 0
    for part in parts:
        numbers = set[int]()
        for reply in part.replies():
            if not reply.problem.isdecimal():
                raise BadData(f"{part.name} is a part of a dataset, but its problem '{reply.problem}' is no number.")
            numbers.add(int(reply.problem))
            yield replace(reply, problem=str(start + int(reply.problem)))
        if numbers != set(range(len(numbers))):
            raise BadData(
                f"{part.name} is a part of a dataset, but it lacks some of the problems from 0 to {max(numbers):,}, so "
                "the numbers of the problems in the next part are not known."
            )
        start += len(numbers)
