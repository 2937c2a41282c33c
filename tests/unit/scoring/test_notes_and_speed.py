"""The notes beside the figures, and the speed of the requests."""

from collections.abc import Iterable

import msgspec
import pytest
from tests.small_task import small_task

from model_accuracy_eval.records import (
    Attempt,
    Counts,
    Media,
    PreparedDataset,
    RunPlan,
    Sampling,
    Speed,
    Timings,
    Usage,
)
from model_accuracy_eval.records.exchange import DOES_NOT_FIT
from model_accuracy_eval.scoring.answers.tools import UNFINISHED
from model_accuracy_eval.scoring.figures.notes import (
    ReplyTally,
    cropped,
    fault_notes,
    of_other_answers,
    sample_notes,
    without_finish_reason,
)
from model_accuracy_eval.scoring.figures.run_speed import Stopwatch

PLAN = RunPlan(run_id="0" * 32, stamp="20260326_151326", tasks=())
TASK = small_task("sums", reference="A")
PREPARED = PreparedDataset(task=TASK, problems=(), version="0ba9da", questions="0")
ALL = Counts(planned=10, answered=10)


def told(counts: Counts = ALL, plan: RunPlan = PLAN, *, problems: int = 0, all_equal: bool = False) -> str:
    return " ".join(sample_notes(plan, plan.sampling.of(TASK), counts, (), problems=problems, all_equal=all_equal))


def test_a_clean_run_needs_no_words() -> None:
    """No sentence without a reason."""
    assert told() == ""


@pytest.mark.parametrize(
    ("counts", "sentence"),
    [
        (Counts(planned=10, answered=7, failed=3), "3 of 10 samples failed after all retries"),
        (Counts(planned=10, answered=8, rejected=2), "2 of 10 samples were rejected"),
        (Counts(planned=10, answered=10, cut=4), "4 of 10 replies (40 %) were cut by length (max_tokens 512)."),
        (Counts(planned=10, answered=9, not_found=5), "In 5 of 9 replies no answer was found"),
        (Counts(planned=10, answered=9, doubtful=2), "2 of 9 answers are doubtful"),
        (
            Counts(planned=10, answered=10, cut=7, reasoning_only=6),
            "; 6 replies hold a thought and nothing else. --thinking on gives",
        ),
        (Counts(planned=10, answered=9, unjudged=1), "1 of 9 answers could not be judged"),
        (Counts(planned=9, failed=5, missing=4), "None of the 9 samples was answered (5 failed, 4 were never asked)"),
        (
            Counts(planned=10, answered=7, missing=3),
            "3 of 10 samples were never asked, because the run was merged without 1/2",
        ),
    ],
)
def test_what_went_missing_is_said_with_its_numbers(counts: Counts, sentence: str) -> None:
    """Each kind of loss has its own sentence."""
    assert sentence in told(counts, msgspec.structs.replace(PLAN, absent_shards=("1/2",) * (counts.missing > 0)))
    assert "merged" not in told(counts)


@pytest.mark.parametrize(("thinking", "max_tokens"), [("on", 512), ("server", 65536)])
def test_who_has_room_already_is_not_told_to_think(thinking: str, max_tokens: int) -> None:
    plan = msgspec.structs.replace(PLAN, sampling=Sampling(thinking=thinking, max_tokens=max_tokens))
    told_of = told(Counts(planned=10, answered=10, cut=7, reasoning_only=6), plan)
    assert "A larger --max-tokens gives thoughts more room" in told_of
    assert "--thinking on" not in told_of


def test_where_no_thought_was_cut_nothing_is_said_of_thoughts() -> None:
    assert told(Counts(planned=10, answered=10, cut=4)).endswith("(max_tokens 512).")


def test_nothing_is_known_of_the_requests_of_saved_replies() -> None:
    saved = msgspec.structs.replace(PLAN, run_id="")
    assert "3 of 10 samples failed" in told(Counts(planned=10, answered=7, failed=3), saved)
    assert "retries" not in told(Counts(planned=10, answered=7, failed=3), saved)


@pytest.mark.parametrize(
    ("notes", "sentence"),
    [
        (without_finish_reason({None: 2, "stop": 3}), "2 answers ended without a finish_reason"),
        (without_finish_reason({None: 2}), ""),
        (without_finish_reason({"stop": 2, "length": 3}), ""),
        (of_other_answers(0), ""),
        (of_other_answers(1), "of 1 problem is"),
        (of_other_answers(2), "of 2 problems is"),
        (fault_notes([], []), ""),
        (fault_notes([], ["Gone.", "Late."]), "The first of 2 failures: Gone."),
        (fault_notes(["No."], []), "The first of 1 rejections: No."),
        (fault_notes([f"{DOES_NOT_FIT} so."] * 2, []), "2 of the 2 rejected samples are longer"),
        (cropped({4096: 3}), "3 contexts were longer than the 4,096 tokens"),
    ],
)
def test_what_a_reader_has_to_know_is_said_once(notes: Iterable[str], sentence: str) -> None:
    """And nothing where there is nothing to say."""
    found = " ".join(notes)
    assert sentence in found
    assert bool(found) == bool(sentence)


def test_a_run_that_ended_early_says_how_much_it_marked() -> None:
    """Nobody takes the figures of 0 of 8 problems for those of the dataset."""
    assert "0 of 8 problems" in told(problems=8)


def test_samples_that_are_all_equal_are_one_sample() -> None:
    """Said apart for temperature 0, where it is expected, and above, where it is not."""
    greedy = RunPlan(run_id="0" * 32, stamp="20260326_151326", tasks=(), sampling=Sampling(temperature=0.0))
    assert "Temperature is 0 and the 5 samples" in told(plan=greedy, all_equal=True)
    assert "temperature is 1" in told(all_equal=True)


@pytest.mark.parametrize(
    ("problems", "are_equal"),
    [([], False), (["a", "b"], False), (["aa", "b"], True), (["aa", "bb"], True), (["aa", "bc", "d"], False)],
)
def test_samples_are_all_equal_if_those_of_each_problem_are(problems: list[str], are_equal: bool) -> None:
    """A character is a sample; one sample alone shows nothing."""
    tally = ReplyTally(PREPARED)
    for number, texts in enumerate(problems):
        tally.add_problem([Attempt(problem=number, index=index, text=text) for index, text in enumerate(texts)])
    assert tally.all_equal is are_equal


SOUND = Media(kind="audio", format="wav", sha256="0")


@pytest.mark.parametrize(
    ("reply", "kinds"),
    [
        (Attempt(problem=0, index=0, text="A"), set()),
        (Attempt(problem=0, index=0, text="A", reasoning="It is."), {"thought"}),
        (Attempt(problem=0, index=0, text="A", usage=Usage(completion_tokens=3, reasoning_tokens=2)), {"thought"}),
        (Attempt(problem=0, index=0, reasoning="It is."), {"thought", "reasoning_only"}),
        (Attempt(problem=0, index=0, text="A", media=(SOUND,)), {"with_media"}),
        (Attempt(problem=0, index=0, text=" ", media=(SOUND,)), {"with_media", "audio_only"}),
        (Attempt(problem=0, index=0, media=(msgspec.structs.replace(SOUND, kind="image"),)), {"with_media"}),
        (Attempt(problem=0, index=0, text="A", finish_reason=UNFINISHED), {"unfinished"}),
    ],
)
def test_odd_replies_are_counted_by_what_is_odd(reply: Attempt, kinds: set[str]) -> None:
    tally = ReplyTally(PREPARED)
    tally.add(reply)
    assert {kind for kind, count in tally.counts().items() if count} == kinds


def attempt(request: str, e2e: float, *, ttft: float | None = None, usage: Usage | None = None) -> Attempt:
    return Attempt(problem=0, index=0, request=request, timings=Timings(e2e=e2e, ttft=ttft), usage=usage)


def test_a_stopwatch_without_samples_knows_nothing() -> None:
    """Unknown is None, not 0."""
    assert Stopwatch().speed() == Speed()


def test_tokens_of_a_request_are_counted_once() -> None:
    """Samples that share a request share its usage; what the server did not say stays unknown."""
    watch = Stopwatch()
    for request, usage in (
        ("a", Usage(prompt_tokens=10, completion_tokens=5)),
        ("a", Usage(prompt_tokens=10, completion_tokens=5)),
        ("b", Usage(prompt_tokens=7)),
        ("c", None),
    ):
        watch.add(attempt(request, 1.0, usage=usage))
    speed = watch.speed()
    assert (speed.prompt_tokens, speed.completion_tokens, speed.uncounted) == (17, 5, 2)


def test_timings_are_spread_over_samples() -> None:
    """Mean, median and tail of each timing that was measured."""
    watch = Stopwatch()
    for second in range(1, 102):
        watch.add(attempt(str(second), float(second), ttft=0.5 if second < 3 else None))
    speed = watch.speed()
    assert speed.e2e is not None
    assert speed.ttft is not None
    assert (speed.e2e.mean, speed.e2e.p50, speed.e2e.p90, speed.e2e.maximum) == (51.0, 51.0, 91.0, 101.0)
    assert speed.e2e.p99 == pytest.approx(100.0)
    assert speed.ttft.maximum == 0.5
    assert speed.gap is None
