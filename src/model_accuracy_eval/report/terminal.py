"""What the command line prints at the end of a run: the table, remarks on it, the verdict and the report's folder."""

from collections.abc import Iterator

from model_accuracy_eval.records import DatasetResult, Report, Settings
from model_accuracy_eval.report import comparison, endings, figures, remarks, tables
from model_accuracy_eval.report.languages import of_report, say
from model_accuracy_eval.report.remarks import service_notes


def as_text(report: Report, width: int = tables.WIDTH) -> str:
    report = of_report(report)
    if _asked_nobody(report):
        planned = sum(result.counts.planned for result in report.dataset_results)
        return "\n" + "\n".join(
            [
                say("None of the {count} samples was answered, so there is no figure.", count=f"{planned:,}"),
                "",
                *verdict(report),
            ]
        )
    blocks = (_figures(report, width), _remarks(report), _baseline(report), verdict(report))
    return "\n" + "\n\n".join("\n".join(lines) for lines in map(list, blocks) if lines)


def _asked_nobody(report: Report) -> bool:
    """Whether a table would be of dashes alone, above the one sentence that matters."""
    results = report.dataset_results
    return bool(results) and all(
        not result.counts.answered and all(row.value is None for row in result.rows) for result in results
    )


def _figures(report: Report, width: int) -> Iterator[str]:
    if report.dataset_results:
        head, *lines = figures.table(figures.all_rows(report), place="terminal")
        yield say("Model: {model}", model=_model(report)) + "\n"
        # Without blanks most tables fit 80 columns.
        yield tables.fitted([head, *([cell.replace(" .. ", "..") for cell in line] for line in lines)], width)


def _model(report: Report) -> str:
    """Who answered. The label is named as well where somebody chose it."""
    served = report.service.model if report.service else None
    label = report.plan.settings.label
    return (served or say("unnamed")) + (f" ({label})" if label != Settings().label else "")


def _remarks(report: Report) -> Iterator[str]:
    for result in report.dataset_results:
        yield _counts(result)
        yield from (f"  {note}" for note in result.notes)
    yield from remarks.chance_lines(figures.all_rows(report))
    yield from filter(None, [figures.run_speed(report.speed)])
    if report.dataset_results:
        yield from service_notes(report.plan, report.service, report.replicas)


def _counts(result: DatasetResult) -> str:
    trouble = ", ".join(figures.count_remarks(result.counts))
    answered = figures.answered(result.counts)
    if not trouble:
        return say("{dataset}: {answered}.", dataset=result.dataset, answered=answered)
    return say("{dataset}: {answered}; {trouble}.", dataset=result.dataset, answered=answered, trouble=trouble)


def _baseline(report: Report) -> Iterator[str]:
    if report.comparison:
        yield f"{say('Against the baseline')}\n\n{comparison.as_text(report.comparison)}"


def verdict(report: Report) -> Iterator[str]:
    """The gates, how the run ended, and where its folder is."""
    outcome = report.outcome
    for gate in report.gates:
        if gate.sentence not in outcome.sentence:
            yield say("Gate {sentence}", sentence=gate.sentence)
    ending = endings.words(report)
    between = "." if ":" in ending else ":"
    yield say("{ending} (exit code {code})", ending=ending, code=outcome.exit_code) + f"{between} {outcome.sentence}"
    if outcome.detail:
        yield outcome.detail
    if outcome.folder:
        yield say("Report: {file}", file=f"{outcome.folder}/report.html")
    if command := endings.next_step(report):
        yield say("Next: {command}", command=command)
