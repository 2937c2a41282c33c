"""Reports for comments: ordinary ones, enormous ones, and ones in which everything foreign is hostile."""

from hypothesis import strategies as st
from msgspec.structs import replace
from tests.unit.report.fixed_report import report, row

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.records import (
    Comparison,
    Conclusion,
    Counts,
    DatasetChange,
    DatasetResult,
    Difference,
    Gate,
    GateResult,
    Outcome,
    Report,
    Service,
)
from model_accuracy_eval.report.comment import Links

LINKS = Links(
    artifact="https://github.test/o/r/actions/runs/1/artifacts/2",
    check="https://github.test/o/r/runs/3",
    run="https://github.test/o/r/actions/runs/1",
)
REFUSED = Refused("'somebody' has write permission and admin is needed.", detail="Ask an admin to run it.")
TAGS = {
    "h3", "p", "table", "thead", "tbody", "tr", "th", "td", "strong", "em", "ul", "li", "details", "summary",
    "pre", "code", "a", "br",
}  # fmt: skip
NASTY = [
    "|", "\\", "`", "``", "@octocat", "@", "<!--", "-->", "<img src=x>", "</details>", "</pre>", "&lt;", "&#64;", "#1",
    "GH-7", "https://evil.test", "www.evil.test", "a@evil.test", "avg@5", "**", "_", "[x](y)", "![x](y)", "\n", "\r",
    "\n\n", "| a |", "---", "1. ", "- ", "# ", "~~", "$x$", "\x00", "\u202e", "\u200b", "\ud800", "mailto:x", " ",
]  # fmt: skip
FOREIGN = st.lists(st.sampled_from(NASTY) | st.text(max_size=5), max_size=8).map("".join)


def against_baseline(whole: Report) -> Report:
    """With a baseline in which every figure was two points higher."""
    changes = tuple(
        DatasetChange(
            dataset=result.dataset,
            old_version=result.version,
            new_version=result.version,
            problems=2,
            differences=tuple(
                Difference(metric=row.metric, old=row.value + 2, new=row.value, points=-2.0)
                for row in result.rows
                if row.value is not None
            ),
            old_counts=result.counts,
            new_counts=result.counts,
            old_speed=result.speed,
            new_speed=result.speed,
        )
        for result in whole.dataset_results
    )
    return replace(whole, comparison=Comparison(base="0123456789ab", new="f" * 32, changes=changes))


def ended(conclusion: Conclusion, sentence: str = "A sentence.", detail: str = "") -> Outcome:
    return Outcome(conclusion=conclusion, exit_code=1, stage="gates", sentence=sentence, detail=detail)


def foreign_report(words: str) -> Report:
    """A report in which everything that can be foreign is."""
    gate = Gate(dataset=words, metric="avg@5", comparison=">=", threshold=60)
    dataset_result = DatasetResult(
        dataset=words,
        version="0ba9da",
        rows=(row("avg@5", 5.0, words), row(words, None, words)),
        problem_results=(),
        counts=Counts(planned=2, answered=1, failed=1),
        notes=(words,),
    )
    whole = report((dataset_result,), label=words)
    return replace(
        whole,
        outcome=ended("failed", words, words),
        gates=(GateResult(gate=gate, value=5.0, decision="failed", sentence=words),),
        service=Service(base_url=words, model=words, stack={words: words, "engine": words}),
        environment={words: words},
    )


def large_report(dataset_results: int, words: str, detail: int) -> Report:
    whole = foreign_report(words)
    each = whole.dataset_results[0]
    names = [f"{number}{words}" for number in range(dataset_results)]
    many_results = tuple(
        replace(each, dataset=name, rows=tuple(replace(row, dataset=name) for row in each.rows)) for name in names
    )
    return replace(
        whole,
        dataset_results=many_results,
        gates=whole.gates * dataset_results,
        outcome=ended("failed", words * 500, f"{words} line\n" * detail),
    )
