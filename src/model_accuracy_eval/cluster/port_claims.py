"""Ports of a node that are given to replicas, of this run and of others, before anything listens on them.

Loading a model takes minutes, in which its port looks free. Who shares ports shares the names of Linux's abstract
sockets, too: processes of one machine, and containers with its network. They end with their process.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def claim(port: int) -> Iterator[bool]:
    """Whether the port was nobody's; then it is the caller's until the end of the block or of the process."""
    with socket.socket(socket.AF_UNIX) as name:
        try:
            name.bind(f"\0model-accuracy-eval-replica-{port}")
        except OSError:
            yield False
            return
        yield True
