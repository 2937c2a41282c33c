"""`action` and `sweep`: the main step and the post step of the container action."""

import contextlib
import os
import sys
from typing import NoReturn

import click

from model_accuracy_eval import wiring
from model_accuracy_eval.action import act
from model_accuracy_eval.errors import Defect, EvalError
from model_accuracy_eval.wiring.action_parts import ActionStep


@click.command()
def action() -> None:
    """Entry point of the container action: inputs from INPUT_*, the verdict to where reviewers look."""
    _leave(_run(admit_only=False))


def _leave(exit_code: int) -> NoReturn:
    """Ends the process without Python's own cleaning up, which takes seconds where many processes want the cores: the
    runner kills a cancelled step after ten."""
    with contextlib.suppress(OSError):  # the runner has gone away
        sys.stdout.flush()
        sys.stderr.flush()
    os._exit(exit_code)


@click.command()
def admit() -> None:
    """Check who asks, for which event, commit, hardware and model, as the action does; nothing is evaluated.

    Reads INPUT_* and the runner's variables. The exit code is 0 if the run may start, and 3 with all objections if not;
    the output `commit` is what may be evaluated.
    """
    sys.exit(_run(admit_only=True))


def _run(*, admit_only: bool) -> int:
    """Runs the step and returns its exit code."""
    clock = wiring.signal_clock()
    with clock.listening():
        step = ActionStep(os.environ, clock)
        try:
            with step.parts(admit_only=admit_only) as (context, ports):
                return act(context, ports)
        except Exception as error:  # noqa: BLE001 - a step that fails says why where its readers look
            failure = error if isinstance(error, EvalError) else Defect.from_exception(error)
            step.step.error(failure.sentence, title="No evaluation")
            if isinstance(failure, Defect):
                step.step.say(failure.detail)
            return failure.exit_code


@click.command()
def sweep() -> None:
    """Post step of the container action: closes and removes what a killed step left behind."""
    ActionStep(os.environ, wiring.signal_clock()).sweep()
