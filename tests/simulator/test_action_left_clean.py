"""However a step ends: the check is closed, an error is annotated, and nothing but the report is left behind."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest
from tests.servers.fault_server import FaultServer
from tests.simulator.commands import Log, Step
from tests.simulator.scene import EXAMPLE, SIBLING, Scene, containers, docker

SOURCE = "/opt/model-accuracy-eval/src/model_accuracy_eval"


def traces(scene: Scene) -> set[str]:
    """Files that the step could leave on the runner, and what it could leave in the engine."""
    places = (scene.runner.workspace, scene.runner.home.parent)
    found = {str(path) for place in places for path in place.rglob("*")}
    found = {path for path in found if "/_runner_file_commands/" not in path and "/_github_workflow/" not in path}
    return found | {f"container {name}" for name in containers(scene.runner.label) + containers(SIBLING)}


def left_behind(scene: Scene, before: set[str]) -> list[str]:
    """What is new, but for the report."""
    reports = scene.runner.workspace / "outputs"
    new = [name for name in sorted(traces(scene) - before) if not name.startswith(str(reports))]
    return [*new, *map(str, reports.rglob(".*"))]


def whole(scene: Scene, inputs: dict[str, str], cancel: Callable[[Log], bool] | None = None) -> Step:
    """The step and its post step, after which nothing new is there but the report."""
    before = traces(scene)
    step = scene.run(inputs, cancel=cancel)
    after = scene.post(step)
    assert after.exit_code == 0, after.text
    assert left_behind(scene, before) == []
    assert all(check["status"] == "completed" for check in scene.hub.checks.values())
    return step


def test_after_a_verdict(scene: Scene) -> None:
    """Of an adapter as a process, which closed a folder of its check-out and filled its home."""
    script = (scene.adapter.folder / "deploy.sh").read_text()
    scene.push({"deploy.sh": f"mkdir -p a/b && touch a/b/c ~/d /tmp/e && chmod 0 a/b a\n{script}"})
    assert whole(scene, {**EXAMPLE, "gate": "demo_arithmetic: avg@5 >= 0"}).exit_code == 0


def test_after_a_kill(scene: Scene, adapter_image: str) -> None:
    """The runner's machine ran out of memory: the post step removes the check-out and the adapter's container."""

    killed: list[str] = []

    def kill(log: Log) -> bool:
        if not killed and any("20,000 samples" in line for line in log.lines):
            killed.extend(containers(scene.runner.label))
            docker("kill", "--signal", "KILL", *killed)
        return False

    inputs = {**scene.sibling(adapter_image), "num_return_sequences": "200", "concurrency": "1"}
    assert whole(scene, inputs, kill).exit_code == 137
    assert scene.check["conclusion"] == "cancelled"


@contextmanager
def defective(scene: Scene, module: str, function: str) -> Iterator[None]:
    """The image with a function that fails."""
    good, scene.image = scene.image, f"{scene.runner.label}:defective"
    replacement = f'def {function}(*_, **__): raise LookupError("no such thing")'
    docker("build", "-q", "-t", scene.image, "-", text=f"FROM {good}\nRUN echo '{replacement}' >> {SOURCE}/{module}\n")
    try:
        yield
    finally:
        docker("image", "rm", "-f", scene.image)
        scene.image = good


@pytest.mark.parametrize(
    ("module", "function"),
    [
        ("run/setting_values.py", "read"),
        ("report/comment.py", "as_summary"),
    ],
    ids=["before the configuration is read", "publishing"],
)
def test_after_a_defect(scene: Scene, service: FaultServer, module: str, function: str) -> None:
    """Exit code 70, and an annotation that names the error."""
    with defective(scene, module, function):
        step = whole(scene, {"endpoint": service.url, "datasets": "demo_arithmetic", "limit": "2", "hardware": "any"})
    assert step.exit_code == 70, step.text
    assert any("LookupError" in told for told in step.log.annotations("error")), step.log.commands
