"""nektos/act, a runner that somebody else wrote: it takes the example workflows as an adapter's owners copy them, builds the
action from this checkout, and has an artifact store of its own.
"""

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.base_image import recipe
from tests.servers.fake_github import TOKEN
from tests.servers.fake_github_memory import REPOSITORY
from tests.simulator.scene import BRIDGE, ROOT
from tests.waiting import HANGING, free_port

ACT = Path(sys.executable).parent / "act"
RUN = "4711"
_NO_PART = shutil.ignore_patterns(
    ".git", ".venv*", ".*_cache", ".hypothesis", "__pycache__", "outputs", "tests", "docs", "bench"
)
"""What act needs neither for the image nor for the reusable workflow."""
_DOWNLOAD = {
    "actions/download-artifact@3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c": """
inputs: {pattern: {}, path: {}}
runs:
  using: composite
  steps:
    - shell: python3 {0}
      env: {PATTERN: "${{ inputs.pattern }}", FOLDER: "${{ inputs.path }}"}
      run: |
        import base64, fnmatch, io, json, os, urllib.request, zipfile
        claims = os.environ["ACTIONS_RUNTIME_TOKEN"].split(".")[1]
        scopes = json.loads(base64.urlsafe_b64decode(claims + "=="))["scp"].split()
        run, job = next(scope for scope in scopes if scope.startswith("Actions.Results:")).split(":")[1:]
        def call(method, **fields):
            url = os.environ["ACTIONS_RESULTS_URL"] + "twirp/github.actions.results.api.v1.ArtifactService/" + method
            body = {"workflow_run_backend_id": run, "workflow_job_run_backend_id": job, **fields}
            headers = {"content-type": "application/json", "authorization": "Bearer " + os.environ["ACTIONS_RUNTIME_TOKEN"]}
            return json.load(urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers)))
        for artifact in call("ListArtifacts")["artifacts"]:
            if fnmatch.fnmatch(name := artifact["name"], os.environ["PATTERN"]):
                url = call("GetSignedArtifactURL", name=name).popitem()[1]
                zipped = zipfile.ZipFile(io.BytesIO(urllib.request.urlopen(url).read()))
                zipped.extractall(os.path.join(os.environ["FOLDER"], name))
"""
}
"""GitHub's own action, which act would fetch from there: here one that asks the same service for the same artifacts."""


@dataclass(frozen=True)
class WorkflowRun:
    """What act told about a run of a workflow: its log as JSON, a line an object."""

    exit_code: int
    lines: Sequence[Mapping[str, Any]]

    @property
    def text(self) -> str:
        return "\n".join(f"{line.get('job', '')} | {line['msg'].rstrip()}" for line in self.lines)

    def told(self, job: str, command: str) -> list[Mapping[str, Any]]:
        """What act obeyed in a job: outputs, state, summary, annotations."""
        return [line for line in self._of(job) if line.get("command") == command]

    def outputs(self, job: str) -> dict[str, str]:
        return {line["name"]: line["arg"] for line in self.told(job, "set-output")}

    def summary(self, job: str) -> str:
        (line,) = self.told(job, "summary")
        return str(line["content"])

    def stages(self, job: str) -> list[tuple[str, str]]:
        """Which stages of the job's steps ran, and how each ended; empty if the job did not run."""
        steps = [line for line in self._of(job) if "executionTime" in line and line["stage"] in {"Main", "Post"}]
        return [
            (line["stage"], line["stepResult"]) for line in steps if line["step"] not in {"Set up job", "Complete job"}
        ]

    def _of(self, job: str) -> list[Mapping[str, Any]]:
        return [line for line in self.lines if line.get("job", "").strip().endswith(f"/{job}")]


class Act:
    """A machine with act. `label` keeps the names of its images and containers apart from those of other tests."""

    def __init__(self, folder: Path, label: str, runner_image: str) -> None:
        self.label = label
        self.workspace = folder / "workspace"
        self.artifacts = folder / "artifacts"
        self._folder = folder
        self._runner_image = runner_image
        self._action = folder / "action"
        shutil.copytree(ROOT, self._action, ignore=_NO_PART)
        (self._action / "Dockerfile").write_text(recipe(ROOT / "Dockerfile"))
        for file in (self._action / ".github" / "workflows").glob("*.yml"):
            file.write_text(self._own(file.read_text()))
        self._actions = {f"{label}/model-accuracy-eval@v1": self._action}
        for number, (name, text) in enumerate(_DOWNLOAD.items()):
            self._actions[name] = folder / f"other-action-{number}"
            self._actions[name].mkdir()
            (self._actions[name] / "action.yml").write_text(text)

    def example(self, name: str) -> dict[str, str]:
        """A workflow that `init` writes, as the file of a repository."""
        path = ROOT / "src" / "model_accuracy_eval" / "commands" / "workflows" / name
        return {f".github/workflows/{name}": self._own(path.read_text())}

    def _own(self, text: str) -> str:
        """Of an organization of ours, and with a name from which act makes those of its containers."""
        text = text.replace("org/model-accuracy-eval", f"{self.label}/model-accuracy-eval")
        return re.sub("^name: ", f"name: {self.label} ", text, count=1, flags=re.MULTILINE)

    def run(
        self, event: str, payload: Mapping[str, Any], repository: Path, environment: Mapping[str, str]
    ) -> WorkflowRun:
        """Clones the repository as the workspace, and runs each of its workflows that the event starts."""
        subprocess.run(["git", "clone", "-q", str(repository), str(self.workspace)], check=True)
        file = self._folder / "event.json"
        file.write_text(json.dumps(payload))
        options = {
            "--directory": self.workspace,
            "--eventpath": file,
            "--actor": "alice",
            "--network": "bridge",
            "--artifact-server-path": self.artifacts,
            "--artifact-server-addr": BRIDGE,
            "--artifact-server-port": free_port(),
            "--secret": f"GITHUB_TOKEN={TOKEN}",
        }
        known = {"GITHUB_REPOSITORY": REPOSITORY, "GITHUB_RUN_ID": RUN, **environment}
        command = [
            str(ACT), event, "--json", "--bind", "--pull=false", "--no-cache-server", "--rm", "--rebuild=false",
            *(f"{name}={value}" for name, value in options.items()),
            *(f"--local-repository={name}={path}" for name, path in self._actions.items()),
            *(f"--platform={name}={self._runner_image}" for name in ("ubuntu-latest", "self-hosted")),
            *(f"--env={name}={value}" for name, value in known.items()),
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, timeout=2 * HANGING, check=False)
        lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        assert lines, done.stderr
        return WorkflowRun(done.returncode, lines)
