"""Libraries that the server holds ready, so that no program waits for them to load."""

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path


def load(names: list[str]) -> int:
    """How many megabytes these took of the addresses that each forked process has.

    One that is not there is left to the programs that want it, which then say so themselves.
    """
    before = _memory_mb()
    with _output_aside():
        for name in names:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
            if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208 - names are all that is wanted
                raise RuntimeError(
                    f"{name} starts threads when it is loaded, and a process with threads cannot be forked"
                )
    if "numpy" in sys.modules:
        # Forks share its state, and would otherwise draw other numbers on each worker.
        sys.modules["numpy"].random.seed(0)
    return _memory_mb() - before


@contextlib.contextmanager
def _output_aside() -> Iterator[None]:
    """What a library prints when it is loaded must not get among the answers to the host."""
    answers = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
        sys.stdout.flush()
    finally:
        os.dup2(answers, 1)
        os.close(answers)


def _memory_mb() -> int:
    """Addresses, which are what a process's limit counts."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20
