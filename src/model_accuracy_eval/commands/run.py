"""`run`: evaluates an adapter or a service, shows the report, and ends with the exit code of its verdict."""

import os
import sys
from collections.abc import Mapping
from typing import Any

import click

from model_accuracy_eval.commands.options import given_settings, setting_options, terminal_width
from model_accuracy_eval.python_api import evaluate as api
from model_accuracy_eval.report import terminal
from model_accuracy_eval.settings import table


class _Grouped(click.Command):
    """Shows its options under the headings of the settings table: the common ones, and all where that is asked."""

    def format_options(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        settings = {f"--{setting.name}": setting for setting in table()}
        groups: dict[str, list[tuple[str, str]]] = {}
        for parameter in self.get_params(context):
            setting = next((settings[name] for name in parameter.opts if name in settings), None)
            if setting and not (setting.common or context.meta.get(_ALL)):
                continue
            if record := parameter.get_help_record(context):
                groups.setdefault(setting.group if setting else "Options", []).append(record)
        for heading, records in groups.items():
            with formatter.section(heading):
                formatter.write_dl(records)


_ALL = f"{__name__}.all"


def _help_all(context: click.Context, _parameter: click.Parameter, asked: bool) -> None:
    if asked:
        context.meta[_ALL] = True
        click.echo(context.get_help())
        context.exit()


@click.command(cls=_Grouped)
@click.argument("adapter", required=False)
@click.option("--config", metavar="FILE", help="YAML file of settings; flags win over it.")
@click.option(
    "--help-all",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=_help_all,
    help="Show all settings and exit.",
)
@setting_options({setting.field for setting in table()} - {"adapter"})
def run(**values: Any) -> None:
    """Evaluate an adapter folder, or a service that already runs."""
    evaluate(given_settings(values))


def evaluate(values: Mapping[str, Any], environ: Mapping[str, str] = os.environ) -> None:
    """The end of each command that makes a report."""
    report = api.evaluate(values, progress="terminal", environ=environ, handle_signals=True)
    click.echo(terminal.as_text(report, terminal_width()))
    sys.exit(report.outcome.exit_code)
