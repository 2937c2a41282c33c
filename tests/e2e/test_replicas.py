"""One run on several servers: evenly, none lost when one dies, and the one that answers worse is named."""

import hashlib
import json
import shutil
from collections import Counter
from pathlib import Path
from threading import Thread

import pytest
from tests.e2e import command
from tests.e2e.test_shards import JSON, answer, told
from tests.servers.fault_server import FaultServer, Style
from tests.waiting import free_ports


@pytest.fixture
def questions(tmp_path: Path) -> Path:
    return command.lengths(tmp_path / "lengths.jsonl", 120)


def run(questions: Path, out: Path, *servers: FaultServer) -> tuple[command.Done, Path]:
    endpoints = [word for server in servers for word in ("--endpoint", server.url)]
    done = command.run("run", *endpoints, "--datasets", questions, "-n", 4, "--out", out)
    return done, command.only_run(out)


def lines(folder: Path) -> list[JSON]:
    return [
        json.loads(line) for line in (folder / f"predictions/{command.LABEL}/lengths.jsonl").read_text().splitlines()
    ]


def worse(request: JSON) -> list[str]:
    """Of what the others get right, it loses half."""
    return [
        text if hashlib.sha256(f"{text}{at}{request.get('seed')}".encode()).digest()[0] % 2 else "#### 0"
        for at, text in enumerate(answer(request))
    ]


def test_two_replicas_give_the_figures_of_one(tmp_path: Path, questions: Path) -> None:
    """Each has half of the samples; the file names who answered, the report says that they are alike."""
    with FaultServer(answer) as first, FaultServer(answer) as second:
        _, single = run(questions, tmp_path / "single", first)
        done, both = run(questions, tmp_path / "both", first, second)
    assert done.code == 0, done.err
    assert told(both) == told(single)
    shares = Counter(line["replica"] for line in lines(both))
    assert set(shares) == {first.url[7:], second.url[7:]}
    assert min(shares.values()) > 150
    replicas = command.facts(both)["replicas"]
    assert [each["samples"] for each in replicas] == [shares[each["replica"]] for each in replicas]
    assert not any(each["differs"] for each in replicas)
    assert "Their answers to the same problems differ by at most" in done.out
    assert "replicas" not in command.facts(single)
    assert not any("replica" in line for line in lines(single))
    again = command.run("report", both)
    assert again.code == 0, again.err
    assert "Their answers to the same problems differ" in (both / "report.html").read_text()


def test_a_replica_that_answers_worse_is_named_with_its_interval(tmp_path: Path, questions: Path) -> None:
    """In the terminal, in run.json and on the page; the interval holds what it loses."""
    with FaultServer(answer) as good, FaultServer(worse) as bad:
        done, folder = run(questions, tmp_path / "out", good, bad)
    assert done.code == 0, done.err
    sentence = f"The replica {bad.url[7:]} answers the same problems worse than {good.url[7:]}: -"
    assert sentence in done.out
    assert sentence in (folder / "report.html").read_text()
    assert "Which of them is at fault is not known: `diagnose` both." in done.out
    first, second = (each for each in command.facts(folder)["replicas"] if each["differs"])
    named = first if first["replica"] == bad.url[7:] else second
    assert named["interval"]["low"] < named["points"] < named["interval"]["high"] < 0


def test_what_a_dead_replica_was_asked_the_others_answer(tmp_path: Path, questions: Path) -> None:
    """Nobody listens on its port from the twentieth request on: none is lost, none is there twice."""

    ends: list[Thread] = []

    def dies(request: JSON) -> list[str]:
        if len(dying.requests) >= 20 and not ends:
            ends.append(Thread(target=dying.stop, daemon=True))
            ends[0].start()
        return answer(request)

    with FaultServer(answer) as living, FaultServer(dies, style=Style(delay=0.002)) as dying:
        _, single = run(questions, tmp_path / "single", living)
        done, folder = run(questions, tmp_path / "out", living, dying)
    assert done.code == 0, done.err
    assert f"The replica {dying.url[7:]} is asked no more, 1 are left" in done.err
    assert len(command.journal(folder, "lengths")) == 480
    assert told(folder) == told(single)


def test_those_that_serve_begin_and_the_others_are_named(tmp_path: Path, questions: Path) -> None:
    """With whom nobody reaches the report is complete, and says who answered all of it; with none nothing is asked."""
    closed, shut = free_ports(2)
    with FaultServer(answer) as server:
        _, single = run(questions, tmp_path / "single", server)
        words = ["run", "--datasets", questions, "-n", 4]
        done = command.run(
            *words, "--endpoint", server.url, "--endpoint", f"http://127.0.0.1:{closed}", "--out", tmp_path / "out"
        )
    assert done.code == 0, done.err
    assert f"127.0.0.1:{closed} does not serve, and is asked again later: " in done.err
    assert told(command.only_run(tmp_path / "out")) == told(single)
    assert f"1 replica answered: {server.url[7:]} 480 samples" in done.out
    assert f"Nothing was answered by 127.0.0.1:{closed}." in done.out
    ends = [f"http://127.0.0.1:{port}" for port in (closed, shut)]
    done = command.run(*words, "--endpoint", ",".join(ends), "--out", tmp_path / "none")
    assert done.code == 4, done.err
    assert f"None of the 2 endpoints serves. 127.0.0.1:{closed}: " in done.out
    assert f"; 127.0.0.1:{shut}: " in done.out
    assert "--ready-timeout" in done.out


def adapter(folder: Path, script: str) -> Path:
    """The example adapter with another deploy.sh."""
    shutil.copytree(command.ADAPTER, folder, ignore=shutil.ignore_patterns("__pycache__"))
    (folder / "deploy.sh").write_text(f"set -e\n{script}\n")
    return folder


def deployed(folder: Path, out: Path, port: int, *more: object, **environment: str) -> command.Done:
    return command.run(
        "run", folder, "--model", command.WEIGHTS, "--datasets", "demo_arithmetic", "--limit", 30, "-n", 2,
        "--port", port, "--out", out, *more, **environment,
    )  # fmt: skip


SERVE = 'echo "cards $ASCEND_RT_VISIBLE_DEVICES"\nexec python3 ./server.py "$MODEL_PATH" --port "${PORT:-8000}"'


def test_one_host_serves_several_replicas_on_cards_of_their_own(tmp_path: Path) -> None:
    """Each has its port, its log and its cards, of those that are visible; the figures are those of one."""
    folder, (port, single_port) = adapter(tmp_path / "adapter", SERVE), free_ports(3)[::2]
    done = deployed(
        folder, tmp_path / "two", port, "--replicas", 2, "--resources", "NPU=2", ASCEND_RT_VISIBLE_DEVICES="4,5,6,7"
    )
    assert done.code == 0, done.err
    run = command.only_run(tmp_path / "two")
    logs = [(run / "logs" / name).read_text() for name in ("deploy.log", "deploy_1.log")]
    told_cards = [line for log in logs for line in log.splitlines() if line.startswith("cards")]
    assert told_cards == ["cards 4,5", "cards 6,7"]
    names = {each["replica"] for each in command.facts(run)["replicas"]}
    assert names == {f"127.0.0.1:{port}", f"127.0.0.1:{port + 1}"}
    one = deployed(folder, tmp_path / "one", single_port)
    assert one.code == 0, one.err
    runs = [command.facts(command.only_run(tmp_path / name)) for name in ("one", "two")]
    assert len({json.dumps(each["datasets"]["demo_arithmetic"]["metrics"]) for each in runs}) == 1
    three = ("--replicas", 3, "--resources", "NPU=2")
    done = deployed(folder, tmp_path / "few", port, *three, ASCEND_RT_VISIBLE_DEVICES="4,5,6,7")
    assert (done.code, "start fewer replicas, or give each fewer NPUs" in done.err + done.out) == (3, True), done.err


def test_an_adapter_that_ignores_its_port_has_no_replicas(tmp_path: Path) -> None:
    """Seen in its files before anything is started, or told with the port when the second does not come up."""
    port = free_ports(2)[0]
    fixed = adapter(tmp_path / "fixed", f'exec python3 ./other.py "$MODEL_PATH" --port {port}')
    (fixed / "server.py").rename(fixed / "other.py")
    for script in fixed.rglob("*.py"):
        script.write_text(script.read_text().replace("PORT", "P0RT"))
    done = deployed(fixed, tmp_path / "out", port, "--replicas", 2)
    assert (done.code, f"nothing in '{fixed}' reads PORT" in done.err) == (3, True), done.err
    (fixed / "deploy.sh").write_text(f'echo "$PORT"\nexec python3 ./other.py "$MODEL_PATH" --port {port}\n')
    done = deployed(fixed, tmp_path / "out", port, "--replicas", 2)
    assert (done.code, " of 2, with PORT=" in done.out, "already in use" in done.out) == (4, True, True), done.out
