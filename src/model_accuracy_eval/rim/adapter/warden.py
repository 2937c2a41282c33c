"""A tiny process that stands between a run and the command it runs, and leaves nothing of it behind.

It is started by file path (`python -I -S warden.py`), so it needs the standard library alone. It reads one
JSON line from stdin (`command`, `folder`, `environment`, `parent`, `remove`), runs the command in a session of
its own, with its own stderr as the command's output, and answers in JSON lines: `{"started": pid}` or
`{"failed": why}`, `{"exit": code}` (negative: minus the signal), `{"stopped": pids}` with what even SIGKILL
could not end. "keep", anything else, or the end of stdin asks it to stop; that end comes even when the run was
killed with SIGKILL. `remove` names a folder to delete after that, unless the word was "keep".

Why nothing escapes on Linux: a child subreaper inherits every orphan below it, whatever session, group or
environment that process gave itself, so "I have no child" (ECHILD) means "nothing is left". Elsewhere a
daemon that left both its parent and its group is out of reach.
"""

# pathlib would double the start-up time:
# ruff: noqa: PTH110, PTH123, PTH208

import json
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator

GRACE = 2.5
"""Seconds between SIGTERM and SIGKILL: vLLM needs 2.2 to 2.4 to shut down in order."""
LIMIT = 4.0
"""Seconds after which survivors are reported; callers are promised five for all of a stop."""
PATIENCE = 60.0
"""Seconds to go on killing what was reported, such as a process inside a driver call that hangs."""
TICK = 0.02
HASTE = 20


def adopt_orphans() -> bool:
    """Makes this process the parent of every orphan below it; False where the system knows no such thing."""
    try:
        import ctypes  # noqa: PLC0415 - missing in some slim Pythons

        set_child_subreaper = 36
        return bool(ctypes.CDLL(None).prctl(set_child_subreaper, 1, 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError):
        return False


def processes() -> Iterator[tuple[int, int, int]]:
    """(pid, parent, group) of everything that can be seen."""
    if not os.path.exists("/proc/self/stat"):
        command = ["ps", "-A", "-o", "pid=,ppid=,pgid=,stat="]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as ps:  # noqa: S603 - no input
            rows = [line.split() for line in ps.stdout or ()]
        for pid, parent, group, state in rows:
            if int(pid) != ps.pid and not state.startswith(b"Z"):  # a zombie there is somebody else's to reap
                yield int(pid), int(parent), int(group)
        return
    for name in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{name}/stat", "rb") as stat:
                fields = stat.read().rpartition(b")")[2].split()
        except OSError:  # it ended in between
            continue
        yield int(name), int(fields[1]), int(fields[2])


def children() -> list[int]:
    """Nothing where the kernel keeps no such list."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as listing:
            return [int(pid) for pid in listing.read().split()]
    except OSError:
        return []


def send(signal_number: int, pids: Iterable[int], groups: Iterable[int] = ()) -> None:
    """A group is signalled in one step, so none of its members can fork out of the way."""
    for target in [*(-group for group in groups), *pids]:
        try:
            os.kill(target, signal_number)
        except (ProcessLookupError, PermissionError):  # noqa: PERF203 - gone, or another user's, as below sudo
            continue


def say(**what: object) -> None:
    try:
        os.write(1, json.dumps(what).encode() + b"\n")
    except OSError:  # nobody listens any more; the sweep is all that counts
        return


class Warden:
    def __init__(self) -> None:
        self.asked = False
        self.child = 0
        self.childless = False
        self.adopting = adopt_orphans()
        self.bell, ring = os.pipe()
        os.set_blocking(self.bell, False)
        os.set_blocking(ring, False)
        signal.set_wakeup_fd(ring, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        # Handlers rather than SIG_IGN: an exec resets them, so the command starts with default signals.
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(name, self.ask)

    def ask(self, *_: object) -> None:
        self.asked = True

    def start(self, command: list[str], folder: str, environment: dict[str, str]) -> bool:
        quiet = subprocess.DEVNULL
        try:
            # Kept for good: a Popen that nobody holds reaps its process, and the exit code would be lost.
            self.command = subprocess.Popen(  # noqa: S603 - the command is the run's own
                command,
                cwd=folder,
                env=environment,
                stdin=quiet,
                stdout=2,
                stderr=2,
                start_new_session=True,
            )
        except (OSError, ValueError) as error:
            say(failed=str(error))
            return False
        self.child = self.command.pid
        say(started=self.child)
        return True

    def reap(self) -> None:
        pid = -1
        while pid:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.childless = True
                return
            if pid and pid == self.child:
                say(exit=os.waitstatus_to_exitcode(status))
        self.childless = False

    def pause(self, seconds: float, *more: int) -> list[int]:
        """Returns early when a child ends, a signal comes, or one of `more` can be read."""
        ready, _, _ = select.select([self.bell, *more], [], [], seconds)
        if self.bell in ready:
            os.read(self.bell, 4096)
        self.reap()
        return ready

    def watch(self, parent: int) -> bytes:
        """Waits for the wish to stop. The parent is looked at too: a fork of it may hold our stdin open."""
        while not self.asked and os.getppid() == parent:
            if 0 in self.pause(1.0, 0):
                return os.read(0, 64).strip()
        return b""

    def family(self) -> dict[int, int]:
        """All that descends from here: pid → process group."""
        rows = list(processes())
        found = set() if self.adopting else {pid for pid, _, group in rows if group == self.child}
        level = found | {os.getpid()}
        while level := {pid for pid, parent, _ in rows if parent in level} - found:
            found |= level
        return {pid: group for pid, _, group in rows if pid in found}

    def gone(self) -> bool:
        self.reap()
        return self.childless and (self.adopting or not self.family())

    def ask_to_end(self) -> None:
        """SIGTERM, once: some servers take a second one for "at once"."""
        family = self.family()
        outside = [pid for pid, group in family.items() if group != self.child]
        send(signal.SIGTERM, outside, [self.child] if self.child in family.values() else [])
        send(signal.SIGCONT, family)  # a process that is suspended would not hear of it

    def kill(self) -> None:
        """Children first, straight from the kernel's list of them: what forks and exits all the time is gone from
        any list of all processes by the time it is acted on, but this one takes microseconds to read.
        """
        for _ in range(HASTE):
            send(signal.SIGKILL, children())
            self.reap()
        family = self.family()
        send(signal.SIGKILL, family, set(family.values()) - {0, 1, os.getpgrp()})

    def sweep(self) -> list[int]:
        """Gives what could not be ended."""
        begin = time.monotonic()
        self.ask_to_end()
        while not self.gone():
            age = time.monotonic() - begin
            if age > LIMIT:
                return sorted(self.family())
            if age > GRACE:  # what was started meanwhile is spared until now: it may be a trap's clean-up
                self.kill()
            self.pause(TICK)
        return []

    def persist(self) -> None:
        """The run has been told; this is for the machine's sake."""
        end = time.monotonic() + PATIENCE
        while not self.gone() and time.monotonic() < end:
            self.kill()
            self.pause(0.5)


def read_order() -> dict[str, object]:
    """Unbuffered, because what follows the line is for `watch`."""
    line = b""
    while not line.endswith(b"\n"):
        chunk = os.read(0, 65536)
        if not chunk:
            sys.exit(0)
        line += chunk
    order: dict[str, object] = json.loads(line)
    return order


def main(command: list[str], folder: str, environment: dict[str, str], parent: int, remove: str | None) -> None:
    warden = Warden()
    keep = warden.start(command, folder, environment) and warden.watch(parent) == b"keep"
    left = warden.sweep()
    say(stopped=left)
    if left:
        warden.persist()
    if remove and not keep:
        import shutil  # noqa: PLC0415 - costs more than all the rest, and few runs need it

        shutil.rmtree(remove, ignore_errors=True)


if __name__ == "__main__":
    main(**read_order())  # type: ignore[arg-type]
