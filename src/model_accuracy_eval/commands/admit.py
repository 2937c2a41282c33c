"""`admit`: the decision of the action alone, in a job of its own."""

import sys

import click

from model_accuracy_eval.commands.action import run_step


@click.command()
def admit() -> None:
    """Check who asks, for which event, commit, hardware and model, as the action does; nothing is evaluated.

    Reads INPUT_* and the runner's variables. The exit code is 0 if the run may start, and 3 with all objections if not;
    the output `commit` is what may be evaluated.
    """
    sys.exit(run_step(admit_only=True))
