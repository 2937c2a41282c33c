"""Services that are not there yet, or away for a moment; and keys that go to nobody else."""

import threading
from pathlib import Path

from tests.e2e import command
from tests.servers.fault_server import FaultServer
from tests.servers.http import Exchange
from tests.waiting import HANGING, free_port

GENERAL = "marker-general-key"


def loading_for(requests: int) -> FaultServer:
    """As llama.cpp: it listens at once, and says 503 until its model is loaded."""

    async def answer(exchange: Exchange) -> None:
        if exchange.number < requests:
            exchange.reply(503, {"error": {"message": "Loading model", "code": 503}})
        else:
            await server._handle(exchange)

    server = FaultServer()
    server._handler = answer
    return server


def test_a_server_that_loads_is_waited_for(tmp_path: Path) -> None:
    """Without an option: it is there."""
    with loading_for(12) as server:
        done = command.run("run", "--endpoint", server.url, "--datasets", "demo_gsm8k", "-n", 1, "--out", tmp_path)
    assert done.code == 0, done.out + done.err


def test_a_server_that_is_started_later_is_waited_for_on_request(tmp_path: Path) -> None:
    """Nobody listens at first."""
    port = free_port()
    process = command.start(
        "run", "--endpoint", f"http://127.0.0.1:{port}", "--ready-timeout", 60, "--datasets", "demo_gsm8k", "-n", 1,
        "--out", tmp_path,
    )  # fmt: skip
    assert process.stderr is not None
    with FaultServer(port=port):
        done = command.finish(process)
    assert done.code == 0, done.out + done.err


def test_a_restart_is_survived(tmp_path: Path) -> None:
    """The service goes in the middle of the asking, and another one comes in its place."""
    half = threading.Event()

    def plan(number: int, _request: object) -> str | None:
        if number > 30:
            half.set()
        return None

    port = free_port()
    with FaultServer(plan=plan, port=port) as server:
        process = command.start(
            "run", "--endpoint", server.url, "--datasets", "demo_gsm8k", "--concurrency", 2, "-n", 5,
            "--generation", '{"n": 1}', "--out", tmp_path,
        )  # fmt: skip
        assert half.wait(HANGING)
    with FaultServer(port=port):
        done = command.finish(process)
    assert done.code == 0, done.out + done.err
    assert len(command.journal(command.only_run(tmp_path), "demo_gsm8k")) == 100


def test_the_general_key_is_taken_with_a_word_and_by_the_named_address_alone(tmp_path: Path) -> None:
    """The service's own variable wins; what deploy.sh serves never sees the general one."""
    asked = ["--datasets", "demo_gsm8k", "-n", 1, "--limit", 2, "--out", tmp_path]
    for own, sent in (("", GENERAL), ("marker-own-key", "marker-own-key")):
        keys = {"OPENAI_API_KEY": GENERAL, "MODEL_ACCURACY_EVAL_API_KEY": own}
        with FaultServer() as server:
            done = command.run("run", "--endpoint", server.url, *asked, **keys)
            assert {one.headers.get("authorization") for one in server.requests} == {f"Bearer {sent}"}
        assert done.code == 0, done.err
        assert ("The key in OPENAI_API_KEY is sent to" in done.err) == (not own)
        assert GENERAL not in done.out + done.err
