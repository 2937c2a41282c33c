"""The comment, the summary and the check: what they say, that they always fit, and that nothing foreign lives in them."""

import re
from collections.abc import Callable
from typing import get_args

import msgspec
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace
from tests import golden_files
from tests.unit.report.comment_samples import (
    FOREIGN,
    LINKS,
    REFUSED,
    TAGS,
    against_baseline,
    ended,
    foreign_report,
    large_report,
)
from tests.unit.report.fixed_report import many, problem_result, row, single
from tests.unit.report.rendered import live, render

from model_accuracy_eval.benchmarks.dataset_table import TASKS
from model_accuracy_eval.errors import AdapterFailed, BadValue, EvalError, NoHonestScore, Stopped
from model_accuracy_eval.records import (
    Conclusion,
    Counts,
    DatasetResult,
    FigureBounds,
    Flips,
    Identity,
    Interval,
    Report,
    Shard,
    VerdictReason,
)
from model_accuracy_eval.records.report import LostProblem
from model_accuracy_eval.report import comment, endings, markdown, page, terminal
from model_accuracy_eval.report.comment import Links

ABOUT = Identity(repository="acme/adapter", commit="89abcdef0123", weights="hf:acme/model@1f0c6d2e", label="fake")


@pytest.mark.parametrize("name", ["many", "single"])
def test_the_comment_looks_as_it_did(name: str) -> None:
    """With a baseline's figures beside the new ones, and without."""
    whole = {"many": against_baseline(many()), "single": single()}[name]
    golden_files.check(f"{name}/comment.md", comment.as_comment(whole, identity=ABOUT, links=LINKS))


def test_a_refusal_looks_as_it_did() -> None:
    """There is no report; there is a comment all the same, which says who can start it."""
    body = comment.as_comment(endings.error_outcome(REFUSED), links=Links(run=LINKS.run))
    golden_files.check("refused/comment.md", body)


@pytest.mark.parametrize(
    ("conclusion", "check", "words"),
    [
        ("passed", "success", "Passed"),
        ("failed", "failure", "Failed"),
        ("undecided", "action_required", "Undecided"),
        ("refused", "action_required", "Not started"),
        ("broken", "failure", "Infrastructure failure"),
        ("stopped", "cancelled", "Cancelled"),
    ],
)
def test_conclusions_are_shown_on_github(conclusion: Conclusion, check: str, words: str) -> None:
    """A gate that failed and a machine that failed are told apart by the title."""
    found = comment.as_check(ended(conclusion))
    assert found.conclusion == check
    assert found.title == f"{endings.CONCLUSIONS[conclusion].words}: A sentence."
    assert words in found.title
    assert words in found.summary


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda report: report, "Complete, no gate"),
        (lambda report: replace(report, plan=report.plan.with_settings(mode="infer")), "Complete: asked, not judged"),
        (
            lambda report: replace(report, plan=replace(report.plan, shard=Shard(index=1, count=3))),
            "Complete: shard 1/3",
        ),
    ],
)
def test_a_run_without_a_gate_says_what_it_came_to(change: Callable[[Report], Report], words: str) -> None:
    """The same words in the check's title, the comment and the terminal; nowhere that it passed."""
    report = change(replace(single(), dataset_results=single().dataset_results[:1]))
    shown = (comment.as_check(report).title, comment.as_comment(report), terminal.as_text(report))
    assert all(words in text and "passed" not in text.lower() for text in shown)
    assert f'<h1 id="verdict-title">{words}</h1>' in page.as_html(report, {}).decode()


def test_only_a_run_that_missed_no_gate_satisfies_a_required_check() -> None:
    """GitHub lets success, neutral and skipped satisfy one: a pass is the first, a run without gates the second."""
    assert set(endings.CONCLUSIONS) == set(get_args(Conclusion))
    by_check = {name: verdict.check for name, verdict in endings.CONCLUSIONS.items()}
    satisfying = {name: check for name, check in by_check.items() if check in ("success", "neutral", "skipped")}
    assert satisfying == {"passed": "success", "complete": "neutral"}
    assert {name for name, verdict in endings.CONCLUSIONS.items() if verdict.status == "success"} == set(satisfying)


@given(FOREIGN)
@example("\n\n<!-- x -->\n# heading")
@example("|`|`|\\|")
@example("@octocat")
@example("x@y.zz")
@example("https://github.test/o/r/issues/1 #1 GH-1 www.x.test")
@example("a" * 300 + "|")
@example("²mailto:x ²www.x.test ²GH-1 ²deadbeef")
@example("00000000:www")
@example("mailto")
def test_text_from_outside_is_only_text(words: str) -> None:
    """No tag, no comment, no link, no mention, no reference; and tables keep their columns."""
    body = comment.as_comment(
        against_baseline(foreign_report(words)),
        identity=Identity(repository=words, commit=words, label=words),
        links=LINKS,
    )
    shown = render(body)
    assert set(shown.tags) <= TAGS
    assert not shown.comments
    assert shown.links == list(msgspec.to_builtins(LINKS).values())
    assert live(shown) == []
    assert {len(cells) for cells in shown.rows} == {7}
    body.encode()


@settings(max_examples=15)
@given(st.integers(0, 120), st.sampled_from(["ok", "é", "😀", "漢字" * 60, '"' * 150, "@" * 150]), st.integers(0, 3000))
@example(3000, '"' * 150, 0)
@example(1, "x" * 9000, 1000)
@example(1, "ok", 100_000)
def test_everything_fits_and_the_verdict_is_never_lost(dataset_results: int, words: str, detail: int) -> None:
    """The comment in characters, the check in bytes; the first rows stand in both."""
    whole = against_baseline(large_report(dataset_results, words, detail))
    body = comment.as_comment(whole, links=LINKS)
    check = comment.as_check(whole, links=LINKS)
    assert len(body.encode("utf-16-le")) // 2 <= 65_536
    assert len(check.summary.encode()) <= 65_535
    for text in (body, check.summary):
        assert "Model accuracy: Failed" in text
        assert LINKS.artifact in text
        seen = text.partition("<details>")[0].count("\n| ")
        assert seen >= (2 + min(dataset_results, 20) if dataset_results else 0)
        assert text.count("<details>") == text.count("</details>")
        assert text.count("<pre>") == text.count("</pre>")


def test_sixty_datasets_fit_whole_and_what_was_lost_is_seen() -> None:
    """Verdict, table, the missed gate and the one dataset with lost samples are seen before anything is unfolded."""
    whole = many()
    lossless = msgspec.structs.replace(
        whole.dataset_results[0], counts=Counts(planned=10, answered=10), notes=("A note.",)
    )
    names = sorted(TASKS)[:60]
    results = [
        msgspec.structs.replace(
            lossless, dataset=name, rows=tuple(msgspec.structs.replace(row, dataset=name, bounds=None) for row in lossless.rows)
        )
        for name in names
    ]  # fmt: skip
    results[-1] = msgspec.structs.replace(results[-1], counts=Counts(planned=10, answered=7, failed=3))
    whole = msgspec.structs.replace(whole, dataset_results=tuple(results), gates=tuple(reversed(whole.gates)) * 30)
    whole = against_baseline(whole)
    body = comment.as_comment(whole, links=LINKS)
    summary = comment.as_summary(whole, links=LINKS)
    check = comment.as_check(whole, links=LINKS).summary
    assert markdown.characters(body) <= 65_536
    assert len(check.encode()) <= 65_535
    for text in (body, summary, check):
        assert "do not fit here" not in text
        seen = re.sub(r"<details>.*?</details>", "", text, flags=re.DOTALL)
        places = [
            seen.index(words)
            for words in ("Model accuracy: Failed", "| dataset |", "❌ demo", "7 of 10 samples answered", LINKS.artifact)
        ]  # fmt: skip
        assert places == sorted(places)


def test_what_does_not_fit_is_counted() -> None:
    """The end of a log is worth more than its beginning."""
    whole = msgspec.structs.replace(many(), outcome=ended("broken", "It died.", "early\n" * 50_000 + "the reason"))
    body = comment.as_comment(whole)
    assert "the reason\n</pre>" in body
    assert "of 50001 lines do not fit here; see the artifact._" in body
    assert markdown.characters(body) > 50_000


@pytest.mark.parametrize("url", ["javascript:alert(1)", "", "/relative", "//host"])
def test_only_web_addresses_are_links(url: str) -> None:
    """Anything else is its words."""
    assert markdown.link("Check", url) == "Check"
    assert render(markdown.link("Check", "https://x.test/a b>)|<script>")).tags == ["p", "a"]


def test_what_changed_is_told_where_it_is_known() -> None:
    """Beside the figure that the baseline has, with its interval; half of a run is compared with nothing."""
    whole = against_baseline(many())
    (change, *others) = whole.comparison.changes if whole.comparison else ()
    (accuracy, mean, *_), flips = change.differences, Flips(gained=0, lost=1, first_gained=(), first_lost=(4,), p=1.0)
    for more, told in (
        ({"interval": Interval(low=-3, high=-1)}, "-2.00 (-3.00\u00a0..\u00a0-1.00)"),
        ({"bounds": FigureBounds(low=-50, high=None, samples=2)}, ">= -50.00"),
    ):
        lost = replace(flips, replies=(LostProblem(problem=4, right="7", reply="It is\n@octocat."),))
        changed = replace(change, differences=(accuracy, replace(mean, **more)), flips=lost)
        assert whole.comparison is not None
        whole = replace(whole, comparison=replace(whole.comparison, changes=(changed, *others)))
        body = comment.as_comment(whole)
        assert [cells[5:] for cells in render(body).rows if cells[0] == "demo_gsm8k"] == [["7.60", told]]
        assert "problem 4: 7 is right, and a reply is: It is @\u200boctocat." in body
    broken = msgspec.structs.replace(whole, outcome=ended("broken"))
    assert "| change |" not in comment.as_comment(broken)


def test_the_three_lowest_parts_of_all_datasets() -> None:
    """With their problems and intervals; names of parts come from data, so they are text."""

    def part(name: str, dataset: str, *why: VerdictReason) -> DatasetResult:
        problems = tuple(
            msgspec.structs.replace(problem_result(number, (each,), (None,)), category=category)
            for number, (each, category) in enumerate([*((one, name) for one in why), ("right", "other")])
        )
        return DatasetResult(
            dataset=dataset, version="0ba9da", rows=(row("accuracy", 50.0),), problem_results=problems, counts=Counts()
        )

    lowest = comment.lowest_parts(
        [part("@octocat | <b>", "a", "wrong", "wrong"), part("half", "b", "right", "wrong"), part("good", "c", "right")]
    )
    shown = render("\n".join(lowest.lines))
    assert live(shown) == []
    assert set(shown.tags) == {"ul", "li", "strong"}
    assert [line.split("**")[1] for line in lowest.lines] == ["0.00", "50.00", "100.00"]
    assert lowest.lines[0].endswith("2 problems")


@pytest.mark.parametrize(
    ("error", "conclusion"),
    [
        (REFUSED, "refused"),
        (BadValue("x"), "refused"),
        (AdapterFailed("x"), "broken"),
        (NoHonestScore("x"), "broken"),
        (Stopped(15, "SIGTERM"), "stopped"),
    ],
)
def test_errors_without_a_report_have_an_outcome(error: EvalError, conclusion: str) -> None:
    """With their exit code, stage and sentence."""
    found = endings.error_outcome(error)
    assert (found.conclusion, found.exit_code, found.sentence) == (conclusion, error.exit_code, error.sentence)
