"""The adapter's own Python: where `requirements.txt` goes, on top of all that the machine's Python has."""

import inspect
import re
from pathlib import Path

from model_accuracy_eval.errors import Refused


def wants_packages(requirements: Path) -> bool:
    """Whether the file is there and says more than comments."""
    try:
        lines = requirements.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except FileNotFoundError:
        return False
    except OSError as error:
        raise Refused(f"{requirements} cannot be read: {error.strerror}.") from error
    return any(line.strip() and not line.lstrip().startswith("#") for line in lines)


PROVIDED = {"torch", "torch-npu", "cann"}
"""What the machine's framework version brings; another one from an index would take its place in silence."""
_NAME = re.compile(r"^\s*([A-Za-z0-9][A-Za-z0-9._-]*)")


def refuse_replacing(requirements: Path) -> None:
    """Refuses a line of requirements.txt that would replace what the machine provides."""
    if not wants_packages(requirements):
        return
    for number, line in enumerate(requirements.read_text(encoding="utf-8-sig", errors="replace").splitlines(), 1):
        found = _NAME.match(line)
        if found and re.sub(r"[._-]+", "-", found[1]).lower() in PROVIDED:
            raise Refused(
                f"requirements.txt, line {number}, would replace what the machine provides: '{line.strip()}'. "
                "torch, torch_npu and CANN come with the environment; take the line out.",
                about=(requirements.name, number),
            )


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
