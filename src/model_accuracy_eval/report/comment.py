"""What reviewers read: the comment on the pull request, the job summary and the check, from one report.

The verdict comes first, then the figures, then what counts against them. Everything else is folded. An outcome
without a report, such as a refusal, has the same form.
"""

from collections.abc import Iterator

from model_accuracy_eval.records import DatasetResult, GateResult, Outcome, Record, Report, RunPlan
from model_accuracy_eval.records.github import CheckConclusion
from model_accuracy_eval.records.report import is_verdict
from model_accuracy_eval.report import advice, comment_figures, comparison, figures, markdown
from model_accuracy_eval.report.comment_figures import Figures
from model_accuracy_eval.report.endings import CONCLUSIONS, outcome, title, words
from model_accuracy_eval.report.markdown import MarkdownPart, MeasureText
from model_accuracy_eval.report.remarks import service_notes

LONGEST_COMMENT = 65_536 - 100
"""GitHub takes 65,536 characters."""
LONGEST_CHECK = 65_535
"""Bytes, not characters."""
LONGEST_SUMMARY = 1024 * 1024

_LINES_SHOWN = 10
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


def as_comment(
    result: Report | Outcome,
    *,
    key: str,
    commit: str = "",
    head: str | None = "",
    links: Links | None = None,
    before: Figures | None = None,
) -> str:
    """The comment. `key` is `comment_figures.key_of(…)`, `before` the figures in the comment of the last run.

    `head`: the pull request's head by now, which may be another commit than the evaluated one; None: unknown.
    """
    now = comment_figures.of_report(result, commit[:12]) if isinstance(result, Report) else None
    # A run without a verdict leaves the earlier figures in the comment, for the next run to compare with.
    opening = f"{comment_figures.marker(key, now or before)}\n{_opening(result, commit)}{_other_head(commit, head)}"
    return _page(result, opening, links, before, limit=LONGEST_COMMENT, measure=markdown.characters)


def as_summary(
    result: Report | Outcome,
    *,
    commit: str = "",
    links: Links | None = None,
    before: Figures | None = None,
    limit: int = LONGEST_SUMMARY,
) -> str:
    """The job summary: the same without a marker. `limit` is in bytes."""
    return _page(result, _opening(result, commit), links, before, limit=limit, measure=markdown.octets)


def as_check(
    result: Report | Outcome, *, commit: str = "", links: Links | None = None, before: Figures | None = None
) -> CheckText:
    return CheckText(
        conclusion=CONCLUSIONS[outcome(result).conclusion].check,
        title=title(result),
        summary=as_summary(result, commit=commit, links=links, before=before, limit=LONGEST_CHECK),
    )


def _page(
    result: Report | Outcome,
    opening: str,
    links: Links | None,
    before: Figures | None,
    *,
    limit: int,
    measure: MeasureText,
) -> str:
    parts = [*_parts(result, before)] if isinstance(result, Report) else []
    detail = tuple(markdown.block_line(line) for line in outcome(result).detail.splitlines())
    parts.append(MarkdownPart(title="Detail", lines=detail, rank=5, head=("<pre>",), foot=("</pre>",), keep_end=True))
    return markdown.fit(opening, parts, _links(links or Links()), limit=limit, measure=measure)


def _opening(result: Report | Outcome, commit: str) -> str:
    ending = outcome(result)
    verdict = CONCLUSIONS[ending.conclusion]
    label = f" · {markdown.text(result.plan.settings.label, 100)}" if isinstance(result, Report) else ""
    place = f" Commit: {markdown.code(commit[:12])}." if commit else ""
    sentence = markdown.text(ending.sentence, 2000)
    heading = markdown.text(words(result), 200)
    # What a run without a gate came to has a colon of its own.
    between = " ·" if ":" in heading else ":"
    return (
        f"### {verdict.mark} Model accuracy{between} {heading}{label}\n\n"
        f"{sentence}\n\nStage: {markdown.text(ending.stage, 60)}. Exit code: {ending.exit_code}.{place}"
    )


def _other_head(commit: str, head: str | None) -> str:
    if head is None:
        return "\n\n⚠️ GitHub did not say whether the head of this pull request is still this commit."
    if not head or head == commit:
        return ""
    return f"\n\n⚠️ The head of this pull request is {markdown.code(head[:12])} now, which was not evaluated."


def _parts(report: Report, before: Figures | None) -> Iterator[MarkdownPart]:
    """The parts in reading order; their ranks say which get their space first."""
    verdict, baseline = is_verdict(report.outcome.conclusion), comment_figures.of_baseline(report)
    earlier = before if verdict and not baseline else None
    before = (baseline if verdict else None) or comment_figures.comparable(report, earlier)
    rows, comparison_shown = figures.all_rows(report), report.comparison if baseline else None
    yield comment_figures.table(rows, report.plan.settings.label, before, report.comparison)
    change = comment_figures.changed(rows, before, comparison_shown)
    yield MarkdownPart(title="Changes", lines=(change,) * bool(change), rank=0, shown=1, heading=False)
    yield comment_figures.lowest_parts(report.dataset_results)
    gates = sorted(report.gates, key=lambda result: list(_DECISIONS).index(result.decision))
    yield MarkdownPart(title="Gates", lines=tuple(map(_gate, gates)), rank=1, shown=_LINES_SHOWN)
    # Of sixty datasets ten are seen at once: those that lost samples.
    by_loss = sorted(report.dataset_results, key=lambda result: result.counts.answered >= result.counts.planned)
    yield MarkdownPart(title="Samples", lines=tuple(map(_counts, by_loss)), rank=2, shown=_LINES_SHOWN)
    notes = [
        *comment_figures.other_sampling(report, earlier),
        *comment_figures.other_versions(report, before),
        *_notes(report),
    ]
    yield MarkdownPart(title="Notes", lines=tuple(notes), rank=3, shown=_LINES_SHOWN)
    yield MarkdownPart(title="How to read the figures", lines=tuple(_advice(report)), rank=6)
    yield MarkdownPart(title="What ran", lines=tuple(_facts(report)), rank=4)


def _gate(result: GateResult) -> str:
    return f"- {_DECISIONS[result.decision]} {markdown.text(result.sentence, 500)}"


def _counts(result: DatasetResult) -> str:
    remarks = "".join(f", {remark}" for remark in figures.count_remarks(result.counts))
    name = markdown.text(result.dataset, 100)
    return f"- {name}: {result.counts.answered} of {result.counts.planned} samples answered{remarks}"


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
    for piece in advice.advise(figures.all_rows(report)):
        yield f"- {markdown.text(piece.dataset, 100)}: {piece.profile} {piece.next_steps}"
    for line in (*advice.again_lines(figures.all_rows(report)), *advice.chance_lines(figures.all_rows(report))):
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
