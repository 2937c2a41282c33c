"""`batch` answers every prompt of a file."""

import os

import click

from model_accuracy_eval.wiring import batch_parts


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
    total, before = batch_parts.answer(
        source,
        target,
        endpoint=endpoint,
        model=model_name,
        sampling={"max_tokens": max_tokens, "temperature": temperature},
        concurrency=concurrency,
        environment=os.environ,
    )
    click.echo(f"{total} prompts, {before} of them answered before; the answers are in {target}.")
