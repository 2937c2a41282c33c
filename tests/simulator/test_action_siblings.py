"""The adapter in a container beside the action's: served, crashed, left behind by a killed run, and given NPUs."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.servers.fake_github_memory import REPOSITORY
from tests.simulator.commands import Log
from tests.simulator.scene import SIBLING, SMALL, Scene, containers, docker, unmet

FIFTH = """
        if next(asked) == 5:
            print("the fifth sample is too much", flush=True)
            os._exit(3)
        self.send_response"""
DYING = (
    SMALL["service.py"]
    .replace("http.server\n", "http.server, itertools, os\nasked = itertools.count()\n", 1)
    .replace("\n        self.send_response", FIFTH)
)
"""A service that takes its whole container with it."""

NPUS = [f"/dev/davinci{number}" for number in range(3)]
CONTROLS = ["/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc"]


def test_the_next_run_removes_what_nobody_owns_any_more(scene: Scene, adapter_image: str) -> None:
    """Without a post step, as after a power cut: the orphan goes and is named; the sibling of a living run stays."""

    def kill(log: Log) -> bool:
        if not any("20,000 samples" in line for line in log.lines):
            return False
        docker("kill", *containers(scene.runner.label))
        return True

    killed = scene.run(scene.sibling(adapter_image), cancel=kill, num_return_sequences="200", concurrency="1")
    assert (killed.exit_code, scene.check["status"]) == (137, "in_progress")
    (orphan,) = containers(SIBLING)
    owner = docker("run", "-d", "--label", scene.runner.label, "--network", "none", adapter_image, "sleep", "1000")
    labels = {"": "1", ".repository": REPOSITORY, ".run": "f" * 32, ".owner": f"container:{owner}"}
    written = [word for name, value in labels.items() for word in ("--label", f"model-accuracy-eval{name}={value}")]
    docker("run", "-d", "--name", f"{scene.runner.label}-living", *written, adapter_image, "sleep", "1000")
    scene.runner.github["run_attempt"] = "2"
    step = scene.run(scene.sibling(adapter_image), limit="1")
    assert step.exit_code == 0, step.text
    assert f"The container {orphan} was left behind and is removed." in step.log.annotations("notice")
    assert f"{scene.runner.label}-living" in containers(SIBLING)
    assert orphan not in containers(SIBLING)


@pytest.mark.parametrize(
    ("files", "when", "last_words"),
    [
        ({"deploy.sh": "echo no room on the NPU\nexit 1\n"}, "exited with code 1 after", "no room on the NPU"),
        (
            {"deploy.sh": "exec python3 dying.py\n", "dying.py": DYING},
            "exited with code 3 while it was being evaluated",
            "the fifth sample is too much",
        ),
    ],
    ids=["while it starts", "in the middle of the asking"],
)
def test_an_adapter_that_crashes(
    scene: Scene, adapter_image: str, files: dict[str, str], when: str, last_words: str
) -> None:
    """Exit 4; the check fails by a title that blames no accuracy; the log's end is told; nothing runs any more."""
    scene.push(files)
    step = scene.run(scene.sibling(adapter_image), num_return_sequences="1", concurrency="1")
    assert step.exit_code == 4, step.text
    assert scene.check["conclusion"] == "failure"
    assert scene.check["output"]["title"].startswith("Infrastructure failure, no verdict: deploy.sh " + when)
    for told in (step.text, scene.comment, scene.check["output"]["summary"], step.summary or ""):
        assert last_words in told
    assert containers(SIBLING) == []


@pytest.fixture
def npus() -> Iterator[None]:
    """Three NPUs and the control nodes of this host, that behave like /dev/null; gone afterwards."""
    if any(Path(node).exists() for node in (*NPUS, *CONTROLS)):
        pytest.skip("this machine has NPUs of its own")
    made: list[str] = []
    try:
        for node in (*NPUS, *CONTROLS):
            os.mknod(node, stat.S_IFCHR | 0o666, os.makedev(1, 3))
            made.append(node)
        yield
    except PermissionError as error:
        unmet(f"device nodes cannot be made here: {error}")
    finally:
        for node in made:
            Path(node).unlink()


def test_npus_reach_the_adapter(scene: Scene, adapter_image: str, npus: None) -> None:
    """Nodes of the engine's host, which the action itself does not have: those that are named."""
    listing = 'for node in /dev/davinci* /dev/devmm_svm /dev/hisi_hdc; do [ -c "$node" ] && echo "given $node"; done\n'
    scene.push({"deploy.sh": f"{listing}read nothing < /dev/davinci0\necho read $?\nexec python3 server.py weights\n"})
    inputs = scene.sibling(adapter_image) | {"hardware": "npu", "devices": "0,1"}
    step = scene.run(inputs, limit="1")
    assert step.exit_code == 0, step.text
    log = (scene.report(step) / "logs/deploy.log").read_text().splitlines()
    assert {line for line in log if line.startswith("given ")} == {f"given {node}" for node in (*NPUS[:2], *CONTROLS)}
    assert "read 1" in log
