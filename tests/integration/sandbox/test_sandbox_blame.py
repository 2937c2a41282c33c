"""Whose fault it is when a worker is lost: the program's, if it ends every worker and none beside it ends."""

from collections.abc import Iterator

import pytest

from model_accuracy_eval.records.code import Execution, Program
from model_accuracy_eval.sandbox.backends import ProcessConnection, UnconfinedBackend
from model_accuracy_eval.sandbox.pool import WorkerPool
from model_accuracy_eval.sandbox.worker import WorkerConnection, WorkerSize
from model_accuracy_eval.system.clock import run

KILLER = Program(
    code="""
import fcntl, os

def f(x):
    reader, writer = os.pipe()
    fcntl.fcntl(reader, fcntl.F_SETOWN, os.getppid())
    fcntl.fcntl(reader, 10, 9)
    fcntl.fcntl(reader, fcntl.F_SETFL, os.O_ASYNC)
    os.write(writer, b"x")
    while True: pass
""",
    tests="assert f(1) == 2",
    entry_points=("f",),
)
"""It has the kernel kill the worker, which it can where both are one user's and there is no namespace."""
PLAIN = Program(code="def f(x): return x + 1", tests="assert f(1) == 2", entry_points=("f",))


class Machine(UnconfinedBackend):
    """On which workers may end from outside."""

    def __init__(self) -> None:
        super().__init__()
        self.started: list[ProcessConnection] = []
        self.ends_after: int | None = None
        """How many workers may be lost before all others are lost with each."""

    def start(self, size: WorkerSize) -> WorkerConnection:
        connection = super().start(size)
        assert isinstance(connection, ProcessConnection)
        self.started.append(connection)
        kill = connection.kill

        def kill_all() -> None:
            kill()
            if self.ends_after is not None and len(self.started) > self.ends_after:
                for one in self.started:
                    one.disconnect()

        connection.kill = kill_all  # type: ignore[method-assign]
        return connection


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def pool(machine: Machine) -> Iterator[WorkerPool]:
    pool = WorkerPool(machine, workers=1)
    yield pool
    run(pool.close())


def judged(pool: WorkerPool, program: Program) -> Execution:
    return run(pool.run(program))


def test_a_program_that_ends_every_worker_has_crashed(pool: WorkerPool, machine: Machine) -> None:
    """Three workers, and a fourth beside the last that goes on; the next program passes."""
    done = judged(pool, KILLER)
    assert (done.verdict, done.attempts) == ("crashed", 3), done
    assert "It ended its worker three times, and a worker beside it went on." in done.detail
    assert len(machine.started) == 4
    after = judged(pool, PLAIN)
    assert (after.verdict, after.attempts) == ("passed", 1)


@pytest.mark.slow
def test_when_all_workers_end_nobody_is_to_blame(pool: WorkerPool, machine: Machine) -> None:
    """As when an engine goes away: nothing is known about the program, although its workers were lost each time."""
    machine.ends_after = 2
    assert judged(pool, KILLER).verdict == "harness_error"
