"""Each benchmark over its real rows: how many problems, how the first is asked, and that gold answers score."""

from hashlib import sha256

import pytest
from tests.one_of_each import without_large
from tests.real_data import paper, real, rows

from model_accuracy_eval.benchmarks import core
from model_accuracy_eval.benchmarks.dataset_table import GROUPS, SECTIONS, TASKS, find
from model_accuracy_eval.benchmarks.prompt_parts import without_calculator
from model_accuracy_eval.records import Attempt, Counts, DatasetResult, SummaryRow
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.scoring.figures.judging import judge
from model_accuracy_eval.tasks import preparation

SIZES = {
    "gsm8k": 1319, "gsm8k_4shot": 1319, "gsm8k_nanochat": 1319, "mgsm": 2750, "svamp": 1000, "mmlu": 14042, "mmlu_choice_5shot": 14042,
    "mmlu_nanochat": 14042, "mmlu_pro": 12032, "arc_easy": 2376, "arc_challenge": 1172, "arc_easy_choice": 2376,
    "arc_challenge_nanochat": 1172, "bbh": 6511, "gaokao_bench": 1781, "truthfulqa": 790, "truthfulqa_choice": 790,
    "truthfulqa_mc1": 790, "truthfulqa_mc2": 790, "tydiqa_tiny": 4, "spelling_bee": 256, "simple_spelling": 256,
    "core_copa": 100, "core_winograd": 273, "core_bigbench_operators": 210, "core_bigbench_repeat_copy_logic": 32,
}  # fmt: skip

PARTS = {"mgsm": 11, "mmlu": 57, "mmlu_pro": 14, "bbh": 27, "gaokao_bench": 14, "tydiqa_tiny": 4}


@pytest.mark.parametrize("name", without_large(SIZES))
def test_every_row_becomes_a_problem(name: str) -> None:
    """As many as the file has, numbered through, each with a right answer among its options."""
    problems = paper(name).problems
    assert [problem.id for problem in problems] == list(range(SIZES[name]))
    for problem in problems:
        assert all(0 <= place < len(problem.choices) for place in problem.gold)
        assert problem.references[0].strip()
        assert bool(problem.gold) == (find(name).kind in {"choice", "schema"})


@pytest.mark.parametrize("name", without_large(PARTS))
def test_parts_are_told_apart(name: str) -> None:
    """Subjects, languages, papers and tasks, for rows of their own in the report."""
    task = find(name)
    assert task.grouping is not None
    assert len({problem.category for problem in paper(name).problems}) == PARTS[name]


@pytest.mark.parametrize("name", without_large(SIZES))
def test_the_data_is_what_the_hash_says(name: str) -> None:
    """Every file is pinned by its content, examples included."""
    shots = find(name).prompt.fewshot
    for file in [find(name).data, *([shots.data] if shots and shots.data else [])]:
        assert sha256(real(file)).hexdigest() == file.sha256


@pytest.mark.slow
def test_mmlu_shows_five_examples_of_the_subject() -> None:
    """Header, five solved questions of the dev file, the question; the letters are weighed behind a blank."""
    problems = paper("mmlu_choice_5shot").problems
    problem = problems[0]
    head = "The following are multiple choice questions (with answers) about abstract algebra.\n\n"
    first = "Find all c in Z_3 such that Z_3[x]/(x^2 + c) is a field.\nA. 0\nB. 1\nC. 2\nD. 3\nAnswer: B\n\n"
    assert problem.text.startswith(head + first)
    assert problem.text.count("\nAnswer: ") == 5
    assert problem.text.endswith("\nA. 0\nB. 4\nC. 2\nD. 6\nAnswer:")
    assert [one.continuation for one in problem.candidates] == [" A", " B", " C", " D"]
    last = problems[-1]
    assert last.category == "world_religions"
    assert "about world religions." in last.text
    assert last.text.split("\n\n")[1] != problem.text.split("\n\n")[1]


def test_the_gold_solutions_of_gsm8k_are_right() -> None:
    """All 1,319 solution texts score as replies, with and without calculator notes."""
    task = find("gsm8k")
    for problem, row in zip(paper("gsm8k").problems, rows(task), strict=True):
        solution = row["answer"]
        for reply in (solution, without_calculator(solution), f"<think>is it 17?</think>{solution}"):
            attempt = Attempt(problem=problem.id, index=0, text=reply)
            assert judge(problem, [attempt], task.pipelines[0]).verdicts[0].why == "right", (reply, problem.references)


def test_truthfulqa_balances_the_places() -> None:
    """The right answer is A about as often as B, and is the one that the file calls best."""
    for problem, row in zip(paper("truthfulqa_choice").problems, rows(find("truthfulqa")), strict=True):
        assert problem.choices[problem.gold[0]] == row["Best Answer"]
        assert problem.choices[1 - problem.gold[0]] == row["Best Incorrect Answer"]
    letters = [problem.references[0] for problem in paper("truthfulqa").problems]
    assert 0.4 < letters.count("A") / len(letters) < 0.6
    assert [problem.gold[0] for problem in paper("truthfulqa_choice").problems] == ["AB".index(one) for one in letters]


def test_truthfulqa_mc2_has_the_true_answers_first() -> None:
    """All right answers, then all wrong ones, and the first are gold; mc1 has the best one against the wrong ones."""
    for one, two in zip(paper("truthfulqa_mc1").problems, paper("truthfulqa_mc2").problems, strict=True):
        assert one.gold == (0,)
        assert two.gold == tuple(range(len(two.gold)))
        assert one.choices[1:] == two.choices[len(two.gold) :]


def test_tydiqa_asks_over_the_passage_that_holds_the_answer() -> None:
    """Byte offsets are cut as bytes: every reference stands in its passage."""
    for problem in paper("tydiqa_tiny").problems:
        passage, question, instruction = problem.messages[0].content.rsplit("\n\n", 2)
        assert question
        assert instruction.startswith("Answer with words of the passage")
        assert all(reference in passage for reference in problem.references)


def test_the_table_holds_every_section_and_group() -> None:
    """Groups name datasets, and CORE is the 22 tasks that its table has."""
    assert list(TASKS) == [task.name for section in SECTIONS.values() for task in section]
    for group in GROUPS.values():
        assert all(member in TASKS for member in group.members)
    assert [find(name).name for name in GROUPS["core"].members] == [f"core_{name}" for name in core.BY_LABEL]
    assert len(GROUPS["core"].members) == 22


def dataset_result(name: str, value: float) -> DatasetResult:
    """What a run would say of a dataset whose accuracy is `value`."""
    task = find(name)
    row = SummaryRow(dataset=name, version="000000", metric="accuracy", value=value)
    return DatasetResult(
        dataset=name, version="000000", rows=(row, *groups.centred(task, row)), problem_results=(), counts=Counts()
    )


def test_n21_chat_core_is_the_mean_of_what_lies_above_guessing() -> None:
    """Choices count from 25 %, everything else from 0; without one of the tasks there is no figure."""
    values = {
        "arc_easy_nanochat": 70.0, "arc_challenge_nanochat": 40.0, "mmlu_nanochat": 25.0,
        "gsm8k_nanochat": 10.0, "humaneval": 20.0, "spelling_bee": 90.0,
    }  # fmt: skip
    dataset_results = {name: dataset_result(name, value) for name, value in values.items()}
    (row,) = groups.rows(GROUPS["chat_core"], dataset_results)
    assert row.value == pytest.approx((60 + 20 + 0 + 10 + 20 + 90) / 6)
    for name in values:
        (row,) = groups.rows(GROUPS["chat_core"], {one: found for one, found in dataset_results.items() if one != name})
        assert row.value is None


def test_mgsm_takes_rows_as_hubs_have_them() -> None:
    """There the answer is another column, and the language is the configuration's name."""
    row = {"lang": "de", "question": "Wie viele?", "answer": None, "answer_number": 18, "equation_solution": None}
    (problem,) = preparation.build(find("mgsm"), [row], [], None).problems
    assert (problem.references, problem.category) == (("18",), "de")
