"""The commands that look at runs which have ended: `compare` and `report`."""

import os
from pathlib import Path

import click

from model_accuracy_eval.errors import BadValue


@click.command()
@click.argument("base")
@click.argument("new")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs instead of text.")
@click.option("--md", metavar="FILE", help="Also write the comparison to this Markdown file.")
def compare(base: str, new: str, as_json: bool, md: str | None) -> None:
    """Compare two runs, each a folder or a zip of one: differences with intervals, and which problems flipped."""
    from model_accuracy_eval.reporting import compared  # noqa: PLC0415
    from model_accuracy_eval.rim.archive import open_archive  # noqa: PLC0415
    from model_accuracy_eval.stages import past  # noqa: PLC0415

    found = past.compare(past.Past(open_archive(base)), past.Past(open_archive(new)))
    if md:
        _write(md, compared.as_markdown(found))
    click.echo(compared.as_json(found) if as_json else compared.as_text(found))


def _write(file: str, text: str) -> None:
    try:
        Path(file).write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadValue(f"{file} cannot be written: {error.strerror or error}.") from error


@click.command()
@click.argument("run")
def report(run: str) -> None:
    """Render a run's summary and page again from what its folder holds; nobody is asked, nothing is judged."""
    from model_accuracy_eval import retelling, wiring  # noqa: PLC0415

    store = wiring.kept_store(run)
    try:
        for name in retelling.tell(store):
            click.echo(f"{store.root}/{name}")
    finally:
        store.close()


@click.command()
@click.argument("files", nargs=-1, required=True)
@click.option(
    "--task", help="Dataset or task file whose scoring is used; default: as the file's name or contents tell."
)
@click.option("--tasks-path", multiple=True, help="Folder whose task files can be named; may be given several times.")
@click.option("--trust-python", is_flag=True, help="Take tasks that are made or judged by Python, and run it.")
@click.option("--k", help="Values of k for pass@k and cons@k, separated by commas; default: n.")
@click.option("--claimed", metavar="FILE", help="Results file to compare with; default: the one beside.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs instead of text.")
def rescore(
    files: tuple[str, ...],
    *,
    task: str | None,
    tasks_path: tuple[str, ...],
    trust_python: bool,
    k: str | None,
    claimed: str | None,
    as_json: bool,
) -> None:
    """Judge replies that some tool kept (AISBench, lm-eval, plain JSON), beside the figures that it claims."""
    from model_accuracy_eval import wiring  # noqa: PLC0415
    from model_accuracy_eval.rescoring import telling  # noqa: PLC0415
    from model_accuracy_eval.wiring import rescoring  # noqa: PLC0415

    library = wiring.library(os.environ, None, tasks_path, trusted=trust_python)
    results = [
        result
        for file in files
        for result in rescoring.rescored(file, task=task, library=library, k=_sizes(k), claimed=claimed)
    ]
    click.echo(telling.as_json(results) if as_json else telling.as_text(results))


def _sizes(k: str | None) -> tuple[int, ...]:
    try:
        return tuple(sorted({int(size) for size in (k or "").split(",") if size.strip()}))
    except ValueError as error:
        raise BadValue(f"--k takes whole numbers separated by commas, not '{k}'.") from error
