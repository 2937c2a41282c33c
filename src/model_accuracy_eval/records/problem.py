"""Where the rows of a dataset come from, and one row as a problem, which no longer depends on its file."""

import re
from collections.abc import Iterator
from typing import Any, Literal

from model_accuracy_eval.records.base import JSONObject, Record

# Pictures, sound and video in rows and messages: what they are, and where their bytes lie, which are never here.
#
# In a text a mark stands for each, so that a template places one like any other value, and what hashes the text hashes
# the bytes' own hash with it.


_MARK = "\N{OBJECT REPLACEMENT CHARACTER}"
MARKS = re.compile(f"{_MARK}([0-9a-f]{{64}}){_MARK}")
"""What stands for a picture, sound or video in a text: its hash."""

MediaKind = Literal["image", "audio", "video"]
NOUNS: dict[MediaKind, str] = {"image": "picture", "audio": "sound", "video": "video"}

_FORMATS: tuple[tuple[bytes, MediaKind, str], ...] = (
    (rb"\x89PNG\r\n\x1a\n", "image", "png"),
    (rb"\xff\xd8\xff", "image", "jpeg"),
    (rb"RIFF....WEBP", "image", "webp"),
    (rb"GIF8[79]a", "image", "gif"),
    (rb"BM....\x00\x00\x00\x00", "image", "bmp"),
    (rb"RIFF....WAVE", "audio", "wav"),
    (rb"ID3|\xff[\xe2\xe3\xf2\xf3\xfa\xfb]", "audio", "mp3"),
    (rb"fLaC", "audio", "flac"),
    (rb"OggS", "audio", "ogg"),
    (rb"....ftyp", "video", "mp4"),
    (rb"\x1a\x45\xdf\xa3", "video", "webm"),
)
"""How the bytes of each format begin; `re` keeps those that are compiled when media are first looked at."""
HEAD_BYTES = 16
"""As many bytes tell the format."""
KNOWN_FORMATS = ", ".join(name for _, _, name in _FORMATS)


class MediaPlace(Record, frozen=True, kw_only=True):
    """Where the bytes lie, on this machine."""

    file: str
    row: int | None = None
    """Position in a table file; None: the file itself is the picture."""
    path: tuple[str | int, ...] = ()
    """In that row: the column, then fields and positions inside of its value."""


class Media(Record, frozen=True, kw_only=True):
    """One picture, sound or video."""

    kind: MediaKind
    format: str
    sha256: str
    """Of the bytes; of the address, if only that is known."""
    size: int | None = None
    """Bytes; None: only the address is known."""
    name: str = ""
    """What the row calls it."""
    url: str = ""
    """Sent as it is, in place of bytes."""
    place: MediaPlace | None = None

    def __str__(self) -> str:
        """Its mark, so that it can stand in a template like a text."""
        return f"{_MARK}{self.sha256}{_MARK}"

    @property
    def shown(self) -> str:
        """For readers, who do not see it."""
        size = "" if self.size is None else f", {self.size:,} bytes"
        name = f" {self.name}" if self.name else ""
        return f"[{NOUNS[self.kind]}{name}: {self.format or 'address'}{size}, {self.sha256[:12]}]"


def marked(value: Any) -> Any:
    """The same value with marks in the place of pictures: the same on every machine."""
    match value:
        case Media():
            return str(value)
        case dict():
            return {key: marked(item) for key, item in value.items()}
        case list():
            return list(map(marked, value))
    return value


def media_in(value: Any) -> Iterator[Media]:
    """All that a row's value holds."""
    if isinstance(value, Media):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from media_in(item)


def media_format(head: bytes) -> tuple[MediaKind, str] | None:
    """What bytes that begin so are; None for any other format."""
    return next(((kind, name) for pattern, kind, name in _FORMATS if re.match(pattern, head, re.DOTALL)), None)


DataRow = dict[str, Any]
"""A row of a data file: column → value."""


class Transform(Record, frozen=True, kw_only=True):
    """A function of UltraEval that turns a row into its question, its text as an example, and its right answers."""

    function: str
    """`module.function`, called with a row, the number of examples, a generator of random numbers, and the task."""
    shots: int
    task: str
    seed: int = 1234
    """Seed of the first row's generator; every row has its own."""


class Recipe(Record, frozen=True, kw_only=True):
    """Python of a task file that produces its rows. It runs in another process, and only if the user trusts it."""

    folder: str
    """The folder that contains the modules."""
    loader: str | None = None
    """`module.function` that returns all rows, such as `utils.load_dataset`; no data file is read then."""
    loader_args: JSONObject = {}
    """Keyword arguments of that function."""
    split: str | None = None
    """The split to use, if the function returns several splits by name."""
    rows: str | None = None
    """`module.function` over all rows of the file, such as `utils.process_docs`."""
    columns: dict[str, str] = {}
    """Additional columns: name → `module.function` of one row."""
    transform: Transform | None = None
    """Adds the columns `input`, `output` and `answers`."""


class RowsPin(Record, frozen=True, kw_only=True):
    """What a file's rows are, whatever its format, the order of its keys, and further columns."""

    count: int
    columns: tuple[str, ...] = ()
    sha256: str = ""
    """Of the rows' values of these columns, in order, as JSON with sorted keys, one row a line. Empty: no more than
    their number and columns is known."""


class DataSource(Record, frozen=True, kw_only=True):
    """Where rows are fetched from: a split by the names that its hubs give it, or one file by its address."""

    hf: str = ""
    """`owner/name` on Hugging Face, which says which files have the rows."""
    ms: str = ""
    """`owner/name` on ModelScope, asked if Hugging Face does not have it or cannot be reached."""
    config: str = ""
    """Empty: the default one, or the only one."""
    split: str = "test"
    revision: str = ""
    """Commit, branch or tag on the hub that is named first; empty: the newest commit. What it is then is pinned when it
    is first read."""
    url: str = ""
    """The address of one file in place of all the others: `https://…`, `github:owner/name@commit/path`, likewise `hf:`
    and `ms:`, or `package:name` for what comes along."""
    hash: str = ""
    """What the stored bytes of that file are: their SHA-256, or the id that git gives them. Empty: what they are is
    noted when they are first fetched."""


class DataFile(Record, frozen=True, kw_only=True):
    """The file with the rows of one split: in `--data-dir`, in the package, or downloaded and checked."""

    name: str
    """File name inside `--data-dir`, such as `gsm8k/test.jsonl` (also found with `.gz`), or a path. Without a suffix,
    all kinds of data files are tried."""
    source: DataSource | None = None
    """None: it lies on this machine."""
    pin: RowsPin | None = None
    """What its rows are with those of `more`; others are refused."""
    more: "tuple[DataFile, ...]" = ()
    """Files with further rows, which follow those of this one."""
    instead: "tuple[DataFile, ...]" = ()
    """Others with the same rows, as other hosts or the folders of other tools have them, in the order in which they are
    tried where this file is not on this machine."""
    recipe: Recipe | None = None
    """Changes the file's rows before anything else reads them."""
    adds: dict[str, str] = {}
    """Columns that its rows get, such as the subject where only the name of the file or of the hub's config says it."""
    pictures: tuple[str, ...] = ()
    """Columns that name pictures, sounds or videos: by paths beside the file, addresses, or Base64. Data URIs and what
    a table file holds are known by themselves."""


class TableFile(Record, frozen=True, kw_only=True):
    """A Parquet or Arrow file, which is read row by row where it lies."""

    path: str
    most: int | None = None
    """Bytes that its rows may have, but for pictures and the like."""


RowsStatus = Literal["known", "pinned now", "as pinned", "not compared", "own"]


class RowsSource(Record, frozen=True, kw_only=True):
    """Where the rows of a data file came from, and whether they are the ones that are known."""

    file: str
    """The name of the data file."""
    places: tuple[str, ...]
    """Files at a hub, each with its commit, or paths on this machine."""
    count: int
    rows: RowsPin | None = None
    """None where the bytes are the known ones, so that nobody had to look at the rows."""
    status: RowsStatus
    """Equal to rows that this program knows, read for the first time and noted in the lock file, equal to what is noted
    there, compared with nothing but perhaps their number, or a file of the user, of which nobody else knows."""

    @property
    def unpinned(self) -> bool:
        """Whether nothing says that these are the rows that the dataset's name stands for."""
        return self.status not in {"known", "own"}


class DataBytes(Record, frozen=True, kw_only=True):
    """What a data file holds, uncompressed, or where the table is that it holds."""

    place: str
    """Where it lies."""
    source: str = ""
    """The address at a hub that it was fetched from; empty for what lies on this machine anyway."""
    content: bytes | TableFile
    is_known: bool = False
    """The bytes are those that the release or the task file pins."""


class Slice(Record, frozen=True, kw_only=True):
    """A selection of rows by position, like a Python slice."""

    start: int = 0
    stop: int | None = None
    step: int = 1
    sample: int | None = None
    """Of these, as many are drawn, as `limit` draws them; None: all."""


class Step(Record, frozen=True, kw_only=True):
    """A function by its name in one of the tables of `scoring` and `tasks`, with its arguments."""

    name: str
    args: JSONObject = {}


class Message(Record, frozen=True, kw_only=True):
    """One message of a conversation."""

    role: Literal["system", "user", "assistant"]
    content: str
    """With a mark where each picture, sound or video is."""
    media: tuple[Media, ...] = ()
    """What the marks stand for, each once."""

    @property
    def parts(self) -> list[str | Media]:
        """Texts and what stands between them, in their order; blanks alone are no part."""
        known = {media.sha256: media for media in self.media}
        pieces = enumerate(MARKS.split(self.content))  # every second one is the hash in a mark
        return [known[piece] if place % 2 else piece for place, piece in pieces if piece.strip()]

    @property
    def shown(self) -> str:
        """The content for readers, who do not see pictures."""
        known = {media.sha256: media.shown for media in self.media}
        return MARKS.sub(lambda mark: known[mark[1]], self.content) if known else self.content

    @property
    def words(self) -> str:
        """The content without marks, as other programs save it."""
        return MARKS.sub("", self.content) if self.media else self.content


class Candidate(Record, frozen=True, kw_only=True):
    """A text for a log-likelihood: how likely is `continuation` after `context`?"""

    context: str
    continuation: str


class Problem(Record, frozen=True, kw_only=True):
    """One row, with everything that prompting and scoring need, whatever file it came from."""

    id: int
    """Position of the row in its file after all views, so that slices and limits do not change it."""
    row: int | None = None
    """Position of the row in its file before any view; None if a view made the row."""
    key: tuple[str, ...] = ()
    """The row's values of the task's key columns; empty if it has none."""
    row_texts: tuple[str, ...] = ()
    """The row's texts that the question is made of, the longest first; short ones beside it are left out."""
    row_options: tuple[str, ...] = ()
    """The texts of the row's lists that the question shows, if any."""
    messages: tuple[Message, ...]
    text: str = ""
    """The prompt as one text, for completions and log-likelihoods."""
    follow_ups: tuple[str, ...] = ()
    """What is asked next, each after the model's reply to what was asked before."""
    references: tuple[str, ...]
    turn_references: tuple[str, ...] = ()
    """The right answer to each turn, empty where a turn has none; none at all if turns have no answers of their own."""
    choices: tuple[str, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    """One for every option, then, if a metric needs them, the same continuations after an empty context."""
    gold: tuple[int, ...] = ()
    """Positions of the right options."""
    category: str | None = None
    cluster: str = ""
    """Equal in problems that share a passage or the like; empty: it stands alone."""
    part: tuple[int, ...] = ()
    """Index of its task among the dataset's parts, then among that task's parts, and so on; empty without parts."""
    functions: tuple[JSONObject, ...] = ()
    """Definitions of functions that the model may call, in OpenAI's format; the calls are its answer."""
    extras: JSONObject = {}

    @property
    def right(self) -> tuple[str, ...]:
        """The right answers as readers see them; for options, their texts."""
        return tuple(self.choices[index] for index in self.gold if index in range(len(self.choices))) or self.references


NO_PROBLEM = Problem(id=-1, messages=(), references=())
"""Where a reply is read that answers none."""
