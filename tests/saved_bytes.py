"""A saved file in memory, in the place of one on the disk."""

from collections.abc import Iterator
from dataclasses import dataclass

from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes.reply_files import open_replies


@dataclass(frozen=True)
class SavedBytes:
    """Implements `rescoring.shapes.file_rows.SavedFile`. `step`: how many bytes are read at a time."""

    data: bytes
    name: str = "replies.jsonl"
    step: int = 1 << 20

    def chunks(self) -> Iterator[bytes]:
        for start in range(0, len(self.data), self.step):
            yield self.data[start : start + self.step]

    def members(self) -> list["SavedBytes"]:
        return []


def read(data: bytes, name: str = "replies.jsonl") -> list[SavedReply]:
    return list(open_replies(SavedBytes(data, name)).replies())
