"""One sandbox for a whole run: tried before anything is asked, lent to every stage, closed at the end."""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from model_accuracy_eval.errors import EvalError, Refused, Stopped
from model_accuracy_eval.ports import Ports, Sandbox
from model_accuracy_eval.records import PreparedDataset, Problem, RunPlan
from model_accuracy_eval.records.code import Program
from model_accuracy_eval.run.gold_check import by_hand, listed, row_number
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
    objections: dict[int, str] = {}
    """Row → what is wrong with it."""
    tried, end, left = 0, ports.clock.elapsed() + _SECONDS, iter(prepared.problems)

    async def worker() -> None:
        nonlocal tried
        for problem in left:
            ports.clock.check()
            if ports.clock.elapsed() > end:
                return
            if objection := await _objection(prepared, problem, sandbox):
                objections[row_number(problem)] = objection
            tried += 1

    whole = f"{len(prepared.problems):,} problems"
    if len(prepared.problems) >= _WORTH_SAYING:
        ports.progress.say(f"The tests of {prepared.task.name} are tried before anything is asked, {whole}.")
    await run_workers(worker, _AT_A_TIME)
    _refuse(prepared, objections, again, of=tried)
    if tried < len(prepared.problems):
        ports.progress.say(f"Of {prepared.task.name}, {tried:,} of {whole} were tried, and none was found wrong.")


async def _objection(prepared: PreparedDataset, problem: Problem, sandbox: Sandbox) -> str:
    """The first thing that is wrong. What the sandbox refuses to run is wrong with the task, too."""
    try:
        for trial in trials(prepared.task.of(problem), problem):
            if objection := trial if isinstance(trial, str) else await _failure(trial, sandbox):
                return objection
    except Stopped:
        raise
    except EvalError as error:
        return error.sentence.rstrip(".")
    return ""


async def _failure(trial: Trial, sandbox: Sandbox) -> str:
    failure = trial.failure(await sandbox.run(trial.program))
    if failure and trial.plain is not None:
        return Trial(trial.plain, passes=True).failure(await sandbox.run(trial.plain)) or failure
    return failure


def _refuse(prepared: PreparedDataset, objections: Mapping[int, str], again: str, of: int) -> None:
    """`of`: how many problems were tried."""
    if not objections:
        return
    rows: defaultdict[str, list[int]] = defaultdict(list)
    for row in sorted(objections):
        rows[objections[row]].append(row)
    shown = list(rows.items())[:_SHOWN]
    where = (f"{listed(numbers).capitalize()}: {sentence.rstrip('.')}." for sentence, numbers in shown)
    raise Refused(
        f"{prepared.task.name} ({prepared.task.data.name}) cannot judge programs. {' '.join(where)} "
        f"This concerns {len(objections):,} of {of:,} problems. Change it, then type: {again}"
    )


@contextmanager
def one_sandbox(ports: Ports) -> Iterator[Ports]:
    """Yields the same ports, but all that open a sandbox get the same one, which is closed at the end."""
    open_sandbox, opened = ports.open_sandbox, list[Sandbox]()
    if open_sandbox is None:
        yield ports
        return

    def lend() -> Sandbox:
        if not opened:
            opened.append(open_sandbox())
            for reason in opened[0].passed_over:
                ports.progress.say(f"A stronger sandbox was passed over: {reason}")
        return opened[0]

    try:
        yield replace(ports, open_sandbox=lend)
    finally:
        for sandbox in opened:
            run(sandbox.close())


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
    run(run_checked(_try(judged, tried, ports, by_hand(plan)), lambda: None, ports.clock))
    return tried


async def _try(judged: Sequence[PreparedDataset], tried: Collection[str], ports: Ports, again: str) -> None:
    if ports.open_sandbox is None:
        names = ", ".join(prepared.task.name for prepared in judged)
        raise Refused(
            f"The answers to {names} are programs, and there is no place to run them.",
            next_step="model-accuracy-eval doctor",
        )
    sandbox = ports.open_sandbox()
    for prepared in judged:
        for program in probes(prepared):
            await _run_probe(prepared.task.name, program, sandbox)
        if prepared.task.name in tried:
            await try_task(prepared, sandbox, ports, again)


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
