"""What GitHub's runner offers to a container action: inputs, outputs, state, summary, masks, and a log that obeys.

The runner reads commands from stdout and stderr, and the order between the two is not kept. A fence protects
only what is printed to the same stream, so let everything foreign go through the one stream given here.
"""

import contextlib
import json
import secrets
import threading
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TextIO

from model_accuracy_eval.errors import BadValue, PublishFailed
from model_accuracy_eval.rim.runner import file_commands, ownership
from model_accuracy_eval.rim.runner.workflow_commands import (
    LONGEST_MESSAGE,
    LONGEST_TITLE,
    ForeignLines,
    Level,
    command,
    cut,
    neutral,
    secret_forms,
)

_ANNOTATIONS_OF_A_LEVEL = 10
_WORDS = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}
"""YAML's booleans, the only ones that the runner's own actions take."""


def _random_token() -> str:
    return f"fence-{secrets.token_hex(16)}"


class Runner:
    """One step's door to the runner. Safe to use from several threads."""

    def __init__(self, environ: Mapping[str, str], stream: TextIO, token: Callable[[], str] = _random_token) -> None:
        self._environ = environ
        self._stream = stream
        self._token = token
        self._lock = threading.RLock()
        self._fence = ""
        self._told: Counter[str] = Counter()

    # ── What it says ──────────────────────────────────────────────────────────────────────────────

    @property
    def here(self) -> bool:
        """Whether a runner is there at all."""
        return self._environ.get("GITHUB_ACTIONS") == "true"

    @property
    def debug(self) -> bool:
        """Whether somebody asked the runner for debug logs."""
        return self._environ.get("RUNNER_DEBUG") == "1"

    def input(self, name: str, default: str = "") -> str:
        """The runner sets every input; one that nobody gave is empty."""
        return self._environ.get(f"INPUT_{name.replace(' ', '_').upper()}", "").strip() or default

    def flag(self, name: str, *, default: bool = False) -> bool:
        text = self.input(name)
        if text and text not in _WORDS:
            raise BadValue(f"The input '{name}' is '{cut(text, 80)}' and has to be true or false.")
        return _WORDS.get(text, default)

    def state(self, name: str) -> str:
        """What an earlier stage of the same step saved."""
        return self._environ.get(f"STATE_{name}", "")

    def event(self) -> dict[str, Any]:
        """The webhook payload that started the workflow; empty where there is none that can be read."""
        try:
            payload = json.loads(Path(self._environ.get("GITHUB_EVENT_PATH", "")).read_bytes())
        except (OSError, ValueError):
            return {}
        return payload if isinstance(payload, dict) else {}

    # ── What it is handed ─────────────────────────────────────────────────────────────────────────

    def output(self, name: str, value: str) -> None:
        self._hand("GITHUB_OUTPUT", name, value)

    def save(self, name: str, value: str) -> None:
        """State for the post step, where it is STATE_<name>."""
        self._hand("GITHUB_STATE", name, value)

    def _hand(self, variable: str, name: str, value: str) -> None:
        if path := self._environ.get(variable):
            with self._lock:
                file_commands.append(path, file_commands.pair(name, value, self._token()))

    def summary(self, markdown: str) -> None:
        """Adds to the job summary, up to the size at which the runner would drop it whole."""
        if not (path := self._environ.get("GITHUB_STEP_SUMMARY")):
            return
        with self._lock:
            room = file_commands.LARGEST_SUMMARY - file_commands.size(path)
            data, shortened = file_commands.fitting(markdown.rstrip("\n") + "\n", room)
            file_commands.append(path, data)
        if shortened:
            self.notice(f"The job summary holds at most {file_commands.LARGEST_SUMMARY} bytes and was cut.")

    def give_back(self, folder: str) -> None:
        """At the end, as root: what was written belongs to the owner of the workspace."""
        ownership.give_back(folder, self._environ.get("GITHUB_WORKSPACE", ""))

    # ── The log ───────────────────────────────────────────────────────────────────────────────────

    def mask(self, secret: str) -> None:
        for form in secret_forms(secret):
            self._command(command("add-mask", form))

    def notice(self, message: str, *, title: str = "") -> None:
        self._annotate("notice", message, title)

    def warning(self, message: str, *, title: str = "") -> None:
        self._annotate("warning", message, title)

    def error(self, message: str, *, title: str = "") -> None:
        self._annotate("error", message, title)

    def _annotate(self, level: Level, message: str, title: str) -> None:
        """The runner keeps ten of a kind; further ones are plain lines."""
        with self._lock:
            self._told[level] += 1
            if self._told[level] > _ANNOTATIONS_OF_A_LEVEL:
                self.say(f"{level.capitalize()}: {f'{title}: ' if title else ''}{message}")
                return
            properties = {"title": cut(title, LONGEST_TITLE)}
            self._command(command(level, cut(message, LONGEST_MESSAGE), properties))

    @contextlib.contextmanager
    def group(self, title: str) -> Iterator[None]:
        """Lines that the log shows folded. The runner knows no group inside a group."""
        self._command(command("group", cut(title, LONGEST_TITLE)))
        try:
            yield
        finally:
            self._command(command("endgroup"))

    def say(self, text: str) -> None:
        """Our own words, which may quote foreign ones."""
        with self._lock:
            self._print(neutral(text))

    def foreign(self, text: str) -> None:
        """A block of text that somebody else wrote."""
        with self.fence() as out:
            out.write(text)

    @contextlib.contextmanager
    def fence(self) -> Iterator[ForeignLines]:
        """Until it is left, the runner takes nothing for a command but ours."""
        lines = ForeignLines(self.say)
        with self._lock:
            if self._fence:
                raise PublishFailed("A fence stands already around foreign text, and the runner knows only one.")
            self._raise_fence()
        try:
            yield lines
        finally:
            lines.close()
            with self._lock:
                self._lower_fence()

    def _command(self, line: str) -> None:
        """Inside a fence the runner is deaf to us, too: it is opened for as long as we speak."""
        with self._lock:
            if not self._fence:
                self._print(line)
                return
            self._lower_fence()
            self._print(line)
            self._raise_fence()

    def _raise_fence(self) -> None:
        self._fence = self._token()
        self._print(command("stop-commands", self._fence))

    def _lower_fence(self) -> None:
        self._print(f"::{self._fence}::")
        self._fence = ""

    def _print(self, text: str) -> None:
        self._stream.write(text.rstrip("\n") + "\n")
        self._stream.flush()
