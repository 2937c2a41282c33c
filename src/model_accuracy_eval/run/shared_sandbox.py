"""One sandbox for a whole run: tried before anything is asked, lent to every stage, closed at the end."""

import shlex
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from model_accuracy_eval.errors import EvalError, Refused, Stopped
from model_accuracy_eval.ports import Clock, Ports, ProgressDisplay, Sandbox
from model_accuracy_eval.records import PreparedDataset, Problem, RunPlan
from model_accuracy_eval.records.code import Execution, Isolation, Program
from model_accuracy_eval.scoring.code.code_task_trials import Trial, has_trials, probes, runs_programs, trials
from model_accuracy_eval.system.clock import run, run_checked, run_workers

# Tries a user's code tasks before anything is asked: one that cannot tell right from wrong is refused with its rows.
#
# No new problem is tried after two minutes; then a sentence says how many were. A run that goes on has been tried.


_SECONDS = 120.0
_AT_A_TIME = 16
"""More than a sandbox has slots, so that none waits."""
_WORTH_SAYING = 100
"""Problems that take some seconds."""
_SHOWN = 3


async def try_task(prepared: PreparedDataset, sandbox: Sandbox, ports: Ports, again: str) -> None:
    """Raises one refusal with what is wrong with the dataset's rows. `again`: the command to try it by hand."""
    dataset_trials = DatasetTrials(prepared, sandbox, ports.clock)
    if len(prepared.problems) >= _WORTH_SAYING:
        count = f"{len(prepared.problems):,} problems"
        ports.progress.say(f"The tests of {prepared.task.name} are tried before anything is asked, {count}.")
    await run_workers(dataset_trials.work, _AT_A_TIME)
    _refuse(prepared, dataset_trials.objections, again, of=dataset_trials.tried)
    if dataset_trials.tried < len(prepared.problems):
        count = f"{dataset_trials.tried:,} of {len(prepared.problems):,}"
        ports.progress.say(f"Of {prepared.task.name}, {count} problems were tried, and none was found wrong.")


class DatasetTrials:
    """The trials of one dataset; several workers take its problems one by one."""

    def __init__(self, prepared: PreparedDataset, sandbox: Sandbox, clock: Clock) -> None:
        self.objections: dict[int, str] = {}
        """Row → what is wrong with it."""
        self.tried = 0
        self._prepared = prepared
        self._sandbox = sandbox
        self._clock = clock
        self._end = clock.elapsed() + _SECONDS
        self._left = iter(prepared.problems)

    async def work(self) -> None:
        for problem in self._left:
            self._clock.check()
            if self._clock.elapsed() > self._end:
                return
            if objection := await self._objection(problem):
                self.objections[_row(problem)] = objection
            self.tried += 1

    async def _objection(self, problem: Problem) -> str:
        """The first thing that is wrong. What the sandbox refuses to run is wrong with the task, too."""
        try:
            for trial in trials(self._prepared.task.of(problem), problem):
                if objection := trial if isinstance(trial, str) else await self._failure(trial):
                    return objection
        except Stopped:
            raise
        except EvalError as error:
            return error.sentence.rstrip(".")
        return ""

    async def _failure(self, trial: Trial) -> str:
        failure = trial.failure(await self._sandbox.run(trial.program))
        if failure and trial.plain is not None:
            return Trial(trial.plain, passes=True).failure(await self._sandbox.run(trial.plain)) or failure
        return failure


def _refuse(prepared: PreparedDataset, objections: Mapping[int, str], again: str, of: int) -> None:
    """`of`: how many problems were tried."""
    if not objections:
        return
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for row in sorted(objections):
        rows[objections[row]].append(row)
    where = (f"{_listed(numbers)}: {sentence.rstrip('.')}." for sentence, numbers in list(rows.items())[:_SHOWN])
    raise Refused(
        f"{prepared.task.name} ({prepared.task.data.name}) cannot judge programs. {' '.join(where)} "
        f"This concerns {len(objections):,} of {of:,} problems. Change it, then type: {again}"
    )


def _listed(rows: Sequence[int]) -> str:
    more = f" and {len(rows) - _SHOWN:,} more" if len(rows) > _SHOWN else ""
    return f"{'Row' if len(rows) == 1 else 'Rows'} {', '.join(map(str, rows[:_SHOWN]))}{more}"


def _row(problem: Problem) -> int:
    return (problem.id if problem.row is None else problem.row) + 1


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
            run(lender.sandbox.close())


def check_sandbox(plan: RunPlan, datasets: Sequence[PreparedDataset], ports: Ports) -> tuple[str, ...]:
    """Runs reference solutions, and tries a user's own tasks; raises `Refused` if one cannot judge.

    Opens nothing where no program will run. Returns which tasks were tried.
    """
    if plan.settings.mode == "infer":
        return ()
    judged = [prepared for prepared in datasets if has_trials(prepared) or runs_programs(prepared)]
    if not judged:
        return ()
    tried = () if plan.settings.reuse else tuple(prepared.task.name for prepared in judged if has_trials(prepared))
    run(run_checked(_try(judged, tried, ports, _check_command(plan)), lambda: None, ports.clock))
    return tried


async def _try(judged: Sequence[PreparedDataset], tried: Collection[str], ports: Ports, again: str) -> None:
    if ports.open_sandbox is None:
        names = ", ".join(prepared.task.name for prepared in judged)
        raise Refused(
            f"The answers to {names} are programs, and there is no place to run them.",
            next_step="model-accuracy-eval doctor",
        )
    sandbox = ports.open_sandbox()
    try:
        for prepared in judged:
            for program in probes(prepared):
                await _run_probe(prepared.task.name, program, sandbox)
            if prepared.task.name in tried:
                await try_task(prepared, sandbox, ports, again)
    finally:
        await sandbox.close()


def _check_command(plan: RunPlan) -> str:
    """What does the same by hand."""
    names = plan.settings.datasets or ("TASK_FILE",)
    folder = ("--data-dir", plan.settings.data_dir) if plan.settings.data_dir else ()
    return f"model-accuracy-eval tasks check {shlex.join((*names, *folder))}"


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
