"""Each benchmark over its real rows: how many problems, how the first is asked, and that gold answers score."""

import json
import random
from typing import Any

import pytest
from msgspec.structs import replace
from tests.one_of_each import without_large
from tests.real_data import REAL, paper, real, rows

from model_accuracy_eval.benchmarks import core
from model_accuracy_eval.benchmarks.dataset_table import GROUPS, SECTIONS, TASKS, find
from model_accuracy_eval.benchmarks.prompt_parts import without_calculator
from model_accuracy_eval.records import Attempt, Counts, DatasetResult, FewShot, Step, SummaryRow, TaskSpec
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.scoring.figures.judging import judge
from model_accuracy_eval.tasks import preparation, prompts
from model_accuracy_eval.tasks.row_pins import pin
from model_accuracy_eval.tasks.rows import parse

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
    """Every file is pinned by its rows, examples included."""
    shots = find(name).prompt.fewshot
    for file, fields in [(find(name).data, ()), *([(shots.data, shots.fields or ())] if shots and shots.data else [])]:
        content = [row for one in (file, *file.more) for row in parse(one.name, real(one), fields)]
        assert file.pin is not None
        assert pin(content, file.pin.columns) == file.pin


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


# CORE: what is weighed, in which order, after which examples.


def test_n17_the_table_says_what_the_sources_say() -> None:
    """Shots, kind, delimiter and baseline of all 22 tasks, compared with the facts that were read from DCLM."""
    path = REAL / "core" / "core_tasks.json"
    if not path.is_file():
        pytest.skip("the list of CORE's tasks is not on this machine (core/core_tasks.json in ../shared/data)")
    facts = json.loads(path.read_text())
    assert [fact["label"] for fact in facts] == list(core.BY_LABEL)
    kinds = {"multiple_choice": "choice", "schema": "schema", "language_modeling": "target"}
    for fact, task in zip(facts, core.BY_LABEL.values(), strict=True):
        shots = task.prompt.fewshot
        assert (shots.count if shots else 0) == fact["num_fewshot"]
        assert task.kind == kinds[fact["task_type"]]
        assert task.boundary == ("shared" if task.kind == "choice" else "context")
        assert task.baseline == pytest.approx(fact["random_baseline_pct"] / 100)
        assert (task.prompt.question + task.prompt.delimiter).endswith(fact["continuation_delimiter"]) or not shots


def test_n18_examples_are_drawn_for_every_question_alone() -> None:
    """Seed 1234 + place, from all others: [8, 2, 1] for the first of ten, and the same for any slice."""
    pool = [{"place": at} for at in range(10)]
    choose = prompts.chooser(Step(name="per_item", args={"seed": 1234}), pool, 3, own=True)
    assert list(choose(0, pool[0])) == [8, 2, 1]
    for place, row in enumerate(pool):
        others = [at for at in range(10) if at != place]
        assert list(choose(place, row)) == random.Random(1234 + place).sample(others, 3)


def small(kind: str, shots: int) -> TaskSpec:
    """CORE's task of a kind, over rows of the test and with fewer examples."""
    name = {"choice": "commonsense_qa", "schema": "winograd", "target": "bigbench_operators"}[kind]
    task = core.BY_LABEL[name]
    few = FewShot(count=shots, sampler=Step(name="first"), turns=False) if shots else None
    return replace(task, views=(), prompt=replace(task.prompt, fewshot=few))


def whole(candidate: Any) -> str:
    return str(candidate.context + candidate.continuation)


def test_n19_options_stand_behind_examples_and_question() -> None:
    """The prompts of nanochat for a choice, as written down from running it."""
    found = [{"query": "Q1", "choices": ["c", "d"], "gold": 0}, {"query": "Q0", "choices": ["a", "b"], "gold": 1}]
    problem = preparation.build(small("choice", 1), found, [], None).problems[0]
    assert [whole(one) for one in problem.candidates] == ["Q0 b\n\nQ1 c", "Q0 b\n\nQ1 d"]


def test_n19_an_ending_stands_behind_examples_and_context() -> None:
    """The same for an ending: the context loses the blanks around it."""
    found = [{"context": " Hello there ", "continuation": "world"}, {"context": "a", "continuation": "b"}]
    (one,) = preparation.build(small("target", 1), found, [], None).problems[0].candidates
    assert (one.context, one.continuation) == ("a b\n\nHello there", " world")


def test_n19_a_schema_weighs_one_ending_behind_two_contexts() -> None:
    """Every context with the same ending."""
    found = [{"context_options": ["The man", "The dog"], "continuation": "barks.", "gold": 1}]
    problem = preparation.build(small("schema", 0), found, [], None).problems[0]
    assert [(one.context, one.continuation) for one in problem.candidates] == [
        ("The man", " barks."),
        ("The dog", " barks."),
    ]
    assert problem.gold == (1,)
