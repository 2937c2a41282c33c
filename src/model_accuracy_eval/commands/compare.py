"""`compare`: two runs beside each other, from their folders or zips; nothing is asked, judged or written to either."""

import sys
from collections.abc import Iterator
from typing import Any

import click

from model_accuracy_eval.commands.options import (
    GATE_SETTINGS,
    given_settings,
    setting_options,
    terminal_width,
    told,
    unverified_option,
    write,
)
from model_accuracy_eval.commands.report import with_gates
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.records import Comparison, DatasetResult, Report
from model_accuracy_eval.report import comparison, page, page_replies, terminal
from model_accuracy_eval.report.markdown import plain
from model_accuracy_eval.report.page_replies import PackedReplies, ProblemDocument
from model_accuracy_eval.run import previous_run
from model_accuracy_eval.run_folder import journal, kept_run, predictions
from model_accuracy_eval.run_folder.kept_run import KeptRun
from model_accuracy_eval.run_folder.run_archive import open_archive


@click.command()
@click.argument("base")
@click.argument("new")
@click.option("--json", "as_json", is_flag=True, help="Print JSON for programs instead of text.")
@click.option("--md", metavar="FILE", help="Also write the comparison to this Markdown file.")
@click.option("--html", metavar="FILE", help="Also write a page with the changed problems' replies side by side.")
@unverified_option
@setting_options(GATE_SETTINGS)
def compare(
    base: str, new: str, as_json: bool, md: str | None, html: str | None, *, unverified: bool, **values: Any
) -> None:
    """Compare two runs, each a folder or a zip of one: differences with intervals, and which problems flipped.

    With --gate, the exit code is the verdict on NEW, with BASE as its baseline; nothing is written to either.
    """
    old, recent = (told(kept_run.opened(open_archive(place), unverified=unverified)) for place in (base, new))
    result = previous_run.compare(old, recent)
    given = given_settings(values)
    verdict = None
    if given:
        verdict = with_gates(recent.report(), {**given, "baseline": base}, open_archive, unverified=unverified)
    if md:
        write(md, comparison.as_markdown(result).encode())
    if html:
        write(html, page_of(old, recent, result))
    click.echo(comparison.as_json(result, verdict) if as_json else comparison.as_text(result, terminal_width()))
    if not as_json:
        runs = (f"{name} run {run.run_id[:8]}, {run.status}: {run.sentence}"
                for name, run in (("Old", old.run()), ("New", recent.run())))  # fmt: skip
        click.echo("\n".join(["", *map(plain, runs), "", plain(comparison.verdict(result))]))
    if verdict is not None:
        if not as_json:
            click.echo("\n" + "\n".join(terminal.verdict(verdict)))
        sys.exit(verdict.outcome.exit_code)


def page_of(old: KeptRun, recent: KeptRun, compared: Comparison) -> bytes:
    (base, old_report), (new, new_report) = ((kept.archive, kept.report()) for kept in (old, recent))
    states = page.states(compared, old_report, new_report)
    old_results = {result.dataset: result for result in old_report.dataset_results}
    replies: dict[str, PackedReplies] = {}
    questions: dict[str, dict[int, str]] = {}
    for result in new_report.dataset_results:
        if result.dataset in states:
            changed = states[result.dataset]
            before = page.changed_only(old_results[result.dataset], changed)
            after = page.changed_only(result, changed)
            replies[result.dataset] = page_replies.pack_documents(
                _side_by_side(_documents(base, old_report, before), _documents(new, new_report, after))
            )
            questions[result.dataset] = journal.questions(new.lines, new_report.plan.settings.label, result.dataset)
    return page.comparison_as_html(compared, old_report, new_report, questions, replies)


def _side_by_side(old: Iterator[ProblemDocument], new: Iterator[ProblemDocument]) -> Iterator[ProblemDocument]:
    before = {document.id: document for document in old}
    for document in new:
        document.old = before[document.id].samples
        yield document


def _documents(archive: Archive, report: Report, result: DatasetResult) -> Iterator[ProblemDocument]:
    files = (journal.file, journal.failures_file, predictions.findings_file, predictions.pictures_file)
    label, dataset = report.plan.settings.label, result.dataset
    answers, failures, found, pictures = (archive.lines(file(label, dataset)) for file in files)
    documents = page_replies.documents(result, answers, failures, found)
    return page_replies.illustrated(documents, predictions.addresses(pictures))
