"""The journal keeps what the service said, line by line, and the documented view is made from it."""

import json

from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests import golden_files
from tests.fake_ports import MemoryStore

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.records import Attempt, Fault, Loglikelihood, Message, PreparedDataset, Problem, Timings, Usage
from model_accuracy_eval.run_folder import journal, predictions

PROBLEM = Problem(
    id=7,
    messages=(
        Message(role="system", content="Be brief."),
        Message(role="user", content="1+1?"),
        Message(role="assistant", content="2"),
        Message(role="user", content="2+2?"),
    ),
    references=("4", "four"),
)
PREPARED = PreparedDataset(task=find("demo_gsm8k"), problems=(PROBLEM,), version="0ba9da", questions="q")

TEXTS = st.text(st.characters(codec="utf-8"))
SECONDS = st.floats(0, 1e4)
ATTEMPTS = st.builds(
    Attempt,
    problem=st.integers(0, 10**6),
    index=st.integers(0, 9999),
    text=TEXTS,
    reasoning=TEXTS,
    finish_reason=st.none() | TEXTS,
    loglikelihoods=st.lists(
        st.none()
        | st.builds(
            Loglikelihood,
            logprob=st.floats(-1e4, 0),
            tokens=st.none() | st.integers(0, 99),
            greedy=st.none() | st.booleans(),
            cropped_to=st.none() | st.integers(1, 4096),
        ),
        max_size=3,
    ).map(tuple),
    timings=st.none()
    | st.builds(
        Timings, ttft=st.none() | SECONDS, e2e=SECONDS, gap_mean=st.none() | SECONDS, gap_max=st.none() | SECONDS
    ),
    usage=st.none()
    | st.builds(Usage, prompt_tokens=st.none() | st.integers(0), completion_tokens=st.integers(0, 2**40)),
    request=st.uuids().map(lambda uuid: uuid.hex),
    seed=st.none() | st.integers(0, 2**31),
    tries=st.integers(1, 9),
    fault=st.none(),
)
FAULTS = st.builds(
    Fault,
    kind=st.sampled_from(["rejected", "refused", "failed"]),
    sentence=TEXTS,
    status=st.none() | st.integers(400, 599),
)


@given(ATTEMPTS)
def test_a_line_keeps_the_whole_sample(attempt: Attempt) -> None:
    """Read back, it is the same attempt: text, timings, usage and all."""
    line = journal.line(PREPARED, PROBLEM, attempt)
    assert journal.attempt(line) == attempt
    assert journal.key(line) == (attempt.problem, attempt.index)
    assert line.endswith(b"}\n")
    assert line.count(b"\n") == 1


@given(ATTEMPTS)
def test_a_line_has_the_fields_of_aisbench(attempt: Attempt) -> None:
    """First and under their names, with its roles."""
    whole = json.loads(journal.line(PREPARED, PROBLEM, attempt))
    fields = ["data_abbr", "id", "success", "uuid", "origin_prompt", "prediction", "gold"]
    assert list(whole)[:7] == fields
    assert (whole["data_abbr"], whole["id"], whole["success"], whole["gold"]) == (
        "demo_gsm8k",
        attempt.problem,
        True,
        "4",
    )
    assert whole["prediction"] == attempt.text
    assert whole["index"] == attempt.index
    assert [turn["role"] for turn in whole["origin_prompt"]] == ["SYSTEM", "HUMAN", "BOT", "HUMAN"]
    assert whole["origin_prompt"][-1] == {"role": "HUMAN", "prompt": "2+2?"}


@given(ATTEMPTS, FAULTS)
def test_a_failure_keeps_its_reason(attempt: Attempt, fault: Fault) -> None:
    """Problem, index and fault come back; AISBench's fields of a failed sample are there."""
    line = journal.failure_line(PREPARED, PROBLEM, attempt, fault)
    assert journal.failure(line) == Attempt(problem=attempt.problem, index=attempt.index, fault=fault)
    assert journal.key(line) == (attempt.problem, attempt.index)
    assert line.count(b"\n") == 1
    whole = json.loads(line)
    assert (whole["data_abbr"], whole["error_info"], whole["tries"]) == ("demo_gsm8k", fault.sentence, attempt.tries)
    assert len(whole["input"]) == 4


def lines(*samples: tuple[int, int, str]) -> list[bytes]:
    return [
        journal.line(PREPARED, replace(PROBLEM, id=problem), Attempt(problem=problem, index=index, text=text))
        for problem, index, text in samples
    ]


def view_of(journal_lines: list[bytes], n: int) -> bytes:
    store = MemoryStore()
    store.append("journal", b"".join(journal_lines))
    places = predictions.places_by_problem(store.lines("journal"))
    return b"".join(predictions.as_view(store.lines_at("journal", places), n))


@given(st.lists(TEXTS, min_size=6, max_size=6), st.permutations(range(6)))
def test_the_view_is_sorted_however_samples_came_in(texts: list[str], order: list[int]) -> None:
    """By problem and by sample; each text at its place."""
    samples = [(place // 3, place % 3, texts[place]) for place in range(6)]
    view = json.loads(view_of(lines(*(samples[place] for place in order)), 3))
    assert list(view) == ["0", "1"]
    assert [view["0"]["prediction"], view["1"]["prediction"]] == [texts[:3], texts[3:]]
    assert view["0"]["gold"] == "4"
    assert view["0"]["origin_prompt"][1] == {"role": "HUMAN", "prompt": "1+1?"}


def test_questions_are_those_of_answers_and_of_failures() -> None:
    """The last turn of each problem, of a run of which nothing else was kept."""
    store = MemoryStore()
    fault = Fault(kind="failed", sentence="No answer.")
    for number in (5, 2, 5):
        asked = replace(PROBLEM, id=number, messages=(Message(role="user", content=f"2+{number}?"),))
        store.append(journal.file("m", "sums"), journal.line(PREPARED, asked, Attempt(problem=number, index=0)))
    lost = journal.failure_line(PREPARED, PROBLEM, Attempt(problem=7, index=0), fault)
    store.append(journal.failures_file("m", "sums"), lost)
    assert journal.questions(store.lines, "m", "sums") == {5: "2+5?", 2: "2+2?", 7: "2+2?"}
    assert journal.questions(MemoryStore().lines, "m", "sums") == {}


def test_a_sample_that_is_missing_is_null() -> None:
    """The others keep their places."""
    view = json.loads(view_of(lines((12, 2, "c"), (12, 0, "a"), (3, 1, "x")), 3))
    assert {number: entry["prediction"] for number, entry in view.items()} == {
        "3": [None, "x", None],
        "12": ["a", None, "c"],
    }
    assert list(view) == ["3", "12"]


def test_the_view_looks_as_it_did() -> None:
    """Indented, in the order of the documented form."""
    golden_files.check("predictions_n3.json", view_of(lines((0, 1, "b"), (1, 0, 'a "q"\n')), 3))
    golden_files.check("predictions_n1.json", view_of(lines((0, 0, "乙"), (10, 0, "a")), 1))


def test_the_view_names_every_log_likelihood() -> None:
    """An unknown one is null, and a cropped context says to how many tokens."""
    candidates = (
        Loglikelihood(logprob=-1.5, tokens=2, greedy=True),
        None,
        Loglikelihood(logprob=-9.0, tokens=700, greedy=False, cropped_to=512),
    )
    sample = Attempt(problem=7, index=0, text="A", method="echo", loglikelihoods=candidates)
    view = json.loads(b"".join(predictions.as_view([journal.line(PREPARED, PROBLEM, sample)], 1)))
    assert view["7"]["loglikelihoods"] == [
        {"logprob": -1.5, "tokens": 2, "greedy": True},
        None,
        {"logprob": -9.0, "tokens": 700, "greedy": False, "cropped_to": 512},
    ]
