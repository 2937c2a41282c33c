"""The command line. Nothing heavy is imported before a command needs it."""

import os
import sys
import traceback
from collections.abc import Callable
from typing import Any

import click

from model_accuracy_eval import __version__
from model_accuracy_eval.commands import batch, doctor, kept
from model_accuracy_eval.config.settings import Setting, table
from model_accuracy_eval.errors import EvalError

_DEFECT = "This is a defect of model-accuracy-eval; please report it with the lines above."


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


class _Program(click.Group):
    """Turns every error of ours into its sentence, its detail and its exit code."""

    def invoke(self, context: click.Context) -> Any:
        try:
            return super().invoke(context)
        except EvalError as error:
            click.echo(f"Error: {error.sentence}", err=True)
            if error.detail:
                click.echo(error.detail, err=True)
            context.exit(error.exit_code)
        except (click.exceptions.ClickException, click.exceptions.Exit, click.exceptions.Abort):
            raise
        except Exception:  # noqa: BLE001 - whatever it is, it must not look like a failed gate
            # Python's own exit code for this would be 1, and that says "a gate failed".
            click.echo(f"{traceback.format_exc()}Error: {_DEFECT}", err=True)
            context.exit(70)


@click.group(cls=_Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="model-accuracy-eval")
def main() -> None:
    """Is this model adapter's inference as accurate as it should be?

    \b
    model-accuracy-eval demo                                             see it work, without a model or a network
    model-accuracy-eval run ADAPTER --model WEIGHTS --datasets gsm8k     deploy an adapter and evaluate it
    model-accuracy-eval run --endpoint URL --datasets gsm8k              evaluate a service that runs

    \b
    Exit codes: 0 done, gates passed · 1 a gate failed · 2 usage or configuration · 3 refused before deploying ·
    4 the adapter did not come up or died · 5 too many requests failed · 6 the report could not be published ·
    7 gates undecided · 70 a defect of this program · 130/143 stopped
    """  # noqa: D301 - click looks for the character itself


main.add_command(batch.batch)
main.add_command(batch.history)
main.add_command(doctor.doctor)
main.add_command(kept.compare)
main.add_command(kept.report)
main.add_command(kept.rescore)


def _option(setting: Setting) -> Callable[[Any], Any]:
    """The click option of a setting. Values stay texts here: one place types and checks them for all sources."""
    names = [f"--{setting.name}", *([setting.short] if setting.short else [])]
    if setting.type is bool:
        return click.option(*names, is_flag=True, default=None, help=_help(setting))
    return click.option(
        *names,
        setting.field,
        default=None,
        multiple=setting.field == "gate",
        metavar=_metavar(setting),
        help=_help(setting),
    )


def _help(setting: Setting) -> str:
    if setting.default in (None, (), {}, False):
        return setting.about
    shown = f"{setting.default:g}" if isinstance(setting.default, float) else setting.default
    return f"{setting.about} [default: {shown}]"


def _metavar(setting: Setting) -> str:
    if setting.choices:
        return "|".join(setting.choices)
    kinds = {"int": "N", "float": "X", "tuple": "LIST", "dict": "JSON"}
    return next((metavar for kind, metavar in kinds.items() if kind in str(setting.bare)), "TEXT")


def _settings(command: Callable[..., Any]) -> Callable[..., Any]:
    for setting in reversed([setting for setting in table() if setting.field != "adapter"]):
        command = _option(setting)(command)
    return command


@main.command(cls=_Grouped)
@click.argument("adapter", required=False)
@click.option("--config", metavar="FILE", help="YAML file of settings; flags win over it.")
@_settings
def run(**values: Any) -> None:
    """Evaluate an adapter folder, or a service that already runs."""
    _run({name: value for name, value in values.items() if value not in (None, ())})


@main.command()
@click.argument("shards", nargs=-1, required=True)
@click.option("--out", default="outputs", show_default=True, help="Folder under which the merged run's folder is made.")
@click.option("--data-dir", help="Folder that is searched for data files; default: as the shards had it.")
def merge(shards: tuple[str, ...], out: str, data_dir: str | None) -> None:
    """Make one report of the runs of all shards (`run --shard r/W`): equal to that of a single run."""
    from model_accuracy_eval.wiring.merging import merged  # noqa: PLC0415

    given = {"data_dir": data_dir} if data_dir else {}
    _run({"mode": "eval", "reuse": merged(shards, out), **given})


@main.command()
@click.option("--out", default="outputs", show_default=True, help="Folder under which the run's folder is made.")
@click.option("--port", default=8000, show_default=True, help="Port on which the example adapter serves.")
def demo(out: str, port: int) -> None:
    """Evaluate the bundled example adapter: a real, tiny model that learnt to add. No network, no accelerator."""
    from model_accuracy_eval.wiring import example_adapter  # noqa: PLC0415

    folder = example_adapter()
    # The example's server needs NumPy, which this program's own environment has.
    os.environ["PATH"] = os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", os.defpath)])  # noqa: PTH120
    weights = str(folder / "weights")
    _run({"adapter": str(folder), "model": weights, "datasets": "demo_arithmetic", "out": out, "port": port})


def _run(values: dict[str, Any]) -> None:
    from model_accuracy_eval import pipeline, wiring  # noqa: PLC0415
    from model_accuracy_eval.reporting import terminal  # noqa: PLC0415
    from model_accuracy_eval.rim.clock import SignalClock  # noqa: PLC0415

    clock = SignalClock()
    with clock.listening():
        plan, configs = wiring.plan(values, os.environ)
        ports = wiring.ports(plan, os.environ, clock, sys.stdout if plan.debug else sys.stderr)
        try:
            report = pipeline.run(plan, configs, ports)
        finally:
            ports.screen.close()
        click.echo(terminal.as_text(report))
    sys.exit(report.outcome.exit_code)


@main.command()
def action() -> None:
    """Entry point of the container action: inputs from INPUT_*, the verdict to where reviewers look."""
    from model_accuracy_eval.action import act  # noqa: PLC0415
    from model_accuracy_eval.rim.clock import SignalClock  # noqa: PLC0415
    from model_accuracy_eval.wiring.action import Wired  # noqa: PLC0415

    clock = SignalClock()
    with clock.listening():
        wired = Wired(os.environ, clock)
        try:
            with wired.site() as (job, site):
                code = act(job, site)
        except EvalError as error:
            wired.step.error(error.sentence, title="No evaluation")
            code = error.exit_code
    sys.exit(code)


@main.command()
def sweep() -> None:
    """Post step of the container action: closes and removes what a killed step left behind."""
    from model_accuracy_eval.rim.clock import SignalClock  # noqa: PLC0415
    from model_accuracy_eval.wiring.action import Wired  # noqa: PLC0415

    Wired(os.environ, SignalClock()).sweep()


@main.command()
def selftest() -> None:
    """Hold every metric and estimator to its contract; 1 if one is broken. No network, no model."""
    from model_accuracy_eval.scoring import contracts  # noqa: PLC0415

    found = contracts.breaches(contracts.CONTRACTS)
    click.echo(contracts.table(found))
    sys.exit(1 if found else 0)


@main.group()
def tasks() -> None:
    """What can be evaluated."""


@tasks.command("list")
def list_tasks() -> None:
    """Every dataset, with one line about it."""
    from model_accuracy_eval import tasks as catalogue  # noqa: PLC0415

    width = max(map(len, [*catalogue.TASKS, *catalogue.GROUPS]))
    for heading, shelf in catalogue.SHELVES.items():
        click.echo(f"\n{heading}")
        for name in shelf:
            click.echo(f"  {name.ljust(width)}  {catalogue.find(name).about}")
    click.echo("\nGroups")
    for name, group in catalogue.GROUPS.items():
        click.echo(f"  {name.ljust(width)}  {len(group.members)} datasets, {group.members[0]} to {group.members[-1]}.")


@tasks.command("show")
@click.argument("name")
@click.option("--data-dir", help="Folder that is searched for data files before any hub.")
@click.option("--tasks-path", multiple=True, help="Folder whose task files can be named; may be given several times.")
@click.option("--trust-python", is_flag=True, help="Take tasks whose rows are made by Python, and run it.")
def show_task(name: str, data_dir: str | None, tasks_path: tuple[str, ...], trust_python: bool) -> None:
    """A dataset's definition, and its first problem as it is sent."""
    from model_accuracy_eval import catalogue, wiring  # noqa: PLC0415

    library = wiring.library(os.environ, data_dir, tasks_path, trusted=trust_python)
    click.echo(catalogue.show(name, data_dir, wiring.hub(os.environ), wiring.trusted_python(os.environ), library))


@tasks.command("prepare")
@click.argument("names", nargs=-1, required=True)
def prepare_tasks(names: tuple[str, ...]) -> None:
    """Fetch and verify the data of datasets beforehand."""
    from model_accuracy_eval import catalogue, wiring  # noqa: PLC0415

    for line in catalogue.prepare(names, wiring.hub(os.environ)):
        click.echo(line)
