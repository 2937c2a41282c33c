"""What reviewers read: the comment on the pull request, the job summary and the check, from one report.

The verdict comes first, then the figures, then what counts against them. Everything else is folded. An outcome
without a report, such as a refusal, has the same form.
"""

from collections.abc import Iterator, Sequence

from model_accuracy_eval.records import (
    Comparison,
    DatasetResult,
    GateResult,
    Identity,
    Outcome,
    Record,
    Report,
    RunPlan,
    SummaryRow,
)
from model_accuracy_eval.records.identity import stack_line
from model_accuracy_eval.records.report import CheckConclusion, is_verdict
from model_accuracy_eval.report import comparison, figures, markdown, remarks, sections
from model_accuracy_eval.report.endings import CONCLUSIONS, outcome, title, words
from model_accuracy_eval.report.figures import VALUE, TableColumn
from model_accuracy_eval.report.markdown import MarkdownPart, MeasureText
from model_accuracy_eval.report.remarks import service_notes

LONGEST_COMMENT = 65_536 - 100
"""GitHub takes 65,536 characters, the marker among them."""
LONGEST_SECTION = LONGEST_COMMENT - 12_000
"""Room for what a comment says of all its sections."""
UNKNOWN = Identity()
LONGEST_CHECK = 65_535
"""Bytes, not characters."""
LONGEST_SUMMARY = 1024 * 1024

_LINES_SHOWN, _ROWS_SHOWN, _PARTS_SHOWN = 10, 20, 3
_VISIBLE = 0.005
"""Smaller changes are shown as 0.00."""
_DECISIONS = {"failed": "❌", "undecided": "❔", "passed": "✅"}
"""The worst first."""


class Links(Record, frozen=True, kw_only=True):
    """Addresses of the artifact, the check and the workflow run; empty where there is none."""

    artifact: str = ""
    check: str = ""
    run: str = ""


class CheckText(Record, frozen=True, kw_only=True):
    """The end of a check run."""

    conclusion: CheckConclusion
    title: str
    summary: str


def as_comment(result: Report | Outcome, *, identity: Identity = UNKNOWN, links: Links | None = None) -> str:
    """What the comment says of one identity; `comment_sections` puts it between those of the others."""
    return _page(result, _opening(result, identity), links, limit=LONGEST_SECTION, measure=markdown.characters)


def as_summary(
    result: Report | Outcome,
    *,
    identity: Identity = UNKNOWN,
    links: Links | None = None,
    limit: int = LONGEST_SUMMARY,
) -> str:
    """The job summary: the same. `limit` is in bytes."""
    return _page(result, _opening(result, identity), links, limit=limit, measure=markdown.octets)


def as_check(result: Report | Outcome, *, identity: Identity = UNKNOWN, links: Links | None = None) -> CheckText:
    return CheckText(
        conclusion=CONCLUSIONS[outcome(result).conclusion].check,
        title=title(result),
        summary=as_summary(result, identity=identity, links=links, limit=LONGEST_CHECK),
    )


def _page(
    result: Report | Outcome,
    opening: str,
    links: Links | None,
    *,
    limit: int,
    measure: MeasureText,
) -> str:
    parts = [*_parts(result)] if isinstance(result, Report) else []
    detail = tuple(markdown.block_line(line) for line in outcome(result).detail.splitlines())
    parts.append(MarkdownPart(title="Detail", lines=detail, rank=5, head=("<pre>",), foot=("</pre>",), keep_end=True))
    return markdown.fit(opening, parts, _links(links or Links()), limit=limit, measure=measure)


def _opening(result: Report | Outcome, identity: Identity) -> str:
    ending = outcome(result)
    verdict = CONCLUSIONS[ending.conclusion]
    label = f" · {markdown.text(result.plan.settings.label, 100)}" if isinstance(result, Report) else ""
    about = f"\n\nVerdict about {markdown.literal(identity.line)}" if identity.line else ""
    stack = stack_line(result.service.stack) if isinstance(result, Report) and result.service else ""
    about += f"\n\nStack: {markdown.literal(stack)}" if stack else ""
    sentence = markdown.text(ending.sentence, 2000)
    heading = markdown.text(words(result), 200)
    # What a run without a gate came to has a colon of its own.
    between = " ·" if ":" in heading else ":"
    return (
        f"### {verdict.mark} Model accuracy{between} {heading}{label}\n\n"
        f"{sentence}\n\nStage: {markdown.text(ending.stage, 60)}. Exit code: {ending.exit_code}.{about}"
    )


def _parts(report: Report) -> Iterator[MarkdownPart]:
    """The parts in reading order; their ranks say which get their space first."""
    rows = figures.all_rows(report)
    # An incomplete run is not held against another one.
    baseline = report.comparison if is_verdict(report.outcome.conclusion) else None
    yield _table(rows, report.plan.settings.label, baseline)
    change = tuple(_changed(rows, baseline)) if baseline else ()
    yield MarkdownPart(title="Changes", lines=change, rank=0, shown=1, heading=False)
    yield lowest_parts(report.dataset_results)
    gates = sorted(report.gates, key=lambda result: list(_DECISIONS).index(result.decision))
    yield MarkdownPart(title="Gates", lines=tuple(map(_gate, gates)), rank=1, shown=_LINES_SHOWN)
    # Of sixty datasets ten are seen at once: those that lost samples.
    by_loss = sorted(report.dataset_results, key=lambda result: result.counts.answered >= result.counts.planned)
    yield MarkdownPart(title="Samples", lines=tuple(map(_counts, by_loss)), rank=2, shown=_LINES_SHOWN)
    yield MarkdownPart(title="Notes", lines=tuple(_notes(report)), rank=3, shown=_LINES_SHOWN)
    yield MarkdownPart(title="How to read the figures", lines=tuple(_advice(report)), rank=6)
    yield MarkdownPart(title="What ran", lines=tuple(_facts(report)), rank=4)


def _table(rows: Sequence[SummaryRow], label: str, baseline: Comparison | None) -> MarkdownPart:
    """The figures, and beside them those of the baseline with the changes and their intervals."""
    columns = figures.columns(rows, "comment")
    head = [markdown.text(label, 60) if column.name == VALUE else column.name for column in columns]
    rule = ["---" if column.longest else "--:" for column in columns]
    cells = [[_cell(column, row) for column in columns] for row in rows]
    if baseline:
        head += [f"baseline ({markdown.code(baseline.base[:12])})", "change"]
        rule += ["--:", "--:"]
        cells = [[*line, *_change(row, baseline)] for line, row in zip(cells, rows, strict=True)]
    return MarkdownPart(
        title="Figures",
        lines=tuple(map(_line, cells)),
        rank=0,
        shown=_ROWS_SHOWN,
        head=(_line(head), _line(rule)),
        heading=False,
    )


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(column: TableColumn, row: SummaryRow) -> str:
    cell = column.text(row)
    if column.longest and cell != "-":
        return markdown.text(cell, column.longest)
    if column.name != VALUE or row.value is None:
        return cell
    return f"**{cell}**{f' ({figures.range_of(row.bounds)})' if row.bounds else ''}"


def _change(row: SummaryRow, baseline: Comparison) -> list[str]:
    """The baseline's figure, and the points since then."""
    difference = baseline.find(row.dataset, row.metric)
    if difference is None:
        return ["-", "-"]
    interval = f" ({comparison.points_interval(difference)})" if difference.interval else ""
    return [figures.number(difference.old), f"{comparison.points(difference)}{interval}"]


def _changed(rows: Sequence[SummaryRow], baseline: Comparison) -> Iterator[str]:
    """One line on what changed, of the changes that are known exactly."""
    found = ((row, baseline.find(row.dataset, row.metric)) for row in rows)
    points = [(each.points, row) for row, each in found if each and each.points is not None and not each.bounds]
    if points:
        rose, fell = sum(change >= _VISIBLE for change, _ in points), sum(change <= -_VISIBLE for change, _ in points)
        most, row = max(points, key=lambda change: abs(change[0]))
        name = f"{markdown.text(row.dataset, 100)} {markdown.text(row.metric, 60)}"
        visible = abs(most) >= _VISIBLE
        yield (
            f"Against the baseline {markdown.code(baseline.base[:12])}: {rose} of {len(points)} figures rose and "
            f"{fell} fell{f', most of all {name}: {figures.signed(most)}' if visible else ''}."
        )


def lowest_parts(results: Sequence[DatasetResult]) -> MarkdownPart:
    """The parts of all datasets with the lowest figures."""
    parts = [(chart.dataset, part) for chart in sections.parts(results) for part in chart.shown]
    lowest = sorted(parts, key=lambda item: item[1].value)[:_PARTS_SHOWN]
    lines = tuple(
        f"- {markdown.text(dataset, 100)}, {markdown.text(part.name, 100)}: "
        f"**{figures.number(part.value)}** ({figures.span(part.interval)}), "
        f"{part.problems} problem{'' if part.problems == 1 else 's'}"
        for dataset, part in lowest
    )
    return MarkdownPart(title="Lowest parts", lines=lines, rank=2, shown=_PARTS_SHOWN)


def _gate(result: GateResult) -> str:
    return f"- {_DECISIONS[result.decision]} {markdown.text(result.sentence, 500)}"


def _counts(result: DatasetResult) -> str:
    trouble = "".join(f", {remark}" for remark in figures.count_remarks(result.counts))
    name = markdown.text(result.dataset, 100)
    return f"- {name}: {result.counts.answered} of {result.counts.planned} samples answered{trouble}"


def _notes(report: Report) -> Iterator[str]:
    for result in report.dataset_results:
        for note in result.notes:
            yield f"- {markdown.text(result.dataset, 100)}: {markdown.text(note, 600)}"
    if report.dataset_results:
        yield from (
            f"- {markdown.text(note, 1000)}" for note in service_notes(report.plan, report.service, report.replicas)
        )
    if report.comparison:
        yield from (f"- {line}" for line in comparison.lines(report.comparison))


def _advice(report: Report) -> Iterator[str]:
    for piece in remarks.advise(figures.all_rows(report)):
        yield f"- {markdown.text(piece.dataset, 100)}: {piece.profile} {piece.next_steps}"
    for line in (*remarks.again_lines(figures.all_rows(report)), *remarks.chance_lines(figures.all_rows(report))):
        yield f"- {markdown.text(line, 400)}"


def _facts(report: Report) -> Iterator[str]:
    settings = report.plan.settings
    datasets = [f"{result.dataset} ({result.version})" for result in report.dataset_results]
    facts = {
        "model": (report.service.model if report.service else None) or settings.model or settings.model_name or "-",
        "service": report.service.base_url if report.service else "-",
        "samples per problem": _samples(report.plan),
        "datasets": ", ".join(datasets) or "-",
        "started and finished": f"{report.started} – {report.finished}",
        "seconds": ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in report.seconds.items()) or "-",
        **report.environment,
        **(report.service.stack if report.service else {}),
    }
    yield f"- run: {markdown.code(report.plan.run_id)}"
    for name, value in facts.items():
        yield f"- {markdown.text(name, 60)}: {markdown.text(value, 400)}"


def _samples(plan: RunPlan) -> str:
    """Their number and temperature, by dataset where these differ."""
    by_task = {task.name: plan.sampling.of(task) for task in plan.tasks}
    texts = {name: f"{sampling.n} (temperature {sampling.temperature:g})" for name, sampling in by_task.items()}
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return ", ".join(f"{name}: {text}" for name, text in texts.items())


def _links(links: Links) -> str:
    urls = {"Full report (artifact)": links.artifact, "Check": links.check, "Workflow run": links.run}
    return " · ".join(markdown.link(words, url[:2000]) for words, url in urls.items() if url)
