"""A deploy.sh that starts processes until it gets none: the evaluator goes on, and everything of it ends."""

import json
from typing import TYPE_CHECKING

import pytest
from tests.integration.container.tools import SELF_IMAGE, SOURCE

if TYPE_CHECKING:
    from docker import DockerClient

PIPED = "bomb() { bomb | bomb & sleep 60; }; bomb"
"""A shell that gets no process ends; those that did stay, so that their number does not fall again."""
DAEMONS = """exec python3 -c '
import os, time
while True:
    try:
        if os.fork() == 0:
            os.setsid()
    except OSError:
        time.sleep(0.05)
'"""
"""Every one of them leads a session of its own and goes on forking."""

EVALUATOR = """
import json, os, subprocess, sys, time
from pathlib import Path
import psutil
from model_accuracy_eval.adapter.adapter_process import ProcessLauncher
from model_accuracy_eval.system.unprivileged_user import unprivileged_user

user = unprivileged_user()
Path("/adapter").mkdir()
Path("/adapter/deploy.sh").write_text(sys.argv[1])

def count():
    found = 0
    for one in psutil.process_iter():
        try:
            found += one.uids().real == user.uid
        except psutil.NoSuchProcess:
            continue
    return found

running = ProcessLauncher(os.environ, user=user).start(folder="/adapter", model_path="", port=8000, log="/log")
most = 0
while most < user.processes * 0.5:
    most = max(most, count())
ours = subprocess.run(["true"], check=True).returncode
running.stop()
print(json.dumps({"bound": user.processes, "most": most, "ours": ours, "left": count()}))
"""


@pytest.mark.parametrize("bomb", [PIPED, DAEMONS], ids=["piped", "daemons"])
def test_as_a_process_it_is_bounded_and_ended(bomb: str, client: "DockerClient") -> None:
    """Half of what the container may have is left to us; after the stop nobody of that user is there."""
    said = client.containers.run(
        SELF_IMAGE,
        ["timeout", "120", "python3", "-c", EVALUATOR, bomb],
        volumes=[f"{SOURCE}:/source:ro"],
        environment={"PYTHONPATH": "/source", "PYTHONDONTWRITEBYTECODE": "1"},
        pids_limit=200,
        mem_limit="1g",
        network_mode="none",
        init=True,
        remove=True,
    )
    found = json.loads(said)
    assert found["bound"] == 100
    assert found["most"] <= 100
    assert (found["ours"], found["left"]) == (0, 0)
