"""Imports libraries before the first program comes, so that no program waits for them."""

import contextlib
import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path


def load(names: list[str]) -> int:
    """Returns how many megabytes of address space the modules take in each forked process.

    A module that is missing is skipped: the programs that want it then fail by themselves.
    """
    before = _memory_mb()
    with _output_to_stderr():
        for name in names:
            with contextlib.suppress(ImportError):
                importlib.import_module(name)
            if len(os.listdir("/proc/self/task")) > 1:  # noqa: PTH208 - names are all that is wanted
                raise RuntimeError(
                    f"{name} starts threads when it is loaded, and a process with threads cannot be forked"
                )
    if "numpy" in sys.modules:
        # Forks share the state of its generator, which would otherwise differ from worker to worker.
        sys.modules["numpy"].random.seed(0)
    return _memory_mb() - before


@contextlib.contextmanager
def _output_to_stderr() -> Iterator[None]:
    """What a library prints when it is imported must not get among the messages to the host."""
    output = os.dup(1)
    os.dup2(2, 1)
    try:
        yield
    finally:
        # Also when a library is refused: what Python still holds would be written among the messages at its end.
        sys.stdout.flush()
        os.dup2(output, 1)
        os.close(output)


def _memory_mb() -> int:
    """Returns the address space of this process, which is what a limit of memory counts."""
    pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
    return pages * os.sysconf("SC_PAGE_SIZE") >> 20
