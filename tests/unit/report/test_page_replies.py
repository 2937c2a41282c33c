"""Every reply of a run for the page: which samples stand with which problem, and what stands with a sample."""

import random
from typing import Any

import msgspec
from msgspec.structs import replace
from tests.packed_page import unpacked

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.records import (
    Attempt,
    Counts,
    DatasetResult,
    EarlierReply,
    Fault,
    Media,
    Message,
    Opinion,
    PreparedDataset,
    Problem,
    ProblemResult,
    Question,
    Timings,
    ToolCall,
    ToolRound,
    ToolUse,
    Usage,
    VerdictReason,
)
from model_accuracy_eval.records.code import Execution, Program
from model_accuracy_eval.report import page_replies
from model_accuracy_eval.report.page_replies import PackedReplies
from model_accuracy_eval.run_folder import journal, predictions

PREPARED = PreparedDataset(task=find("demo_gsm8k"), problems=(), version="0ba9da", questions="0ba9daffff")


def problem(number: int, question: str = "How many?") -> Problem:
    return Problem(id=number, messages=(Message(role="user", content=question),), references=("18",))


def answer(number: int, index: int, text: str, **more: Any) -> bytes:
    attempt = Attempt(problem=number, index=index, text=text, timings=Timings(ttft=0.25, e2e=1.5), **more)
    return journal.line(PREPARED, problem(number), attempt, 1000.0 + index)


def failure(number: int, index: int, sentence: str = "HTTP 503") -> bytes:
    fault = Fault(kind="failed", sentence=sentence, status=503)
    attempt = Attempt(problem=number, index=index, tries=4, fault=fault)
    return journal.failure_line(PREPARED, problem(number), attempt, fault, 1000.0)


def judged(number: int, *why: VerdictReason, **more: Any) -> ProblemResult:
    said: tuple[str | None, ...] = tuple({"right": "18", "wrong": "17"}.get(one) for one in why)
    values = tuple(float(one == "right") for one in why)
    fields = {"c": why.count("right"), "values": values, "answers": said, "references": ("18",), **more}
    return ProblemResult(problem=number, n=len(why), why=why, **fields)


def result(*problems: ProblemResult) -> DatasetResult:
    return DatasetResult(
        dataset="demo_gsm8k", version="0ba9da", rows=(), problem_results=problems, counts=Counts(planned=len(problems))
    )


def documents(packed: PackedReplies) -> dict[int, Any]:
    """Each problem, looked up as the page does it: in the chunk that the index names."""
    chunks = [{one["id"]: one for one in unpacked(chunk)} for chunk in packed.chunks]
    return {number: chunks[chunk][number] for number, chunk in packed.places.items()}


def test_samples_stand_with_their_problem() -> None:
    """In whatever order the lines came, each sample has its own text, verdict and what was read."""
    results = [judged(number, "right", "wrong", "right") for number in range(40)]
    lines = [answer(number, index, f"text {number}.{index}") for number in range(40) for index in range(3)]
    random.Random(5).shuffle(lines)
    found = documents(page_replies.pack(result(*results), lines, [], []))
    assert sorted(found) == list(range(40))
    for number, document in found.items():
        assert [one["text"] for one in document["samples"]] == [f"text {number}.{index}" for index in range(3)]
        assert [one["why"] for one in document["samples"]] == ["right", "wrong", "right"]
        assert [one["read"] for one in document["samples"]] == ["18", "17", "18"]
        assert document["prompt"] == [{"role": "HUMAN", "prompt": "How many?"}]
        assert document["gold"] == ["18"]


def test_failed_and_missing_samples_are_there() -> None:
    """A failed sample has its error and its tries; one of which nothing is known has no text at all. The question is
    known although nobody answered it."""
    found = documents(
        page_replies.pack(result(judged(0, "failed", "right", "missing")), [answer(0, 1, "18")], [failure(0, 0)], [])
    )
    failed, right, missing = found[0]["samples"]
    assert (failed["error"], failed["status"], failed["tries"]) == ("HTTP 503", 503, 4)
    assert right["text"] == "18"
    assert missing == {"why": "missing"}
    unanswered = documents(page_replies.pack(result(judged(0, "failed")), [], [failure(0, 0)], []))
    assert unanswered[0]["prompt"] == [{"role": "HUMAN", "prompt": "How many?"}]


def test_problems_without_a_result_are_left_out() -> None:
    """A run that ended early has replies to problems that were never judged: no verdict, so no row."""
    packed = page_replies.pack(result(judged(0, "right")), [answer(1, 0, "17"), answer(0, 0, "18")], [], [])
    assert list(packed.places) == [0]


def test_a_second_line_of_a_sample_changes_nothing() -> None:
    """A journal that was continued may hold a sample twice: the problem stands in the page once."""
    lines = [answer(0, 0, "18"), answer(0, 0, "again"), answer(1, 0, "18")]
    packed = page_replies.pack(result(judged(0, "right"), judged(1, "right")), lines, [], [])
    assert sum(len(unpacked(chunk)) for chunk in packed.chunks) == 2
    assert documents(packed)[0]["samples"][0]["text"] == "18"


def test_everything_that_was_said() -> None:
    """Reasoning, tool calls, earlier turns, times and tokens stand with the sample."""
    call = ToolUse(call=ToolCall(id="1", name="calculator", arguments='{"expression": "9*2"}'), result="18")
    line = answer(
        0, 0, "18",
        reasoning="Twice nine.",
        finish_reason="stop",
        earlier=(EarlierReply(text="Hello.", next="And now?"),),
        rounds=(ToolRound(text="Let me see.", uses=(call,)),),
        usage=Usage(prompt_tokens=5, completion_tokens=7, reasoning_tokens=3),
        request="abc", seed=9, tries=2,
    )  # fmt: skip
    (sample,) = documents(page_replies.pack(result(judged(0, "right")), [line], [], []))[0]["samples"]
    assert sample["reasoning"] == "Twice nine."
    assert sample["steps"] == [
        {"text": "Hello.", "next": "And now?"},
        {"text": "Let me see.", "calls": [["calculator", '{"expression": "9*2"}', "18"]]},
    ]
    assert (sample["ttft"], sample["e2e"], sample["tokens"]) == (0.25, 1.5, [5, 7, 3])
    assert (sample["finish"], sample["seed"], sample["tries"]) == ("stop", 9, 2)
    assert "shared" not in sample


def test_tokens_of_one_request_are_said_to_be_shared() -> None:
    """The service counts the tokens of a request, not of each of its samples."""
    usage = Usage(prompt_tokens=5, completion_tokens=70)
    lines = [answer(0, index, "18", request="abc", usage=usage) for index in range(2)]
    packed = page_replies.pack(result(judged(0, "right", "right")), lines, [], [])
    assert [one["shared"] for one in documents(packed)[0]["samples"]] == [True, True]


def test_program_stands_with_every_sample_that_has_it() -> None:
    """The findings file names the first sample alone; others with the same text share it, and no others do."""
    execution = Execution(verdict="failed", detail="AssertionError: no", isolation="container", integrity="split")
    line = predictions.line("k", 0, 0, Program(code="a", tests="b"), execution)
    lines = [answer(0, 0, "a - b"), answer(0, 1, "a + b"), answer(0, 2, "a - b"), answer(1, 0, "a - b")]
    packed = page_replies.pack(result(judged(0, "wrong", "right", "wrong"), judged(1, "wrong")), lines, [], [line])
    first, second, third = documents(packed)[0]["samples"]
    assert first["findings"] == third["findings"]
    (finding,) = first["findings"]
    assert (finding["verdict"], finding["text"]) == ("failed", "AssertionError: no")
    assert "findings" not in second
    assert "findings" not in documents(packed)[1]["samples"][0]


def test_equal_texts_after_different_thoughts_are_two_replies() -> None:
    """Where the thoughts are judged, the program is in them."""
    passed = Execution(verdict="passed", isolation="container", integrity="split")
    executions = (passed, replace(passed, verdict="failed"))
    lines = [
        predictions.line(f"k{index}", 0, index, Program(code=str(index), tests="b"), execution)
        for index, execution in enumerate(executions)
    ]
    answers = [answer(0, index, "", reasoning=f"thought {index}") for index in range(2)]
    first, second = documents(page_replies.pack(result(judged(0, "right", "wrong")), answers, [], lines))[0]["samples"]
    assert [one["verdict"] for one in first["findings"]] == ["passed"]
    assert [one["verdict"] for one in second["findings"]] == ["failed"]


def test_a_judge_speaks_beside_the_reply() -> None:
    """Once for each question that it was asked."""
    question = Question(messages=(Message(role="user", content="Is it right?"),))
    lines = [predictions.line(key, 0, 0, question, Opinion(text=text)) for key, text in (("a", "Yes"), ("b", "No"))]
    (sample,) = documents(page_replies.pack(result(judged(0, "right")), [answer(0, 0, "x")], [], lines))[0]["samples"]
    assert [(one["judge"], one["text"]) for one in sample["findings"]] == [("", "Yes"), ("", "No")]


def test_very_long_text_says_what_is_left_out() -> None:
    """Of a text of a million characters the page has both ends, and the number between them."""
    text = "a" * 999_999 + "z"
    (sample,) = documents(page_replies.pack(result(judged(0, "right")), [answer(0, 0, text)], [], []))[0]["samples"]
    assert len(sample["text"]) < 61_000
    assert sample["text"].endswith("z")
    assert "940,000 characters are left out here" in sample["text"]


def test_chunks_stay_small() -> None:
    """Many replies are many chunks, so that opening one problem unpacks no more than its own."""
    results = [judged(number, "right") for number in range(300)]
    lines = [answer(number, 0, f"{number} " * 2000) for number in range(300)]
    packed = page_replies.pack(result(*results), lines, [], [])
    sizes = [len(msgspec.json.encode(unpacked(chunk))) for chunk in packed.chunks]
    assert max(sizes) < 2 * page_replies.CHUNK_BYTES
    assert len(sizes) > 5
    assert len(documents(packed)) == 300


def picture(number: int, size: int | None = 3, **more: Any) -> Media:
    fields = {"kind": "image", "format": "png", "size": size, "sha256": f"{number:064x}", **more}
    return Media(**fields)


def with_pictures(*media: Media) -> Problem:
    shown = Message(role="user", content=" ".join(map(str, media)), media=media)
    return replace(problem(0), messages=(shown,))


def test_small_pictures_stand_with_their_question() -> None:
    """As data URIs, under the names that the prompt has for them; of one that is too large the name alone."""
    asked = with_pictures(picture(1 << 250), picture(2 << 250, size=200_000), picture(3 << 250, kind="audio"))
    lines = list(predictions.lines([asked, asked], [], lambda media: b"abc"))
    assert len(lines) == 1
    line = journal.line(PREPARED, asked, Attempt(problem=0, index=0, text="18"))
    document = documents(page_replies.pack(result(judged(0, "right")), [line], [], [], lines))[0]
    (name,) = document["pictures"]
    assert document["pictures"][name] == "data:image/png;base64,YWJj"
    assert f", {name}]" in document["prompt"][0]["prompt"]


def test_pictures_of_a_dataset_have_a_limit_together() -> None:
    """The first ones are kept, the others named."""
    asked = [with_pictures(picture(number << 250 | number, size=100_000)) for number in range(100)]
    assert len(list(predictions.lines(asked, [], lambda media: b"x"))) == 80


def test_only_pictures_are_shown() -> None:
    """A line that somebody wrote into the file is no way to another address."""
    evil = b'{"id": "0123456789ab", "address": "https://evil.test/x.png"}'
    assert predictions.addresses([evil]) == {}
    assert predictions.addresses([evil.replace(b"https://evil.test/x.png", b"data:text/html,x")]) == {}


def test_pictures_given_as_data_uris_stay_so() -> None:
    """Those have no file; addresses elsewhere are not shown."""
    inline = with_pictures(picture(1 << 250, url="data:image/png;base64,YWJj"))
    (line,) = predictions.lines([inline], [], lambda media: b"never read")
    assert b"YWJj" in line
    elsewhere = with_pictures(picture(1 << 250, size=None, url="https://pictures.test/1.png"))
    assert list(predictions.lines([elsewhere], [], lambda media: b"")) == []


def test_graded_samples_have_their_value() -> None:
    """Where a reply can be partly right, its share stands beside it."""
    half = judged(0, "wrong", c=None, values=(0.5,))
    (sample,) = documents(page_replies.pack(result(half), [answer(0, 0, "x")], [], []))[0]["samples"]
    assert sample["value"] == 0.5
