"""`history` shows how figures moved over runs, and says when they have fallen."""

import click
import msgspec

from model_accuracy_eval.commands.completions import complete_datasets, complete_figures_of_runs
from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.report import history as trends
from model_accuracy_eval.report import history_page
from model_accuracy_eval.wiring import history_parts


@click.command()
@click.argument("places", nargs=-1)
@click.option("--dataset", help="Show this dataset alone.", shell_complete=complete_datasets)
@click.option("--label", help="Show this label alone.")
@click.option("--model", help="Show this model alone.")
@click.option(
    "--metric", help="Show this figure; default: each dataset's first.", shell_complete=complete_figures_of_runs
)
@click.option("--since", metavar="RUN|DATE", help="Begin with this run, or with the first one of this day or later.")
@click.option("--append", metavar="FILE", help="Add the runs to this history file, and show all that it holds.")
@click.option("--fail-on-regression", is_flag=True, help="Exit with 1 while a regression stands.")
@click.option("--problems", is_flag=True, help="Show instead which problems every run solves, some of them, or none.")
@click.option("--html", metavar="FILE", help="Also write the trends to this page.")
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
    fail_on_regression: bool,
    problems: bool,
    html: str | None,
    as_json: bool,
) -> None:
    """The figures of runs, oldest first, one series for each dataset, metric and model; where one has fallen, between
    which runs, and which problems it lost.

    PLACES are folders that hold runs at any depth, runs or zips of them, and history files (.jsonl); default: outputs.
    """
    found = history_parts.read(places or ("outputs",), _tell)
    lines = history_parts.append(append, found.lines, _tell) if append else found.lines
    choice = trends.HistoryChoice(dataset=dataset, label=label, model=model, metric=metric, since=since)
    shown = trends.history(lines, found.left_out, choice)
    solved = trends.solved_problems(lines, choice) if problems else []
    _refuse_nothing(bool(solved if problems else shown.series or shown.left_out), places, len(lines))
    if html:
        history_parts.write(html, history_page.as_html(shown))
    if as_json:
        click.echo(_json(solved if problems else shown))
    else:
        click.echo(trends.problems_as_text(solved) if problems else trends.as_text(shown))
    if fail_on_regression and shown.regressed:
        context.exit(1)


def _refuse_nothing(found: bool, places: tuple[str, ...], lines: int) -> None:
    if not found:
        where = ", ".join(f"'{place}'" for place in places or ("outputs",))
        raise BadReuse(f"In {where} there is no run with figures to show ({lines} datasets of runs were read).")


def _tell(sentence: str) -> None:
    click.echo(sentence, err=True)


def _json(found: object) -> str:
    return msgspec.json.format(msgspec.json.encode(found), indent=2).decode()
