"""The sandbox in which programs that a model wrote are run."""

from typing import Protocol

from model_accuracy_eval.records.code import Execution, Isolation, Program


class Sandbox(Protocol):
    """Runs programs, as many at a time as it has slots. Whatever a program does is an `Execution`, not an exception."""

    @property
    def isolation(self) -> Isolation: ...

    @property
    def image(self) -> str:
        """Names what programs run on, so that a score can name it."""

    @property
    def passed_over(self) -> tuple[str, ...]:
        """Gives one sentence for each stronger kind of isolation that could not be used."""

    async def run(self, program: Program) -> Execution:
        """Waits for a free slot and runs the program. Cancelling the call leaves nothing of the program behind."""

    async def close(self) -> None:
        """Ends every worker and what runs in it."""
