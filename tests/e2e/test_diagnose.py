"""`diagnose` on the example adapter, healthy and with each fault of `broken_adapter.py`."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.e2e import command

sys.path.insert(0, str(command.ADAPTER))
from tests.servers.broken_adapter import FAULTS
from tests.servers.http import Exchange, HttpServer
from tests.waiting import free_port

SEEN = {name: probe for name, (_, probe) in FAULTS.items()}
FAST = {"min_p added", "temperature halved from the second token", "wrong beside a neighbour of over 300 tokens"}


@contextmanager
def serving(fault: str) -> Iterator[str]:
    port = free_port()
    words = [sys.executable, "tests/servers/broken_adapter.py", fault, str(command.WEIGHTS), str(port)]
    with subprocess.Popen(words, cwd=command.ROOT, env=command.environment(PYTHONPATH="example-adapter")) as process:
        try:
            yield f"http://127.0.0.1:{port}"
        finally:
            process.kill()


def diagnosed(url: str, *more: object) -> tuple[command.Done, dict[str, str]]:
    done = command.run("diagnose", "--endpoint", url, "--ready-timeout", 240, *more)
    lines = [line for line in done.out.splitlines() if line.startswith(("PASS", "FAIL", "SKIP"))]
    return done, {line[6:].split("  ")[0].strip(): line for line in lines}


@pytest.mark.parametrize(
    "fault", [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in SEEN]
)
def test_the_probe_that_is_there_for_a_fault_sees_it(fault: str) -> None:
    """And where a service agrees with itself in all it says, nothing is made up."""
    with serving(fault) as url:
        done, findings = diagnosed(url)
    failed = {name for name, line in findings.items() if line.startswith("FAIL")}
    assert done.code == (1 if SEEN[fault] else 0), done.out + done.err
    assert SEEN[fault] in failed if SEEN[fault] else not failed, done.out


def test_a_healthy_adapter_is_deployed_and_passes() -> None:
    """What cannot be looked at is skipped: this model repeats no words."""
    done = command.run(
        "diagnose", command.ADAPTER, "--model", command.WEIGHTS, "--port", free_port(), "--ready-timeout", 240
    )
    assert done.code == 0, done.out + done.err
    assert done.out.count("PASS") == 13
    assert "SKIP  lengths" in done.out
    assert "No fault was found; 13 of 14 probes could look" in done.out


def test_no_time_is_no_pass() -> None:
    with serving("healthy") as url:
        done, findings = diagnosed(url, "--minutes", 0.0001)
    assert done.code == 0
    assert {name for name, line in findings.items() if "No time was left" in line} >= {"load", "cache", "samplers"}


def test_a_service_without_log_probabilities_is_no_pass_where_they_are_needed() -> None:
    """Answers that are the same in every form pass; how tokens should be drawn is not known."""

    async def answer(exchange: Exchange) -> None:
        exchange.reply(200, {"choices": [{"index": 0, "message": {"content": "42"}, "finish_reason": "stop"}]})

    with HttpServer(answer) as server:
        _, findings = diagnosed(server.url)
    assert findings["load"].startswith("PASS")
    assert [findings[name][:4] for name in ("samplers", "surprise", "seeds", "choices", "decoding", "caps")] == [
        "SKIP"
    ] * 6


@pytest.mark.parametrize("words", [(), (command.ADAPTER, "--endpoint", "http://127.0.0.1:9")])
def test_what_is_looked_at_is_named_once(words: tuple[object, ...]) -> None:
    done = command.run("diagnose", *words)
    assert done.code == 2
    assert "diagnose needs an adapter's folder, or the address of a service" in done.err


def test_nobody_who_answers_is_told_without_a_line_of_another_command() -> None:
    done = command.run("diagnose", "--endpoint", "http://127.0.0.1:9")
    assert done.code == 4
    assert "Nobody answers at 127.0.0.1:9" in done.err
    assert "model-accuracy-eval run" not in done.err


@pytest.fixture(scope="module")
def trace(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the healthy adapter answers."""
    file = tmp_path_factory.mktemp("trusted") / "ref.trace"
    with serving("healthy") as url:
        done = command.run("diagnose", "--endpoint", url, "--ready-timeout", 240, "--record", file)
    assert done.out.startswith("36 answers of "), done.out + done.err
    return file


@pytest.mark.parametrize(
    ("fault", "state", "words"),
    [
        ("healthy", "PASS", "KL mean 0, max 0 nats; 147 of 147 likeliest tokens are the same, 0 that were sure"),
        ("one layer left out", "FAIL", "Not the reference"),
        ("weights in few bits", "FAIL", "Not the reference"),
        ("a beginning token added", "FAIL", "The prompt of '17+25=' has 7 tokens, and 6 at the reference."),
    ],
)
def test_a_reference_shows_what_a_service_does_wrong_in_all_it_says(
    fault: str, state: str, words: str, trace: Path
) -> None:
    with serving(fault) as url:
        done, findings = diagnosed(url, "--reference", trace, "--minutes", 0.0001)
    assert findings["reference"].startswith(state), done.out + done.err
    assert words in findings["reference"]


def test_no_trace_is_told(tmp_path: Path) -> None:
    (tmp_path / "ref.trace").write_text("{}")
    done = command.run("diagnose", "--endpoint", "http://127.0.0.1:9", "--reference", tmp_path / "ref.trace")
    assert done.code == 2
    assert "is no trace of `diagnose --record`" in done.err
