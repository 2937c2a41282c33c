"""What reviewers read: the comment on the pull request, the job summary and the check, from one report.

The verdict comes first, then the figures, then what counts against them. Everything else is folded. An outcome
alone, such as a refusal, is told in the same form.
"""

from collections.abc import Iterator

from model_accuracy_eval.records import GateResult, Outcome, Record, Report, RunPlan, Sheet
from model_accuracy_eval.reporting import advice, comparison, figures, fitting, foreign, summary
from model_accuracy_eval.reporting.figures import Figures
from model_accuracy_eval.reporting.fitting import Part
from model_accuracy_eval.reporting.verdicts import VERDICTS, CheckConclusion, outcome, title

LONGEST_COMMENT = 65_536 - 100
"""GitHub takes 65,536 characters; the marker stands above."""
LONGEST_CHECK = 65_535
"""Bytes, not characters."""
LONGEST_SUMMARY = 1024 * 1024

_LINES_SEEN = 10
_DECISIONS = {"failed": "❌", "undecided": "❔", "passed": "✅"}
"""The worst first."""


class Links(Record, frozen=True, kw_only=True):
    """Where more is to be found; empty where there is nothing."""

    artifact: str = ""
    check: str = ""
    run: str = ""


class Check(Record, frozen=True, kw_only=True):
    """What a check run is completed with."""

    conclusion: CheckConclusion
    title: str
    summary: str


def as_comment(
    told: Report | Outcome, *, key: str, commit: str = "", links: Links | None = None, before: Figures | None = None
) -> str:
    """`key` is `figures.key_of(…)`; `before` what the last comment carried, or a baseline."""
    now = figures.of_report(told, commit[:12]) if isinstance(told, Report) else None
    # A run without a verdict hands on what it was to be compared with.
    opening = f"{figures.marker(key, now or before)}\n{_opening(told, commit)}"
    return _page(told, opening, links, before, limit=LONGEST_COMMENT, size=fitting.characters)


def as_summary(
    told: Report | Outcome,
    *,
    commit: str = "",
    links: Links | None = None,
    before: Figures | None = None,
    limit: int = LONGEST_SUMMARY,
) -> str:
    """The job summary: the same without a marker, in bytes."""
    return _page(told, _opening(told, commit), links, before, limit=limit, size=fitting.octets)


def as_check(
    told: Report | Outcome, *, commit: str = "", links: Links | None = None, before: Figures | None = None
) -> Check:
    return Check(
        conclusion=VERDICTS[outcome(told).conclusion].check,
        title=title(told),
        summary=as_summary(told, commit=commit, links=links, before=before, limit=LONGEST_CHECK),
    )


def _page(
    told: Report | Outcome, opening: str, links: Links | None, before: Figures | None, *, limit: int, size: fitting.Size
) -> str:
    ended = outcome(told)
    parts = [*_parts(told, before)] if isinstance(told, Report) else []
    detail = tuple(foreign.block_line(line) for line in ended.detail.splitlines())
    parts.append(
        Part(title="Detail", lines=detail, rank=5, head=("<pre>",), foot=("</pre>",), last=True),
    )
    return fitting.page(opening, parts, _links(links or Links()), limit=limit, size=size)


def _opening(told: Report | Outcome, commit: str) -> str:
    ended = outcome(told)
    verdict = VERDICTS[ended.conclusion]
    label = f" · {foreign.text(told.plan.label, 100)}" if isinstance(told, Report) else ""
    place = f" Commit: {foreign.code(commit[:12])}." if commit else ""
    sentence = foreign.text(ended.sentence, 2000)
    return (
        f"### {verdict.mark} Model accuracy: {verdict.words}{label}\n\n"
        f"{sentence}\n\nStage: {foreign.text(ended.stage, 60)}. Exit code: {ended.exit_code}.{place}"
    )


def _parts(report: Report, before: Figures | None) -> Iterator[Part]:
    """In reading order; ranks say who gets room first."""
    whole = report.outcome.conclusion in {"passed", "failed", "undecided"}
    before = (figures.of_baseline(report) or before) if whole else None
    yield comparison.table(summary.all_rows(report), before, report.comparison)
    gates = sorted(report.gates, key=lambda result: list(_DECISIONS).index(result.decision))
    yield Part(title="Gates", lines=tuple(map(_gate, gates)), rank=1, shown=_LINES_SEEN)
    yield Part(title="Samples", lines=tuple(map(_counts, report.sheets)), rank=2, shown=_LINES_SEEN)
    notes = [*comparison.other_versions(report, before), *_notes(report), *comparison.remarks(report)]
    yield Part(title="Notes", lines=tuple(notes), rank=3, shown=_LINES_SEEN)
    yield Part(title="How to read the figures", lines=tuple(_advice(report)), rank=6)
    yield Part(title="What ran", lines=tuple(_facts(report)), rank=4)


def _gate(result: GateResult) -> str:
    return f"- {_DECISIONS[result.decision]} {foreign.text(result.sentence, 500)}"


def _counts(sheet: Sheet) -> str:
    counts = sheet.counts
    told = "".join(f", {part}" for part in summary.remarkable(counts))
    return f"- {foreign.text(sheet.dataset, 100)}: {counts.answered} of {counts.planned} samples answered{told}"


def _notes(report: Report) -> Iterator[str]:
    for sheet in report.sheets:
        for note in sheet.notes:
            yield f"- {foreign.text(sheet.dataset, 100)}: {foreign.text(note, 600)}"


def _advice(report: Report) -> Iterator[str]:
    for piece in advice.advise(summary.all_rows(report)):
        yield f"- {foreign.text(piece.dataset, 100)}: {piece.profile} {piece.next_steps}"


def _facts(report: Report) -> Iterator[str]:
    plan = report.plan
    facts = {
        "model": (report.service.model if report.service else None) or plan.model or plan.model_name or "-",
        "service": report.service.base_url if report.service else "-",
        "samples of every problem": _samples(plan),
        "datasets": ", ".join(f"{sheet.dataset} ({sheet.version})" for sheet in report.sheets) or "-",
        "started and finished": f"{report.started} – {report.finished}",
        "seconds": ", ".join(f"{stage} {seconds:.1f}" for stage, seconds in report.seconds.items()) or "-",
        **report.environment,
    }
    yield f"- run: {foreign.code(plan.run_id)}"
    yield from (f"- {foreign.text(name, 60)}: {foreign.text(value, 400)}" for name, value in facts.items())


def _samples(plan: RunPlan) -> str:
    asked = {task.name: plan.sampling.of(task) for task in plan.tasks}
    told = {f"{sampling.n} (temperature {sampling.temperature:g})" for sampling in asked.values()}
    if len(told) == 1:
        return told.pop()
    return ", ".join(f"{name}: {one.n} (temperature {one.temperature:g})" for name, one in asked.items())


def _links(links: Links) -> str:
    named = {"Full report (artifact)": links.artifact, "Check": links.check, "Workflow run": links.run}
    return " · ".join(foreign.link(words, url[:2000]) for words, url in named.items() if url)
