"""What the command line prints at the end of a run: the table, what to know about it, the verdict, where all is."""

from collections.abc import Iterator

from model_accuracy_eval.records import Report, Sheet
from model_accuracy_eval.reporting import compared, summary


def as_text(report: Report) -> str:
    told = (_figures(report), _remarks(report), _baseline(report), _verdict(report))
    parts = ["\n".join(part) for part in told if part]
    return "\n" + "\n\n".join(parts)


def _figures(report: Report) -> list[str]:
    if not report.sheets:
        return []
    rows = summary.all_rows(report)
    head, *lines = summary.table(rows, report.plan.label)
    between = [summary.span(row.interval) for row in rows]
    return [
        summary.as_plain(
            [(*head, "95 % interval"), *((*line, span) for line, span in zip(lines, between, strict=True))]
        )
    ]


def _remarks(report: Report) -> list[str]:
    return [line for sheet in report.sheets for line in (_counts(sheet), *(f"  {note}" for note in sheet.notes))]


def _counts(sheet: Sheet) -> str:
    counts = sheet.counts
    told = ", ".join(summary.remarkable(counts))
    return f"{sheet.dataset}: {counts.answered} of {counts.planned} samples answered{'; ' + told if told else ''}."


def _baseline(report: Report) -> list[str]:
    return [f"Against the baseline\n\n{compared.as_text(report.comparison)}"] if report.comparison else []


def _verdict(report: Report) -> list[str]:
    return [*_gates(report), *_outcome(report)]


def _gates(report: Report) -> Iterator[str]:
    for result in report.gates:
        yield f"Gate {result.sentence}"


def _outcome(report: Report) -> Iterator[str]:
    outcome = report.outcome
    yield f"{outcome.conclusion.upper()} (exit code {outcome.exit_code}): {outcome.sentence}"
    if outcome.detail:
        yield outcome.detail
    if outcome.folder:
        yield f"Report: {outcome.folder}"
