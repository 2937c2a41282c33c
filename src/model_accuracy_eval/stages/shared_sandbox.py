"""One sandbox for a whole run: tried before anything is asked, lent to every stage, closed at the end."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.ports import Ports, ProgressDisplay
from model_accuracy_eval.ports.sandbox_port import Sandbox
from model_accuracy_eval.records import PreparedDataset, RunPlan
from model_accuracy_eval.records.code import Execution, Isolation, Program
from model_accuracy_eval.scoring.code.probes import probes, runs_programs


@contextmanager
def one_sandbox(ports: Ports) -> Iterator[Ports]:
    """Yields the same ports, but all that open a sandbox get the same one, and closing it does nothing."""
    if ports.open_sandbox is None:
        yield ports
        return
    lender = _Lender(ports.open_sandbox, ports.progress)
    try:
        yield replace(ports, open_sandbox=lender.lend)
    finally:
        if lender.sandbox is not None:
            ports.run_async(lender.sandbox.close())


def check_sandbox(plan: RunPlan, datasets: Sequence[PreparedDataset], ports: Ports) -> None:
    """Runs reference solutions; raises `Refused` if one fails. Opens nothing where no program will run."""
    judged = [prepared for prepared in datasets if plan.settings.mode != "infer" and runs_programs(prepared)]
    if judged:
        ports.run_async(_run_probes({prepared.task.name: probes(prepared) for prepared in judged}, ports))


async def _run_probes(programs: dict[str, list[Program]], ports: Ports) -> None:
    if ports.open_sandbox is None:
        raise Refused(f"The answers to {', '.join(programs)} are programs, and there is no place to run them.")
    sandbox = ports.open_sandbox()
    try:
        for dataset, dataset_programs in programs.items():
            for program in dataset_programs:
                await _run_probe(dataset, program, sandbox)
    finally:
        await sandbox.close()


async def _run_probe(dataset: str, program: Program, sandbox: Sandbox) -> None:
    execution = await sandbox.run(program)
    if execution.passed is None:
        raise Refused(
            f"The sandbox cannot judge {dataset} now: nothing is known about a reference solution "
            f"({execution.detail or 'no detail'}). Try again when less runs on this machine.",
            detail=f"It ran on {sandbox.image}, isolation {sandbox.isolation}.",
        )
    if not execution.passed:
        raise Refused(
            f"The sandbox cannot judge {dataset}: a reference solution does not pass in it ({execution.verdict}: "
            f"{execution.detail or 'no detail'}); give an image that has what it needs with --sandbox-image.",
            detail=f"It ran on {sandbox.image}, isolation {sandbox.isolation}.",
        )


class _Lender:
    """Opens the sandbox when it is first needed."""

    def __init__(self, open_sandbox: Callable[[], Sandbox], progress: ProgressDisplay) -> None:
        self._open_sandbox = open_sandbox
        self._progress = progress
        self.sandbox: Sandbox | None = None

    def lend(self) -> Sandbox:
        if self.sandbox is None:
            self.sandbox = self._open_sandbox()
            for reason in self.sandbox.passed_over:
                self._progress.say(f"A stronger sandbox was passed over: {reason}")
        return _LentSandbox(self.sandbox)


class _LentSandbox:
    """Implements `ports.sandbox_port.Sandbox`; closing it leaves the sandbox open for the next stage."""

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
        """Does nothing."""
