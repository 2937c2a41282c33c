"""What the table of shapes says of each shape."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes.file_rows import Arrangement, RowPlace
from model_accuracy_eval.rescoring.shapes.reply_row import ReplyRow


@dataclass(frozen=True, kw_only=True, slots=True)
class Shape:
    """One entry of the table."""

    name: str
    tools: str
    """The tools that write it."""
    file: str
    """The file that they write."""
    needs: tuple[str, ...]
    """The fields by which a row is recognised; `a|b`: one of the two. They may be null."""
    replies: Callable[[ReplyRow, ReplyRow], Iterable[SavedReply]]
    """Takes a row, and the fields beside the rows."""
    at: str = ""
    arrangement: Arrangement = "rows"
    in_parts: bool = False
    """Whether the tool may have split the file into `<name>_0.json`, `<name>_1.json`, …"""
    gives: str = ""
    """What it tells beside the replies."""

    @property
    def place(self) -> RowPlace:
        return RowPlace(at=self.at, arrangement=self.arrangement)

    def lacks(self, row: ReplyRow) -> list[str]:
        return [field for field in self.needs if field not in row]

    def fields_in(self, row: ReplyRow) -> set[str]:
        """The row's fields by which it is recognised."""
        names = (name for field in self.needs for name in field.split("|"))
        return {f"{self.at}.{name}" for name in names if name in row}
