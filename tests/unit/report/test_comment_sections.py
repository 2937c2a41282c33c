"""One comment of many runs: whatever the order in which they end, it shows the newest of each series, and the worst first."""

import random

from hypothesis import example, given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.unit.report.rendered import render

from model_accuracy_eval.records import Conclusion, Identity
from model_accuracy_eval.report.comment import LONGEST_COMMENT
from model_accuracy_eval.report.comment_sections import CommentSection, merge, parse
from model_accuracy_eval.report.endings import CONCLUSIONS

HOME = "acme/adapter"
COMMITS = ["1" * 40, "2" * 40, "3" * 40]
"""Of the pull request, the oldest first."""
OLD, _, HEAD = COMMITS


def section(
    commit: str = HEAD, label: str = "fake", *, run: int = 1, conclusion: Conclusion = "passed", **more: str
) -> CommentSection:
    identity = Identity(repository=HOME, commit=commit, label=label, **more)
    words = f"{conclusion} {label} {run}"
    return CommentSection(
        identity=identity, run=f"{run}-1", started=float(run), conclusion=conclusion, words=words, text=f"### {words}"
    )


def shown(body: str) -> list[str]:
    """Headings of whole sections."""
    return [text for each in parse(body) if (text := each.text)]


sections = st.lists(
    st.builds(
        section,
        st.sampled_from([*COMMITS, "f" * 40]),
        st.sampled_from(["fake", "other"]),
        run=st.integers(1, 4),
        conclusion=st.sampled_from(list(CONCLUSIONS)),
        weights=st.sampled_from(["hf:a/b", "hf:c/d"]),
    ),
    max_size=7,
    unique_by=lambda each: each.key,
)


@given(sections, st.randoms(use_true_random=False))
def test_the_order_in_which_runs_end_does_not_matter(found: list[CommentSection], chance: random.Random) -> None:
    """Each adds itself to what is there; the comment is the same in the end, and adding again changes nothing."""
    whole = merge(found, COMMITS, HOME)
    body = ""
    for each in chance.sample(found, len(found)):
        body = merge([*parse(body), each], COMMITS, HOME)
    told = {(each.key, each.conclusion) for each in parse(body)}
    assert told == {(each.key, each.conclusion) for each in parse(whole)}
    assert merge(parse(body), COMMITS, HOME) == body


@given(sections)
def test_of_each_series_the_newest_run_is_shown(found: list[CommentSection]) -> None:
    """By the order of commits, then by its start; those that were pushed away come first. Nobody is lost without a line."""
    body = merge(found, COMMITS, HOME)
    for label in {each.identity.label for each in found}:
        series = [each for each in found if each.identity.label == label]
        places = {commit: place for place, commit in enumerate(COMMITS)}
        newest = max(series, key=lambda each: (places.get(each.identity.commit, -1), each.started))
        assert newest.identity.commit in {each.identity.commit for each in parse(body) if each.text and each in series}
    assert {each.key for each in parse(body)} == {each.key for each in found}
    assert body.count(", superseded") == len(found) - len(shown(body))


def test_an_older_run_that_ends_later_is_a_line() -> None:
    """The newer verdict stays, and nothing says that the head was not evaluated, whose verdict is in the comment."""
    newer = merge([section(HEAD, run=2, conclusion="failed")], COMMITS, HOME)
    body = merge([*parse(newer), section(OLD, run=1)], COMMITS, HOME)
    assert shown(body) == ["### failed fake 2"]
    assert f"`{OLD[:7]}` passed, superseded" in body
    assert "head of this pull request" not in body
    # Nor does an older commit whose run was started later.
    assert shown(merge([*parse(newer), section(OLD, run=3)], COMMITS, HOME)) == ["### failed fake 2"]
    # Nor a head that has been evaluated for another series.
    other = merge([*parse(newer), section(OLD, "other")], COMMITS, HOME)
    assert f"`{HEAD[:12]}` now; this is about an earlier commit" in other
    assert "was not evaluated" not in other
    assert "was not evaluated" in merge([section(OLD)], COMMITS, HOME)
    assert "GitHub did not say" in merge([section(OLD)], None, HOME)


def test_the_headline_is_the_worst_of_all_jobs() -> None:
    """Whichever of them ends last; two of one name are both there if they are about different weights."""
    jobs = [
        section(label="one"),
        section(label="two", conclusion="failed"),
        section(label="three", weights="hf:a/b"),
        section(label="three", weights="hf:c/d"),
    ]
    for found in (jobs, jobs[::-1]):
        body = merge(found, COMMITS, HOME)
        assert body.startswith("### ❌ Model accuracy: Failed · 4 evaluations")
        assert len(shown(body)) == 4
    assert "evaluations" not in merge(jobs[:1], COMMITS, HOME)


def test_a_commit_of_another_repository_is_no_head_of_this_one() -> None:
    """It stands in the line of what the verdict is about, and no head is missed."""
    other = section(OLD)
    other = replace(other, identity=replace(other.identity, repository="acme/other"))
    assert "head of this pull request" not in merge([other], COMMITS, HOME)
    assert len(shown(merge([other, section(HEAD)], COMMITS, HOME))) == 2


@given(st.integers(0, 120), st.integers(0, 30_000), st.integers(0, 300))
@example(300, 65_000, 10)
def test_it_always_fits_and_fails_first(count: int, length: int, words: int) -> None:
    """What has no room loses its text, then its line; never one that failed before one that passed."""
    found = [
        replace(section(label=f"job-{number}", conclusion="failed" if number % 7 == 6 else "passed"),
                text="x" * length, words="w" * words)
        for number in range(count)
    ]  # fmt: skip
    body = merge(found, COMMITS, HOME)
    assert len(body) <= LONGEST_COMMENT
    kept = [each.conclusion for each in parse(body)]
    assert kept.count("failed") == min(len(kept), count // 7)
    if found:
        assert parse(body)


@given(st.text(max_size=80))
@example("--> <!-- /section -->")
@example("`|<b>--!>")
def test_nothing_that_stands_in_a_section_ends_it(words: str) -> None:
    """Names and words come from workflows and runs; what was written is read again, and none of it is markup."""
    told = replace(section(label=words), words=words, text="")
    told = replace(told, identity=replace(told.identity, path=words, image=words))
    body = merge([told, section(label="two")], COMMITS, HOME)
    assert told in parse(body)
    assert set(render(body).tags) <= {"h3", "p", "ul", "li", "code", "a"}


def test_what_somebody_damaged_costs_no_other_section() -> None:
    """Line ends of another system, a section cut in half, words between them."""
    body = merge([section(label="one"), section(label="two")], COMMITS, HOME)
    assert len(parse(body.replace("\n", "\r\n"))) == 2
    assert len(parse(body.replace('"conclusion":"passed"', '"conclusion":"won"', 1))) == 1
    assert parse("hello\n<!-- section {} -->\n<!-- /section -->") == []
