"""The questions of a run that has ended, as its journals have them."""

import msgspec
from tests.fake_ports import MemoryStore

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.records import (
    Attempt,
    Counts,
    DatasetResult,
    Fault,
    Message,
    PreparedDataset,
    Problem,
    ProblemResult,
)
from model_accuracy_eval.run.issue_order import AskedQuestions
from model_accuracy_eval.run_folder import journal

TASK = find("demo_gsm8k")
FAULT = Fault(kind="failed", sentence="No answer.")


def problem(number: int) -> Problem:
    turns = (Message(role="user", content="1+1?"), Message(role="assistant", content="2"))
    return Problem(id=number, messages=(*turns, Message(role="user", content=f"2+{number}?")), references=("4",))


PREPARED = PreparedDataset(task=TASK, problems=tuple(map(problem, range(9))), version="0ba9da", questions="q")


def result(*numbers: int) -> DatasetResult:
    judged = ProblemResult(problem=0, n=1, c=0, values=(0.0,), answers=(None,), why=("failed",), references=("4",))
    return DatasetResult(
        dataset=TASK.name,
        version="0ba9da",
        rows=(),
        problem_results=tuple(msgspec.structs.replace(judged, problem=number) for number in numbers),
        counts=Counts(planned=len(numbers)),
    )


def answer(number: int) -> bytes:
    return journal.line(PREPARED, problem(number), Attempt(problem=number, index=0, text="4"))


def failure(number: int) -> bytes:
    return journal.failure_line(PREPARED, problem(number), Attempt(problem=number, index=0), FAULT)


def test_they_are_those_of_answers_and_of_failures() -> None:
    """The last turn of each judged problem; those of others are none of the report."""
    store = MemoryStore()
    for number in (5, 2, 8, 5):
        store.append(journal.file("m", TASK.name), answer(number))
    for number in (7, 5):
        store.append(journal.failures_file("m", TASK.name), failure(number))
    questions = AskedQuestions(store, "m", result(2, 3, 5, 7))
    assert dict(questions) == {2: "2+2?", 5: "2+5?", 7: "2+7?"}
    assert (len(questions), questions.get(3), questions.get(8)) == (3, None, None)


def test_a_run_of_which_nothing_was_kept_has_none() -> None:
    assert dict(AskedQuestions(MemoryStore(), "m", result(2))) == {}
