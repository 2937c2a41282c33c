"""Adapters made of small real processes, and bounded waiting for what they do."""

import os
import sys
from pathlib import Path

import psutil
from tests.waiting import free_port

from model_accuracy_eval.adapter.adapter_process import AdapterProcess, ProcessLauncher

PYTHON = f"{sys.executable} -I -S"

SERVER = '''
"""Usage: server.py PORT HOW MARK. Listens, and takes SIGTERM as HOW says."""
import os, signal, socket, sys, time

def again(*_):
    if os.fork():
        os._exit(0)
    os.setsid()

port, how = int(sys.argv[1]), sys.argv[2]
if how == "daemon":
    if os.fork():
        sys.exit(0)
    os.setsid()
    if os.fork():
        os._exit(0)
    os.closerange(0, 64)
    os.execve(sys.executable, [sys.executable, "-I", "-S", sys.argv[0], sys.argv[1], "stubborn", sys.argv[3]], {})
if how == "stubborn":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
if how == "respawning":
    signal.signal(signal.SIGTERM, again)
server = socket.socket()
server.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
server.bind(("127.0.0.1", port))
server.listen()
while how == "restless":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    again()
while True:
    time.sleep(999)
'''


def alive(mark: str) -> list[int]:
    """Pids of processes that carry the mark among their arguments, zombies left out."""
    found = []
    for process in psutil.process_iter():
        try:
            if mark in process.cmdline():
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def make_adapter(folder: Path, deploy: str, requirements: str | None = None, server: str = SERVER) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "deploy.sh").write_text(deploy, encoding="utf-8")
    (folder / "server.py").write_text(server, encoding="utf-8")
    if requirements is not None:
        (folder / "requirements.txt").write_text(requirements, encoding="utf-8")
    return str(folder)


def start_in(environ: dict[str, str], folder: str, log: str) -> AdapterProcess:
    """An adapter whose surroundings are these; PORT among them is its port."""
    port = int(environ.get("PORT") or free_port())
    return ProcessLauncher(environ).start(folder=folder, model_path="/weights", port=port, log=log)


def environment(**more: str) -> dict[str, str]:
    kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    return kept | more
