"""The commands that read runs which have ended: `compare`, `report`, `verify`, `rescore` and `export`."""

import contextlib
import sys
from pathlib import Path
from typing import Any

import click

from model_accuracy_eval import compare_page, late_gates, python_api, python_rescore, rerender, wiring
from model_accuracy_eval.commands.run_command import given_settings, setting_options, terminal_width
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.records import Report
from model_accuracy_eval.report import comparison, terminal
from model_accuracy_eval.rescoring import rescored
from model_accuracy_eval.rescoring.shapes import field_map
from model_accuracy_eval.run_folder import manifest, runfile
from model_accuracy_eval.wiring import export_parts

GATE_SETTINGS = ("gate", "gate_on", "confidence", "on_undecided")
"""The settings of `run` that decide about a run which has ended."""


@click.command()
@click.argument("base")
@click.argument("new")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs instead of text.")
@click.option("--md", metavar="FILE", help="Also write the comparison to this Markdown file.")
@click.option("--html", metavar="FILE", help="Also write a page with the changed problems' replies side by side.")
@setting_options(GATE_SETTINGS)
def compare(base: str, new: str, as_json: bool, md: str | None, html: str | None, **values: Any) -> None:
    """Compare two runs, each a folder or a zip of one: differences with intervals, and which problems flipped.

    With --gate, the exit code is the verdict on NEW, with BASE as its baseline; nothing is written to either.
    """
    result = python_api.compare(base, new)
    given = given_settings(values)
    verdict = _decided(wiring.run_archive(new), {**given, "baseline": base}) if given else None
    if md:
        _write(md, comparison.as_markdown(result))
    if html:
        old_run, new_run = wiring.run_archive(base), wiring.run_archive(new)
        _write(html, compare_page.as_html(old_run, new_run, result).decode())
    click.echo(comparison.as_json(result, verdict) if as_json else comparison.as_text(result, terminal_width()))
    if verdict is not None:
        if not as_json:
            click.echo("\n" + "\n".join(terminal.verdict(verdict)))
        sys.exit(verdict.outcome.exit_code)


def _decided(archive: Archive, values: dict[str, Any]) -> Report:
    return late_gates.decide(rerender.kept_report(archive), values, wiring.run_archive)


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadValue(f"{file} cannot be written: {error.strerror or error}.") from error


@click.command()
@click.argument("run")
@setting_options((*GATE_SETTINGS, "baseline"))
def report(run: str, **values: Any) -> None:
    """Render a run's summary and page again from what its folder holds; nobody is asked, no reply is judged.

    With --gate, the figures are held against these gates: the verdict is the run's from then on, and the exit code.
    """
    given = given_settings(values)
    with contextlib.closing(wiring.run_folder(run)) as store:
        verdict = _decided(store, given) if given else None
        names = late_gates.write(verdict, store) if verdict else rerender.render(store)
        click.echo("\n".join(f"{store.root}/{name}" for name in names))
    if verdict is not None:
        click.echo("\n".join(terminal.verdict(verdict)))
        sys.exit(verdict.outcome.exit_code)


RESCORE_SETTINGS = (
    "data_dir",
    "limit",
    "tasks_path",
    "trust_python",
    "num_return_sequences",
    "k",
    "sandbox",
    "sandbox_image",
    "engine",
    "judge_endpoint",
    "judge_model",
    "concurrency",
)
"""The settings of `run` that rescoring takes."""


@click.command()
@click.argument("run")
def verify(run: str) -> None:
    """Check that every file of a run, a folder or a zip of one, is as the run left it; exit code 1 if not."""
    archive = wiring.run_archive(run)
    manifest_hash = manifest.verify(archive)
    ended = runfile.read(archive.read(runfile.RUN_FILE) or b"", run)
    click.echo(
        f"{run} is what its run left: {len(archive.names())} files. It ended as '{ended.status}': {ended.sentence}"
    )
    for name in ("adapter", "deploy.sh"):
        if name in ended.environment:
            click.echo(f"{name}: {ended.environment[name]}")
    click.echo(
        f"The manifest's SHA-256 is {manifest_hash}. Who can write the folder can write a new manifest: compare this "
        "number with the job's log, or the artifact with its attestation (gh attestation verify)."
    )


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option("--task", help="Dataset, task file or group that was asked; default: as the file's name or contents say.")
@click.option("--claimed", metavar="FILE", help="Results file to compare with; default: the one beside.")
@click.option(
    "--map",
    "mapping",
    metavar="NAME=FIELD,…",
    help="Fields of files of no known shape: id=task_id,prediction=response.",
)
@click.option(
    "--diff",
    metavar="FILE",
    help="Write every sample that is judged differently to this file: .csv, .md, or lines of JSON.",
)
@click.option("--subset", is_flag=True, help="Judge only the problems that the files hold; count none as missing.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs instead of text.")
@setting_options(RESCORE_SETTINGS)
def rescore(
    files: tuple[str, ...],
    *,
    task: str | None,
    claimed: str | None,
    mapping: str | None,
    diff: str | None,
    subset: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Judge saved replies as `run` judges its own, beside the figures that their tool claims.

    FILES are folders of runs, files in them, and replies that AISBench, lm-eval, inspect, EvalPlus or other programs
    saved.
    """
    given = given_settings(values)
    fields = field_map.parse(mapping) if mapping is not None else None
    results = python_rescore.rescore(
        files, task=task, claimed=claimed, diff=diff, subset=subset, fields=fields, progress="terminal", **given
    )
    click.echo(rescored.as_json(results) if as_json else rescored.as_text(results))


EXPORT_FORMS = ("junit", "model-card", "lm-eval", "github-action-benchmark")


@click.command()
@click.argument("run")
@click.argument("folder", default=".")
@click.option(
    "--format", "forms", multiple=True, required=True, type=click.Choice(EXPORT_FORMS), help="Can be repeated."
)
@click.option(
    "--hub-dataset",
    "hub_datasets",
    multiple=True,
    metavar="NAME=OWNER/DATASET[:TASK]",
    help="For model-card: where a dataset's leaderboard is on Hugging Face, if its rows did not come from there.",
)
def export(run: str, folder: str, *, forms: tuple[str, ...], hub_datasets: tuple[str, ...]) -> None:
    """Write a run to FOLDER as other programs write or read it.

    junit: what CI servers show as tests. model-card: figures for Hugging Face. lm-eval: its results and samples.
    github-action-benchmark: entries of a chart.
    """
    for form in forms:
        for path in export_parts.exported(form, run, folder, hub_datasets):
            click.echo(str(path))
