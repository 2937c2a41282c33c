"""Benchmarks of programming contests and own tasks with cases, through the whole program."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from tests import contest_rows
from tests.contest_rows import PROBLEMS, ContestProblem
from tests.e2e import command
from tests.real_data import filled
from tests.servers.fault_server import FaultServer

from model_accuracy_eval.benchmarks.dataset_table import find

JSON = dict[str, Any]


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("contests")
    contest_rows.write_all(folder)
    filled(folder / "apps/test.jsonl", find("apps"))
    return folder


def answering(reply: Callable[[ContestProblem], str]) -> Callable[[JSON], str]:
    """A service that knows the problems by their names."""

    def answer(request: JSON) -> str:
        question = request["messages"][-1]["content"]
        asked = [problem for problem in PROBLEMS if problem.question in question]
        return reply(asked[0]) if asked else reply(PROBLEMS[0])

    return answer


def fenced(code: str) -> str:
    return f"Think.\n```\nnot this\n```\nSo:\n```python\n{code}\n```\nDone."


def evaluated(reply: Callable[[ContestProblem], str], dataset: str, data: Path, out: Path, sandbox: str) -> JSON:
    with FaultServer(answering(reply)) as server:
        done = command.run(
            "run", "--endpoint", server.url, "--datasets", dataset, "--data-dir", data, "--out", out,
            "-n", 1, "--k", 1, "--sandbox", sandbox, "--generation", '{"n": 1}', "--first", 5,
        )  # fmt: skip
    assert done.code == 0, done.err
    (name,) = [
        path for path in (command.only_run(out) / f"results/{command.LABEL}").iterdir() if path.suffix == ".json"
    ]
    found: JSON = json.loads(name.read_bytes())
    return found


@pytest.mark.parametrize("dataset", ["livecodebench", "apps", "codecontests"])
def test_solutions_are_worth_100_and_wrong_ones_0(dataset: str, data: Path, sandbox: str, tmp_path: Path) -> None:
    """Programs and functions, packed and plain cases; everything is judged out of the program's reach."""
    right = evaluated(lambda one: fenced(one.solution), dataset, data, tmp_path / "right", sandbox)
    wrong = evaluated(lambda one: fenced(one.wrong), dataset, data, tmp_path / "wrong", sandbox)
    assert (right["accuracy"], wrong["accuracy"]) == (100.0, 0.0)
    assert {ran["integrity"] for ran in [*right["ran"], *wrong["ran"]]} == {"split"}
    if dataset == "apps":
        assert right["cases passed"] == 100.0
        assert wrong["cases passed"] == pytest.approx(100 * (0 + 1 / 2 + 0 + 0 + 1 / 2) / 5)


def test_a_release_and_a_time_are_chosen_by_name(data: Path, sandbox: str, tmp_path: Path) -> None:
    """The report says of what time the problems are."""
    found = evaluated(lambda one: fenced(one.solution), "livecodebench_v4@2024-05-01..", data, tmp_path, sandbox)
    assert found["accuracy"] == 100.0
    page = (command.only_run(tmp_path) / "report.html").read_text(encoding="utf-8")
    assert "The problems are of 2024-05-11 to 2025-01-04 (contest_date)" in page
    assert "livecodebench_v4@2024-05-01.." in page


TASK = """
name: doubles
data: doubles.jsonl
prompt: {{question: "{{{{ question }}}}"}}
reference: "{{{{ solution }}}}"
extras: [question, solution, cases]
exec:
  solution: "{{solution}}"
  all_cases: true
{rules}
"""


@pytest.mark.parametrize(
    ("rules", "share"),
    [
        (
            "  stdin: cases\n  checker: |\n    def check(given, expected, output):\n        return int(output) > 3",
            100.0,
        ),
        ('  calls:\n    - {input: "2", output: "4"}\n  function: double', 0.0),
    ],
)
def test_an_own_task_says_its_cases(rules: str, share: float, sandbox: str, tmp_path: Path) -> None:
    """In the file or in a column of the rows, with a checker of its own or a rule by name."""
    (tmp_path / "doubles.yaml").write_text(TASK.format(rules=rules), encoding="utf-8")
    solution = "def double(x): return x * 2\nif __name__ == '__main__': print(double(int(input())))"
    cases = [{"input": "2", "output": "4"}, {"input": "3", "output": "6"}]
    row = {"question": "Double it.", "solution": solution, "cases": cases}
    (tmp_path / "doubles.jsonl").write_text(json.dumps(row), encoding="utf-8")
    wrong = "def double(x): return 5\nif __name__ == '__main__': print(4 + int(input()) % 2 * 3)"
    for name, reply, expected in [("right", solution, 100.0), ("wrong", wrong, share)]:
        found = evaluated(partial(_always, reply), str(tmp_path / "doubles.yaml"), tmp_path, tmp_path / name, sandbox)
        assert found["cases passed"] == expected


def _always(code: str, _problem: ContestProblem) -> str:
    return fenced(code)
