"""Every task of the table builds, and the data that comes with the package is right."""

import ast
import operator
import re
from fractions import Fraction
from importlib import resources
from typing import Any

import pytest
from tests.real_data import real

from model_accuracy_eval.benchmarks import apps, codecontests, livecodebench
from model_accuracy_eval.benchmarks.dataset_names import KINDS
from model_accuracy_eval.benchmarks.dataset_table import NAMES, SECTIONS, TASKS, find
from model_accuracy_eval.benchmarks.prompt_parts import without_calculator
from model_accuracy_eval.errors import UnknownDataset
from model_accuracy_eval.records import Attempt, DataFile, PreparedDataset, Problem, TaskSpec, Verdict
from model_accuracy_eval.scoring.figures.judging import judge
from model_accuracy_eval.tasks import preparation
from model_accuracy_eval.tasks.importers.own_questions import looks_like_file
from model_accuracy_eval.tasks.rows import parse

WITHOUT_FILE = [
    *(task.name for task in (*livecodebench.TASKS, *apps.TASKS, *codecontests.TASKS)),
]  # fmt: skip
"""Datasets whose files nobody here has seen: no hash is known."""
OPERATIONS = {ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv}


def rows(file: DataFile, fields: tuple[str, ...]) -> list[dict[str, Any]]:
    if file.bundled is None:
        return list(parse(file.name, real(file), fields))
    bundled = resources.files("model_accuracy_eval.tasks") / "data" / file.bundled
    return list(parse(file.name, bundled.read_bytes(), fields))


def built(task: TaskSpec) -> PreparedDataset:
    questions, *examples = [rows(file, task.fields) for file in files_of(task)]
    return preparation.build(task, questions, examples[0] if examples else [], None)


def files_of(task: TaskSpec) -> list[DataFile]:
    shots = task.prompt.fewshot
    return [task.data, *([shots.data] if shots and shots.data else [])]


def verdict_of(problem: Problem, reply: str, task: TaskSpec) -> Verdict:
    """One reply to a problem, judged."""
    return judge(problem, [Attempt(problem=problem.id, index=0, text=reply)], task.pipelines[0]).verdicts[0]


def value(expression: str) -> Fraction:
    """What GSM8K's calculator computes: sums, products and per cents, exactly."""

    def of(node: ast.AST) -> Fraction:
        if isinstance(node, ast.BinOp):
            return Fraction(OPERATIONS[type(node.op)](of(node.left), of(node.right)))
        if isinstance(node, ast.UnaryOp):
            return -of(node.operand)
        assert isinstance(node, ast.Constant)
        return Fraction(str(node.value))

    return of(ast.parse(expression.replace("%", "/100"), mode="eval").body)


def test_a_file_is_in_the_package_or_pinned() -> None:
    """What can be fetched has a hash, and the place is one commit; what cannot is known by its hash, as a rule."""
    for name in TASKS:
        task = find(name)
        assert (task.name, bool(task.about), bool(task.licence)) == (name, True, True)
        for file in files_of(task):
            assert file.bundled or file.sha256 or file.git_sha1 or file.split or name in WITHOUT_FILE, name
            assert not file.hub or ((file.sha256 or file.git_sha1) and re.search("@[0-9a-f]{40}/", file.hub)), name


def test_an_unknown_dataset_is_answered_with_the_nearest() -> None:
    """Most are typing slips."""
    with pytest.raises(UnknownDataset, match="no dataset called 'gsm8'; did you mean gsm8k"):
        find("gsm8")
    with pytest.raises(UnknownDataset, match=r"called 'ruler'\. These begin so: ruler_4k, ruler_8k, ruler_16k, "):
        find("ruler")
    with pytest.raises(UnknownDataset, match=r"called 'zzzzzz'\. `model-accuracy-eval tasks list` shows all"):
        find("zzzzzz")


def test_the_solutions_of_demo_gsm8k_compute() -> None:
    """Every <<expression=value>> holds, and the answer is the last value."""
    task = find("demo_gsm8k")
    found = rows(task.data, task.fields)
    assert len(found) == 20
    assert len({row["question"] for row in found}) == 20
    for row in found:
        notes = re.findall(r"<<([^<>=]+)=([^<>=]+)>>", row["answer"])
        assert notes, row
        assert row["answer"].count("<<") == len(notes), row
        for expression, result in notes:
            assert value(expression) == Fraction(result), row
        assert Fraction(row["answer"].rpartition("#### ")[2]) == Fraction(notes[-1][1]), row


def test_the_sums_of_demo_arithmetic_are_right() -> None:
    """Each question is a sum below 100 and its answer."""
    task = find("demo_arithmetic")
    for row in rows(task.data, task.fields):
        assert value(row["question"].rstrip("=? ")) == Fraction(row["answer"]), row


def test_the_gold_solutions_of_gsm8k_are_right() -> None:
    """All 1,319 solution texts score as replies, with and without calculator notes."""
    task = find("gsm8k")
    solutions = [row["answer"] for row in rows(task.data, task.fields)]
    for problem, solution in zip(built(task).problems, solutions, strict=True):
        for reply in (solution, without_calculator(solution), f"<think>is it 17?</think>{solution}"):
            verdict = verdict_of(problem, reply, task)
            assert verdict.why == "right", (reply, problem.references)


def test_an_alias_stands_for_one_dataset() -> None:
    """No name of another tool is that of two datasets, whatever its capitals, hyphens and underscores."""
    places: dict[str, set[str]] = {}
    for form, name in NAMES.spellings():
        places.setdefault(form, set()).add(name)
    assert {form: names for form, names in places.items() if len(names) > 1} == {}
    aliases = [alias for task in TASKS.values() for alias in task.aliases]
    assert [alias for alias in aliases if looks_like_file(alias)] == []
    assert set(KINDS) <= set(SECTIONS)


@pytest.mark.parametrize(
    ("name", "known"),
    [("GSM8K", "gsm8k"), ("ARC-Easy", "arc_easy"), ("MMLU-Pro", "mmlu_pro"), ("mmlu@choice", "mmlu_choice"),
     ("MMLU@nanochat", "mmlu_nanochat"), ("humaneval_instruct", "humaneval"), ("gsm8k-cot-zeroshot", "gsm8k")],
)  # fmt: skip
def test_names_of_other_tools_are_understood(name: str, known: str) -> None:
    """AISBench's, EvalScope's, OpenCompass's, lm-eval's and nanochat's."""
    assert find(name).name == known


def test_a_similar_name_of_another_dataset_is_no_slip() -> None:
    """kmmlu is Korean, and MATH-5001 is not MATH-500: the kind is told, and how to bring one's own."""
    for name in ("kmmlu", "gsm8k2", "gsm1k"):
        with pytest.raises(UnknownDataset) as error:
            find(name)
        assert "did you mean" not in error.value.sentence
        assert f"--tasks-path FOLDER --datasets {name}; " in error.value.sentence
        assert "--datasets hf:OWNER/NAME" in error.value.sentence
    with pytest.raises(
        UnknownDataset, match="Of the kind 'Knowledge and thought' there are mmlu, mmlu_pro, mmlu_redux"
    ):
        find("kmmlu")
    with pytest.raises(UnknownDataset, match=r"The dataset 'gsm8k' has no prompt called 'xyz'; it has one alone\."):
        find("GSM8K@xyz")
