"""Where rows come from, and which of them."""

from model_accuracy_eval.records.base import JSONObject, Record


class Transform(Record, frozen=True, kw_only=True):
    """UltraEval's function that says of a row what is asked, what it shows as an example, and what is right."""

    function: str
    """`module.function`, called with a row, the number of examples, a generator of random numbers, and the task."""
    shots: int
    task: str
    seed: int = 1234
    """Of the first row's generator; every row has one of its own."""


class Recipe(Record, frozen=True, kw_only=True):
    """Python of a task's author that makes its rows; run outside this process, and only where the user trusts it."""

    folder: str
    """Where the modules lie."""
    made: str | None = None
    """`module.function` that gives all rows by itself, such as `utils.load_dataset`; then no file is read for it."""
    given: JSONObject = {}
    """What that function is called with, by name."""
    split: str | None = None
    """Which of its rows count, where it gives those of several splits by their names."""
    rows: str | None = None
    """`module.function` over all rows of the file, such as `utils.process_docs`."""
    columns: dict[str, str] = {}
    """Further columns: name → `module.function` of one row."""
    transform: Transform | None = None
    """Makes the columns `input`, `output` and `answers`."""


class DataFile(Record, frozen=True, kw_only=True):
    """Rows of one split: found by file name in `--data-dir`, in the package, or fetched and checked."""

    name: str
    """File name as `--data-dir` has it, such as `gsm8k/test.jsonl` (`.gz` beside it is found too), or a path. Without
    an ending, every kind of data file is looked for."""
    recipe: Recipe | None = None
    """What is made of the file's rows before anything else looks at them."""
    bundled: str | None = None
    """File inside the package, for datasets that we wrote."""
    listed: "Listing | None" = None
    """Which of the rows count, where another file says so."""
    hub: str | None = None
    """Pinned place it can be fetched from, such as `github:openai/grade-school-math@<commit>/<path>`."""
    sha256: str | None = None
    """Hash of the uncompressed bytes; a file with another hash is another question."""


class Listing(Record, frozen=True, kw_only=True):
    """A text file whose lines are values of a column: rows with other values are left out."""

    field: str
    data: DataFile


class Slice(Record, frozen=True, kw_only=True):
    """A view of the rows, by position, as Python slices have it."""

    start: int = 0
    stop: int | None = None
    step: int = 1


class Step(Record, frozen=True, kw_only=True):
    """A named function of one of the tables in `scoring`, with its arguments."""

    name: str
    args: JSONObject = {}
