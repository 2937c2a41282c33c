import os
import signal
import socket
from pathlib import Path

import psutil
import pytest
from tests.integration.process.conftest import Launch
from tests.integration.process.tools import environment, make_adapter, start_in
from tests.waiting import until

from model_accuracy_eval.adapter.adapter_files import port_owner
from model_accuracy_eval.adapter.adapter_process import AdapterProcess
from model_accuracy_eval.errors import AdapterFailed


def ended(process: AdapterProcess) -> int:
    until(lambda: process.exit_code() is not None, "deploy.sh ends")
    code = process.exit_code()
    assert code is not None
    return code


@pytest.mark.parametrize(("deploy", "code"), [("exit 0", 0), ("exit 3", 3), ("", 0), ("kill -9 $$", -signal.SIGKILL)])
def test_exit_code(launch: Launch, deploy: str, code: int) -> None:
    """The exit code comes through, and a signal as its negative number, before and after the stop."""
    process = launch(deploy)
    assert ended(process) == code
    process.stop()
    assert process.exit_code() == code


def test_output_and_folder(launch: Launch, log: str) -> None:
    """Both streams go to the end of the log, the folder is the adapter's, stdin is empty."""
    Path(log).write_text("before\n", encoding="utf-8")
    process = launch("read line || echo nothing to read; echo wrong >&2; ls deploy.sh")
    assert ended(process) == 0
    assert Path(log).read_text(encoding="utf-8").split("\n")[:4] == ["before", "nothing to read", "wrong", "deploy.sh"]


def test_plain_signals(launch: Launch) -> None:
    """deploy.sh starts with no signal ignored or blocked, whatever was done to ours."""
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = launch("grep -E 'SigBlk|SigIgn' /proc/self/status")
    finally:
        signal.signal(signal.SIGINT, before)
    assert ended(process) == 0
    masks = [int(line.split()[1], 16) for line in process.tail(2).splitlines()]
    assert not any(mask & (1 << (signal.SIGINT - 1)) for mask in masks)


def test_own_session(launch: Launch) -> None:
    """Ctrl-C of a terminal reaches neither deploy.sh nor its supervisor: they are in sessions of their own."""
    process = launch("exec sleep 999")
    supervisor = psutil.Process(process.pid).ppid()
    assert len({os.getsid(0), os.getsid(supervisor), os.getsid(process.pid)}) == 3


def test_no_secret_arrives(launch: Launch, tmp_path: Path, log: str) -> None:
    """A token planted under every secret-like name is not in what deploy.sh sees."""
    names = ["GITHUB_TOKEN", "ACTIONS_RUNTIME_TOKEN", "INPUT_ADAPTER-TOKEN", "HF_TOKEN", "AWS_SECRET_ACCESS_KEY"]
    planted = {name: f"planted-{index}" for index, name in enumerate(names)}
    planted["SOME_HEADER"] = "Authorization: Bearer planted-0"
    planted["HTTPS_PROXY"] = "http://me:planted-9@proxy:3128"
    folder = make_adapter(tmp_path / "adapter", "env; tr '\\0' '\\n' </proc/$PPID/environ")
    process = start_in(environment(**planted), folder, log)
    assert ended(process) == 0
    process.stop()
    seen = Path(log).read_text(encoding="utf-8")
    assert "planted" not in seen
    assert "MODEL_PATH=/weights\n" in seen
    assert "HTTPS_PROXY=http://proxy:3128\n" in seen


def test_command_that_cannot_start(tmp_path: Path, log: str) -> None:
    """A command that the system refuses is a sentence, and leaves no supervisor."""
    before = psutil.Process().children()
    with pytest.raises(AdapterFailed, match=r"'/nowhere' could not be started: .*No such file"):
        AdapterProcess(["/nowhere"], folder=str(tmp_path), environment={}, log=log)
    assert psutil.Process().children() == before


# ── Ports ─────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("family", "address"), [(socket.AF_INET, "127.0.0.1"), (socket.AF_INET, "0.0.0.0"), (socket.AF_INET6, "::1")]
)
def test_port_owner(family: socket.AddressFamily, address: str) -> None:
    """A listener on any local address is named with its pid."""
    with socket.socket(family) as server:
        try:
            server.bind((address, 0))
        except OSError:
            pytest.skip(f"{address} cannot be bound here")
        server.listen()
        owner = port_owner(server.getsockname()[1])
    assert owner == f"{psutil.Process().name()}, pid {os.getpid()}"


def test_a_port_that_was_taken_meanwhile(launch: Launch) -> None:
    """Fetching weights and packages takes hours, and the first look at the port came before."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = rf"Port {port} was taken by .*pid {os.getpid()} before deploy\.sh was started"
        with pytest.raises(AdapterFailed, match=told):
            launch("sleep 999", PORT=str(port))
