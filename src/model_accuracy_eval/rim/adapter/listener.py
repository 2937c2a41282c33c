"""Who listens on a port of this machine."""

import contextlib
import errno
import socket

_UNKNOWN = "another process (its pid is not visible to this user)"


def port_owner(port: int) -> str | None:
    """Who listens on the TCP port, on whatever address of this machine."""
    import psutil  # noqa: PLC0415 - only runs that deploy need it

    try:
        listening = [
            row.pid
            for row in psutil.net_connections("tcp")
            if row.status == psutil.CONN_LISTEN and row.laddr and row.laddr.port == port
        ]
    except (psutil.Error, OSError):  # not everybody's business on every system
        listening = []
    for pid in filter(None, listening):
        with contextlib.suppress(psutil.Error):
            return f"{psutil.Process(pid).name()}, pid {pid}"
    return _UNKNOWN if listening or _is_taken(port) else None


def _is_taken(port: int) -> bool:
    """Tried out: a bind with SO_REUSEADDR, as servers do it, succeeds beside leftovers in TIME_WAIT."""
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
