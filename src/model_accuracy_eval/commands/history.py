"""`history`: how figures moved over runs, and when they have fallen."""

from collections.abc import Iterable
from pathlib import Path

import click
import msgspec

from model_accuracy_eval.commands.options import complete_datasets, unverified_option
from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.report import history as trends
from model_accuracy_eval.run_folder import history_file
from model_accuracy_eval.run_folder.history_file import HISTORY_SUFFIX, HistoryFile, HistoryLine, LeftOut, RunHistory
from model_accuracy_eval.run_folder.run_archive import open_archive
from model_accuracy_eval.run_folder.run_folder import find_runs
from model_accuracy_eval.system import local_files
from model_accuracy_eval.system.local_files import append_lines


@click.command()
@click.argument("places", nargs=-1)
@click.option("--dataset", help="Show this dataset alone.", shell_complete=complete_datasets)
@click.option("--label", help="Show this label alone.")
@click.option("--model", help="Show this model alone.")
@click.option("--metric", help="Show this figure; default: each dataset's first.")
@click.option("--since", metavar="RUN|DATE", help="Begin with this run, or with the first one of this day or later.")
@click.option("--append", metavar="FILE", help="Add the runs to this history file, and show all that it holds.")
@unverified_option
@click.option(
    "--fail-on-regression",
    is_flag=True,
    help="Exit with 1 while a regression stands, with 7 if there is no run before.",
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs instead of text.")
@click.pass_context
def history(
    context: click.Context,
    places: tuple[str, ...],
    *,
    dataset: str | None,
    label: str | None,
    model: str | None,
    metric: str | None,
    since: str | None,
    append: str | None,
    unverified: bool,
    fail_on_regression: bool,
    as_json: bool,
) -> None:
    """The figures of runs, oldest first, one series for each dataset, metric and model; where one has fallen, between
    which runs, and which problems it lost.

    PLACES are folders that hold runs at any depth, runs or zips of them, and history files (.jsonl); default: outputs.
    """
    places = places or ("outputs",)
    found = _read(places, unverified=unverified)
    lines = found.lines
    if append:
        content = append_lines(append, lambda before: history_file.new_lines(before, found.lines))
        lines = _told(history_file.decode(content, append))
    choice = trends.HistoryChoice(dataset=dataset, label=label, model=model, metric=metric, since=since)
    shown = trends.history(lines, found.left_out, choice)
    if not (shown.series or shown.left_out):
        where = ", ".join(f"'{place}'" for place in places)
        raise BadReuse(f"In {where} there is no run with figures to show ({len(lines)} datasets of runs were read).")
    if as_json:
        click.echo(msgspec.json.format(msgspec.json.encode(shown), indent=2).decode())
    else:
        click.echo(trends.as_text(shown))
    if fail_on_regression:
        context.exit(1 if shown.regressed else 7 if shown.undecided else 0)


def _read(places: Iterable[str], *, unverified: bool) -> RunHistory:
    """The lines of all runs and history files; a sentence on standard error about each that cannot be read."""
    lines: list[HistoryLine] = []
    left_out: list[LeftOut] = []
    for place in places:
        if place.endswith(HISTORY_SUFFIX) and Path(place).is_file():
            lines += _told(history_file.decode(local_files.read_whole(place), place))
            continue
        for path in find_runs(place):
            try:
                found = history_file.of_run(open_archive(path), unverified=unverified)
            except BadReuse as error:
                click.echo(f"Left out: {error.sentence}", err=True)
                continue
            lines += found.lines
            left_out += found.left_out
    return RunHistory(lines=tuple(lines), left_out=tuple(left_out))


def _told(file: HistoryFile) -> tuple[HistoryLine, ...]:
    for sentence in file.damaged:
        click.echo(sentence, err=True)
    return file.lines
