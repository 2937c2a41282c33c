"""`run`: evaluates an adapter or a service, shows the report, and ends with the exit code of its verdict."""

import os
import sys
from collections.abc import Mapping
from typing import Any

import click

from model_accuracy_eval import python_api
from model_accuracy_eval.commands.options import given_settings, setting_options, terminal_width
from model_accuracy_eval.report import terminal
from model_accuracy_eval.settings import table


class _Grouped(click.Command):
    """Shows its options under the headings of the settings table."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        headings = {f"--{setting.name}": setting.group for setting in table()}
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(context):
            record = parameter.get_help_record(context)
            if record:
                heading = next((headings[name] for name in parameter.opts if name in headings), "Options")
                groups.setdefault(heading, []).append(record)
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)


@click.command(cls=_Grouped)
@click.argument("adapter", required=False)
@click.option("--config", metavar="FILE", help="YAML file of settings; flags win over it.")
@setting_options({setting.field for setting in table()} - {"adapter"})
def run(**values: Any) -> None:
    """Evaluate an adapter folder, or a service that already runs."""
    evaluate(given_settings(values))


def evaluate(values: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> None:
    """The end of each command that makes a report."""
    report = python_api.evaluate(values, progress="terminal", environ=environ, handle_signals=True)
    click.echo(terminal.as_text(report, terminal_width()))
    sys.exit(report.outcome.exit_code)
