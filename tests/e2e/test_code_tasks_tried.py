"""A user's code tasks are tried before anything is asked: what cannot tell right from wrong is refused with its rows."""

import json
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.e2e import command
from tests.fake_ports import ManualClock, RecordingProgress, ScriptedSandbox, fake_ports
from tests.servers.fault_server import FaultServer

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.ports import Ports
from model_accuracy_eval.records import ClientLimits, PreparedDataset, RunPlan, Sampling
from model_accuracy_eval.records.code import ExecutionVerdict, Program
from model_accuracy_eval.run.shared_sandbox import check_sandbox, one_sandbox
from model_accuracy_eval.sandbox.backends import open_sandbox
from model_accuracy_eval.tasks import preparation
from model_accuracy_eval.tasks.task_file import from_fields

JSON = dict[str, Any]
ADD = "def add(a, b):\n    return a + b"
SHELL_ADD = "add() { echo $(($1 + $2)); }"
SHELL_TEST = '[ "$(add 1 2)" = 3 ]'
SUM = "print(sum(map(int, input().split())))"
ONE_CASE = [{"input": "1 2", "output": "3"}]


def task(tests: str = "", solution: str = "", rows: int = 1, **fields: Any) -> PreparedDataset:
    """A dataset of equal rows with these tests, judged by `fields` of exec."""
    own = {"tests": "{tests}"} if tests else {}
    own |= {"solution": "{solution}"} if solution else {}
    spec = from_fields("own.yaml", {
        "name": "own", "data": "own.jsonl", "prompt": {"question": "Add."}, "reference": "{{ solution }}",
        "extras": ["tests", "solution"], "exec": {**own, **fields},
    })  # fmt: skip
    return preparation.build(spec, [{"tests": tests, "solution": solution} for _ in range(rows)], [], None)


def plan(prepared: PreparedDataset) -> RunPlan:
    whole = RunPlan(
        run_id="0" * 32, stamp="s", tasks=(prepared.task,), sampling=Sampling(), client_limits=ClientLimits()
    )
    return whole.with_settings(datasets=("own.yaml",), data_dir="my rows")


@pytest.fixture(scope="module")
def ports(sandbox: str) -> Iterator[Ports]:
    """One real sandbox for all."""
    with one_sandbox(fake_ports(open_sandbox=lambda: open_sandbox(sandbox, {}))) as shared:
        yield shared


@pytest.mark.parametrize(
    "own",
    [
        {"tests": "assert add(1, 2) == 3", "solution": ADD, "entry_points": ["add"]},
        {"tests": "assert add(1, 2) == 3"},
        {"tests": "assert mul(2, 3) == 6", "solution": "def mul(a, b):\n    return a * b", "code": "import math\n{answer}"},
        {"tests": SHELL_TEST, "solution": SHELL_ADD, "language": "bash"},
        {"solution": SUM, "stdin": ONE_CASE},
        {"solution": "read a b; echo $((a + b))", "stdin": ONE_CASE, "language": "bash"},
        {"tests": "assert add(1, 2) == 3", "solution": 'def add(a, b):\n    """\n    ```\n    add(1, 2)\n    ```\n    """\n    return a + b'},
        {"solution": ADD, "calls": [{"input": "1\n2", "output": "3"}], "function": "add"},
    ],
)  # fmt: skip
def test_a_task_that_can_judge_is_taken(ports: Ports, own: JSON) -> None:
    """In Python and in another language, with a solution and without."""
    assert check_sandbox(plan(task(**own)), [task(**own)], ports) == ("own",)


@pytest.mark.parametrize(
    ("own", "told"),
    [
        ({"tests": "assert 1 == 1"}, "its tests never call the program"),
        ({"tests": "assert 1 == 1", "mode": "shared"}, "its tests pass for an empty program"),
        ({"tests": "add(1, 2)"}, "its tests pass for add that only return object()"),
        ({"tests": "assert add(1, 2) == (3"}, "its tests are no Python (error: SyntaxError"),
        ({"tests": "assert add(1, 2) == 4", "solution": ADD}, "the solution did not pass"),
        ({"tests": " \n", "entry_points": ["add"]}, "it has no tests"),
        ({"tests": "true", "language": "ruby"}, "There is no language called 'ruby'; did you mean rust?"),
        ({"tests": "true", "files": {"../x": ""}}, "must be named by a path below its folder"),
        ({"tests": "assert add(1, 2) == 3", "code": "def add(a, b): return a + b"}, "'code' has no {answer}, so that no reply"),
        ({"tests": "if add; the", "language": "bash"}, "its tests are no bash"),
        ({"tests": SHELL_TEST, "solution": "add() { echo 4; }", "language": "bash"}, "does not pass here"),
        (
            {"tests": SHELL_TEST, "solution": SHELL_ADD, "language": "bash", "filters": ["strip_thoughts", "python_code"]},
            "python_code sees no program in a reply that is its solution in a ```bash block; leave `filters` out",
        ),
        (
            {"tests": SHELL_TEST, "solution": SHELL_ADD, "language": "bash", "filters": ["strip_thoughts"]},
            "its solution passes, but not as strip_thoughts reads it out of a reply with a ```bash block",
        ),
        ({"solution": "print(7)", "stdin": ONE_CASE}, "expected '3', but it gave '7"),
        ({"stdin": "cases"}, "has no column 'cases'"),
    ],
)  # fmt: skip
def test_a_task_that_cannot_judge_is_refused(ports: Ports, own: JSON, told: str) -> None:
    """With what is wrong, and with the command to try it again."""
    with pytest.raises(Refused) as refusal:
        check_sandbox(plan(task(**own)), [task(**own)], ports)
    assert told in refusal.value.sentence
    assert refusal.value.sentence.endswith("tasks check own.yaml --data-dir 'my rows'")


def test_a_missing_tool_is_named_with_the_image_that_has_it(ports: Ports) -> None:
    """Go is in no image but HumanEval-X's."""
    with pytest.raises(Refused, match="no go, which go programs need; type: docker build"):
        check_sandbox(plan(task("x")), [task(tests="func TestX() {}", language="go_test")], ports)


def test_rows_are_named_and_counted(ports: Ports) -> None:
    """The first three rows of each of the first three reasons, and how many there are in all."""
    prepared = task("assert add(1, 2) == 3", rows=9)
    tests = ["assert 1", "assert 1", "add(", "assert 1", "assert 1", "assert add(1, 2) == 3", "", "add(1)", "assert 1"]
    problems = tuple(
        msgspec.structs.replace(problem, extras={"tests": text, "solution": ""})
        for problem, text in zip(prepared.problems, tests, strict=True)
    )
    prepared = msgspec.structs.replace(prepared, problems=problems)
    with pytest.raises(Refused) as refusal:
        check_sandbox(plan(prepared), [prepared], ports)
    told = refusal.value.sentence
    assert "Rows 1, 2, 4 and 2 more: its tests never call the program" in told
    assert "Row 3: its tests are no Python" in told
    assert "Row 7: it has no tests." in told
    assert "object()" not in told
    assert "This concerns 8 of 9 problems." in told


def test_large_tasks_are_tried_in_part_and_that_is_said() -> None:
    """No new problem after two minutes; and a run that goes on is not tried again."""
    clock, progress = ManualClock(), RecordingProgress()

    def slow(_: Program) -> ExecutionVerdict:
        clock.sleep(1.0)
        return "failed"

    sandbox = ScriptedSandbox(slow)
    ports = fake_ports(open_sandbox=lambda: sandbox, progress=progress, clock=clock)
    prepared = task("assert add(1, 2) == 3", rows=1000)
    check_sandbox(plan(prepared), [prepared], ports)
    assert 110 < len(sandbox.programs) < 140
    assert progress.said == [
        "The tests of own are tried before anything is asked, 1,000 problems.",
        f"Of own, {len(sandbox.programs)} of 1,000 problems were tried, and none was found wrong.",
    ]
    sandbox.programs.clear()
    check_sandbox(plan(prepared).with_settings(reuse="before"), [prepared], ports)
    assert sandbox.programs == []


def test_nothing_is_asked_before(sandbox: str, tmp_path: Path) -> None:
    """Exit code 3 and no request; `tasks check` says the same without a service; a good task is remembered by its run."""
    lines = [
        "name: own",
        "data: own.jsonl",
        'prompt: {question: "Add."}',
        'reference: "{{ tests }}"',
        "extras: [tests]",
    ]
    (tmp_path / "own.yaml").write_text("\n".join([*lines, "exec: {tests: '{tests}'}"]))
    flags = ["--data-dir", tmp_path, "--sandbox", sandbox]
    run = partial(command.run, "run", "--datasets", tmp_path / "own.yaml", *flags, "--out", tmp_path / "out", "-n", 1)
    with FaultServer(lambda _request: [f"```python\n{ADD}\n```"]) as server:
        (tmp_path / "own.jsonl").write_text(json.dumps({"tests": "assert 3 == 3"}))
        done = run("--endpoint", server.url)
        assert (done.code, server.requests, (tmp_path / "out").exists()) == (3, [], False), done.err
        checked = command.run("tasks", "check", tmp_path / "own.yaml", *flags)
        assert (checked.code, checked.err.strip().splitlines()[-1]) == (3, done.err.strip().splitlines()[-1])
        (tmp_path / "own.jsonl").write_text(json.dumps({"tests": "assert add(1, 2) == 3"}))
        checked = command.run("tasks", "check", tmp_path / "own.yaml", *flags)
        assert (checked.code, checked.out) == (0, "own: 1 problem; what must pass passes, and what must fail fails.\n")
        assert run("--endpoint", server.url).code == 0
        folder = command.only_run(tmp_path / "out")
        assert command.run("run", "--reuse", folder, "--endpoint", server.url).code == 0


def test_other_datasets_are_checked_too() -> None:
    """Rows and prompts of one whose answers are no programs."""
    done = command.run("tasks", "check", "demo_arithmetic", "--limit", 3)
    assert (done.code, done.out) == (
        0, "demo_arithmetic: 3 problems, every prompt could be made, and every right answer would be judged right.\n",
    )  # fmt: skip
