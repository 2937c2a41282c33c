"""The adapter's own files: how `deploy.sh` is run, and what keeps it or `requirements.txt` from being used;
what it gets of the environment, what it has printed, and who has its port."""

import contextlib
import os
import re
import shlex
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

import psutil

from model_accuracy_eval.errors import AdapterFailed, Refused

BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "a UTF-8 byte order mark", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
POSIX_SHELLS = {"sh", "dash", "ash"}
DEPLOY = """
if [ $# -gt 0 ] && ! command -v "$1" >/dev/null; then
  name=${1##*/}; shift; set -- "$name" "$@"
  command -v "$1" >/dev/null || set --
fi
[ $# -gt 0 ] || set -- sh
exec "$@" deploy.sh
"""
"""Runs `sh deploy.sh`, as the platform does, so no execute bit is needed. If its arguments, `interpreter`, name a
program that exists, that is used instead: `set -o pipefail` ends a script under dash."""
NO_PIP = 90
"""The exit code of what installs requirements, where there is no pip."""
DEPLOYING = "── deploy.sh"
"""The line of the log after which the output is the script's own."""
STACK_READER = Path(__file__).with_name("stack_reader.py").read_text(encoding="utf-8")
STACK_SECONDS = 30
PROVIDED = {"torch", "torch-npu", "cann"}
"""What the machine's framework version brings; a package from an index would silently replace it."""
_LOOKED_AT = 16 << 20
"""Bytes of a file: one of many gigabytes of zeros takes no room in a repository."""
_NAME = re.compile(r"^\s*([A-Za-z0-9][A-Za-z0-9._-]*)")


def read_script(script: Path) -> bytes:
    """Returns the script's bytes, if a shell can read them."""
    try:
        with script.open("rb") as file:
            text = file.read(_LOOKED_AT)
    except FileNotFoundError as error:
        if script.is_symlink():
            raise Refused(f"{script} cannot be read: {error.strerror}.") from error
        raise Refused(f"There is no deploy.sh in {script.parent}; an adapter needs one at its root.") from error
    except IsADirectoryError as error:
        sentence = f"{script} is not a file; an adapter needs a shell script of that name at its root."
        raise Refused(sentence) from error
    except OSError as error:
        raise Refused(f"{script} cannot be read: {error.strerror}.") from error
    for mark, name in BYTE_ORDER_MARKS.items():
        if text.startswith(mark):
            sentence = f"{script} begins with {name}, which shells cannot read; save it as UTF-8 without BOM."
            raise Refused(sentence, about=(script.name, 1))
    windows_ends = text.count(b"\r\n")
    if windows_ends and b"\0" not in text:
        lines = text.count(b"\n")
        advice = r"convert it with `sed -i 's/\r$//' deploy.sh` and put `*.sh text eol=lf` into .gitattributes"
        sentence = (
            f"{script} has Windows line ends in {windows_ends} of its {lines} lines, which break shells; {advice}."
        )
        raise Refused(sentence, about=(script.name, 1))
    return text


def interpreter(script: Path) -> list[str]:
    """Returns the words of the `#!` line, without `env` in front; none where they name a POSIX shell."""
    text = read_script(script)
    if not text.startswith(b"#!"):
        return []
    words = shlex.split(os.fsdecode(text[2:].partition(b"\n")[0]).replace("'", " "))
    if words and Path(words[0]).name == "env":
        words = words[2:] if words[1:2] == ["-S"] else words[1:]
    return words if words and Path(words[0]).name not in POSIX_SHELLS else []


def wants_packages(requirements: Path) -> bool:
    """Whether the file is there and says more than comments."""
    return any(line.strip() and not line.lstrip().startswith("#") for line in _lines(requirements))


def _lines(requirements: Path) -> list[str]:
    try:
        with requirements.open("rb") as file:
            return file.read(_LOOKED_AT).decode("utf-8-sig", "replace").splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        raise Refused(f"{requirements} cannot be read: {error.strerror}.") from error


def refuse_replacing(requirements: Path) -> None:
    """Refuses a line of requirements.txt that would replace what the machine provides."""
    if not wants_packages(requirements):
        return
    for number, line in enumerate(_lines(requirements), 1):
        name = _NAME.match(line)
        if name and re.sub(r"[._-]+", "-", name[1]).lower() in PROVIDED:
            raise Refused(
                f"requirements.txt, line {number}, would replace what the machine provides: '{line.strip()}'. "
                "torch, torch_npu and CANN come with the environment; take the line out.",
                about=(requirements.name, number),
            )


def check_installed(code: int, folder: str, log: str, *, place: str) -> None:
    """Raises what the end of an installation means that was no success."""
    if code == NO_PIP:
        raise Refused(f"requirements.txt cannot be installed: {place} has no python3 with pip.")
    if code:
        raise AdapterFailed(
            f"Installing {folder}/requirements.txt failed with exit code {code}.",
            detail=tail(log, DETAIL_LINES),
            about=("requirements.txt", 1),
        )


# Which of the machine's environment variables `deploy.sh` gets: all that are neither secret nor meant for us.


VISIBLE_NPUS = "ASCEND_RT_VISIBLE_DEVICES"
RUNNER_PREFIXES = ("ACTIONS_", "INPUT_", "STATE_")
"""What GitHub's runner passes to an action: its inputs (tokens among them), its state, its service tokens."""
RUNNER_NAMES = {
    "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY",  # command files
    "RUNNER_TRACKING_ID",  # by which the runner finds processes to kill
}  # fmt: skip
TOOL_NAMES = {"PYTHONHOME", "__PYVENV_LAUNCHER__"}
"""They belong to the Python that runs us, and break any other. PYTHONPATH stays: CANN's set_env.sh needs it."""
SECRET_WORDS = {
    "ASKPASS", "AUTH", "COOKIE", "CREDENTIAL", "CREDENTIALS", "DSN", "JWT", "KEY", "KEYS", "PASS", "PASSPHRASE",
    "PAT", "PWD", "SECRETS", "TOKENS", "WEBHOOK",
}  # fmt: skip
"""Whole words between underscores. Words that may also end a longer word (PGPASSWORD) are SECRET_ENDINGS."""
SECRET_ENDINGS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY", "CREDENTIAL")
DIRECTORIES = {"PWD", "OLDPWD"}
USERINFO = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]*://)(?P<user>[^\s/?#]*)@", re.IGNORECASE)


def adapter_environment(environ: Mapping[str, str], *, model_path: str | None, port: int) -> dict[str, str]:
    """Returns the machine's environment without anything secret, with MODEL_PATH and PORT.

    Dropped: what the runner gives to actions; names with a secret's word in them (`EOS_TOKEN_ID=2` stays, a
    small number is no token); values that contain a dropped secret, whatever their name; PYTHONHOME; and a
    VIRTUAL_ENV that the PATH does not use, since it is ours. A user and password inside a URL are cut out of it
    and the rest is kept: a proxy with a password needs a local proxy in front of it that has none.
    """
    secrets = [value for name, value in environ.items() if is_secret(name, value) and _is_recognisable(value)]
    variables = {
        name: USERINFO.sub(_without_userinfo, value)
        for name, value in environ.items()
        if not is_secret(name, value) and not is_ours(name, environ) and not any(secret in value for secret in secrets)
    }
    own = {"PORT": str(port)} | ({} if model_path is None else {"MODEL_PATH": model_path})
    variables.pop("MODEL_PATH", None)
    return variables | own


def visible_npus(environ: Mapping[str, str], npus: Sequence[int] | None) -> dict[str, str]:
    """The variable that limits an adapter to some of the NPUs that it would see, by their places among these."""
    if npus is None:
        return {}
    visible = [number for number in environ.get(VISIBLE_NPUS, "").split(",") if number.strip()]
    if visible and max(npus) >= len(visible):
        raise Refused(
            f"A replica is to have the NPUs at the places {', '.join(map(str, npus))} of {VISIBLE_NPUS}, which is "
            f"'{environ[VISIBLE_NPUS]}': start fewer replicas, or give each fewer NPUs."
        )
    return {VISIBLE_NPUS: ",".join(visible[at].strip() if visible else str(at) for at in npus)}


def is_secret(name: str, value: str) -> bool:
    if name in DIRECTORIES:
        return False
    words = re.split(r"[^A-Z0-9]+", name.upper())
    if any(word.startswith("TOKEN") for word in words) and re.fullmatch(r"\d{1,7}", value):
        return False
    return any(word in SECRET_WORDS or word.endswith(SECRET_ENDINGS) for word in words)


def is_ours(name: str, environ: Mapping[str, str]) -> bool:
    """Meant for us or for the action, not for the adapter."""
    if name == "VIRTUAL_ENV":
        return f"{environ[name]}/bin" not in environ.get("PATH", "").split(os.pathsep)
    return name in RUNNER_NAMES | TOOL_NAMES or name.upper().startswith(RUNNER_PREFIXES)


def _is_recognisable(value: str) -> bool:
    """Whether a value is long enough to be found in another, and no path such as that of a credentials file."""
    return len(value) >= 8 and not value.startswith(("/", "~", "."))


def _without_userinfo(match: re.Match[str]) -> str:
    scheme = match["scheme"]
    is_no_secret = ":" not in match["user"] and not scheme.lower().startswith(("http", "socks", "ftp"))
    return match[0] if is_no_secret else scheme


# The end of a log as it would look on a terminal, and the lines that are added to it.


DETAIL_LINES = 40
_BYTES = 256 * 1024
_ANSI = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # colours, cursor
    r"|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)?"  # titles, links
    r"|\x1b[ -/]*[0-~]"
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def tail(log: str, lines: int) -> str:
    """Returns the last lines as a terminal would show them: no colours, progress bars in their last state."""
    try:
        with Path(log).open("rb") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - _BYTES))
            block = file.read(_BYTES)
    except FileNotFoundError:
        return ""
    if size > len(block) and b"\n" in block:
        block = block.partition(b"\n")[2]  # its beginning was cut off
    text = _ANSI.sub("", block.decode("utf-8", "replace"))
    visible = [_CONTROL.sub("", line.rstrip("\r").rpartition("\r")[2]).rstrip() for line in text.split("\n")]
    return "\n".join("\n".join(visible).rstrip().split("\n")[-lines:])


class AdapterOutput:
    """What an adapter has printed: its log."""

    def __init__(self, log: str) -> None:
        self.log = log
        self._position = 0

    def tail(self, lines: int) -> str:
        return tail(self.log, lines)

    def news(self) -> str:
        """The whole lines since the last call, each once; after the log was shortened, those from there on."""
        with Path(self.log).open("rb") as file:
            self._position = min(self._position, file.seek(0, os.SEEK_END))
            file.seek(self._position)
            lines = file.read().rpartition(b"\n")[0]
        self._position += len(lines) + 1 if lines else 0
        return lines.decode(errors="replace")


# Who listens on a port of this machine.


_UNKNOWN = "another process (its pid is not visible to this user)"


def port_owner(port: int) -> str | None:
    """Returns who listens on the TCP port, on any address of this machine."""
    try:
        listening = [
            connection.pid
            for connection in psutil.net_connections("tcp")
            if connection.status == psutil.CONN_LISTEN and connection.laddr and connection.laddr.port == port
        ]
    except (psutil.Error, OSError):  # macOS shows this to root alone
        with contextlib.suppress(OSError), socket.create_connection(("localhost", port), timeout=1):
            return _UNKNOWN
        return None
    for pid in filter(None, listening):
        with contextlib.suppress(psutil.Error):
            return f"{psutil.Process(pid).name()}, pid {pid}"
    return _UNKNOWN if listening else None
