"""Workflows that the documentation shows, whole ones and parts of one: as careful as those in `.github`, by the same judges."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.test_action_yml import ACTION, run, tool, workflow, zizmor
from tests.test_actionlint import findings
from tests.test_docs import PAGES, named

FRAME = """name: shown
on:
  pull_request:

permissions: {}

concurrency:
  group: shown-${{ github.ref }}
  cancel-in-progress: true

jobs:
"""
JOB = "  shown:\n    name: Shown\n    runs-on: ubuntu-latest\n    timeout-minutes: 5\n"


def whole(block: str) -> str | None:
    """The workflow that a block is, or is a part of; None if it is something else, such as a task file."""
    loaded = yaml.safe_load(block)
    if isinstance(loaded, list) and "uses" in loaded[0]:
        loaded, block = {"steps": loaded}, "steps:\n" + block
    if not isinstance(loaded, dict) or not loaded.keys() & {"jobs", "steps"}:
        return None
    if "on" in loaded or True in loaded:
        return block
    if "jobs" in loaded:
        return FRAME + block.removeprefix("jobs:\n")
    rights = "" if "permissions" in loaded else "    permissions: {}\n"
    return FRAME + JOB + rights + re.sub(r"^(?=.)", "    ", block, flags=re.MULTILINE)


SHOWN = [
    pytest.param(text, id=f"{named(page)}-{number}")
    for page in PAGES
    for number, block in enumerate(re.findall(r"^```yaml\n(.*?)^```", page.read_text(), re.DOTALL | re.MULTILINE))
    if (text := whole(block))
]


def test_there_are_some() -> None:
    """README, the guide and the page of other events show them."""
    assert len(SHOWN) >= 6


@pytest.mark.parametrize("text", SHOWN)
def test_a_shown_workflow_is_careful_and_right(text: str, tmp_path: Path) -> None:
    """By schema, actionlint and zizmor's auditor; and every input exists."""
    file = tmp_path / "shown.yml"
    # Pages name the action by the tag that moves; who copies them names a commit, as the guide says. NPUs are one's own.
    for place, audit in (
        (r"org/model-accuracy-eval\S*@v1", "unpinned-uses"),
        (r"\[self-hosted, npu\]", "self-hosted-runner"),
    ):
        text = re.sub(rf"({place})$", rf"\1 # zizmor: ignore[{audit}]", text, flags=re.MULTILINE)
    file.write_text(text)
    done = run(tool("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", str(file))
    assert done.returncode == 0, done.stdout
    assert findings(file) == []
    done = zizmor(str(file))
    assert "No findings to report" in done.stdout, done.stdout
    jobs: dict[str, dict[str, Any]] = yaml.safe_load(text)["jobs"]
    for job in jobs.values():
        if "uses" in job:
            file_name = job["uses"].rpartition("/")[2].partition("@")[0]
            assert set(job.get("with", {})) <= set(workflow(file_name)[True]["workflow_call"]["inputs"])
        for step in job.get("steps", []):
            assert set(step.get("with", {})) <= set(ACTION["inputs"])
