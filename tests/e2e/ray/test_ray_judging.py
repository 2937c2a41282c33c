"""Programs that are judged on the nodes of a Ray cluster."""

import json
from pathlib import Path

from tests.e2e import command
from tests.e2e.ray.ray_nodes import RayNodes
from tests.e2e.ray.ray_runs import JSON, figures, run, start
from tests.servers.fault_server import FaultServer
from tests.waiting import until

ADD = """
name: add
data: add.jsonl
prompt: {question: "Write add, which adds {{ number }} to a number."}
reference: "{{ solution }}"
extras: [tests, solution]
exec: {tests: "{tests}", solution: "{solution}", entry_points: [add]}
"""


def programs(folder: Path) -> Path:
    """Tasks of which each takes a while to judge."""
    rows = (
        {
            "number": number,
            "solution": f"def add(a):\n    return a + {number}",
            "tests": f"import time\ntime.sleep(0.3)\nassert add(1) == {number + 1}",
        }
        for number in range(16)
    )
    (folder / "add.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    (folder / "add.yaml").write_text(ADD)
    return folder / "add.yaml"


def added(request: JSON) -> list[str]:
    """Right three times of four."""
    number = int("".join(filter(str.isdigit, request["messages"][-1]["content"])) or 0)
    return [
        f"```python\ndef add(a):\n    return a + {number + ((number + at) % 4 == 0)}\n```"
        for at in range(request.get("n", 1))
    ]


def test_programs_are_judged_on_all_nodes(cluster: RayNodes, tmp_path: Path) -> None:
    """One of which is lost in the middle; every program is judged, as this machine judges it."""
    task = programs(tmp_path)
    doomed = cluster.start(npus=0)
    with FaultServer(added) as server:
        words = ["run", "--endpoint", server.url, "--datasets", task, "-n", 3, "--sandbox", "bwrap"]
        here = run(*words, "--out", tmp_path / "here")
        assert here.code == 0, here.err + here.out
        doomed.wait()
        process = start(*words, "--out", tmp_path / "there", "--engine", "ray", address=cluster.address)
        until(lambda: found(tmp_path / "there") > 8, "some programs are judged")
        doomed.lose()
        there = command.finish(process)
    assert there.code == 0, there.err + there.out
    folders = [command.only_run(tmp_path / name) for name in ("here", "there")]
    assert [each["metrics"] for each in figures(folders[0]).values()] == [
        each["metrics"] for each in figures(folders[1]).values()
    ]
    assert there.err.count("Programs are run on ") >= 3
    assert found(tmp_path / "there") == found(tmp_path / "here")


def found(out: Path) -> int:
    """How many programs have been judged by now."""
    return sum(path.read_bytes().count(b"\n") for path in out.glob("*/**/*findings*") if not path.parent.is_symlink())
