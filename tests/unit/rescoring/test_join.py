"""The problems of a file find their rows: by every kind of id, and by questions; doubtful ids are refused."""

from collections.abc import Callable, Sequence

import pytest
from msgspec.structs import replace
from tests.fake_ports import MemoryHub, fake_ports
from tests.one_of_each import one_of_each
from tests.unit.rescoring.test_own_runs import LONGER, hub

from model_accuracy_eval.benchmarks import dataset_table as tasks
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import PreparedDataset, Problem, RunPlan, TaskSpec
from model_accuracy_eval.rescoring import saved_replies
from model_accuracy_eval.rescoring.join import NotInDataset, coverage, join
from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.run import preflight

PLAN = RunPlan(run_id="", stamp="", tasks=(), k=())
Naming = Callable[[int, Problem], SavedReply]

WAYS: dict[str, Naming] = {
    "row of the file": lambda _, problem: SavedReply(
        problem=str(problem.row), gold=problem.references[:1], question=problem.messages[-1].content
    ),
    "row": lambda _, problem: SavedReply(problem=str(problem.id), gold=problem.references[:1]),
    "place": lambda place, _: SavedReply(problem=str(place)),
    "from 1": lambda place, problem: SavedReply(problem=str(place + 1), gold=problem.references[:1]),
    "key": lambda _, problem: SavedReply(problem="/".join(problem.key)),
    "part and key": lambda _, problem: SavedReply(problem=problem.key[-1], part=problem.category or ""),
    "prompt": lambda _, problem: SavedReply(question=f"Look:\n{problem.messages[-1].content}", options=problem.choices),
    "question": lambda _, problem: SavedReply(
        problem=f"q{problem.id}x",
        question="\n".join((*problem.row_texts, *problem.row_options)),
        options=problem.choices,
    ),
}
"""How files name their problems."""


def prepared(task: TaskSpec, files: MemoryHub | None = None) -> PreparedDataset:
    return preflight.prepared(task, PLAN, fake_ports(hub=files or hub(task)))


def joined(replies: Sequence[SavedReply], dataset: PreparedDataset) -> list[int]:
    saved = saved_replies.problems(replies)
    found = join("replies", list(saved.values()), dataset).problems
    return [problem.id for problem in found if problem is not None]


def names_rows(way: str, problems: Sequence[Problem]) -> bool:
    """Whether a dataset's rows have such names. Bare positions in a dataset that shuffles its rows mean two of them."""
    first = problems[0]
    in_order = all(problem.row in {problem.id, None} for problem in problems)
    match way:
        case "key" | "part and key":
            return len(first.key) > (way != "key")
        case "prompt" | "question":
            # Words alone do not say which picture they are about, or which functions there were.
            words = {(problem.row_texts, problem.row_options, problem.choices) for problem in problems}
            asked = {str((problem.messages, problem.functions)) for problem in problems}
            return bool(first.row_texts) and len(words) == len(asked)
        case "row of the file":
            return first.row is not None and (in_order or bool(first.row_texts))
    return in_order


@pytest.mark.parametrize("name", one_of_each(name for name in tasks.TASKS if not LONGER.search(name)))
def test_rows_are_found_by_every_name_that_files_give_them(name: str) -> None:
    """Whatever the order of the file: its reverse is the hardest one for positions."""
    dataset = prepared(tasks.find(name))
    problems = list(enumerate(dataset.problems))[::-1]
    for way, naming in WAYS.items():
        if not names_rows(way, dataset.problems):
            continue
        replies = [naming(*problem) for problem in problems]
        assert joined(replies, dataset) == [problem.id for _, problem in problems], way


NUMBERS = b"".join(b'{"question": "How much is %d + 1?", "answer": "#### %d"}\n' % (i, i + 1) for i in range(12))
DEMO = tasks.find("demo_gsm8k")


def numbers() -> PreparedDataset:
    return prepared(DEMO, MemoryHub({DEMO.data.name: NUMBERS}))


def test_right_answers_decide_where_counting_begins() -> None:
    """Positions from 0 and from 1 both exist, and only one of them has these answers."""
    replies = [SavedReply(problem=str(number), gold=(str(number),)) for number in range(1, 9)]
    assert joined(replies, numbers()) == list(range(8))


def test_ids_that_may_mean_two_rows_are_refused() -> None:
    """The next step is named: with the question there is no doubt."""
    replies = [SavedReply(problem=str(number)) for number in range(1, 9)]
    with pytest.raises(BadData, match="as positions in the data file and as positions from 1 .* add the question"):
        joined(replies, numbers())
    asked = [SavedReply(problem=reply.problem, question=f"How much is {reply.problem} + 1?") for reply in replies]
    assert joined(asked, numbers()) == list(range(1, 9))


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (SavedReply(problem="3", gold=("9",)), "it has the right answer '9' in the file and '4' in demo_gsm8k"),
        (
            SavedReply(problem="3", question="Who?"),
            "it has the question 'Who?' in the file and 'How much is 3 + 1?' in",
        ),
        (SavedReply(problem="u3-x"), "demo_gsm8k has no such problem"),
    ],
)
def test_a_problem_that_is_none_of_the_dataset_costs_no_other(reply: SavedReply, why: str) -> None:
    """If nearly all others are its rows; with both values. Of a file whose half is not, nothing is judged."""
    others = [SavedReply(problem=str(number), gold=(str(number + 1),)) for number in range(12) if number != 3]
    found = join("replies", list(saved_replies.problems([*others, reply]).values()), numbers())
    assert [problem and problem.id for problem in found.problems] == [0, 1, 2, *range(4, 12), None]
    (sentence,) = found.strangers
    assert sentence.startswith(f"problem {reply.problem}: {why}")
    with pytest.raises(BadData, match=r"^3 of 5 problems of replies"):
        joined(
            [*others[:2], *(replace(reply, problem=f"{number}{reply.problem[1:]}") for number in (4, 5, 6))], numbers()
        )


def test_a_question_that_is_asked_twice_is_said_to_be() -> None:
    """It is in the dataset; but only one of its replies can be judged."""
    replies = [SavedReply(problem=f"u{number}", question=f"How much is {number} + 1?") for number in range(10)]
    twice = replace(replies[3], problem="again")
    found = join("replies", list(saved_replies.problems([*replies, twice]).values()), numbers())
    assert found.strangers == ("problem again: demo_gsm8k has it once, the file twice",)


def test_what_has_no_place_stands_for_what_a_part_lacks() -> None:
    """A part of the dataset, or its beginning, is still known as one; and nothing else is counted as missing."""
    problems = [Problem(id=at, messages=(), references=("1",), category="ab"[at // 10]) for at in range(20)]

    def of(*held: int, unplaced: int) -> tuple[int, int]:
        found = coverage("x", DEMO, problems, set(held), wanted=None, subset=False, unplaced=unplaced)
        return found.problems[0].id, len(found.problems)

    assert of(*range(11, 20), unplaced=1) == (10, 10)
    assert of(*range(11, 20), unplaced=4) == (10, 10)
    assert of(0, 1, 3, unplaced=1) == (0, 4)
    assert of(0, 1, 3, unplaced=0) == (0, 10)
    assert of(*range(20), unplaced=3) == (0, 20)


def test_bare_positions_in_a_shuffled_dataset_are_refused() -> None:
    """Other programs count the rows of the file, runs of this program those that they asked."""
    rows = b"".join(b'{"query": "%d", "choices": ["a", "b"], "gold": 0}\n' % number for number in range(9))
    task = tasks.find("core_copa")
    dataset = prepared(task, MemoryHub({task.data.name: rows}))
    with pytest.raises(BadData, match="as positions in the data file and as positions in the order of a run of this"):
        joined([SavedReply(problem=str(number)) for number in range(9)], dataset)
    asked = [SavedReply(problem=str(number), question=str(number)) for number in range(9)]
    assert [dataset.problems[place].row_texts for place in joined(asked, dataset)] == [(str(n),) for n in range(9)]


def test_ids_of_other_datasets_are_refused() -> None:
    """With the first ones, and with what ids look like."""
    replies = [SavedReply(problem=f"u{number}-x") for number in range(5)]
    with pytest.raises(
        NotInDataset,
        match=r"5 of 5 .* such as u0-x, u1-x, u2-x: positions from 0 to 11, or their questions, in a field",
    ):
        joined(replies, numbers())


def test_a_part_that_exists_is_meant() -> None:
    """Position 3 of a part is not position 3 of the file."""
    dataset = prepared(tasks.find("mgsm"))
    (german, *_) = [problem for problem in dataset.problems if problem.category == "de"]
    assert joined([SavedReply(problem="0", part="de")], dataset) == [german.id]


def test_the_same_words_about_other_pictures_are_not_told_apart() -> None:
    """The first row with these words would be another question, silently."""
    dataset = prepared(tasks.find("demo_digits"))
    replies = [SavedReply(question=problem.messages[-1].words) for problem in dataset.problems[::-1]]
    with pytest.raises(NotInDataset):
        joined(replies, dataset)


def test_questions_that_datasets_repeat_are_several_problems() -> None:
    """Without ids, twice as many replies as usual are not twice as many samples."""
    rows = [("Who?", "1"), ("What?", "2"), ("Who?", "1"), ("When?", "3")]
    content = "".join(f'{{"question": "{question}", "answer": "#### {answer}"}}\n' for question, answer in rows)
    dataset = prepared(DEMO, MemoryHub({DEMO.data.name: content.encode()}))
    replies = [SavedReply(question=question) for question, _ in rows]
    assert sorted(joined(replies, dataset)) == [0, 1, 2, 3]


def test_solved_examples_before_a_question_are_not_asked() -> None:
    """The last question of a prompt is."""
    shown = "\n".join(f"How much is {number} + 1? {number + 1}" for number in (5, 7, 1))
    assert joined([SavedReply(question=f"{shown}\nHow much is 4 + 1?")], numbers()) == [4]
