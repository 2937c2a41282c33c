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
from model_accuracy_eval.records.plan import stack_line
from model_accuracy_eval.records.report import CheckConclusion, is_verdict
from model_accuracy_eval.report import comparison, figures, markdown, remarks, sections
from model_accuracy_eval.report.endings import CONCLUSIONS, outcome, title, words
from model_accuracy_eval.report.languages import of_report, say
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

_LINES_SHOWN, _ROWS_SHOWN, _PARTS_SHOWN, _OTHERS_SHOWN = 10, 20, 3, 4
_DECISIONS = {"failed": "❌", "undecided": "❔", "passed": "✅"}


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
    return _page(result, identity, links, limit=LONGEST_SECTION, measure=markdown.characters)


def as_summary(
    result: Report | Outcome,
    *,
    identity: Identity = UNKNOWN,
    links: Links | None = None,
    limit: int = LONGEST_SUMMARY,
) -> str:
    """The job summary: the same. `limit` is in bytes."""
    return _page(result, identity, links, limit=limit, measure=markdown.octets)


def as_check(result: Report | Outcome, *, identity: Identity = UNKNOWN, links: Links | None = None) -> CheckText:
    return CheckText(
        conclusion=CONCLUSIONS[outcome(result).conclusion].check,
        title=title(result),
        summary=as_summary(result, identity=identity, links=links, limit=LONGEST_CHECK),
    )


def _page(
    result: Report | Outcome,
    identity: Identity,
    links: Links | None,
    *,
    limit: int,
    measure: MeasureText,
) -> str:
    result = of_report(result) if isinstance(result, Report) else result
    parts = [*_parts(result)] if isinstance(result, Report) else [_models(result)]
    detail = tuple(markdown.block_line(line) for line in outcome(result).detail.splitlines())
    parts.append(
        MarkdownPart(title=say("Detail"), lines=detail, rank=5, head=("<pre>",), foot=("</pre>",), keep_end=True)
    )
    return markdown.fit(_opening(result, identity), parts, _links(links or Links()), limit=limit, measure=measure)


def _models(ending: Outcome) -> MarkdownPart:
    """A row for each model."""
    lines = [
        _line([
            markdown.text(say("{model} (advisory)", model=row.name) if row.tier == "advisory" else row.name, 100),
            f"{CONCLUSIONS[row.conclusion].mark} {say(CONCLUSIONS[row.conclusion].words)}",
            markdown.text(row.figures, 400),
            markdown.text(row.sentence, 400),
        ])
        for row in ending.models
    ]  # fmt: skip
    head = (_line([say("model"), say("verdict"), say("figures"), say("why")]), _line(["---"] * 4))
    return MarkdownPart(title=say("Models"), lines=tuple(lines), rank=0, shown=_ROWS_SHOWN, head=head, heading=False)


def _opening(result: Report | Outcome, identity: Identity) -> str:
    ending = outcome(result)
    verdict = CONCLUSIONS[ending.conclusion]
    heading = markdown.text(words(result), 200)
    if isinstance(result, Report) and result.service and result.service.model:
        heading += f" · {markdown.text(result.service.model, 100)}"
    about = "\n\n" + say("Verdict about {identity}", identity=markdown.literal(identity.line)) if identity.line else ""
    stack = stack_line(result.service.stack) if isinstance(result, Report) and result.service else ""
    about += "\n\n" + say("Stack: {stack}", stack=markdown.literal(stack)) if stack else ""
    found = remarks.faults(result.service) if isinstance(result, Report) else ()
    sentence = markdown.text(" ".join([*found, ending.sentence]), 2000)
    # "Complete: asked, not judged" has a colon of its own.
    between = " ·" if ":" in words(result) else ":"
    return f"### {verdict.mark} {say('Model accuracy')}{between} {heading}\n\n{sentence}{about}"


def _parts(report: Report) -> Iterator[MarkdownPart]:
    """The parts in reading order; their ranks say which get their space first."""
    rows = figures.all_rows(report)
    # An incomplete run is not held against another one.
    baseline = report.comparison if is_verdict(report.outcome.conclusion) else None
    yield _table(report, rows, baseline)
    yield lowest_parts(report.dataset_results)
    # What the verdict has said already is not said again.
    gates = [gate for gate in report.gates if gate.sentence not in report.outcome.sentence]
    yield MarkdownPart(title=say("Other gates"), lines=tuple(map(_gate, gates)), rank=1, shown=_LINES_SHOWN)
    lost = tuple(_lost(baseline)) if baseline else ()
    yield MarkdownPart(title=say("Problems that fell"), lines=lost, rank=1, shown=_LINES_SHOWN)
    counts = tuple(line for result in report.dataset_results for line in _counts(result))
    yield MarkdownPart(title=say("Samples"), lines=counts, rank=2, shown=_LINES_SHOWN)
    yield MarkdownPart(title=say("Notes"), lines=tuple(_notes(report)), rank=3, shown=_LINES_SHOWN)
    yield MarkdownPart(title=say("How to read the figures"), lines=tuple(_advice(report)), rank=6)
    yield MarkdownPart(title=say("What ran"), lines=tuple(_facts(report)), rank=4)


def _table(report: Report, rows: Sequence[SummaryRow], baseline: Comparison | None) -> MarkdownPart:
    """A line for each dataset: its first figure, by the name that gates use, and the others; beside them the baseline's
    figure with the change and its interval."""
    by_dataset: dict[str, list[SummaryRow]] = {}
    for row in rows:
        by_dataset.setdefault(row.dataset, []).append(row)
    firsts = {name: _first(lines) for name, lines in by_dataset.items()}
    marks = [column for column in figures.COLUMNS if column.name in {"rows", "replies"}]
    marks = [column for column in marks if any(column.text(row) != "-" for row in rows)]
    names = ["dataset", "figure", "if asked again", "on other problems", "others", *(mark.name for mark in marks)]
    head = [*map(say, names)]
    if baseline:
        head += [say("baseline ({run})", run=markdown.code(baseline.base[:8])), say("change")]
    lines = []
    for name, row in firsts.items():
        others = [f"{markdown.text(other.metric, 40)}\u00a0{_value(other)}" for other in by_dataset[name]
                  if other is not row and not _is_same(other, row)]  # fmt: skip
        cells = [markdown.text(name, 100), f"{markdown.text(row.metric, 40)}\u00a0**{_value(row)}**",
                 say(figures.if_asked_again(row)), figures.span(row.interval), _listed(others),
                 *(mark.text(row) for mark in marks), *(_change(row, baseline) if baseline else [])]  # fmt: skip
        lines.append(_line(cells))
    rule = ["---" if place in {0, names.index("others")} else "--:" for place in range(len(head))]
    return MarkdownPart(
        title=say("Figures"),
        lines=tuple(lines),
        rank=0,
        shown=_ROWS_SHOWN,
        head=(_line(head), _line(rule)),
        heading=False,
    )


def _listed(others: Sequence[str]) -> str:
    more = [say("{count} more", count=len(others) - _OTHERS_SHOWN)] if len(others) > _OTHERS_SHOWN else []
    return ", ".join([*others[:_OTHERS_SHOWN], *more]) or "-"


def _first(rows: Sequence[SummaryRow]) -> SummaryRow:
    """Of figures that are one, that with the name which gates use."""
    first = next((row for row in rows if row.value is not None), rows[0])
    return next((row for row in rows if row.metric.startswith("avg@") and _is_same(row, first)), first)


def _is_same(row: SummaryRow, other: SummaryRow) -> bool:
    names = {row.metric.partition("@")[0].partition(" ")[0], other.metric.partition("@")[0].partition(" ")[0]}
    return names == {"accuracy", "avg"} and row.value == other.value


def _value(row: SummaryRow) -> str:
    return f"{figures.shown(row)}{f' ({figures.range_of(row.bounds)})' if row.bounds else ''}"


def _line(cells: list[str]) -> str:
    """Intervals are not broken."""
    return f"| {' | '.join(cells)} |".replace(" .. ", "\u00a0..\u00a0")


def _change(row: SummaryRow, baseline: Comparison) -> list[str]:
    """The baseline's figure, and the points since then."""
    difference = baseline.find(row.dataset, row.metric)
    if difference is None:
        return ["-", "-"]
    interval = f" ({comparison.points_interval(difference)})" if difference.interval else ""
    return [figures.number(difference.old), f"{comparison.points(difference)}{interval}"]


def _lost(baseline: Comparison) -> Iterator[str]:
    """Problems that were right more often, with a reply that is wrong now."""
    for change in baseline.changes:
        for each in change.flips.replies if change.flips else ():
            right, reply = (markdown.text(text, 300) for text in (each.right, each.reply or say("(empty)")))
            yield "- " + say(
                "{dataset}, problem {problem}: {right} is right, and a reply is: {reply}",
                dataset=markdown.text(change.dataset, 100),
                problem=each.problem,
                right=right,
                reply=reply,
            )


def lowest_parts(results: Sequence[DatasetResult]) -> MarkdownPart:
    """The parts of all datasets with the lowest figures."""
    parts = [(chart.dataset, part) for chart in sections.parts(results) for part in chart.shown]
    lowest = sorted(parts, key=lambda item: item[1].value)[:_PARTS_SHOWN]
    lines = tuple(
        f"- {markdown.text(dataset, 100)}, {markdown.text(part.name, 100)}: "
        f"**{figures.number(part.value)}** ({figures.span(part.interval)}), "
        f"{say('1 problem') if part.problems == 1 else say('{count} problems', count=part.problems)}"
        for dataset, part in lowest
    )
    return MarkdownPart(title=say("Lowest parts"), lines=lines, rank=2, shown=_PARTS_SHOWN)


def _gate(result: GateResult) -> str:
    return f"- {_DECISIONS[result.decision]} {markdown.text(result.sentence, 500)}"


def _counts(result: DatasetResult) -> Iterator[str]:
    """What is wrong with a dataset's samples, if anything is."""
    remarks = figures.count_remarks(result.counts)
    if remarks or result.counts.answered < result.counts.planned:
        yield f"- {markdown.text(result.dataset, 100)}: {', '.join([figures.answered(result.counts), *remarks])}"


def _notes(report: Report) -> Iterator[str]:
    for result in report.dataset_results:
        for note in result.notes:
            yield f"- {markdown.text(result.dataset, 100)}: {markdown.text(note, 600)}"
    if report.dataset_results:
        yield from (
            f"- {markdown.text(note, 1000)}" for note in service_notes(report.plan, report.service, report.replicas)
        )
    if report.comparison:
        changes = [f"{change.dataset}: {note}" for change in report.comparison.changes for note in change.notes]
        notes = (*changes, *comparison.run_remarks(report.comparison))
        yield from (f"- {markdown.text(note, 1000)}" for note in notes)


def _advice(report: Report) -> Iterator[str]:
    for piece in remarks.advise(figures.all_rows(report), report.dataset_results):
        yield f"- {markdown.text(piece.dataset, 100)}: {piece.profile} {piece.next_steps}"
    for line in remarks.chance_lines(figures.all_rows(report)):
        yield f"- {markdown.text(line, 400)}"


def _facts(report: Report) -> Iterator[str]:
    settings = report.plan.settings
    datasets = [f"{result.dataset} ({result.version})" for result in report.dataset_results]
    facts = {
        say("model"): (report.service.model if report.service else None)
        or settings.model
        or settings.model_name
        or "-",
        say("service"): report.service.base_url if report.service else "-",
        say("samples per problem"): _samples(report.plan),
        say("datasets"): ", ".join(datasets) or "-",
        say("started and finished"): " – ".join(map(remarks.to_the_second, (report.started, report.finished))),
        say("seconds"): ", ".join(f"{say(stage)} {seconds:.1f}" for stage, seconds in report.seconds.items()) or "-",
        **report.environment,
        **(report.service.stack if report.service else {}),
    }
    yield f"- {say('run')}: {markdown.code(report.plan.run_id)}"
    if report.speed:
        yield f"- {markdown.text(figures.run_speed(report.speed), 600)}"
    for name, value in facts.items():
        yield f"- {markdown.text(name, 60)}: {markdown.text(value, 400)}"


def _samples(plan: RunPlan) -> str:
    """Their number and temperature, by dataset where these differ."""
    texts = {}
    for task in plan.tasks:
        drawn = plan.sampling.of(task)
        texts[task.name] = say("{n} (temperature {temperature})", n=drawn.n, temperature=f"{drawn.temperature:g}")
    if len(set(texts.values())) == 1:
        return next(iter(texts.values()))
    return ", ".join(f"{name}: {text}" for name, text in texts.items())


def _links(links: Links) -> str:
    urls = {say("Full report (artifact)"): links.artifact, say("Check"): links.check, say("Workflow run"): links.run}
    return " · ".join(markdown.link(words, url[:2000]) for words, url in urls.items() if url)
