"""Before anything is asked: is there a place where programs can run, and do the reference solutions pass there?"""

from collections.abc import Sequence

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.ports import Ports
from model_accuracy_eval.ports.sandbox import Sandbox
from model_accuracy_eval.records import Exam, RunPlan
from model_accuracy_eval.records.code import Program
from model_accuracy_eval.scoring.code.probes import probes, runs_programs


def hold(plan: RunPlan, exams: Sequence[Exam], ports: Ports) -> None:
    """Raises `Refused` with the next command; opens nothing where no program will run."""
    judged = [exam for exam in exams if plan.mode != "infer" and runs_programs(exam)]
    if judged:
        ports.run_async(_try({exam.task.name: probes(exam) for exam in judged}, ports))


async def _try(programs: dict[str, list[Program]], ports: Ports) -> None:
    if ports.open_sandbox is None:
        raise Refused(f"The answers to {', '.join(programs)} are programs, and there is no place to run them.")
    sandbox = ports.open_sandbox()
    try:
        for name, some in programs.items():
            for program in some:
                await _must_pass(name, program, sandbox)
    finally:
        await sandbox.close()


async def _must_pass(name: str, program: Program, sandbox: Sandbox) -> None:
    execution = await sandbox.run(program)
    if not execution.passed:
        raise Refused(
            f"The sandbox cannot judge {name}: a reference solution does not pass in it ({execution.verdict}: "
            f"{execution.detail or 'no detail'}); give an image that has what it needs with --sandbox-image.",
            detail=f"It ran on {sandbox.image}, isolation {sandbox.isolation}.",
        )
