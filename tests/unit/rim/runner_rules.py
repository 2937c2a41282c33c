"""What the runner makes of a step's log and files, written from its documented behaviour; it knows nothing of our code."""

import re
from dataclasses import dataclass, field

REGISTERED = {
    "error", "warning", "notice", "debug", "group", "endgroup", "add-mask", "stop-commands", "save-state",
    "set-output", "set-env", "add-path", "echo", "add-matcher", "remove-matcher", "internal-set-repo-path",
}  # fmt: skip


@dataclass
class Command:
    name: str
    properties: dict[str, str]
    data: str


@dataclass
class Log:
    """The commands that were carried out, and the lines that were shown."""

    commands: list[Command] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    stopped: str = ""

    def named(self, name: str) -> list[Command]:
        return [command for command in self.commands if command.name == name]


def read_log(text: str) -> Log:
    log = Log()
    lines = re.split(r"\r\n|\n|\r", text)
    for line in lines[:-1] if lines[-1] == "" else lines:
        command = parse(line, REGISTERED | ({log.stopped} if log.stopped else set()))
        if command is None or (log.stopped and command.name != log.stopped):
            log.lines.append(line)
        elif log.stopped:
            log.stopped = ""
        else:
            log.commands.append(command)
            if command.name == "stop-commands":
                log.stopped = command.data
    return log


def parse(line: str, registered: set[str]) -> Command | None:
    return _new_form(line, registered) or _old_form(line, registered)


def _new_form(line: str, registered: set[str]) -> Command | None:
    message = line.lstrip()
    end = message.find("::", 2)
    if not message.startswith("::") or end < 0:
        return None
    name, _, rest = message[2:end].partition(" ")
    if name.lower() not in registered:
        return None
    pairs = [pair.partition("=") for pair in rest.strip().split(",") if "=" in pair]
    properties = {key.strip(): _unescape(value, {"%3A": ":", "%2C": ","}) for key, _, value in pairs}
    return Command(name.lower(), properties, _unescape(message[end + 2 :], {}))


def _old_form(line: str, registered: set[str]) -> Command | None:
    start = line.find("##[")
    end = line.find("]", start)
    if start < 0 or end < 0:
        return None
    name = line[start + 3 : end].partition(" ")[0].lower()
    return Command(name, {}, line[end + 1 :]) if name in registered else None


def _unescape(text: str, more: dict[str, str]) -> str:
    for code, char in {"%0D": "\r", "%0A": "\n", **more}.items():
        text = text.replace(code, char)
    return text.replace("%25", "%")


def read_pairs(data: bytes) -> dict[str, str]:
    """GITHUB_OUTPUT and GITHUB_STATE. Whatever breaks the rules fails the step, so it fails the test."""
    found: dict[str, str] = {}
    text = data.decode()
    assert text == "" or text.endswith("\n")
    lines = iter(text.split("\n")[:-1])
    for line in lines:
        if not line:
            continue
        equals, heredoc = line.find("="), line.find("<<")
        assert max(equals, heredoc) >= 0, f"Unable to process file command: {line!r}"
        if equals >= 0 and (heredoc < 0 or equals < heredoc):
            found[line[:equals]] = line[equals + 1 :]
            continue
        name, delimiter = line[:heredoc], line[heredoc + 2 :]
        assert name
        assert delimiter
        value = []
        for each in lines:
            if each == delimiter:
                break
            value.append(each)
        else:
            raise AssertionError(f"no end of {name}")
        found[name] = "\n".join(value)
    return found
