"""How `deploy.sh` is run: by which interpreter, and what keeps it from being run at all."""

import os
import shlex
import shutil
from pathlib import Path

from model_accuracy_eval.errors import Refused

BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "a UTF-8 byte order mark", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
POSIX_SHELLS = {"sh", "dash", "ash"}


def deploy_command(folder: str, path: str) -> list[str]:
    """`sh deploy.sh`, as the platform runs it, so no execute bit is needed. A first line that names another
    interpreter is honoured where that one exists: `set -o pipefail` ends a script under dash.
    """
    words = shebang(read_script(Path(folder) / "deploy.sh"))
    if words and Path(words[0]).name not in POSIX_SHELLS:
        program = shutil.which(words[0], path=path) or shutil.which(Path(words[0]).name, path=path)
        if program:
            return [program, *words[1:], "deploy.sh"]
    shell = shutil.which("sh", path=path) or shutil.which("/bin/sh")
    if shell is None:
        raise Refused(f"There is no sh on the PATH ({path}) to run {folder}/deploy.sh with; install one.")
    return [shell, "deploy.sh"]


def read_script(script: Path) -> bytes:
    """The script's bytes, if a shell can make sense of them."""
    try:
        text = script.read_bytes()
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
    ends = text.count(b"\r\n")
    if ends and b"\0" not in text:
        lines = text.count(b"\n")
        cure = r"convert it with `sed -i 's/\r$//' deploy.sh` and put `*.sh text eol=lf` into .gitattributes"
        sentence = f"{script} has Windows line ends in {ends} of its {lines} lines, which break shells; {cure}."
        raise Refused(sentence, about=(script.name, 1))
    return text


def shebang(script: bytes) -> list[str]:
    """The words of the `#!` line, without `env` in front."""
    if not script.startswith(b"#!"):
        return []
    words = shlex.split(os.fsdecode(script[2:].partition(b"\n")[0]).replace("'", " "))
    if words and Path(words[0]).name == "env":
        words = words[2:] if words[1:2] == ["-S"] else words[1:]
    return words
