"""What the runner makes of a step's log and files, written from its documented behaviour; it knows nothing of our code."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

REGISTERED = {
    "error", "warning", "notice", "debug", "group", "endgroup", "add-mask", "stop-commands", "save-state",
    "set-output", "set-env", "add-path", "echo", "add-matcher", "remove-matcher", "internal-set-repo-path",
}  # fmt: skip
SUMMARY_LIMIT = 1024 * 1024
ANNOTATIONS_OF_A_LEVEL = 10
_DATA = {"%0D": "\r", "%0A": "\n", "%25": "%"}
_PROPERTY = {"%3A": ":", "%2C": ",", **_DATA}
_OLD_PROPERTY = {"%3B": ";", "%5D": "]", **_DATA}
"""The percent sign comes last, or what it escapes would be unescaped twice."""


@dataclass(frozen=True)
class Command:
    name: str
    properties: dict[str, str]
    data: str


@dataclass
class Log:
    """A step's log as the runner keeps it: the commands that it obeyed, and the lines that it showed."""

    lines: list[str] = field(default_factory=list)
    commands: list[Command] = field(default_factory=list)
    masks: list[str] = field(default_factory=list)
    stopped: str = ""
    """The token that makes commands heard again; empty while they are."""

    def read(self, line: str) -> None:
        command = parse(line, REGISTERED | ({self.stopped.lower()} if self.stopped else set()))
        if command is None or (self.stopped and command.name != self.stopped.lower()):
            self.lines.append(self._masked(line))
        elif self.stopped:
            self.stopped = ""
        else:
            self._obey(command)

    def _obey(self, command: Command) -> None:
        self.commands.append(command)
        if command.name == "stop-commands":
            self.stopped = command.data
        elif command.name == "add-mask" and command.data:
            self.masks.append(command.data)

    def _masked(self, line: str) -> str:
        for mask in sorted(self.masks, key=len, reverse=True):
            line = line.replace(mask, "***")
        return line

    def named(self, name: str) -> list[Command]:
        return [command for command in self.commands if command.name == name]

    def annotations(self, level: str) -> list[str]:
        """At most ten of a level are kept."""
        return [command.data for command in self.named(level)][:ANNOTATIONS_OF_A_LEVEL]


@dataclass(frozen=True)
class Step:
    """How a stage of the step ended."""

    exit_code: int
    log: Log
    outputs: Mapping[str, str]
    state: Mapping[str, str]
    summary: str | None
    """None when it was too long and dropped."""
    seconds: float

    @property
    def text(self) -> str:
        return "\n".join(self.log.lines)


def read_log(text: str) -> Log:
    """The log of a whole output; a carriage return ends a line, too."""
    log = Log()
    lines = re.split(r"\r\n|\n|\r", text)
    for line in lines[:-1] if lines[-1] == "" else lines:
        log.read(line)
    return log


def parse(line: str, registered: set[str]) -> Command | None:
    """A command at the start of a line, or in the old form anywhere in it; names know no case."""
    return _new_form(line, registered) or _old_form(line, registered)


def _new_form(line: str, registered: set[str]) -> Command | None:
    message = line.lstrip()
    end = message.find("::", 2)
    if not message.startswith("::") or end < 0:
        return None
    name, _, rest = message[2:end].partition(" ")
    if name.lower() not in registered:
        return None
    return Command(name.lower(), _properties(rest, ",", _PROPERTY), _unescaped(message[end + 2 :], _DATA))


def _old_form(line: str, registered: set[str]) -> Command | None:
    start = line.find("##[")
    end = line.find("]", start)
    if start < 0 or end < 0:
        return None
    name, _, rest = line[start + 3 : end].partition(" ")
    if name.lower() not in registered:
        return None
    return Command(name.lower(), _properties(rest, ";", _OLD_PROPERTY), _unescaped(line[end + 1 :], _OLD_PROPERTY))


def _properties(listed: str, between: str, codes: dict[str, str]) -> dict[str, str]:
    pairs = [pair.partition("=") for pair in listed.strip().split(between) if "=" in pair]
    return {name.strip(): _unescaped(value, codes) for name, _, value in pairs}


def _unescaped(text: str, codes: dict[str, str]) -> str:
    for code, character in codes.items():
        text = text.replace(code, character)
    return text


def pairs(data: bytes) -> dict[str, str]:
    """A file of `name=value` and `name<<DELIMITER` entries; what cannot be read fails the whole step."""
    found: dict[str, str] = {}
    lines = iter(data.decode().split("\n"))
    for line in lines:
        if not line:
            continue
        equals, heredoc = line.find("="), line.find("<<")
        if heredoc >= 0 and (equals < 0 or heredoc < equals):
            name, delimiter = line[:heredoc], line[heredoc + 2 :]
            value = _up_to(delimiter, lines)
            if not (name and delimiter) or value is None:
                raise ValueError(f"Unable to process file command: {line!r} has no name, delimiter or end")
            found[name] = value
        elif equals > 0:
            found[line[:equals]] = line[equals + 1 :]
        else:
            raise ValueError(f"Unable to process file command: invalid format {line!r}")
    return found


def _up_to(delimiter: str, lines: Iterator[str]) -> str | None:
    """The lines before the delimiter; None when it never comes."""
    value: list[str] = []
    for line in lines:
        if line == delimiter:
            return "\n".join(value)
        value.append(line)
    return None
