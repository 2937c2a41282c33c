"""Whether the server on the adapter's port is the adapter's own: another one's answers would be taken for its answers.

A program that an earlier job left behind can wait for the port, and be quicker than deploy.sh, or take the port when
the adapter's server has died. So the sockets that listen are looked up while it is evaluated, not only before.
"""

import contextlib
import errno
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import psutil

_LISTENING = "0A"
_PROXIES = ("docker-proxy", "rootlessport", "pasta", "slirp4netns")
"""The engine's own processes, which listen for containers that deploy.sh may have started."""
_LOOKS = 3
"""How often a socket is looked for; a process that ends meanwhile can hide its children from one look."""


def listeners(port: int) -> dict[int, int]:
    """Returns the sockets that listen on the TCP port, on any address: number → user. Elsewhere than on Linux, none."""
    return {inode: user for inode, user, _ in _listening(port)}


def _listening(wanted: int | None = None) -> Iterator[tuple[int, int, int]]:
    """Socket, user and port of all that listen, or of those that listen on one port."""
    part = "" if wanted is None else f":{wanted:04X} "
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):
            for row in Path("/proc/net", table).read_text(encoding="ascii").splitlines()[1:]:
                if part in row:
                    _, local, _, state, _, _, _, user, _, inode, *_ = row.split()
                    if state == _LISTENING and f"{local} ".endswith(part):
                        yield int(inode), int(user), int(local.rpartition(":")[2], 16)


class PortWatch:
    """Knows the sockets of one adapter, all of whose processes descend from `root`; `user`: who alone runs them."""

    def __init__(self, root: int, user: int | None) -> None:
        self._root = root
        self._user = user
        self._own: set[int] = set()

    def stranger(self, port: int) -> str | None:
        """Returns who listens on the port and is no process of the adapter."""
        for inode, user in listeners(port).items():
            if inode in self._own:
                continue
            if not any(self._is_own(inode, user) for _ in range(_LOOKS)) and inode in listeners(port):
                return _described(inode, user)
            self._own.add(inode)
        return None

    def listening(self) -> dict[int, int]:
        """Returns the ports on which the adapter's processes listen: port → process."""
        sockets = {inode: port for inode, _, port in _listening()}
        found: dict[int, int] = {}
        with contextlib.suppress(psutil.Error):
            for process in psutil.Process(self._root).children(recursive=True):
                found |= {sockets[inode]: process.pid for inode in _sockets(process.pid) or () if inode in sockets}
        return found

    def _is_own(self, inode: int, user: int) -> bool:
        if self._user is not None:
            return user == self._user
        with contextlib.suppress(psutil.Error):
            for process in psutil.Process(self._root).children(recursive=True):
                sockets = _sockets(process.pid)
                if inode in sockets if sockets is not None else _user_of(process.pid) == user:
                    return True
        return _is_of_an_engine(inode, user)


def _is_of_an_engine(inode: int, user: int) -> bool:
    """Where root's processes are hidden from us, its socket is taken for the engine's: root needs no trick."""
    holder = _holder(inode)
    return holder.name() in _PROXIES if holder else user == 0


def _described(inode: int, user: int) -> str:
    holder = _holder(inode)
    return f"{holder.name()}, pid {holder.pid}, of user {user}" if holder else f"a process of user {user}"


def _holder(inode: int) -> "psutil.Process | None":
    """Returns the process that has the socket, if we may see it."""
    for process in psutil.process_iter():
        if inode in (_sockets(process.pid) or ()):
            return process
    return None


def _sockets(pid: int) -> set[int] | None:
    """Returns the numbers of a process's sockets; None where we may not see them, as below sudo."""
    found = set()
    try:
        for entry in os.scandir(f"/proc/{pid}/fd"):
            with contextlib.suppress(OSError):
                target = os.readlink(entry.path)  # noqa: PTH115 - thousands of them
                if target.startswith("socket:["):
                    found.add(int(target[8:-1]))
    except PermissionError:
        return None
    except OSError:
        return set()
    return found


def _user_of(pid: int) -> int:
    with contextlib.suppress(psutil.Error):
        return int(psutil.Process(pid).uids().effective)
    return -1


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
    except (psutil.Error, OSError):  # some systems do not show this to every user
        listening = []
    for pid in filter(None, listening):
        with contextlib.suppress(psutil.Error):
            return f"{psutil.Process(pid).name()}, pid {pid}"
    return _UNKNOWN if listening or _is_taken(port) else None


def _is_taken(port: int) -> bool:
    """Tries to bind: with SO_REUSEADDR, as servers do it, that succeeds despite old connections in TIME_WAIT."""
    for family, address in ((socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::")):  # noqa: S104 - never listens
        with contextlib.suppress(OSError), socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                probe.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
            try:
                probe.bind((address, port))
            except OSError as error:
                if error.errno == errno.EADDRINUSE:
                    return True
    return False
