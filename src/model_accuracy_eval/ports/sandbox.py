"""The place where code that a model wrote may run, as a run sees it."""

from typing import Protocol

from model_accuracy_eval.records.code import Execution, Isolation, Program


class Sandbox(Protocol):
    """Runs programs, as many at a time as it has slots. What a program does is an `Execution`, never an exception."""

    @property
    def isolation(self) -> Isolation: ...

    @property
    def image(self) -> str:
        """What programs run on, so that a score can name it."""

    @property
    def passed_over(self) -> tuple[str, ...]:
        """Why stronger kinds of isolation were not taken, one sentence each."""

    async def run(self, program: Program) -> Execution:
        """Waits for a free slot. A task that is cancelled leaves nothing of its program behind."""

    async def close(self) -> None:
        """Ends every worker, and what runs on it."""
