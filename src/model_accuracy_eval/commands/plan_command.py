"""`plan`: what a run will be able to show, before anything is asked."""

import os
import re
import sys
from typing import Any

import click

from model_accuracy_eval import size_plan, wiring
from model_accuracy_eval.commands.run_command import given_settings, setting_options

_MINUTES = re.compile(r"(\d+(?:\.\d+)?)\s*(?:m|min)")
_SETTINGS = {
    "baseline", "datasets", "columns", "tasks_path", "data_dir", "offline", "limit", "num_return_sequences", "k",
    "gate", "gate_on", "confidence",
}  # fmt: skip


def _budget(_context: click.Context, _option: click.Parameter, text: str | None) -> tuple[float, bool] | None:
    """The number of requests or minutes, and whether it counts minutes."""
    if text is None:
        return None
    bare = text.replace(",", "").strip()
    minutes = _MINUTES.fullmatch(bare)
    number = float(minutes[1]) if minutes else float(bare) if bare.isdecimal() else 0.0
    if number <= 0:
        raise click.BadParameter(
            f"'{text}' is neither a number of requests, such as 2000, nor of minutes, such as 30m."
        )
    return number, minutes is not None


@click.command()
@click.option(
    "--budget",
    callback=_budget,
    metavar="REQUESTS|MINUTES",
    help="Say how so many requests (2000) or minutes (30m, at the pace of the baseline) are best spent.",
)
@setting_options(_SETTINGS)
def plan(budget: tuple[float, bool] | None, **values: Any) -> None:
    """Say what the gates of a run can show at this size, and how a number of requests or minutes is best spent.

    Nothing is asked: the questions are counted, and fetched where they are not on this machine.
    """
    # A plan needs somebody to ask; nobody is.
    run_plan = wiring.plan({**given_settings(values), "endpoint": "http://localhost:8000"}, os.environ)
    ports = wiring.ports(run_plan, os.environ, wiring.signal_clock(), sys.stderr)
    try:
        requests = size_plan.requests(run_plan, ports, *budget) if budget else None
        click.echo("\n".join(size_plan.lines(run_plan, ports, requests)))
    finally:
        ports.progress.close()
