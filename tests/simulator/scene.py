"""A pull request on an adapter's repository, and everything that the action meets there."""

import os
import secrets
import shutil
import ssl
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

import pytest
from tests.servers.artifact_service import ArtifactServer
from tests.servers.fake_github import TOKEN, FakeGitHub
from tests.servers.fake_github_memory import REPOSITORY
from tests.servers.git_server import git_server
from tests.simulator.commands import Log, Step
from tests.simulator.runner import Runner

ROOT = Path(__file__).parents[2]
BRIDGE = "172.17.0.1"
"""The host, as containers on the engine's default network see it."""
SIBLING = f"model-accuracy-eval-tests={secrets.token_hex(4)}"
"""Label of our adapter image, and so of every sibling of these tests and of nobody else's."""
BUNDLED_WEIGHTS = "/opt/model-accuracy-eval/example-adapter/weights"

SMALL = {"deploy.sh": "exec python3 service.py\n", "requirements.txt": "", "service.py": """
import http.server
class Service(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.end_headers()
        choice = '{"index": 0, "delta": {"content": "4"}, "finish_reason": "stop"}'
        self.wfile.write(b'data: {"choices": [%b]}\\n\\ndata: [DONE]\\n\\n' % choice.encode())
http.server.ThreadingHTTPServer(("127.0.0.1", 8000), Service).serve_forever()
"""}  # fmt: skip
"""An adapter for which nothing is installed, and that has one answer; ask it for one sample at a time."""
EXAMPLE = {
    "model": BUNDLED_WEIGHTS, "datasets": "demo_arithmetic", "limit": "2", "hardware": "any", "runtime": "process",
}  # fmt: skip
EVALUATE_SMALL = EXAMPLE | {"num_return_sequences": "1"}

Inputs = Mapping[str, str]
_NONE: Inputs = {}


def unmet(reason: str) -> NoReturn:
    """Skips with the reason; in continuous integration a missing part is a failure."""
    if os.environ.get("CI") == "true":
        pytest.fail(reason)
    pytest.skip(reason)


def docker(*arguments: str, text: str | None = None) -> str:
    done = subprocess.run(["docker", *arguments], input=text, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def containers(label: str) -> list[str]:
    """Names of the containers that carry it, running or not."""
    return docker("ps", "-a", "--filter", f"label={label}", "--format", "{{.Names}}").split()


def remove(label: str) -> None:
    if names := containers(label):
        docker("rm", "-f", "-v", *names)


@dataclass(frozen=True)
class Adapter:
    """The adapter's repository as the git server has it."""

    folder: Path

    def commit(self, files: Mapping[str, str]) -> str:
        """Writes the files and commits everything; returns the commit."""
        for name, text in files.items():
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text(text)
        self._git("add", ".")
        self._git("-c", "user.name=Test", "-c", "user.email=test@example.invalid", "commit", "-qm", "adapter")
        return self._git("rev-parse", "HEAD")

    def _git(self, *arguments: str) -> str:
        done = subprocess.run(["git", *arguments], cwd=self.folder, check=True, capture_output=True, text=True)
        return done.stdout.strip()

    @classmethod
    def example(cls, folder: Path) -> "Adapter":
        """The example adapter in a fresh repository, not committed yet."""
        shutil.copytree(ROOT / "example-adapter", folder, ignore=shutil.ignore_patterns("__pycache__"))
        adapter = cls(folder)
        adapter._git("init", "-q", "-b", "main")
        adapter._git("config", "uploadpack.allowAnySHA1InWant", "true")
        return adapter


@dataclass
class Scene:
    hub: FakeGitHub
    runner: Runner
    image: str
    event: dict[str, Any]
    adapter: Adapter
    artifacts: ArtifactServer

    def run(self, inputs: Inputs = _NONE, *, cancel: Callable[[Log], bool] | None = None, **more: str) -> Step:
        """The main step, with inputs in snake_case."""
        return self.runner.run(ROOT, self.image, _kebab({**inputs, **more}), self.event, cancel=cancel)

    def post(self, step: Step) -> Step:
        """The post step after that one; it needs none of its inputs."""
        return self.runner.run(ROOT, self.image, {}, self.event, stage="post", state=step.state)

    def push(self, files: Mapping[str, str]) -> None:
        """A new head commit."""
        self.event["pull_request"]["head"]["sha"] = self.adapter.commit(files)
        self.hub.push(7, self.sha)

    def sibling(self, image: str) -> dict[str, str]:
        """Inputs for an adapter in a container of that image, with weights in the workspace."""
        weights = self.runner.workspace / "weights"
        shutil.copytree(ROOT / "example-adapter" / "weights", weights, dirs_exist_ok=True)
        inputs = {"model": "weights", "datasets": "demo_arithmetic", "hardware": "any"}
        return inputs | {"adapter_image": image, "runtime": "container"}

    def report(self, step: Step) -> Path:
        """The run's folder; it is an error to ask when there is none."""
        assert step.outputs["report-path"], step.text
        return self.runner.workspace / step.outputs["report-path"]

    @property
    def sha(self) -> str:
        return str(self.event["pull_request"]["head"]["sha"])

    @property
    def check(self) -> dict[str, Any]:
        (found,) = self.hub.checks.values()
        return found

    @property
    def comment(self) -> str:
        (body,) = self.hub.bodies("github-actions[bot]")
        return body


def _kebab(inputs: Inputs) -> dict[str, str]:
    return {name.replace("_", "-"): value for name, value in inputs.items()}


@contextmanager
def pull_request(
    image: str,
    folder: Path,
    *,
    private: bool = False,
    tls: ssl.SSLContext | None = None,
    v4: bool = True,
    **hub_options: Any,
) -> Iterator[Scene]:
    """An admin pushed to pull request 7 of a repository whose hardware is NPU. No container outlives it. `v4`: whether
    the artifact service has the present protocol."""
    adapter = Adapter.example(folder / "served" / REPOSITORY)
    repository = {"full_name": REPOSITORY}
    sha = adapter.commit({})
    head = {"sha": sha, "repo": repository}
    event = {
        "pull_request": {"number": 7, "state": "open", "head": head, "base": {"sha": "b" * 40, "repo": repository}}
    }
    with (
        FakeGitHub(host=BRIDGE, tls=tls, **hub_options) as hub,
        git_server(
            folder / "served",
            TOKEN if private else None,
            host=BRIDGE,
            tls=tls,
            hidden=lambda: 404 * (private and "contents: read" not in hub.grants),
        ) as (git_url, _),
        ArtifactServer(host=BRIDGE, v4=v4) as artifacts,
    ):
        hub.private = private
        hub.permissions["alice"] = ("admin", "admin")
        hub.push(7, sha)
        hub.properties = [{"property_name": "hardware", "value": "NPU"}]
        told = artifacts.environment
        given = {name: told[name] for name in ("ACTIONS_RUNTIME_TOKEN", "ACTIONS_RESULTS_URL")}
        given["ACTIONS_RUNTIME_URL"] = artifacts.url
        runner = Runner(folder / "work", _github(hub.url, git_url), given)
        try:
            yield Scene(hub, runner, image, event, adapter, artifacts)
        finally:
            remove(runner.label)
            remove(SIBLING)


def _github(api_url: str, server_url: str) -> dict[str, str]:
    return {
        "token": TOKEN,
        "repository": REPOSITORY,
        "actor": "alice",
        "triggering_actor": "alice",
        "event_name": "pull_request",
        "sha": "f" * 40,
        "run_id": "4711",
        "run_attempt": "1",
        "job": "accuracy",
        "api_url": api_url,
        "server_url": server_url,
    }
