"""Names that say more than a dataset's own: an address on a hub or the web, and the time of its rows."""

import re
from datetime import date
from typing import NamedTuple
from urllib.parse import unquote, urlsplit

from msgspec.structs import replace

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import DataFile, HubSplit, Step, TaskSpec

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
