"""The action's story before a real GitHub client, a real runner's files and a real plan; twins stand for the machine."""

import io
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import msgspec
from tests.integration.github.tools import client
from tests.servers.fake_github import FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY, SHA

from model_accuracy_eval import wiring
from model_accuracy_eval.action import act
from model_accuracy_eval.ports.action import Artifacts, Job, Site
from model_accuracy_eval.records import Request, RunPlan
from model_accuracy_eval.records.forge import Actor, PullRequest
from model_accuracy_eval.rim.forge.progress import CheckProgress
from model_accuracy_eval.rim.runner.actions import Runner
from model_accuracy_eval.stages.watch import Watch
from model_accuracy_eval.testing import Listener, ManualClock, MemoryHub, ScriptedChat, twins

ROWS = b"".join(b'{"question": "What is %d + 1?", "answer": "#### %d"}\n' % (i, i + 1) for i in range(4))
OURS = "github-actions[bot]"

JOB = Job(
    repository=REPOSITORY,
    actor=Actor(login="alice", source="test"),
    pull=PullRequest(number=7, head_sha=SHA, head_repository=REPOSITORY, is_fork=False, base_sha="b" * 40),
    sha=SHA,
    adapter_repository=REPOSITORY,
    adapter_ref=SHA,
    adapter_path=".",
    hardware="",
    label="twin",
    key="1-1-accuracy-twin",
    run_url="https://github.example/run",
    comment=True,
    check=True,
    status="auto",
    artifact_name="report",
)


@dataclass
class Stage:
    """One step of the action; `run` plays it. `parts` are twins of ports."""

    hub: FakeGitHub
    parts: dict[str, Any] = field(default_factory=dict)
    job: Job = JOB
    answer: Callable[[Request, int], str] = lambda _request, _choice: "#### 1"
    adapter: Path | None = None
    artifacts: Artifacts | None = None
    interval: float = 3600.0
    since_stop: Callable[[], float] = lambda: 0.0
    lack: str = ""
    clock: ManualClock = field(default_factory=ManualClock)
    log: io.StringIO = field(default_factory=io.StringIO)

    def __post_init__(self) -> None:
        self.hub.permissions["alice"] = ("admin", "admin")

    def run(self, **job: Any) -> int:
        asked = msgspec.structs.replace(self.job, **job)
        step, watch = Runner({}, self.log), Watch(self.clock.elapsed)
        with client(self.hub) as forge:
            progress = CheckProgress(lambda: client(self.hub), watch.newest, step.warning, interval=self.interval)
            site = Site(
                step=step,
                forge=forge,
                artifacts=self.artifacts,
                check_out=lambda _: str(self.adapter),
                plan=self._plan,
                ports=lambda _: self._ports(watch),
                needs_adapter=self.adapter is not None,
                progress=progress,
                since_stop=self.since_stop,
                lacks_npus=lambda _: self.lack,
            )
            return act(asked, site)

    def _plan(self, folder: str) -> tuple[RunPlan, str]:
        target = {"adapter": folder, "model": folder} if folder else {"endpoint": "http://twin"}
        return wiring.plan({**target, "datasets": "demo_gsm8k", "label": "twin"}, {})

    def _ports(self, watch: Watch) -> Any:
        whole = {
            "chat": ScriptedChat(self.answer),
            "hub": MemoryHub({"demo_gsm8k.jsonl": ROWS}),
            "clock": self.clock,
            "screen": watch.before(Listener()),
        }
        return twins(**(whole | self.parts))

    @property
    def check(self) -> dict[str, Any]:
        (found,) = self.hub.checks.values()
        return found

    @property
    def comment(self) -> str:
        (body,) = self.hub.bodies(OURS)
        return body

    @property
    def patches(self) -> list[dict[str, Any]]:
        """What the check was told after it was opened, in order."""
        return self.hub.sent("PATCH", "/check-runs/")
