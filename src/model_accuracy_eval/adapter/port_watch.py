"""Who listens on a port of this machine."""

import contextlib
import errno
import socket

import psutil

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
