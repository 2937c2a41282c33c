"""A tiny process that stands between a run and the command it runs, and leaves nothing of it behind.

It is started by file path (`python -I -S supervisor.py`), so it needs the standard library alone. It reads one
JSON line from stdin (the arguments of `run`), runs the command in a session of its own, as another user if the line
names one, with its own stderr as the command's output, and answers in JSON lines: `{"started": pid}` or
`{"failed": reason}`, `{"exit": code}` (negative: minus the signal), `{"stopped": pids}` with what even SIGKILL
could not end. Anything else on stdin, or its end, asks it to stop; the end comes even when the run was killed with
SIGKILL. `remove` names a folder to delete after that, unless the line was "keep".

It is one file and more than 200 lines because it must run alone and start fast.

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
PERSIST_LIMIT = 60.0
"""Seconds to go on killing what was reported, such as a process inside a driver call that hangs."""
TICK = 0.02
LONGEST_LOG, KEPT_LOG = 64 << 20, 32 << 20
"""Bytes of output: a log beyond the first is cut back to the second, and grows again from there."""
CHILD_ROUNDS = 20
"""How often the list of children is read and killed before the list of all processes is."""
CHILD_SUBREAPER, NO_NEW_PRIVS = 36, 38
"""Options of prctl(2): this process becomes the parent of every orphan below it; and nothing that is started from here
on gets rights from a file, such as those of sudo."""


def set_process_option(option: int) -> bool:
    """Sets an option of prctl(2) for this process; returns False where the system has none."""
    try:
        import ctypes  # noqa: PLC0415 - missing in some slim Pythons

        return bool(ctypes.CDLL(None).prctl(option, 1, 0, 0, 0) == 0)
    except (ImportError, OSError, AttributeError):
        return False


def limit_processes(count: int) -> None:
    """For users without rights, to whom what is started here belongs; root's own are not counted."""
    import resource  # noqa: PLC0415 - few runs need it

    hard = resource.getrlimit(resource.RLIMIT_NPROC)[1]
    count = count if hard == resource.RLIM_INFINITY else min(count, hard)
    resource.setrlimit(resource.RLIMIT_NPROC, (count, count))


def kill_user(uid: int) -> None:
    """Ends all that the user runs in one step, so that no fork of it is quicker."""
    pid = os.fork()
    if pid == 0:
        try:
            os.setuid(uid)
            os.kill(-1, signal.SIGKILL)
        finally:
            os._exit(0)
    os.waitpid(pid, 0)


def processes() -> Iterator[tuple[int, int, int]]:
    """Yields (pid, parent, group) of every visible process."""
    if not os.path.exists("/proc/self/stat"):
        command = ["ps", "-A", "-o", "pid=,ppid=,pgid=,stat="]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as ps:  # noqa: S603 - no input
            rows = [line.split() for line in ps.stdout or ()]
        for pid, parent, group, state in rows:
            if int(pid) != ps.pid and not state.startswith(b"Z"):  # another process reaps a zombie there
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
    """Returns the kernel's list of our children; empty where the kernel has none."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children", "rb") as listing:
            return [int(pid) for pid in listing.read().split()]
    except OSError:
        return []


def send(signal_number: int, pids: Iterable[int], groups: Iterable[int] = ()) -> None:
    """Signals groups first, each in one step, so that none of its members can escape by a fork."""
    for target in [*(-group for group in groups), *pids]:
        try:
            os.kill(target, signal_number)
        except (ProcessLookupError, PermissionError):  # noqa: PERF203 - gone, or another user's, as below sudo
            continue


def shorten(log: int) -> None:
    """Bounds an output that is a file, open for appending."""
    try:
        if os.fstat(log).st_size > LONGEST_LOG:
            os.ftruncate(log, KEPT_LOG)
            note = f"\n── the log was longer than {LONGEST_LOG >> 20} MiB; a part was left out here\n"
            os.write(log, note.encode())
    except OSError:  # no file, or a full disk: the bound is a courtesy
        return


def report(**fields: object) -> None:
    try:
        os.write(1, json.dumps(fields).encode() + b"\n")
    except OSError:  # the run has ended; only the clean-up counts now
        return


class Supervisor:
    def __init__(self) -> None:
        self.stop_requested = False
        self.child = 0
        self.childless = False
        self.uid: int | None = None
        self.adopting = set_process_option(CHILD_SUBREAPER)
        self.wakeup, wakeup_writer = os.pipe()
        os.set_blocking(self.wakeup, False)
        os.set_blocking(wakeup_writer, False)
        signal.set_wakeup_fd(wakeup_writer, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        # Handlers rather than SIG_IGN: an exec resets them, so the command starts with default signals.
        for name in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT):
            signal.signal(name, self.request_stop)

    def request_stop(self, *_: object) -> None:
        self.stop_requested = True

    def run(
        self,
        *,
        command: list[str],
        folder: str,
        environment: dict[str, str],
        parent: int,
        remove: str | None,
        uid: int | None = None,
        groups: Iterable[int] = (),
        processes: int | None = None,
    ) -> None:
        """`uid` and `groups`: the user that the command runs as; `processes`: how many that user may have at a time."""
        self.uid = uid
        if uid is not None:
            set_process_option(NO_NEW_PRIVS)
        if processes is not None:
            limit_processes(processes)
        request = b""
        try:
            # Kept: a Popen that is not referenced any more reaps its process, and the exit code would be lost.
            self.command = subprocess.Popen(  # noqa: S603 - the command is the run's own
                command,
                cwd=folder,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=2,
                stderr=2,
                start_new_session=True,
                user=uid,
                group=uid,
                extra_groups=None if uid is None else list(groups),
            )
        except (OSError, ValueError) as error:
            report(failed=str(error))
        else:
            self.child = self.command.pid
            report(started=self.child)
            request = self.watch(parent)
        survivors = self.sweep()
        report(stopped=survivors)
        if survivors:
            self.persist()
        if remove and request != b"keep":
            import shutil  # noqa: PLC0415 - costs more than all the rest, and few runs need it

            shutil.rmtree(remove, ignore_errors=True)

    def reap(self) -> None:
        pid = -1
        while pid:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                self.childless = True
                return
            if pid and pid == self.child:
                report(exit=os.waitstatus_to_exitcode(status))
        self.childless = False

    def pause(self, seconds: float, *more: int) -> list[int]:
        """Waits; returns early when a child ends, a signal comes, or one of `more` can be read."""
        ready, _, _ = select.select([self.wakeup, *more], [], [], seconds)
        if self.wakeup in ready:
            os.read(self.wakeup, 4096)
        self.reap()
        return ready

    def watch(self, parent: int) -> bytes:
        """Waits for the request to stop. The parent is checked too: a fork of it may hold our stdin open."""
        while not self.stop_requested and os.getppid() == parent:
            shorten(2)  # the command's output
            if 0 in self.pause(1.0, 0):
                return os.read(0, 64).strip()
        return b""

    def descendants(self) -> dict[int, int]:
        """Every process that descends from this one: pid → process group."""
        rows = list(processes())
        pids = set() if self.adopting else {pid for pid, _, group in rows if group == self.child}
        level = pids | {os.getpid()}
        while level := {pid for pid, parent, _ in rows if parent in level} - pids:
            pids |= level
        return {pid: group for pid, _, group in rows if pid in pids}

    def all_ended(self) -> bool:
        self.reap()
        return self.childless and (self.adopting or not self.descendants())

    def terminate(self) -> None:
        """Sends SIGTERM once: some servers take a second one for "at once"."""
        descendants = self.descendants()
        outside = [pid for pid, group in descendants.items() if group != self.child]
        send(signal.SIGTERM, outside, [self.child] if self.child in descendants.values() else [])
        send(signal.SIGCONT, descendants)  # a suspended process does not handle a signal

    def kill(self) -> None:
        """Kills children first, by the kernel's own list of them, which takes microseconds to read: a process that
        forks and exits all the time is gone from a list of all processes before it can be killed.
        """
        if self.uid is not None:
            kill_user(self.uid)
        for _ in range(CHILD_ROUNDS):
            send(signal.SIGKILL, children())
            self.reap()
        descendants = self.descendants()
        send(signal.SIGKILL, descendants, set(descendants.values()) - {0, 1, os.getpgrp()})

    def sweep(self) -> list[int]:
        """Ends all descendants, and returns those that could not be ended."""
        begin = time.monotonic()
        self.terminate()
        while not self.all_ended():
            age = time.monotonic() - begin
            if age > LIMIT:
                return sorted(self.descendants())
            if age > GRACE:  # until now it got time: a trap may be cleaning up
                self.kill()
            self.pause(TICK)
        return []

    def persist(self) -> None:
        """Goes on killing after the report, so that the machine is free again."""
        end = time.monotonic() + PERSIST_LIMIT
        while not self.all_ended() and time.monotonic() < end:
            self.kill()
            self.pause(0.5)


def read_order() -> dict[str, object]:
    """Reads unbuffered, because what follows the line is for `watch`."""
    line = b""
    while not line.endswith(b"\n"):
        chunk = os.read(0, 65536)
        if not chunk:
            sys.exit(0)
        line += chunk
    order: dict[str, object] = json.loads(line)
    return order


if __name__ == "__main__":
    Supervisor().run(**read_order())  # type: ignore[arg-type]
