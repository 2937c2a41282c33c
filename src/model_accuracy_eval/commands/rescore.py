"""`rescore`: judges replies that another program, or an earlier run, has saved."""

from typing import Any

import click

from model_accuracy_eval.commands.options import given_settings, setting_options, unverified_option
from model_accuracy_eval.python_api import rescore_files as api
from model_accuracy_eval.rescoring import rescoring_result
from model_accuracy_eval.rescoring.shapes import reply_files

_SETTINGS = {
    "data_dir", "limit", "first", "tasks_path", "trust_python", "num_return_sequences", "k", "sandbox", "sandbox_image",
    "workers", "engine", "judge_endpoint", "judge_model", "concurrency",
}  # fmt: skip
"""The settings of `run` that rescoring takes."""


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
@unverified_option
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs instead of text.")
@setting_options(_SETTINGS)
def rescore(
    files: tuple[str, ...],
    *,
    task: str | None,
    claimed: str | None,
    mapping: str | None,
    diff: str | None,
    subset: bool,
    unverified: bool,
    as_json: bool,
    **values: Any,
) -> None:
    """Judge saved replies as `run` judges its own, beside the figures that their tool claims.

    FILES are folders of runs, files in them, and replies that AISBench, lm-eval, inspect, EvalPlus or other programs
    saved.
    """
    given = given_settings(values)
    fields = reply_files.parse(mapping) if mapping is not None else None
    results = api.rescore(
        files,
        task=task,
        claimed=claimed,
        diff=diff,
        subset=subset,
        unverified=unverified,
        fields=fields,
        progress="terminal",
        **given,
    )
    click.echo(rescoring_result.as_json(results) if as_json else rescoring_result.as_text(results))
