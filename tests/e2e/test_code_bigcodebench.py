"""BigCodeBench: whole runs over HTTP, and its own solutions in the sandbox.

Tasks that need no library run on any image, all others on that of docker/bigcodebench where it is (`make references`).
"""

import ast
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.e2e import command
from tests.fake_ports import fake_ports
from tests.real_data import REAL, built, paper
from tests.sandboxed import EVERY, WHOLE, lacks, run_all
from tests.servers.fault_server import FaultServer

from model_accuracy_eval.benchmarks.bigcodebench import UNFIT
from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.errors import Refused
from model_accuracy_eval.records import Attempt, ClientLimits, Problem, Report, RunPlan, Sampling
from model_accuracy_eval.records.code import Execution, Program
from model_accuracy_eval.run.shared_sandbox import check_sandbox, one_sandbox
from model_accuracy_eval.sandbox.backends import open_sandbox
from model_accuracy_eval.scoring.code.code_syntax import parse_source
from model_accuracy_eval.scoring.figures.scorecard import Scorecard

LIBRARIES = "mae-bigcodebench"
"""The image with the libraries, by the name that the guide gives it."""

STEP = 16
TOOLS = {14, 1028}
"""They call unzip and top, which the plain image may lack."""
SLOW = {0, 195, 324, 348, 459, 819, 857, 1040, 1042, 1103, 1104, 1105}
"""They sleep, or compute, for ten seconds and more; the run of all tasks has them."""
FIRST_HARD = ("BigCodeBench/13", "BigCodeBench/15")
"""They need the standard library alone."""

pytestmark = [
    pytest.mark.skipif(not (REAL / "bigcodebench").is_dir(), reason="benchmark files are not in ../shared/data"),
    pytest.mark.timeout(7200),
]


def task_id(problem: Problem) -> str:
    return str(problem.extras["task_id"])


def solved(problem: Problem) -> str:
    return str(problem.extras["prompt"]) + str(problem.extras["canonical_solution"])


def idle(problem: Problem) -> str:
    """The solution without its doing: every function of its top level gives None at once."""
    tree = parse_source(solved(problem))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            node.body = [ast.Return(ast.Constant(None))]
    return ast.unparse(ast.fix_missing_locations(tree))


def of_the_standard_library(problem: Problem) -> bool:
    tree = parse_source(f"{solved(problem)}\n{problem.extras['test']}")
    named = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    named |= {node.module or "" for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    return {name.split(".")[0] for name in named} <= sys.stdlib_module_names


def came_of(
    kind: str, problems: Iterable[Problem], written: Callable[[Problem], str], image: str | None = None
) -> dict[str, Execution]:
    """What came of the code that is written for each of them, by the task's id."""
    card = Scorecard(paper("bigcodebench").task, 1, (1,))

    def program(problem: Problem) -> Program:
        said = Attempt(problem=problem.id, index=0, text=f"```python\n{written(problem)}\n```")
        (ask,) = card.asks(problem, [said])
        assert isinstance(ask, Program)
        return ask

    programs = {task_id(problem): program(problem) for problem in problems}
    return dict(zip(programs, run_all(kind, programs.values(), image), strict=True))


def standing(problems: Iterable[Problem]) -> list[Problem]:
    """Some of those that need nothing but Python; their numbers are spread over the whole."""
    aside = {f"BigCodeBench/{number}" for number in TOOLS | SLOW}
    return [one for one in problems if of_the_standard_library(one) and task_id(one) not in aside][::STEP]


def test_tasks_of_the_standard_library_know_right_from_wrong(sandbox: str) -> None:
    """Its own solution passes, and one that does nothing fails."""
    problems = standing(paper("bigcodebench").problems)
    right, wrong = came_of(sandbox, problems, solved), came_of(sandbox, problems, idle)
    assert {number: one.detail for number, one in right.items() if not one.passed} == {}
    assert [number for number, one in wrong.items() if one.passed is not False] == []
    assert {one.integrity for one in right.values()} == {"split", "shared+control"}


@pytest.mark.skipif(not EVERY, reason="REFERENCES is not set: tasks with libraries take minutes")
def test_every_task_is_asked_whose_own_solution_passes() -> None:
    """With their libraries: those left out, and only those, tell no right solution from a wrong one. All 1,140 take
    half an hour, which `make bigcodebench` gives them; `make references` runs each nineteenth."""
    if (why := lacks(LIBRARIES)) is not None:
        pytest.skip(f"{why}; type: docker build -t {LIBRARIES} docker/bigcodebench")
    whole = built(msgspec.structs.replace(find("bigcodebench"), views=())).problems
    assert len(whole) == 1140
    found = came_of("docker", whole if WHOLE else whole[::19], solved, LIBRARIES)
    unfit = {f"BigCodeBench/{number}" for numbers in UNFIT.values() for number in numbers} & found.keys()
    # The tests of some (BigCodeBench/1040) wait a second for a server, which is not enough beside all the others.
    for problem in whole:
        if task_id(problem) in found.keys() - unfit and not found[task_id(problem)].passed:
            found |= came_of("docker", [problem], solved, LIBRARIES)
    assert {number: one.detail for number, one in found.items() if one.passed is not True and number not in unfit} == {}
    assert {number for number in unfit if found[number].passed} == set()


def test_what_is_left_out_is_documented() -> None:
    """The guide names each reason, and each task under it."""
    guide = (Path(__file__).parents[2] / "docs/how-to/code-benchmarks.md").read_text(encoding="utf-8")
    for reason, numbers in UNFIT.items():
        assert f"| {reason} | {', '.join(map(str, numbers))} |" in guide


class Coder:
    """A service that solves the tasks it is able to, and has no idea of the others."""

    def __init__(self, able: str) -> None:
        self._able = able
        datasets = [paper("bigcodebench"), paper("bigcodebench_instruct")]
        self._asked = {problem.messages[-1].content: problem for prepared in datasets for problem in prepared.problems}

    def __call__(self, request: dict[str, Any]) -> str:
        problem = self._asked.get(request["messages"][-1]["content"])
        if problem is None:
            return "ready"
        return f"Here:\n```python\n{(solved if task_id(problem) == self._able else idle)(problem)}\n```"


def evaluate(server: FaultServer, sandbox: str, out: Path, **settings: object) -> Report:
    values = {
        "endpoint": server.url, "data-dir": str(REAL), "out": str(out), "sampling": "greedy", "sandbox": sandbox, **settings
    }  # fmt: skip
    return command.evaluate(values)


@pytest.mark.parametrize(("dataset", "able"), [("bigcodebench_hard", 0), ("bigcodebench_hard_instruct", 1)])
def test_hard_tasks_from_the_question_to_the_figure(sandbox: str, dataset: str, able: int, tmp_path: Path) -> None:
    """The first two hard tasks, one solved and one not, asked in either manner and judged by their unit tests."""
    with FaultServer(Coder(FIRST_HARD[able])) as server:
        report = evaluate(server, sandbox, tmp_path, datasets=dataset, first=2)
    assert report.outcome.exit_code == 0, report.outcome.sentence
    (dataset_result,) = report.dataset_results
    assert {row.metric: row.value for row in dataset_result.rows} == {"accuracy": 50.0}
    assert (dataset_result.counts.planned, dataset_result.counts.unjudged) == (2, 0)
    assert [problem_result.why == ("right",) for problem_result in dataset_result.problem_results] == [
        able == 0,
        able == 1,
    ]
    assert any("in the program's process" in note for note in dataset_result.notes)


def test_without_its_libraries_it_is_refused_with_their_names(sandbox: str) -> None:
    """Before anything is asked: a model is not to blame for an image that lacks pandas."""
    prepared = built(find("bigcodebench"), 1140)
    plan = RunPlan(
        run_id="0" * 32, stamp="s", tasks=(prepared.task,), sampling=Sampling(), client_limits=ClientLimits()
    )
    with (
        one_sandbox(fake_ports(open_sandbox=lambda: open_sandbox(sandbox, {}))) as ports,
        pytest.raises(Refused, match=r"cannot judge bigcodebench.*lacks .*folium.*--sandbox-image"),
    ):
        check_sandbox(plan, [prepared], ports)
