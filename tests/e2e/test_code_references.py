"""The reference solutions of every code dataset, read as replies and run in the real sandbox: all of them pass, and
none of them does when what it gives back is made wrong.

Every eighth problem; all of them under `make references`, which takes minutes.
"""

import gzip
from pathlib import Path

import msgspec
import pytest
from tests.integration.sandbox.benchmarks import spoiled
from tests.sandboxed import EVERY, run_all

from model_accuracy_eval.benchmarks import dataset_table as tasks
from model_accuracy_eval.records import Attempt, PreparedDataset, Problem, TaskSpec
from model_accuracy_eval.records.code import Program
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.tasks import preparation
from model_accuracy_eval.tasks.rows import parse

DATA = Path(__file__).parents[3] / "shared/data"

STEP = 1 if EVERY else 8

pytestmark = pytest.mark.skipif(not DATA.is_dir(), reason="benchmark files are not in ../shared/data")


def suite_alone(task: TaskSpec) -> TaskSpec:
    """The examples of some docstrings are wrong, so what a question shows of its tests is left out here."""
    (pipeline,) = task.pipelines
    metrics = tuple(measure for measure in pipeline.metrics if measure.name == "tests")
    return msgspec.structs.replace(task, pipelines=(msgspec.structs.replace(pipeline, metrics=metrics),))


def exam_of(name: str, limit: int | None) -> PreparedDataset:
    task = suite_alone(tasks.find(name))
    source = gzip.decompress((DATA / f"{task.data.name}.gz").read_bytes())
    return preparation.build(task, parse(task.data.name, source, task.fields), [], None, first=limit)


def reply(name: str, problem: Problem) -> str:
    """Some calls of CRUXEval have no argument, so the bare arguments would be no reply."""
    return f"f({problem.references[0]})" if name == "cruxeval_input" else problem.references[0]


def asked(name: str) -> list[tuple[int, Program]]:
    """The problems' numbers, and the programs that their reference solutions become."""
    whole = exam_of(name, None)
    ready = msgspec.structs.replace(whole, problems=whole.problems[::STEP])
    card = Scorecard(ready.task, 1, (1,))
    found = [
        (problem.id, ask)
        for problem in ready.problems
        for ask in card.asks(problem, [Attempt(problem=problem.id, index=0, text=reply(name, problem))])
        if isinstance(ask, Program)
    ]
    assert {number for number, _ in found} == {problem.id for problem in ready.problems}
    return found


def looked_at(numbers: list[int]) -> list[int]:
    return [number for number in numbers if number % STEP == 0]


@pytest.mark.parametrize(
    ("name", "known", "beside"),
    [
        ("humaneval", [], []),
        ("humaneval_base", [], []),
        ("humaneval_plus", [], []),
        # Its tests build trees of the program's own class.
        ("mbpp", [], [366]),
        ("mbpp_sanitized", [], []),
        # What Mbpp/255 gives back is too large to cross to another process.
        ("mbpp_plus", [], [119]),
        # Two functions name what they never reach, and nobody defines.
        ("cruxeval_output", [], [288, 424]),
        # Two ask for a function, which is no data.
        ("cruxeval_input", [], [288, 344, 364, 424]),
    ],
)
def test_a12_reference_solutions_pass(sandbox: str, name: str, known: list[int], beside: list[int]) -> None:
    """In split mode, where no program can reach its tests; what does not pass is a defect of the data."""
    numbers, programs = zip(*asked(name), strict=True)
    executions = dict(zip(numbers, run_all(sandbox, programs), strict=True))
    failed = {number: one.detail for number, one in executions.items() if not one.passed}
    assert sorted(failed) == looked_at(known), failed
    assert [number for number, one in executions.items() if one.integrity != "split"] == looked_at(beside)


@pytest.mark.parametrize("name", ["humaneval", "humaneval_plus", "mbpp", "mbpp_plus"])
def test_spoiled_solutions_fail(sandbox: str, name: str) -> None:
    """The same solutions with every result made wrong, under the same tests: a verdict for each, and never a pass."""
    numbers, programs = zip(*asked(name), strict=True)
    executions = run_all(sandbox, map(spoiled, programs))
    assert [number for number, one in zip(numbers, executions, strict=True) if one.passed is not False] == []
