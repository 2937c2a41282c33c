"""Servers that nobody here wrote: started with a model, stopped, frozen and killed."""

import contextlib
import json
import os
import signal
import subprocess
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import psutil
import pytest
from tests.waiting import free_port, until

ROOT = Path(__file__).parent.parent.parent
HERE = Path(__file__).parent
NAMES = ("vllm", "transformers", "llamacpp")
READY_SECONDS = 600
"""vLLM is ready after half a minute; on a busy machine of two cores after several."""

_ENVIRONMENT = {
    "HF_HUB_OFFLINE": "1",  # nothing looks for weights elsewhere
    "TRANSFORMERS_OFFLINE": "1",
    "DO_NOT_TRACK": "1",
    "VLLM_NO_USAGE_STATS": "1",
    "VLLM_CPU_KVCACHE_SPACE": "1",  # GiB
    "VLLM_CPU_OMP_THREADS_BIND": "nobind",
    "OMP_NUM_THREADS": "1",  # several wait for each other by spinning, which takes other programs' time
    "OMP_WAIT_POLICY": "passive",
}


def bin_folder(name: str) -> Path:
    """The programs of a server's environment; without it the test is skipped, or fails where it is required."""
    folder = ROOT / f".venv-live-{name}" / "bin"
    if not (folder / "python").exists():
        sentence = f"{folder.parent} is not there: `make live` makes it."
        if os.environ.get("LIVE") == "required":
            pytest.fail(sentence)
        pytest.skip(sentence)
    return folder


def run_python(name: str, script: str, *arguments: object, given: str = "") -> str:
    """A script of this folder, run where a server is installed."""
    command = [str(bin_folder(name) / "python"), str(HERE / script), *map(str, arguments)]
    done = subprocess.run(
        command, input=given, capture_output=True, text=True, check=False, env={**os.environ, **_ENVIRONMENT}
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def command_line(name: str, model: Path, port: int | str, options: Sequence[str] = ()) -> list[str]:
    programs = bin_folder(name)
    at = ["--host", "127.0.0.1", "--port", str(port)]
    if name == "vllm":
        eager = ["--dtype", "float32", "--max-num-seqs", "8", "--enforce-eager"]
        return [str(programs / "vllm"), "serve", str(model), *eager, *at, *options]
    if name == "transformers":
        return [str(programs / "transformers"), "serve", str(model), "--device", "cpu", *at, *options]
    return [str(programs / "python"), str(HERE / "serve_llamacpp.py"), str(model), str(port), *options]


def environment(name: str) -> dict[str, str]:
    path = os.pathsep.join([str(bin_folder(name)), os.environ.get("PATH", os.defpath)])
    return {**os.environ, **_ENVIRONMENT, "PATH": path}


class LiveServer:
    """A server process and what it starts."""

    def __init__(self, name: str, model: Path, log: Path, options: Sequence[str] = ()) -> None:
        self.name, self.port = name, free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._command = command_line(name, model, self.port, options)
        self._log = log
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Again at the same port, if it has run before."""
        with self._log.open("ab") as log:
            self._process = subprocess.Popen(
                self._command, stdout=log, stderr=log, env=environment(self.name), start_new_session=True
            )
        until(self._answers, f"an answer of {self.name}", READY_SECONDS)

    def processes(self) -> list[psutil.Process]:
        assert self._process is not None
        try:
            first = psutil.Process(self._process.pid)
            return [first, *first.children(recursive=True)]
        except psutil.NoSuchProcess:
            return []

    def engine(self) -> psutil.Process:
        """The process that computes: vLLM has one of its own, behind the one that takes requests."""
        return next((one for one in self.processes() if "EngineCore" in " ".join(one.cmdline())), self.processes()[0])

    def kill(self, processes: Sequence[psutil.Process] | None = None) -> None:
        """At once, without a word; all of it unless some are named."""
        for process in self.processes() if processes is None else processes:
            with contextlib.suppress(psutil.NoSuchProcess):
                process.kill()
        if processes is None and self._process is not None:
            self._process.wait()

    @contextlib.contextmanager
    def frozen(self) -> Iterator[None]:
        """As if the machine hung: connections are taken, and nothing is said."""
        stopped = self.processes()
        for process in stopped:
            process.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            for process in stopped:
                process.send_signal(signal.SIGCONT)

    def ask(self, path: str, body: dict[str, Any] | None = None, seconds: float = 60) -> Any:
        """What the server says to a request of the test's own."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request, timeout=seconds) as reply:
            return json.load(reply)

    def _answers(self) -> bool:
        assert self._process is not None
        assert self._process.poll() is None, self._log.read_text()[-3000:]
        question = {"messages": [{"role": "user", "content": "1+1="}], "max_tokens": 1}
        try:
            return bool(self.ask("/v1/chat/completions", question)["choices"])
        except OSError:
            return False

    def stop(self) -> None:
        """As a user stops it; what is still there after half a minute is killed."""
        remaining = self.processes()
        for process in remaining[:1]:
            process.terminate()
        _, alive = psutil.wait_procs(remaining, timeout=30)
        self.kill(alive)
        if self._process is not None:
            self._process.wait()


@contextlib.contextmanager
def serving(name: str, model: Path, log: Path, options: Sequence[str] = ()) -> Iterator[LiveServer]:
    server = LiveServer(name, model, log, options)
    try:
        server.start()
        yield server
    finally:
        server.stop()
