"""Makes the adapter's own Python: a virtual environment that sees all that the machine's Python has.

This file is run by the adapter's python3, which gets its text (`python3 -c TEXT FOLDER`): it imports nothing of ours,
and needs nothing that Python 3.8 lacks. It ends with code 90 where there is no pip.
"""

import site
import sys
import sysconfig
import venv
from importlib.metadata import distributions
from importlib.util import find_spec
from pathlib import Path


def make_environment(home: str) -> None:
    no_pip = find_spec("pip") is None
    if no_pip and find_spec("ensurepip") is None:
        sys.exit(90)  # `adapter_files.NO_PIP`
    machine = sys.base_prefix in site.PREFIXES
    venv.EnvBuilder(system_site_packages=machine, symlinks=True, with_pip=no_pip).create(home)
    if sys.prefix != sys.base_prefix:
        # A virtual environment cannot be based on another one, so its packages are added by .pth lines: by
        # calls rather than bare paths, so that the .pth files in there (editable installs) count as well.
        packages = sysconfig.get_path("purelib", "posix_prefix", {"base": home, "platbase": home})
        calls = [f"import site; site.addsitedir({folder!r})\n" for folder in site.getsitepackages()]
        Path(packages, "_parent.pth").write_text("".join(calls), encoding="utf-8")


def make_commands(home: str) -> None:
    """Writes commands of the machine's packages that the new Python runs. Their own first line names the machine's
    Python, which sees no package that is installed here: `vllm serve` would miss the transformers asked for.
    """
    entries = [entry for distribution in distributions() for entry in distribution.entry_points]
    for entry in entries:
        target = Path(home, "bin", entry.name)
        module, _, function = entry.value.partition("[")[0].strip().partition(":")
        if entry.group == "console_scripts" and function and not target.exists():
            lines = ["import sys", f"from {module} import {function.split('.')[0]}", f"sys.exit({function}())"]
            target.write_text("\n".join([f"#!{home}/bin/python3", *lines, ""]), encoding="utf-8")
            target.chmod(0o755)


if __name__ == "__main__":
    make_environment(sys.argv[1])
    make_commands(sys.argv[1])
