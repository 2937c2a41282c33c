"""What an import finds on its way: why it cannot be done, what is left aside, and what the author's Python makes."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from model_accuracy_eval.records import Recipe
from model_accuracy_eval.tasks.lm_eval.reading import Function


@dataclass(slots=True)
class Findings:
    """Collected, so that a user is told everything at once."""

    trusted: bool
    """Whether Python of the task's author may be run."""
    programs: bool = False
    """Whether replies are programs that are judged as `code_eval` judges them."""
    reasons: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    columns: dict[str, str] = field(default_factory=dict)
    folders: dict[str, None] = field(default_factory=dict)

    def refuse(self, reason: str) -> None:
        if reason not in self.reasons:
            self.reasons.append(reason)

    def ignore(self, what: str) -> None:
        self.ignored.append(what)

    def trust(self, what: str, place: str = "") -> None:
        """Without trust, that something is Python is a reason against the import."""
        if not self.trusted:
            self.refuse(f"{what} is Python{place}, which is run only with --trust-python")

    def python(self, place: str, function: Function) -> str:
        """The function's name for a recipe."""
        self.trust(place, f" ({function})")
        self.folders[function.folder] = None
        return function.name

    def path(self, place: str, function: Function) -> str:
        """Where a function of judging stands."""
        self.trust(place, f" ({function})")
        return f"{function.file}:{function.name.rpartition('.')[2]}"

    def column(self, place: str, function: Function) -> str:
        """A template for the column that the function will make."""
        self.columns[place] = self.python(place, function)
        return place

    def recipe(self, rows: Any) -> Recipe | None:
        """What is made of the rows of every file of the task."""
        made = self.python("process_docs", rows) if isinstance(rows, Function) else None
        if made is None and not self.columns:
            return None
        if len(self.folders) > 1:
            self.refuse(f"its Python lies in {len(self.folders)} folders ({', '.join(self.folders)})")
        return Recipe(folder=next(iter(self.folders)), rows=made, columns=dict(self.columns))


def told(values: Iterable[object]) -> str:
    return ", ".join(f"'{value}'" for value in values)
