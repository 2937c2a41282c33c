"""Says as JSON what an adapter runs on: versions of packages, CANN, driver, chips, and the command that serves.

This file is run by the adapter's python3, where deploy.sh runs, which gets its text (`python3 -c TEXT PORT`): it
imports nothing of ours, and needs nothing that Python 3.8 lacks.
"""

import contextlib
import json
import os
import re
import subprocess
import sys
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

PACKAGES = ("vllm", "vllm-ascend", "sglang", "lmdeploy", "mindie-llm", "transformers", "torch", "torch-npu")
NVIDIA = ["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"]
ASCEND = Path("/usr/local/Ascend")
LOOPBACK = ("0100007F", "0" * 24 + "01000000")
"""As the kernel writes them."""
_SECONDS = 8


def packages() -> "dict[str, str]":
    found = {}
    for name in PACKAGES:
        with contextlib.suppress(PackageNotFoundError):
            found[name] = version(name)
    return found


def version_in(pattern: str) -> str:
    """The value behind `version=` in the first file of such a name."""
    texts = (path.read_text(encoding="utf-8", errors="replace") for path in ASCEND.glob(pattern))
    found = (re.search(r"^version=(\S+)", text, re.IGNORECASE | re.MULTILINE) for text in texts)
    return next((match[1] for match in found if match), "")


def printed(command: "list[str]") -> str:
    with contextlib.suppress(OSError, subprocess.SubprocessError):
        return subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False).stdout  # noqa: S603
    return ""


def serving(port: int) -> "list[str]":
    """The words of the process that listens on the port; of two the one on the loopback: the other forwards to it."""
    tables = [path for path in (Path("/proc/net/tcp"), Path("/proc/net/tcp6")) if path.exists()]
    rows = [row.split() for table in tables for row in table.read_text(encoding="ascii").splitlines()[1:]]
    ours = [row for row in rows if row[3] == "0A" and int(row[1].rpartition(":")[2], 16) == port]
    inside = [row for row in ours if row[1].rpartition(":")[0] in LOOPBACK]
    sockets = {f"socket:[{row[9]}]" for row in inside or ours}
    for process in Path("/proc").glob("[0-9]*"):
        with contextlib.suppress(OSError):  # another user's process, or one that has ended
            if any(os.readlink(link) in sockets for link in (process / "fd").iterdir()):  # noqa: PTH115 - Python 3.8
                return (process / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
    return []


if __name__ == "__main__":
    facts = {
        "packages": packages(),
        "cann": version_in("ascend-toolkit/latest/*/ascend_toolkit_install.info"),
        "driver": version_in("driver/version.info"),
        "npus": printed(["npu-smi", "info"]),
        "gpus": printed(NVIDIA),
        "serving": serving(int(sys.argv[1])),
    }
    sys.stdout.write(json.dumps(facts))
