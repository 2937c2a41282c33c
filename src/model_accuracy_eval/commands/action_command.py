"""`action` and `sweep`: the main step and the post step of the container action."""

import os
import sys

import click

from model_accuracy_eval.commands import lazy_modules as lazy
from model_accuracy_eval.errors import EvalError


@click.command(short_help="Main step of the container action.")
def action() -> None:
    """Entry point of the container action: inputs from INPUT_*, the verdict to where reviewers look."""
    clock = lazy.wiring.signal_clock()
    with clock.listening():
        step = lazy.action_parts.ActionStep(os.environ, clock)
        try:
            with step.parts() as (context, ports):
                code = lazy.action.act(context, ports)
        except EvalError as error:
            step.step.error(error.sentence, title="No evaluation")
            code = error.exit_code
    sys.exit(code)


@click.command(short_help="Post step of the container action.")
def sweep() -> None:
    """Post step of the container action: closes and removes what a killed step left behind."""
    lazy.action_parts.ActionStep(os.environ, lazy.wiring.signal_clock()).sweep()
