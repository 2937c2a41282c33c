"""The four permissions: with them and no other everything is done, and each that lacks is named where its user looks."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from tests.servers.fake_github_memory import REPOSITORY
from tests.servers.fake_github_permissions import FOUR
from tests.simulator.scene import EVALUATE_SMALL, SMALL, Scene, pull_request

HARDWARE = {"hardware": "npu", "devices": "none"}
IN_JOB = "add it under `permissions:` of the job"


@pytest.fixture
def private(image: str, tmp_path: Path) -> Iterator[Scene]:
    """A private repository, which only its token can read; a file on the default branch says what it is made for."""
    with pull_request(image, tmp_path, private=True) as scene:
        scene.hub.properties = None
        scene.hub.files["accuracy.yml"] = "hardware: NPU\n"
        scene.hub.grants = FOUR
        scene.push(SMALL)
        yield scene


def test_the_four_are_enough(private: Scene) -> None:
    """Permission and hardware are read, the adapter is fetched, and check, status, comment and artifact are written."""
    private.hub.comment("github-actions[bot]", "Not ours.")
    step = private.run(EVALUATE_SMALL | HARDWARE, status="true")
    assert step.exit_code == 0, step.text
    assert step.log.annotations("warning") == []
    assert (private.check["conclusion"], len(private.hub.statuses)) == ("neutral", 2)
    assert "model-accuracy-eval" in private.artifacts.artifacts
    asked = {call.split(REPOSITORY)[-1].strip("/").split("/")[0] for call in private.hub.calls}
    assert asked >= {"collaborators", "properties", "topics", "contents", "issues", "check-runs", "statuses"}


WRITING = ("pull-requests: write", "checks: write", "statuses: write")


@pytest.mark.parametrize(
    ("missing", "inputs", "exit_code", "told"),
    [
        (WRITING, {"status": "true"}, 6, [f"the token lacks `{one}`; {IN_JOB}" for one in WRITING]),
        (["contents: read"], HARDWARE, 3, [f"the token lacks `contents: read`; {IN_JOB}"]),
    ],
)
def test_each_that_lacks_is_named(
    private: Scene, missing: Sequence[str], inputs: dict[str, str], exit_code: int, told: list[str]
) -> None:
    """As an error of the step and in the job summary; the figures are in the summary all the same."""
    private.hub.grants = FOUR - set(missing)
    step = private.run(EVALUATE_SMALL | inputs)
    assert step.exit_code == exit_code, step.text
    errors, summary = " ".join(step.log.annotations("error")), (step.summary or "").replace("\\", "")
    assert [one for one in told if one not in errors or one not in summary] == []
    assert ("demo_arithmetic: acc" in summary) is (exit_code == 6)
