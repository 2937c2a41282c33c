"""A self-hosted runner, as far as a container action can tell: mounts, environment, `docker run`, file commands, cancel
signals and post step are those of GitHub's own, against a real engine.
"""

import json
import os
import re
import secrets
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import yaml
from tests.base_image import recipe
from tests.simulator.commands import SUMMARY_LIMIT, Log, Step, pairs

_EXPRESSION = re.compile(r"\$\{\{\s*([\w.-]+|toJSON\(matrix\))\s*\}\}")
_FILES = ("GITHUB_OUTPUT", "GITHUB_STATE", "GITHUB_STEP_SUMMARY", "GITHUB_ENV", "GITHUB_PATH")
SIGINT_SECONDS, SIGTERM_SECONDS = 7.5, 2.5
"""What the runner waits after each of its two signals before it goes on."""


class Runner:
    """One job on one machine. `github` is the context; `environment` what the runner adds to it."""

    def __init__(self, work: Path, github: Mapping[str, str], environment: Mapping[str, str] | None = None) -> None:
        self._work = work
        self.github = dict(github)
        self.environment = dict(environment or {})
        self.matrix = "null"
        """Of the job, as JSON."""
        self.label = secrets.token_hex(3)
        self.workspace = work / "repo" / "repo"
        self.home = self._temp / "_github_home"
        for folder in (self.workspace, self.home, self._temp / "_github_workflow"):
            folder.mkdir(parents=True, exist_ok=True)
        (self._temp / "_runner_file_commands").mkdir()

    @property
    def _temp(self) -> Path:
        return self._work / "_temp"

    def build(self, action: Path) -> str:
        """What happens at the start of a job to an action that has a Dockerfile."""
        image = f"{self.label}:{secrets.token_hex(8)}"
        definition = self._definition(action)
        subprocess.run(
            ["docker", "build", "-q", "-t", image, "-f", "-", str(action)],
            input=recipe(action / definition["runs"]["image"]),
            text=True,
            check=True,
            capture_output=True,
            env={**os.environ, "DOCKER_BUILDKIT": "0"},
        )
        return image

    def run(
        self,
        action: Path,
        image: str,
        inputs: Mapping[str, str],
        event: Mapping[str, Any],
        *,
        stage: str = "main",
        state: Mapping[str, str] | None = None,
        cancel: Callable[[Log], bool] | None = None,
    ) -> Step:
        """One stage. `cancel` is asked after every line of the log, and ten times a second."""
        runs = self._definition(action)["runs"]
        declared = self._definition(action).get("inputs") or {}
        inputs = {name: str(spec.get("default", "")) for name, spec in declared.items()} | dict(inputs)
        (self._temp / "_github_workflow" / "event.json").write_text(json.dumps(event))
        files = {name: f"{name.lower()}_{secrets.token_hex(4)}" for name in _FILES}
        for file in files.values():
            (self._temp / "_runner_file_commands" / file).touch()
        values = self._values(inputs, files, state or {}, runs)
        entry = runs.get("post-entrypoint" if stage == "post" else "entrypoint")
        arguments = [] if stage == "post" else [self._evaluated(str(one), inputs) for one in runs.get("args", [])]
        command = self._command(image, values, entry, arguments)
        began = time.monotonic()
        exit_code, log = self._attend(command, values, cancel)
        return self._step(exit_code, log, files, time.monotonic() - began)

    def _values(
        self,
        inputs: Mapping[str, str],
        files: Mapping[str, str],
        state: Mapping[str, str],
        runs: Mapping[str, Any],
    ) -> dict[str, str]:
        values = {
            f"INPUT_{name.replace(' ', '_').upper()}": self._evaluated(text, inputs) for name, text in inputs.items()
        }
        values |= {f"STATE_{name}": value for name, value in state.items()}
        values |= {f"GITHUB_{name.upper()}": value for name, value in self.github.items() if name != "token"}
        values |= {
            "HOME": "/github/home",
            "GITHUB_WORKSPACE": "/github/workspace",
            "GITHUB_EVENT_PATH": "/github/workflow/event.json",
            "RUNNER_TEMP": "/github/runner_temp",
            "RUNNER_OS": "Linux",
            **{name: f"/github/file_commands/{file}" for name, file in files.items()},
            **self.environment,
        }
        return values | {name: str(value) for name, value in (runs.get("env") or {}).items() if name not in values}

    def _evaluated(self, text: str, inputs: Mapping[str, str]) -> str:
        def value(match: re.Match[str]) -> str:
            root, _, name = match[1].partition(".")
            known = {"github": self.github, "inputs": inputs, "toJSON(matrix)": {"": self.matrix}}
            return str(known.get(root, {}).get(name, ""))

        return _EXPRESSION.sub(value, text)

    def _command(self, image: str, values: Mapping[str, str], entry: str | None, arguments: list[str]) -> list[str]:
        temp = self._temp
        mounts = [
            ("/var/run/docker.sock", "/var/run/docker.sock"),
            (temp, "/github/runner_temp"),
            (self.home, "/github/home"),
            (temp / "_github_workflow", "/github/workflow"),
            (temp / "_runner_file_commands", "/github/file_commands"),
            (self.workspace, "/github/workspace"),
        ]
        return [
            "docker", "run", "--name", f"{self.label}_{secrets.token_hex(3)}", "--label", self.label,
            "--workdir", "/github/workspace", "--rm",
            *(word for name in values for word in ("-e", name)),
            "-e", "GITHUB_ACTIONS=true", "-e", "CI=true",
            *(("--entrypoint", entry) if entry else ()),
            *(word for source, target in mounts for word in ("-v", f"{source}:{target}")),
            image, *arguments,
        ]  # fmt: skip

    def _attend(
        self, command: list[str], values: Mapping[str, str], cancel: Callable[[Log], bool] | None
    ) -> tuple[int, Log]:
        log = Log()
        with subprocess.Popen(
            command,
            env={**os.environ, **values},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
        ) as client:
            reader = threading.Thread(target=self._read, args=(client, log))
            reader.start()
            try:
                self._await(client, lambda: cancel is not None and cancel(log))
            except BaseException:
                client.kill()
                raise
            finally:
                reader.join()
        return client.returncode, log

    def _await(self, client: "subprocess.Popen[str]", cancelled: Callable[[], bool]) -> None:
        while client.poll() is None:
            if cancelled():
                self._cancel(client)
                return
            time.sleep(0.1)

    @staticmethod
    def _read(client: "subprocess.Popen[str]", log: Log) -> None:
        assert client.stdout is not None
        for line in client.stdout:
            log.read(line.rstrip("\n"))

    @staticmethod
    def _cancel(client: "subprocess.Popen[str]") -> None:
        """SIGINT, 7.5 s, SIGTERM, 2.5 s, and then the client is killed: the container may go on."""
        for number, seconds in ((signal.SIGINT, SIGINT_SECONDS), (signal.SIGTERM, SIGTERM_SECONDS)):
            client.send_signal(number)
            try:
                client.wait(seconds)
            except subprocess.TimeoutExpired:
                continue
            return
        client.kill()

    def _step(self, exit_code: int, log: Log, files: Mapping[str, str], seconds: float) -> Step:
        folder = self._temp / "_runner_file_commands"
        summary = (folder / files["GITHUB_STEP_SUMMARY"]).read_bytes()
        return Step(
            exit_code=exit_code,
            log=log,
            outputs=pairs((folder / files["GITHUB_OUTPUT"]).read_bytes()),
            state=pairs((folder / files["GITHUB_STATE"]).read_bytes()),
            summary=None if len(summary) > SUMMARY_LIMIT else summary.decode(),
            seconds=seconds,
        )

    @staticmethod
    def _definition(action: Path) -> dict[str, Any]:
        whole: dict[str, Any] = yaml.safe_load((action / "action.yml").read_text())
        return whole
