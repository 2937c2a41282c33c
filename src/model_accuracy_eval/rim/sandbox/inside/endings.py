"""What the end of a process says about its program."""

import os
import signal
from pathlib import Path

from model_accuracy_eval.rim.sandbox.inside.leftovers import Ended


def death(kind: str, ended: Ended, kills: int) -> list[str]:
    """What an end says that came before any report."""
    code = os.waitstatus_to_exitcode(ended.status)
    if kind == "foreign" and code >= 0:
        return ["failed", f"It ended with exit code {code}."] if code else ["passed", ""]
    if code >= 0:
        return ["exited", f"The program ended itself with code {code} before the tests had ended."]
    if code == -signal.SIGKILL and memory_kills() > kills:
        return ["out_of_memory", "The system ended it, because the memory of its container was used up."]
    return ["crashed", f"It was ended by signal {-code} ({signal.strsignal(-code)})."]


def memory_kills() -> int:
    """How often the kernel has ended something of our control group for want of memory."""
    for name in ("/sys/fs/cgroup/memory.events", "/sys/fs/cgroup/memory/memory.oom_control"):
        try:
            lines = Path(name).read_text(encoding="ascii").splitlines()
        except OSError:
            continue
        return sum(int(line.split()[1]) for line in lines if line.startswith("oom_kill "))
    return 0
