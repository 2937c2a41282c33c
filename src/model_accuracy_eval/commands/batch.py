"""Two commands beside a run: `batch` answers a file of prompts, `history` tells what earlier runs found."""

import os
from pathlib import Path
from typing import Any

import click

from model_accuracy_eval.errors import BadReuse


@click.command()
@click.argument("source", metavar="IN.jsonl")
@click.argument("target", metavar="OUT.jsonl")
@click.option("--endpoint", required=True, help="URL of the service.")
@click.option("--model-name", help="Model name to send; default: the first id of /v1/models.")
@click.option("--max-tokens", default=512, show_default=True, help="Longest answer where a line says nothing.")
@click.option("--temperature", default=0.0, show_default=True, help="Sampling temperature.")
@click.option("--concurrency", default=32, show_default=True, help="Requests in flight at once.")
def batch(  # noqa: PLR0917 - click passes them by name
    source: str,
    target: str,
    endpoint: str,
    model_name: str | None,
    max_tokens: int,
    temperature: float,
    concurrency: int,
) -> None:
    """Answer every line of a file of prompts; lines that OUT.jsonl has answers for are not asked again."""
    from model_accuracy_eval.records import Service  # noqa: PLC0415
    from model_accuracy_eval.wiring import batch as wiring  # noqa: PLC0415

    whole, before = wiring.answer(
        source,
        target,
        service=Service(base_url=endpoint.rstrip("/"), model=model_name),
        sampling={"max_tokens": max_tokens, "temperature": temperature},
        concurrency=concurrency,
        environment=os.environ,
    )
    click.echo(f"{whole} prompts, {before} of them answered before; the answers are in {target}.")


@click.command()
@click.argument("folder", default="outputs")
@click.option("--dataset", help="Tell of this dataset alone.")
@click.option("--label", help="Tell of this label alone.")
@click.option("--problems", is_flag=True, help="Tell instead which problems every run solves, some of them, or none.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs instead of text.")
def history(folder: str, dataset: str | None, label: str | None, problems: bool, as_json: bool) -> None:
    """What the runs under a folder found, oldest first: change to the run before, and the best so far."""
    import msgspec  # noqa: PLC0415

    from model_accuracy_eval.reporting import history as table  # noqa: PLC0415

    files = sorted(Path(folder).glob("*/run.json"))
    told = _problems(files, dataset, label) if problems else _figures(files, dataset, label)
    if not told:
        raise BadReuse(f"Under '{folder}' there is no run with figures to tell of ({len(files)} run.json were read).")
    as_text = table.problems_as_text if problems else table.as_text
    click.echo(msgspec.json.format(msgspec.json.encode(told), indent=2).decode() if as_json else as_text(told))


def _figures(files: list[Path], dataset: str | None, label: str | None) -> list[Any]:
    from model_accuracy_eval.reporting import runfile  # noqa: PLC0415
    from model_accuracy_eval.reporting.history import history as told_of  # noqa: PLC0415

    return told_of([runfile.kept(path.read_bytes()) for path in files], dataset, label)


def _problems(files: list[Path], dataset: str | None, label: str | None) -> list[Any]:
    from model_accuracy_eval.rim.archive import open_archive  # noqa: PLC0415
    from model_accuracy_eval.stages import past  # noqa: PLC0415

    return past.recur((open_archive(str(path.parent)) for path in files), dataset, label)
