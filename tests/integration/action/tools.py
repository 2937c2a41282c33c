"""The action's story before a real GitHub client, a real runner's files and a real plan; fakes stand for the machine."""

import io
import itertools
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from msgspec.structs import replace
from tests.fake_ports import ManualClock, MemoryHub, ScriptedChat, fake_ports
from tests.integration.github.tools import client
from tests.servers.fake_github import FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY, SHA, pull

from model_accuracy_eval.commands.action import act
from model_accuracy_eval.commands.action_context import CheckedOut
from model_accuracy_eval.github.artifact_service import ArtifactService
from model_accuracy_eval.github.runner import Runner
from model_accuracy_eval.records import Fault, Request, RunPlan
from model_accuracy_eval.records.report import ActionContext, Actor, PullRequest
from model_accuracy_eval.run import plan_parts
from model_accuracy_eval.sinks import action_sinks
from model_accuracy_eval.sinks.publisher import SinkParts

ROWS = b"".join(b'{"question": "What is %d + 1?", "answer": "#### %d"}\n' % (i, i + 1) for i in range(4))
OURS = "github-actions[bot]"
DISPATCHED = {
    "GITHUB_REPOSITORY": REPOSITORY,
    "GITHUB_SHA": SHA,
    "GITHUB_EVENT_NAME": "workflow_dispatch",
    "GITHUB_TRIGGERING_ACTOR": "alice",
    "RUNNER_TEMP": tempfile.gettempdir(),
}
"""Variables of a step that alice has started."""

JOB = ActionContext(
    repository=REPOSITORY,
    actor=Actor(login="alice", source="test"),
    pull=PullRequest(number=7, head_sha=SHA, head_repository=REPOSITORY, is_fork=False),
    event="pull_request",
    commit=SHA,
    adapter_repository=REPOSITORY,
    adapter_ref="",
    adapter_commit=SHA,
    adapter_path=".",
    hardware="",
    label="fake",
    nonce="1",
    run_url="https://github.example/run",
)
_RUNS = itertools.count(1001)
"""Numbers of workflow runs."""
SINKS: dict[str, Any] = {"artifact_name": "report"}
"""Inputs for the sinks."""


@dataclass
class Stage:
    """One step of the action; `run` plays it. `parts` are fakes of ports."""

    hub: FakeGitHub
    parts: dict[str, Any] = field(default_factory=dict)
    job: ActionContext = JOB
    answer: Callable[[Request, int], str | Fault] = lambda _request, _choice: "#### 1"
    adapter: Path | None = None
    artifacts: ArtifactService | None = None
    since_stop: Callable[[], float] = lambda: 0.0
    lack: str = ""
    environment: dict[str, str] = field(default_factory=dict)
    """What the runner sets: the files for outputs, state and summary."""
    clock: ManualClock = field(default_factory=ManualClock)
    log: io.StringIO = field(default_factory=io.StringIO)
    checked_out: bool = False
    planned: bool = False

    def __post_init__(self) -> None:
        self.hub.permissions["alice"] = ("admin", "admin")
        self.hub.pulls.setdefault(7, pull(7))

    def stop_when_asking(self) -> None:
        """The run is stopped by the first request that is no probe."""

        def stopping(request: Request, _choice: int) -> str:
            if request.max_tokens > 1:
                self.clock.stop()
            return "#### 1"

        self.answer = stopping

    def run(self, sinks: Mapping[str, Any] = SINKS, /, **job: Any) -> int:
        self.asked = asked = replace(self.job, **{"run": f"{next(_RUNS)}-1", **job})
        step = Runner(self.environment, self.log)
        with client(self.hub) as forge:
            parts = SinkParts(
                context=asked, step=step, github=forge, artifacts=self.artifacts, since_stop=self.since_stop
            )
            site: Any = SimpleNamespace(
                step=step,
                github=forge,
                sinks=action_sinks(parts, sinks),
                check_out=self._check_out,
                plan=self._plan,
                run_ports=lambda _plan, _checked_out: self._ports(),
                needs_adapter=self.adapter is not None,
                lacks_npus=lambda _: self.lack,
                problems=[],
                mode="",
                evaluations=list,
            )
            return act(asked, site)

    def _check_out(self) -> CheckedOut:
        self.checked_out = True
        return CheckedOut(folder=str(self.adapter), tree="t" * 40)

    def _plan(self, _needs_adapter: bool) -> RunPlan:
        self.planned = True
        folder = str(self.adapter or "")
        target = {"adapter": folder, "model": folder} if folder else {"endpoint": "http://fake-service"}
        return plan_parts.plan(
            {**target, "datasets": "demo_gsm8k", "label": self.asked.label, "gate": "demo_gsm8k: avg@5 >= 0"}, {}
        )

    def _ports(self) -> Any:
        whole = {"chat": ScriptedChat(self.answer), "hub": MemoryHub({"demo_gsm8k.jsonl": ROWS}), "clock": self.clock}
        return fake_ports(**(whole | self.parts))

    @property
    def check(self) -> dict[str, Any]:
        (found,) = self.hub.checks.values()
        return found

    @property
    def comment(self) -> str:
        (body,) = self.hub.bodies(OURS)
        return body
