"""Ports, and bounded waiting for what real processes do."""

import contextlib
import random
import socket
import time
from collections.abc import Callable

HANGING = 300.0
"""Seconds after which something hangs, however busy the machine is: no test waits less for what should happen."""

# Above the ports of Ray, below those that systems give to outgoing connections (from 32768 on Linux, 49152 elsewhere): one of those could be
# taken by a test beside this one before the program under test serves on it.
SERVED = range(20_000, 32_000)


def free_port() -> int:
    return free_ports(1)[0]


def free_ports(count: int) -> list[int]:
    """So many, one after the other."""
    draw = random.SystemRandom()  # Seeded alike, the tests beside this one would draw the same ones.
    while True:
        first = draw.randrange(SERVED.start, SERVED.stop - count)
        ports = [*range(first, first + count)]
        with contextlib.suppress(OSError), contextlib.ExitStack() as probes:
            for port in ports:
                probes.enter_context(socket.socket()).bind(("127.0.0.1", port))
            return ports


def is_open(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


def until(condition: Callable[[], object], what: str, seconds: float = HANGING) -> None:
    """Waits for a condition, for a bounded time; looking takes a tenth of it, since what is waited for needs the rest."""
    began = time.monotonic()
    end = began + seconds
    while not condition():
        now = time.monotonic()
        assert now < end, f"not within {seconds} s: {what}"
        time.sleep(min(1.0, max(0.02, 9 * (now - began))))
        began = time.monotonic()
