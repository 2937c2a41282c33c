"""A Ray cluster whose nodes are all on this machine, each with NPUs that are only said to be there."""

import os
import shutil
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest
from tests.waiting import HANGING, free_ports

ENVIRONMENT = Path(".venv-ray", "bin").absolute()
_STARTED = "This command will now block forever"
ANY_PORTS = ("--min-worker-port=0", "--max-worker-port=0")
"""For workers; Ray's own range for them holds ports that tests take."""
_TRIES = 3


def python() -> Path:
    """The interpreter that has Ray; without it tests are skipped, or fail where it is required."""
    if not (ENVIRONMENT / "python").is_file():
        if os.environ.get("RAY") == "required":
            pytest.fail(f"{ENVIRONMENT} is not there: `make ray` makes it.")
        pytest.skip(f"Ray is not installed in {ENVIRONMENT}: `make ray` installs it there.")
    return ENVIRONMENT / "python"


def variables(**more: str) -> dict[str, str]:
    path = os.pathsep.join([str(ENVIRONMENT), os.environ.get("PATH", os.defpath)])
    return {**os.environ, "PATH": path, "PIP_NO_INDEX": "1", "RAY_USAGE_STATS_ENABLED": "0", **more}


@dataclass(eq=False)
class Node:
    """`ray start`, and all that it has started."""

    command: list[str]
    log: Path
    process: "subprocess.Popen[bytes]" = field(init=False)
    tries: int = 0

    def __post_init__(self) -> None:
        self.start()

    def start(self) -> None:
        self.tries += 1
        with self.log.open("wb") as output:
            self.process = subprocess.Popen(self.command, stdout=output, stderr=output, env=variables())

    def wait(self) -> None:
        """On a busy machine Ray gives a node up before it is there, or waits for itself for ever: then once more."""
        while not self._is_up(HANGING / _TRIES):
            assert self.tries < _TRIES, self.log.read_text()
            self.lose()
            self.start()

    def _is_up(self, seconds: float) -> bool:
        end = time.monotonic() + seconds
        while _STARTED not in self.log.read_text():
            if self.process.poll() is not None or time.monotonic() > end:
                return False
            time.sleep(0.05)
        return True

    def lose(self) -> None:
        """At once, as when a machine loses its power; it may be lost already."""
        if self.process.poll() is not None:
            return
        processes = [psutil.Process(self.process.pid), *psutil.Process(self.process.pid).children(recursive=True)]
        for process in processes:
            try:
                process.kill()
            except psutil.NoSuchProcess:
                continue
        self.process.wait()


class RayNodes:
    """The first node is the head. Use it in a `with` block, which ends all of them."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.address = f"127.0.0.1:{free_ports(1)[0]}"
        # A path of sockets may not be longer than 107 bytes.
        self._session = f"/tmp/ray-test-{self.address.partition(':')[2]}"
        self._nodes: list[Node] = []

    def __enter__(self) -> "RayNodes":
        try:
            self.start(cpus=1).wait()
        except BaseException:
            self.__exit__()  # nobody else would
            raise
        return self

    @property
    def head(self) -> Node:
        return self._nodes[0]

    def __exit__(self, *_: object) -> None:
        for node in reversed(self._nodes):
            node.lose()
        shutil.rmtree(self._session, ignore_errors=True)

    def start(self, *, npus: int = 2, cpus: int = 1) -> Node:
        """Begins to start another node. Of two that start at the same time on one machine, one fails."""
        log = self._folder / f"node-{len(self._nodes)}.log"
        port = self.address.partition(":")[2]
        head = ["--head", f"--port={port}", f"--temp-dir={self._session}", "--include-dashboard=false"]
        where = [f"--address={self.address}"] if self._nodes else head
        resources = f'--resources={{"NPU": {npus}}}'
        command = [str(ENVIRONMENT / "ray"), "start", "--block", *where, f"--num-cpus={cpus}", resources]
        self._nodes.append(Node([*command, *ANY_PORTS, "--object-store-memory=80000000"], log))
        return self._nodes[-1]
