"""What GitHub's runner offers to a container action: inputs, outputs, state, job summary, masks, annotations, its log.

The runner reads commands, `::name key=value::data` at the start of a line and the older `##[name]data` anywhere in one,
on stdout and stderr alike: so nothing that quotes a model or a server is printed but through `say`. A file that breaks
the runner's rules fails the step or is dropped as a whole: so nothing is written in part.
"""

import base64
import contextlib
import json
import os
import re
import secrets
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal, TextIO
from urllib.parse import quote

from model_accuracy_eval.errors import PublishFailed

AnnotationLevel = Literal["notice", "warning", "error"]

SUMMARY_BYTES = 1024 * 1024
"""The runner drops a larger summary as a whole."""
MESSAGE_UNITS, TITLE_UNITS = 4096, 255
"""UTF-16 units, as the runner counts."""
_ANNOTATIONS_PER_LEVEL = 10
# Lines end at LF, CR or both, and blanks before a command are skipped; here at more, in case the runner learns more.
_LINE_START = re.compile(r"(\A|[\n\r\v\f\x1c-\x1e\x85\u2028\u2029])([\s\x00-\x1f\u200b-\u200d\u2060\ufeff]*)::")
_SHORTEST_MASKED_LINE = 4
"""A shorter line of a longer secret, such as a brace, would hide half of the log."""


class Runner:
    """The runner as one step sees it. Safe to use from several threads."""

    def __init__(self, environ: Mapping[str, str], stream: TextIO) -> None:
        """`stream` must be the only one that is printed to."""
        self._environ = environ
        self._stream = stream
        self._lock = threading.RLock()
        self._annotations: Counter[str] = Counter()

    def input(self, name: str) -> str:
        """The value of an input. The runner sets every input; one that was not given is empty."""
        return self._environ.get(f"INPUT_{name.replace(' ', '_').upper()}", "").strip()

    def is_set(self, name: str) -> bool:
        """Says whether the input has a value, which may be an empty one; every input with a default has."""
        return f"INPUT_{name.replace(' ', '_').upper()}" in self._environ

    def state(self, name: str) -> str:
        """The value that an earlier stage of the same step saved."""
        return self._environ.get(f"STATE_{name}", "")

    def event(self) -> dict[str, Any]:
        """The webhook payload that started the workflow; empty where there is none that can be read."""
        try:
            payload = json.loads(Path(self._environ.get("GITHUB_EVENT_PATH", "")).read_bytes())
        except (OSError, ValueError):
            return {}
        return payload if isinstance(payload, dict) else {}

    def output(self, name: str, value: str) -> None:
        self._write_pair("GITHUB_OUTPUT", name, value)

    def save(self, name: str, value: str) -> None:
        """Saves state for the post step, which reads it as STATE_<name>."""
        self._write_pair("GITHUB_STATE", name, value)

    def _write_pair(self, variable: str, name: str, value: str) -> None:
        """One entry; no value can add a second one, since nobody knows the delimiter."""
        if path := self._environ.get(variable):
            delimiter, text = f"delimiter-{secrets.token_hex(16)}", value.replace("\0", "\N{REPLACEMENT CHARACTER}")
            with self._lock:
                append(path, f"{name}<<{delimiter}\n{text}\n{delimiter}\n".encode(errors="replace"))

    def summary(self, markdown: str) -> None:
        """Adds to the job summary, up to the size at which the runner would drop all of it."""
        if not (path := self._environ.get("GITHUB_STEP_SUMMARY")):
            return
        data = (markdown.rstrip("\n") + "\n").encode(errors="replace")
        with self._lock:
            file = Path(path)
            room = SUMMARY_BYTES - (file.stat().st_size if file.is_file() else 0)
            whole = len(data) <= room
            append(path, data if whole else data[: data.rfind(b"\n", 0, max(room, 0)) + 1])
        if not whole:
            self.notice(f"The job summary holds at most {SUMMARY_BYTES} bytes and was cut.")

    def hide_files(self) -> None:
        """Takes the list of the runner's command files from everybody but its owner: deploy.sh may run beside them."""
        for name in ("GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY"):
            if path := self._environ.get(name):
                folder = Path(path).parent
                with contextlib.suppress(OSError):  # the files themselves are closed all the same
                    folder.chmod(folder.stat().st_mode & ~0o044)

    def give_back(self, folder: str) -> None:
        """Changes the owner of what this container wrote as root to that of the workspace, never through a link.

        Otherwise the next checkout on a self-hosted runner cannot remove it.
        """
        try:
            owner = Path(self._environ.get("GITHUB_WORKSPACE", "")).stat()
        except OSError:
            return
        if os.geteuid() != 0 or owner.st_uid == 0:
            return
        for _, folders, files, descriptor in os.fwalk(folder):
            for name in (".", *folders, *files):
                # A file may have been removed meanwhile, and some file systems have no owners.
                with contextlib.suppress(OSError):
                    if os.stat(name, dir_fd=descriptor, follow_symlinks=False).st_uid == 0:
                        os.chown(name, owner.st_uid, owner.st_gid, dir_fd=descriptor, follow_symlinks=False)

    def mask(self, secret: str) -> None:
        """Hides the secret in the log from now on, in every form in which it may be printed."""
        for form in secret_forms(secret):
            self._print(workflow_command("add-mask", form))

    def notice(self, message: str, *, title: str = "") -> None:
        self._annotate("notice", message, title)

    def warning(self, message: str, *, title: str = "") -> None:
        self._annotate("warning", message, title)

    def error(self, message: str, *, title: str = "") -> None:
        self._annotate("error", message, title)

    def _annotate(self, level: AnnotationLevel, message: str, title: str) -> None:
        """The runner keeps ten annotations of a level; further ones become plain lines."""
        with self._lock:
            self._annotations[level] += 1
            if self._annotations[level] > _ANNOTATIONS_PER_LEVEL:
                self.say(f"{level.capitalize()}: {f'{title}: ' if title else ''}{message}")
                return
            properties = {"title": cut(title, TITLE_UNITS)}
            self._print(workflow_command(level, cut(message, MESSAGE_UNITS), properties))

    @contextlib.contextmanager
    def group(self, title: str) -> Iterator[None]:
        """Lines that the log shows folded. The runner has no group inside a group."""
        self._print(workflow_command("group", cut(title, TITLE_UNITS)))
        try:
            yield
        finally:
            self._print(workflow_command("endgroup"))

    def say(self, text: str) -> None:
        """Prints text in which nothing is a workflow command: it may quote models and servers."""
        self._print(neutralize(text))

    def _print(self, text: str) -> None:
        with self._lock:
            self._stream.write(text.rstrip("\n") + "\n")
            self._stream.flush()


def workflow_command(name: str, data: str = "", properties: Mapping[str, str] | None = None) -> str:
    """One line, without its end."""
    pairs = ",".join(f"{key}={escape_property(value)}" for key, value in (properties or {}).items() if value)
    return f"::{name}{' ' + pairs if pairs else ''}::{escape_data(data)}"


def escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def escape_property(text: str) -> str:
    return escape_data(text).replace(":", "%3A").replace(",", "%2C")


def neutralize(text: str) -> str:
    """The text with a blank inside everything that the runner would take for a command."""
    return _LINE_START.sub(r"\1\2: :", text).replace("##[", "## [")


def cut(text: str, longest: int) -> str:
    """At most so many UTF-16 units, with an ellipsis if something is missing; no character is split."""
    units = text.encode("utf-16-le", "replace")
    if len(units) <= 2 * longest:
        return text
    return units[: 2 * (longest - 1)].decode("utf-16-le", "ignore") + "…"


def secret_forms(secret: str) -> Iterator[str]:
    """The lines of a secret, and how it looks inside a URL or a header."""
    lines = [line.strip() for line in secret.splitlines() if line.strip()]
    yield from (line for line in lines if len(lines) == 1 or len(line) >= _SHORTEST_MASKED_LINE)
    text = secret.strip()
    if len(text) < _SHORTEST_MASKED_LINE:
        return
    raw = text.encode("utf-8", "surrogateescape")
    forms = [quote(raw, safe=""), *_base64_forms(raw), *_base64_forms(b"x-access-token:" + raw)]
    yield from (form for form in dict.fromkeys(forms) if form != text)


def _base64_forms(raw: bytes) -> tuple[str, str]:
    """In both alphabets, without padding: a mask also hides text that contains it."""
    return base64.b64encode(raw).decode().rstrip("="), base64.urlsafe_b64encode(raw).decode().rstrip("=")


def append(path: str, data: bytes) -> None:
    """Appends all of the data or, when the disk is full, nothing."""
    try:
        with Path(path).open("ab") as file:
            before = os.fstat(file.fileno()).st_size
            try:
                file.write(data)
                file.flush()
            except OSError:
                os.ftruncate(file.fileno(), before)
                raise
    except OSError as error:
        raise PublishFailed(f"{len(data)} bytes for the runner could not be written to {path}: {error}.") from error
