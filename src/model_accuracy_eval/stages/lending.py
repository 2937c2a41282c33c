"""One sandbox for a whole run: opened when the first program comes, lent to every stage, closed at the end."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace

from model_accuracy_eval.ports import Ports, Screen
from model_accuracy_eval.ports.sandbox import Sandbox
from model_accuracy_eval.records.code import Execution, Isolation, Program


@contextmanager
def one_sandbox(ports: Ports) -> Iterator[Ports]:
    """The same ports, but whoever opens a sandbox and closes it again only borrows it."""
    if ports.open_sandbox is None:
        yield ports
        return
    shelf = _Shelf(ports.open_sandbox, ports.screen)
    try:
        yield replace(ports, open_sandbox=shelf.lend)
    finally:
        if shelf.sandbox is not None:
            ports.run_async(shelf.sandbox.close())


class _Shelf:
    def __init__(self, open_sandbox: Callable[[], Sandbox], screen: Screen) -> None:
        self._open_sandbox = open_sandbox
        self._screen = screen
        self.sandbox: Sandbox | None = None

    def lend(self) -> Sandbox:
        if self.sandbox is None:
            self.sandbox = self._open_sandbox()
            for why in self.sandbox.passed_over:
                self._screen.say(f"A stronger sandbox was passed over: {why}")
        return _Lent(self.sandbox)


class _Lent:
    """Implements `ports.sandbox.Sandbox`; closing it gives it back."""

    def __init__(self, sandbox: Sandbox) -> None:
        self._sandbox = sandbox

    @property
    def isolation(self) -> Isolation:
        return self._sandbox.isolation

    @property
    def image(self) -> str:
        return self._sandbox.image

    @property
    def passed_over(self) -> tuple[str, ...]:
        return self._sandbox.passed_over

    async def run(self, program: Program) -> Execution:
        return await self._sandbox.run(program)

    async def close(self) -> None:
        """The next stage may need it."""
