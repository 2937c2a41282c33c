"""A socket of its own before that of another server, which drops all connections on request, as a restart does."""

import contextlib
import socket
import threading
from collections.abc import Callable
from pathlib import Path


class Gate:
    """Copies bytes both ways; `drop` ends every connection that there is, and new ones are let in at once."""

    def __init__(self, path: Path, behind: str) -> None:
        self.path = path
        self._behind = behind
        self._ends: list[socket.socket] = []
        self._threads: list[threading.Thread] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()

    def __enter__(self) -> "Gate":
        self._run(self._let_in)
        return self

    def __exit__(self, *_: object) -> None:
        self._end(self._listener)
        self._threads[0].join()
        self.drop()
        for thread in self._threads:
            thread.join()
        for one in (self._listener, *self._ends):
            one.close()

    def drop(self) -> None:
        for one in list(self._ends):
            self._end(one)

    def _let_in(self) -> None:
        while True:
            try:
                front, _ = self._listener.accept()
            except OSError:  # it was shut down
                return
            back = socket.socket(socket.AF_UNIX)
            back.connect(self._behind)
            self._ends += [front, back]
            self._run(self._pass_on, front, back)
            self._run(self._pass_on, back, front)

    def _pass_on(self, source: socket.socket, target: socket.socket) -> None:
        """Until one of both is gone, and then the other has nobody to talk to."""
        with contextlib.suppress(OSError):
            while chunk := source.recv(1 << 16):
                target.sendall(chunk)
        self._end(source)
        self._end(target)

    def _run(self, work: Callable[..., None], *given: socket.socket) -> None:
        thread = threading.Thread(target=work, args=given)
        self._threads.append(thread)
        thread.start()

    def _end(self, one: socket.socket) -> None:
        with contextlib.suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)
