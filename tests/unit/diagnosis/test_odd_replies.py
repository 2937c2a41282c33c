"""The odd replies of a journal: with what the requests asked, and of journals that were written before."""

import msgspec
import pytest
from tests.small_task import small_task

from model_accuracy_eval.diagnosis import odd_replies
from model_accuracy_eval.records import (
    Attempt,
    Counts,
    DatasetResult,
    Message,
    Outcome,
    PreparedDataset,
    Problem,
    Report,
    RunPlan,
    Sampling,
    TaskSpec,
    Timings,
    Usage,
)  # fmt: skip
from model_accuracy_eval.run_folder import journal

TASK = small_task("sums", reference="A", max_tokens=100)
PROBLEM = Problem(id=0, messages=(Message(role="user", content="Why?"),), references=("A",))


def plan(task: TaskSpec = TASK, **sampling: object) -> RunPlan:
    return RunPlan(run_id="0" * 32, stamp="20260326_151326", tasks=(task,), sampling=Sampling(**sampling))  # type: ignore[arg-type]


def line(number: int, text: str, reason: str = "stop", tokens: int | None = 9, request: str = "") -> bytes:
    """A line as a run writes it: one request a second, four under way."""
    attempt = Attempt(
        problem=number, index=0, text=text, finish_reason=reason, request=request or f"r{number}",
        timings=Timings(e2e=4.0, chunks=2), usage=Usage(prompt_tokens=7, completion_tokens=tokens),
    )  # fmt: skip
    prepared = PreparedDataset(task=TASK, problems=(PROBLEM,), version="abcdef", questions="0")
    return journal.line(prepared, PROBLEM, attempt, 1000.0 + number)


RESULT = DatasetResult(dataset="sums", version="abcdef", rows=(), problem_results=(), counts=Counts(answered=4))


def look(lines: list[bytes], of: RunPlan | None = None) -> DatasetResult:
    of = of or plan()
    return odd_replies.looked_at(RESULT, of, of.tasks[0], lambda _: lines)


@pytest.mark.parametrize(
    ("of", "allowed"),
    [
        (plan(), 100),
        (plan(max_tokens=40), 40),
        (plan(extra={"max_tokens": 30}), None),
        (plan(msgspec.structs.replace(TASK, kind="loglikelihood")), None),
    ],
)
def test_the_cap_is_what_was_asked(of: RunPlan, allowed: int | None) -> None:
    """The settings', else the task's; where a field of the user's own contradicts, it is not known."""
    found = look([line(number, "So it is", "length", tokens=2) for number in range(3)], of)
    assert found.anomalies == ({"cut below the cap": 3} if allowed else {})
    if allowed:
        assert (
            f"in 3 of 3 replies: ended by 'length' below max_tokens (the first, with 2 tokens where {allowed} were"
            in found.notes[0]
        )


def test_a_healthy_journal_is_read_once_and_says_nothing() -> None:
    """The second pass, for circumstances, is made where there is something to tell of."""
    read = []
    found = odd_replies.looked_at(RESULT, plan(), TASK, lambda name: read.append(name) or [line(0, "So it is.")])  # type: ignore[func-returns-value]
    assert (found.counts.anomalous, found.anomalies, found.notes, len(read)) == (0, {}, (), 1)


def test_replies_that_break_from_a_moment_on_are_told_with_it() -> None:
    """When a request began follows from when its line was written, and from how long it took."""
    lines = [line(number, "!" * 40 if number >= 60 else "So it is.") for number in range(90)]
    [note] = look(lines).notes
    assert note.startswith(
        "Anomaly 'one token' in 30 of 90 replies: one character or word again and again (the first: "
    )
    assert "30 of 30 at place ≥ 61 of the run (60 s after the first request), where 30 of all 90 replies are" in note


def test_journals_from_before_are_read_and_looked_at() -> None:
    """Lines without times and counts are no hindrance; a report whose results say nothing of anomalies gets them."""
    old = [
        msgspec.json.encode(
            {"data_abbr": "sums", "id": number, "success": True, "uuid": "u", "origin_prompt": [], "gold": "A",
             "prediction": "!" * 40, "index": 0}
        )
        for number in range(4)
    ]  # fmt: skip
    report = Report(
        plan=plan(), outcome=Outcome(conclusion="complete", exit_code=0, stage="score", sentence=""),
        dataset_results=(RESULT,), started="", finished="",
    )  # fmt: skip
    [seen] = odd_replies.report_looked_at(report, lambda _: old).dataset_results
    assert (seen.counts.anomalous, seen.anomalies) == (4, {"one token": 4})
    again = msgspec.structs.replace(report, dataset_results=(seen,))
    assert odd_replies.report_looked_at(again, lambda _: []) == again
