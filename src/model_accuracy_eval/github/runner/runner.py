"""What GitHub's runner offers to a container action: inputs, outputs, state, job summary, masks, annotations."""

import contextlib
import json
import os
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from model_accuracy_eval.github.runner import file_commands
from model_accuracy_eval.github.runner.workflow_commands import (
    MESSAGE_UNITS,
    TITLE_UNITS,
    AnnotationLevel,
    cut,
    neutralize,
    secret_forms,
    workflow_command,
)

_ANNOTATIONS_PER_LEVEL = 10


def _random_delimiter() -> str:
    return f"delimiter-{secrets.token_hex(16)}"


class Runner:
    """The runner as one step sees it. Safe to use from several threads."""

    def __init__(
        self, environ: Mapping[str, str], stream: TextIO, delimiter: Callable[[], str] = _random_delimiter
    ) -> None:
        """`stream` must be the only one that is printed to: the runner reads commands from stdout and stderr."""
        self._environ = environ
        self._stream = stream
        self._delimiter = delimiter
        self._lock = threading.RLock()
        self._annotations: Counter[str] = Counter()

    def input(self, name: str, default: str = "") -> str:
        """The value of an input. The runner sets every input; one that was not given is empty."""
        return self._environ.get(f"INPUT_{name.replace(' ', '_').upper()}", "").strip() or default

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
        if path := self._environ.get(variable):
            with self._lock:
                file_commands.append(path, file_commands.name_and_value(name, value, self._delimiter()))

    def summary(self, markdown: str) -> None:
        """Adds to the job summary, up to the size at which the runner would drop all of it."""
        if not (path := self._environ.get("GITHUB_STEP_SUMMARY")):
            return
        with self._lock:
            room = file_commands.SUMMARY_BYTES - file_commands.size(path)
            data, is_cut = file_commands.cut_summary(markdown.rstrip("\n") + "\n", room)
            file_commands.append(path, data)
        if is_cut:
            self.notice(f"The job summary holds at most {file_commands.SUMMARY_BYTES} bytes and was cut.")

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
