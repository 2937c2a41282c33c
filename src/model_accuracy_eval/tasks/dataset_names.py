"""Names of datasets: how other tools write them, and what is near a name that nobody knows."""

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from functools import cached_property
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from msgspec.structs import replace

from model_accuracy_eval.errors import BadValue, UnknownDataset
from model_accuracy_eval.records import DataFile, HubSplit, Step, TaskGroup, TaskSpec

KINDS = {
    "Mathematics": ("math", "gsm", "aime", "amc", "arith", "algebra", "geometry", "hmmt", "olympiad"),
    "Knowledge and thought": (
        "mmlu", "exam", "knowledge", "science", "med", "law", "gpqa", "eval", "reason", "logic", "arc", "bbh",
        "fact", "truth",
    ),
    "Knowledge in Chinese": ("chinese", "ceval", "cmmlu", "gaokao", "clue"),
    "Everyday thought": ("swag", "grande", "commonsense", "piqa", "siqa", "story"),
    "Following instructions": ("instruct", "follow", "chat", "bench", "arena"),
    "Reading and spelling": ("squad", "reading", "race", "qa", "trivia", "comprehension", "passage", "spell"),
    "Code": ("code", "human", "mbpp", "program", "swe", "sql", "apps", "contest"),
    "Pictures": ("vqa", "chart", "ocr", "image", "vision", "mmmu", "mmstar", "mmbench", "diagram", "picture", "pope"),
    "Function calls": ("bfcl", "functioncall", "toolcall"),
    "Graded by a judge": ("hle", "humanity", "harm", "jailbreak", "safety", "toxi"),
    "Long texts": ("longbench", "longcontext", "leval", "lcr", "infinitebench", "needle", "haystack", "niah"),
    "Translation": ("flores", "wmt", "translat", "iwslt"),
    "Sound and video": ("audio", "video", "sound", "speech", "voice"),
    "Base models (CORE)": ("bigbench", "core", "lm"),
}  # fmt: skip
"""Heading of the table → parts of names that belong under it; the longest that a name has decides."""

_NEAR = 0.8
"""How much two names have in common that differ by a slip of the keyboard."""
_SHOWN = 12


def normal(name: str) -> str:
    """A name as it is compared: letter case, `-`, `_`, `@` and whatever else is no letter or digit do not matter."""
    return re.sub(r"[\W_]+", "", name).casefold()


@dataclass(frozen=True)
class DatasetNames:
    """All names of the table: of its datasets, which may have several, and of its groups."""

    sections: Mapping[str, Sequence[TaskSpec]]
    groups: Mapping[str, TaskGroup]

    def spellings(self) -> Iterable[tuple[str, str]]:
        """Every name in its normal form, and the one under which the table has it; none stands for two."""
        for task in self._tasks:
            for name in (task.name, *task.aliases):
                yield normal(name), task.name
        for name in self.groups:
            yield normal(name), name

    def canonical(self, name: str) -> str | None:
        """The table's own name for what is called by this one."""
        known = self._known
        if normal(name) in known:
            return known[normal(name)]
        base, _, prompt = name.rpartition("@")
        return known.get(normal(f"{known[normal(base)]}@{prompt}")) if base and normal(base) in known else None

    def unknown(self, name: str) -> UnknownDataset:
        """The error for a name that the table does not have. It never takes another dataset for a slip: names that
        begin otherwise or have other numbers are not suggested."""
        base, _, prompt = name.rpartition("@")
        if base and (of := self.canonical(base)):
            others = [known for _, known in self.spellings() if known.startswith(f"{of}@")]
            return UnknownDataset(name, prompts=(of, prompt, others))
        near = [self._known[form] for form in difflib.get_close_matches(normal(name), self._known, 5, _NEAR)]
        slips = [known for known in dict.fromkeys(near) if _may_be_a_slip(normal(name), normal(known))]
        beginning = [
            one for form, one in self._known.items() if len(normal(name)) >= 3 and form.startswith(normal(name))
        ]
        shortest = sorted(dict.fromkeys(beginning), key=lambda one: (len(one), one))
        heading = self._kind(normal(name))
        of_kind = list({task.data.name: task.name for task in reversed(self.sections.get(heading or "", ()))}.values())
        return UnknownDataset(
            name, near=slips[:3], kind=heading, of_kind=of_kind[: -_SHOWN - 1 : -1], beginning=shortest[:_SHOWN]
        )

    def _kind(self, form: str) -> str | None:
        words = [(len(word), heading) for heading, words in KINDS.items() for word in words if word in form]
        return max(words, key=lambda found: found[0])[1] if words else None

    @property
    def _tasks(self) -> Iterable[TaskSpec]:
        return (task for section in self.sections.values() for task in section)

    @cached_property
    def _known(self) -> dict[str, str]:
        return dict(self.spellings())


def _may_be_a_slip(name: str, known: str) -> bool:
    return name[:1] == known[:1] and re.findall(r"\d+", name) == re.findall(r"\d+", known)


# Datasets that are named by their address: `hf:org/name[@revision][:configuration[:split]]`, `ms:…`, or a URL.


_NAME = re.compile(
    r"(?P<hub>hf|ms):(?P<name>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?(?::(?P<config>[^:]*))?(?::(?P<split>[^:]+))?"
)
_BLOB = re.compile(r"https://github\.com/(?P<repository>[^/]+/[^/]+)/blob/(?P<path>.+)")


def is_address(name: str) -> bool:
    return name.startswith(("hf:", "ms:", "http://", "https://"))


def data_file(name: str) -> tuple[str, DataFile]:
    """What the dataset of that address is called, and where its rows are."""
    return _of_url(name) if "://" in name else _of_hub(name)


def _of_hub(name: str) -> tuple[str, DataFile]:
    parts = _NAME.fullmatch(name)
    if parts is None:
        raise BadValue(
            f"'{name}' is no dataset of a hub: write hf:org/name or ms:org/name, and where there are several, "
            ":configuration and :split behind it, such as hf:openai/gsm8k:main:test."
        )
    split = HubSplit(
        hf=parts["name"] if parts["hub"] == "hf" else "",
        ms=parts["name"] if parts["hub"] == "ms" else "",
        config=parts["config"] or "",
        split=parts["split"] or "",
        revision=parts["revision"] or "",
    )
    called = "_".join(filter(None, (parts["name"].partition("/")[2], split.config, split.split)))
    return _plain(called), DataFile(
        name="/".join(filter(None, (parts["name"], split.config, split.split))), split=split
    )


def _of_url(name: str) -> tuple[str, DataFile]:
    if blob := _BLOB.fullmatch(name):  # the page that shows the file
        name = f"https://raw.githubusercontent.com/{blob['repository']}/{blob['path']}"
    parts = urlsplit(name)
    file = unquote(parts.path).rpartition("/")[2]
    if parts.username or parts.password:
        raise BadValue(f"The address of a data file must hold no password, because reports show it: {parts.hostname}.")
    if not parts.hostname or "." not in file:
        raise BadValue(f"'{name}' is no address of a data file: it must end in a name such as test.jsonl.")
    return _plain(file.removesuffix(".gz").rpartition(".")[0]), DataFile(name=file, split=HubSplit(url=name))


def _plain(name: str) -> str:
    """A name that files and gates can have."""
    return re.sub(r"[^\w.-]+", "_", name)


# `name@2024-08-01..2025-01-31`: the rows of a time, for benchmarks whose problems are newer than a model's data.


_WINDOW = re.compile(r"(\d{4}-\d\d-\d\d)?\.\.(\d{4}-\d\d-\d\d)?")


class TimeWindow(NamedTuple):
    """From the first to the last day, both included; an empty text is no limit."""

    first: str
    last: str

    def of(self, task: TaskSpec) -> TaskSpec:
        """The task with the rows of that time."""
        if not task.dated:
            raise BadValue(f"The rows of {task.name} have no date, so none can be chosen by it.")
        step = Step(name="dated", args={"field": task.dated, "first": self.first, "last": self.last})
        return replace(task, name=f"{task.name}@{self.first}..{self.last}", views=(*task.views, step))


def parse(text: str) -> TimeWindow | None:
    """The window that is written as from..to; None for a text of another form."""
    if "-" not in text or not (match := _WINDOW.fullmatch(text)):
        return None
    window = TimeWindow(match[1] or "", match[2] or "")
    try:
        for day in filter(None, window):
            date.fromisoformat(day)
    except ValueError as error:
        raise BadValue(f"The time {text} has a day that the calendar lacks: {error}.") from error
    if window.last and window.first > window.last:
        raise BadValue(f"The time {text} ends before it begins.")
    return window
