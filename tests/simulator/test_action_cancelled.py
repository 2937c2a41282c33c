"""Cancelled at any moment, by the runner's own signals: the step ends in time, everybody is told, nothing is left running.

The runner allows ten seconds and then kills its client, which would show as another exit code than that of a stop.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import NamedTuple

import pytest
from tests.servers.artifact_service import SILENT
from tests.servers.fake_hub import Blob, FakeHub
from tests.servers.http import Exchange, HttpServer
from tests.simulator.commands import Log
from tests.simulator.scene import BRIDGE, BUNDLED_WEIGHTS, SIBLING, Scene, containers
from tests.simulator.test_action_left_clean import left_behind, traces

EXAMPLE = {"model": BUNDLED_WEIGHTS, "datasets": "demo_arithmetic", "hardware": "any", "runtime": "process"}


class Moment(NamedTuple):
    """What the run is asked to do, and how one sees that it is in the middle of that."""

    inputs: dict[str, str]
    reached: Callable[[Log], bool]


Stage = Callable[[Scene, str], AbstractContextManager[Moment]]


@contextmanager
def check_out(scene: Scene, _image: str) -> Iterator[Moment]:
    """git waits for a server that says nothing."""
    with HttpServer(Exchange.stall, host=BRIDGE) as silent:
        scene.runner.github["server_url"] = silent.url
        yield Moment(EXAMPLE, lambda _: bool(silent.requests))


@contextmanager
def weights(scene: Scene, _image: str) -> Iterator[Moment]:
    """The hub's storage stops in the middle of a file."""
    with FakeHub(host=BRIDGE) as hub:
        hub.push("org/name", {"config.json": b"{}", "model.safetensors": Blob(bytes(4_000_000), large=True)})
        hub.hold.clear()
        scene.runner.environment |= hub.environment
        yield Moment({**EXAMPLE, "model": "hf:org/name"}, lambda _: bool(hub.storage.requests))


@contextmanager
def installation(scene: Scene, image: str) -> Iterator[Moment]:
    """pip waits for a package in the adapter's container."""
    with HttpServer(Exchange.stall, host=BRIDGE) as silent:
        scene.push({"requirements.txt": f"part @ {silent.url}/part-1.0-py3-none-any.whl\n"})
        yield Moment(scene.sibling(image), lambda _: bool(silent.requests))


@contextmanager
def deployment(scene: Scene, image: str) -> Iterator[Moment]:
    """deploy.sh never serves anything."""
    scene.push({"deploy.sh": "sleep 1000 & sleep 1000\n"})
    yield Moment(scene.sibling(image), lambda _: bool(containers(SIBLING)))


@contextmanager
def asking(scene: Scene, image: str) -> Iterator[Moment]:
    """More samples than anybody waits for."""
    yield Moment(
        {**scene.sibling(image), "num_return_sequences": "200", "concurrency": "1"},
        lambda log: any("20,000 samples" in line for line in log.lines),
    )


@contextmanager
def publication(scene: Scene, _image: str) -> Iterator[Moment]:
    """The artifact service takes the report and never says that it has it."""
    scene.artifacts.faults["block"] = [(SILENT, None)] * 9
    yield Moment({**EXAMPLE, "limit": "2"}, lambda _: "block" in scene.artifacts.names)


@pytest.mark.parametrize("stage", [check_out, weights, installation, deployment, asking])
def test_a_cancelled_step_ends_in_time(scene: Scene, adapter_image: str, stage: Stage) -> None:
    """Exit code of a stop; check and comment say cancelled; the report is as far as it came; nothing runs any more, and
    nothing is left for the post step."""
    with stage(scene, adapter_image) as moment:
        before = traces(scene)
        step = scene.run(moment.inputs, cancel=moment.reached)
    assert step.exit_code == 130, step.text
    assert (scene.check["status"], scene.check["conclusion"]) == ("completed", "cancelled")
    assert "Cancelled" in scene.comment
    assert (step.outputs["conclusion"], step.outputs["exit-code"]) == ("stopped", "130")
    assert containers(scene.runner.label) + containers(SIBLING) == []
    if stage is check_out:
        assert step.outputs["report-path"] == ""
    else:
        assert json.loads((scene.report(step) / "run.json").read_text())["status"] == "stopped"
        assert {"report.html", "manifest.sha256"} <= {path.name for path in scene.report(step).iterdir()}
    asked = len(scene.hub.calls)
    assert (scene.post(step).exit_code, len(scene.hub.calls)) == (0, asked)
    # A download is gone on with by the next run.
    assert stage is weights or left_behind(scene, before) == []


def test_a_stop_while_the_artifact_is_uploaded_leaves_the_verdict(scene: Scene, adapter_image: str) -> None:
    """The run was complete: check and comment tell its figures, and the upload alone is given up, in time."""
    with publication(scene, adapter_image) as moment:
        step = scene.run(moment.inputs, cancel=moment.reached)
    assert step.exit_code == 6, step.text
    assert "The artifact was not uploaded in the few seconds that are left after a stop" in (step.summary or "")
    assert (scene.check["status"], scene.check["conclusion"]) == ("completed", "neutral")
    assert "avg@5" in scene.comment
    assert step.outputs["conclusion"] == "complete"
    assert json.loads((scene.report(step) / "run.json").read_text())["status"] == "complete"
    assert containers(scene.runner.label) == []
