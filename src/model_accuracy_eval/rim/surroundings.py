"""What `deploy.sh` finds around itself: its environment variables, its interpreter, its Python packages."""

import inspect
import os
import re
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path

from model_accuracy_eval.errors import Refused

# ── Environment variables ─────────────────────────────────────────────────────────────────────────

RUNNER_PREFIXES = ("ACTIONS_", "INPUT_", "STATE_")
"""What GitHub's runner hands to an action: its inputs (tokens among them), its state, its service tokens."""
RUNNER_NAMES = {
    "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH", "GITHUB_STATE", "GITHUB_STEP_SUMMARY",  # command files
    "RUNNER_TRACKING_ID",  # the runner kills by it
}  # fmt: skip
TOOL_NAMES = {"PYTHONHOME", "__PYVENV_LAUNCHER__"}
"""Belong to the Python that runs us, and break any other one. PYTHONPATH stays: CANN's set_env.sh needs it."""
SECRET_WORDS = {
    "ASKPASS", "AUTH", "COOKIE", "CREDENTIAL", "CREDENTIALS", "DSN", "JWT", "KEY", "KEYS", "PASS", "PASSPHRASE",
    "PAT", "PWD", "SECRETS", "TOKENS", "WEBHOOK",
}  # fmt: skip
"""Whole words between underscores. Words that may also end a longer word (PGPASSWORD) are SECRET_ENDINGS."""
SECRET_ENDINGS = ("TOKEN", "SECRET", "PASSWORD", "PASSWD", "APIKEY", "CREDENTIAL")
DIRECTORIES = {"PWD", "OLDPWD"}
USERINFO = re.compile(r"(?P<scheme>\b[a-z][a-z0-9+.-]*://)(?P<user>[^\s/?#]*)@", re.IGNORECASE)


def adapter_environment(environ: Mapping[str, str], *, model_path: str | None, port: int) -> dict[str, str]:
    """The machine's environment without anything secret, with MODEL_PATH and PORT.

    Dropped: what the runner gives to actions; names with a secret's word in them (`EOS_TOKEN_ID=2` stays, a
    small number is no token); values that contain a dropped secret, whatever their name; PYTHONHOME; and a
    VIRTUAL_ENV that the PATH does not use, since it is ours. A user and password inside a URL are cut out of it
    and the rest is kept: a proxy that asks for a password needs a local one in front that does not.
    """
    secrets = [value for name, value in environ.items() if is_secret(name, value) and _telling(value)]
    kept = {
        name: USERINFO.sub(_without_userinfo, value)
        for name, value in environ.items()
        if not is_secret(name, value) and not is_ours(name, environ) and not any(secret in value for secret in secrets)
    }
    given = {"PORT": str(port)} | ({} if model_path is None else {"MODEL_PATH": model_path})
    kept.pop("MODEL_PATH", None)
    return kept | given


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


def _telling(value: str) -> bool:
    """Long enough to be recognised elsewhere, and no path such as the one of a credentials file."""
    return len(value) >= 8 and not value.startswith(("/", "~", "."))


def _without_userinfo(match: re.Match[str]) -> str:
    scheme = match["scheme"]
    innocent = ":" not in match["user"] and not scheme.lower().startswith(("http", "socks", "ftp"))
    return match[0] if innocent else scheme


# ── The interpreter ───────────────────────────────────────────────────────────────────────────────

BYTE_ORDER_MARKS = {b"\xef\xbb\xbf": "a UTF-8 byte order mark", b"\xff\xfe": "UTF-16", b"\xfe\xff": "UTF-16"}
POSIX_SHELLS = {"sh", "dash", "ash"}


def deploy_command(folder: str, path: str) -> list[str]:
    """`sh deploy.sh`, as the platform runs it, so no execute bit is needed. A first line that names another
    interpreter is honoured where that one exists: `set -o pipefail` ends a script under dash.
    """
    words = _shebang(read_script(Path(folder) / "deploy.sh"))
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
    if not script.exists() and not script.is_symlink():
        raise Refused(f"There is no deploy.sh in {script.parent}; an adapter needs one at its root.")
    if script.exists() and not script.is_file():
        raise Refused(f"{script} is not a file; an adapter needs a shell script of that name at its root.")
    try:
        text = script.read_bytes()
    except OSError as error:
        raise Refused(f"{script} cannot be read: {error.strerror}.") from error
    for mark, name in BYTE_ORDER_MARKS.items():
        if text.startswith(mark):
            raise Refused(f"{script} begins with {name}, which shells cannot read; save it as UTF-8 without BOM.")
    ends = text.count(b"\r\n")
    if ends and b"\0" not in text:
        lines = text.count(b"\n")
        cure = r"convert it with `sed -i 's/\r$//' deploy.sh` and put `*.sh text eol=lf` into .gitattributes"
        raise Refused(f"{script} has Windows line ends in {ends} of its {lines} lines, which break shells; {cure}.")
    return text


def _shebang(script: bytes) -> list[str]:
    """The words of the `#!` line, without `env` in front."""
    if not script.startswith(b"#!"):
        return []
    words = shlex.split(os.fsdecode(script[2:].partition(b"\n")[0]).replace("'", " "))
    if words and Path(words[0]).name == "env":
        words = words[2:] if words[1:2] == ["-S"] else words[1:]
    return words


# ── Python packages ───────────────────────────────────────────────────────────────────────────────


def wants_packages(requirements: Path) -> bool:
    """Whether the file is there and says more than comments."""
    try:
        lines = requirements.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise Refused(f"{requirements} cannot be read: {error.strerror}.") from error
    return any(line.strip() and not line.lstrip().startswith("#") for line in lines)


# The functions below are run by the adapter's python3, not by ours: their source is handed to it (`maker`).
# Hence the imports inside, and nothing that Python 3.8 does not know.


def make_python(home: str) -> None:
    """A virtual environment that sees all that the Python running this sees; 90 where no pip is to be had."""
    import site  # noqa: PLC0415
    import sys  # noqa: PLC0415
    import sysconfig  # noqa: PLC0415
    import venv  # noqa: PLC0415
    from importlib.util import find_spec  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    no_pip = find_spec("pip") is None
    if no_pip and find_spec("ensurepip") is None:
        sys.exit(90)
    machine = sys.base_prefix in site.PREFIXES
    venv.EnvBuilder(system_site_packages=machine, symlinks=True, with_pip=no_pip).create(home)
    if sys.prefix != sys.base_prefix:
        # A virtual environment cannot be based on another one, so its packages are added by .pth lines: by
        # calls rather than bare paths, so that the .pth files in there (editable installs) count as well.
        own = sysconfig.get_path("purelib", "posix_prefix", {"base": home, "platbase": home})
        calls = [f"import site; site.addsitedir({folder!r})\n" for folder in site.getsitepackages()]
        Path(own, "_parent.pth").write_text("".join(calls), encoding="utf-8")


def make_commands(home: str) -> None:
    """Commands of the machine's packages, run by the new Python. Their own first line names the machine's,
    which sees none of what is installed here: `vllm serve` would never meet the transformers asked for.
    """
    from importlib.metadata import distributions  # noqa: PLC0415
    from pathlib import Path  # noqa: PLC0415

    entries = [entry for distribution in distributions() for entry in distribution.entry_points]
    for entry in entries:
        target = Path(home, "bin", entry.name)
        module, _, function = entry.value.partition("[")[0].strip().partition(":")
        if entry.group == "console_scripts" and function and not target.exists():
            lines = ["import sys", f"from {module} import {function.split('.')[0]}", f"sys.exit({function}())"]
            target.write_text("\n".join([f"#!{home}/bin/python3", *lines, ""]), encoding="utf-8")
            target.chmod(0o755)


def maker() -> str:
    """A program that makes a virtual environment in the folder it is given."""
    parts = [inspect.getsource(make_python), inspect.getsource(make_commands)]
    return "\n".join([*parts, "import sys", "make_python(sys.argv[1])", "make_commands(sys.argv[1])"])
