"""What an import collects: reasons against it, ignored fields, and the Python of the task's author."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from model_accuracy_eval.records import Recipe
from model_accuracy_eval.tasks.lm_eval.yaml_files import PythonReference


@dataclass(slots=True)
class ImportFindings:
    """Everything that a user has to know about an import, so that it can be reported at once."""

    trusted: bool
    """Whether Python of the task's author may be run."""
    programs: bool = False
    """Whether replies are programs, judged like `code_eval`."""
    reasons: list[str] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    columns: dict[str, str] = field(default_factory=dict)
    folders: dict[str, None] = field(default_factory=dict)

    def refuse(self, reason: str) -> None:
        if reason not in self.reasons:
            self.reasons.append(reason)

    def ignore(self, field: str) -> None:
        self.ignored.append(field)

    def trust(self, subject: str, place: str = "") -> None:
        """Notes that something is Python, which without trust is a reason against the import."""
        if not self.trusted:
            self.refuse(f"{subject} is Python{place}, which is run only with --trust-python")

    def python(self, place: str, function: PythonReference) -> str:
        """The function's name for a recipe."""
        self.trust(place, f" ({function})")
        self.folders[function.folder] = None
        return function.name

    def path(self, place: str, function: PythonReference) -> str:
        """The path of a function that judges."""
        self.trust(place, f" ({function})")
        return f"{function.file}:{function.name.rpartition('.')[2]}"

    def column(self, place: str, function: PythonReference) -> str:
        """An expression for the column that the function will make."""
        self.columns[place] = self.python(place, function)
        return place

    def recipe(self, rows: Any) -> Recipe | None:
        """How the author's Python changes the rows of the task's files, if it does."""
        function = self.python("process_docs", rows) if isinstance(rows, PythonReference) else None
        if function is None and not self.columns:
            return None
        if len(self.folders) > 1:
            self.refuse(f"its Python is in {len(self.folders)} folders ({', '.join(self.folders)})")
        return Recipe(folder=next(iter(self.folders)), rows=function, columns=dict(self.columns))


def quoted(values: Iterable[object]) -> str:
    return ", ".join(f"'{value}'" for value in values)
