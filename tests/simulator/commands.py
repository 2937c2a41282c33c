"""What the runner reads out of a step's log and files, by its rules and with its limits."""

import re
from dataclasses import dataclass, field
from pathlib import Path

KNOWN = {
    "error", "warning", "notice", "debug", "group", "endgroup", "add-mask", "stop-commands", "save-state", "set-output",
    "set-env", "add-path", "echo", "add-matcher", "remove-matcher", "internal-set-repo-path",
}  # fmt: skip
SUMMARY_LIMIT = 1024 * 1024
ANNOTATIONS_OF_A_LEVEL = 10
_LEGACY = re.compile(r"##\[([\w-]+)(?: ([^\]]*))?\](.*)")


@dataclass(frozen=True)
class Command:
    name: str
    properties: dict[str, str]
    data: str


@dataclass
class Log:
    """A step's log as the runner keeps it: plain lines, and the commands that it obeyed."""

    lines: list[str] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    masks: list[str] = field(default_factory=list)
    _fence: str | None = None

    def read(self, line: str) -> None:
        line = line.rstrip("\r\n")
        if self._fence is not None:
            if line.strip() == f"::{self._fence}::":
                self._fence = None
            else:
                self.lines.append(self._masked(line))
            return
        command = parse(line)
        if command is None:
            self.lines.append(self._masked(line))
            return
        self.commands.append(command)
        if command.name == "stop-commands":
            self._fence = command.data
        elif command.name == "add-mask" and command.data:
            self.masks.append(command.data)

    def _masked(self, line: str) -> str:
        for mask in sorted(self.masks, key=len, reverse=True):
            line = line.replace(mask, "***")
        return line

    def annotations(self, level: str) -> list[str]:
        """At most ten of a level are kept."""
        return [command.data for command in self.commands if command.name == level][:ANNOTATIONS_OF_A_LEVEL]


def parse(line: str) -> Command | None:
    """A command at the start of a line, or in the old form anywhere in it."""
    bare = line.lstrip()
    if bare.startswith("::") and "::" in bare[2:]:
        head, _, data = bare[2:].partition("::")
        name, _, listed = head.partition(" ")
        if name in KNOWN:
            return Command(name, _properties(listed.split(","), ":%3A,%2C"), _unescaped(data))
    legacy = _LEGACY.search(line)
    if legacy and legacy[1] in KNOWN:
        return Command(legacy[1], _properties((legacy[2] or "").split(";"), ""), legacy[3])
    return None


def _properties(pairs: list[str], more: str) -> dict[str, str]:
    found = {}
    for pair in pairs:
        name, equals, value = pair.strip().partition("=")
        if equals:
            value = value.replace("%3A", ":").replace("%2C", ",") if more else value
            found[name] = _unescaped(value)
    return found


def _unescaped(text: str) -> str:
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def pairs(path: Path) -> dict[str, str]:
    """A file of `name=value` and `name<<DELIMITER` entries; what cannot be read fails the whole step."""
    found: dict[str, str] = {}
    lines = iter(path.read_text(encoding="utf-8").split("\n") if path.exists() else [])
    for line in lines:
        if not line:
            continue
        equals, heredoc = line.find("="), line.find("<<")
        if heredoc >= 0 and (equals < 0 or heredoc < equals):
            name, _, delimiter = line.partition("<<")
            value = []
            for inner in lines:
                if inner == delimiter:
                    break
                value.append(inner)
            else:
                raise ValueError(f"Unable to process file command: no closing {delimiter!r} for {name!r}")
            found[name] = "\n".join(value)
        elif equals >= 0:
            found[line[:equals]] = line[equals + 1 :]
        else:
            raise ValueError(f"Unable to process file command: invalid format {line!r}")
    return found
