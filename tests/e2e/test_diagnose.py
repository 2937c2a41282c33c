"""`diagnose` on the example adapter, healthy and with each fault of `broken_adapter.py`."""

import dataclasses
import os
import sys
from functools import partial
from pathlib import Path

import pytest
from tests.e2e import command

sys.path.insert(0, str(command.ADAPTER))
from tests.e2e.broken import serving
from tests.servers.broken_adapter import FAULTS
from tests.servers.http import Exchange, HttpServer
from tests.waiting import free_port, is_open, until

from model_accuracy_eval.diagnosis.probes import diagnose
from model_accuracy_eval.report import remarks
from model_accuracy_eval.run import engines, pipeline, plan_parts, service_check
from model_accuracy_eval.system.clock import SignalClock

SEEN = {name: probe for name, (_, probe) in FAULTS.items() if probe}
FAST = {"temperature halved from the second token", "only the first stop string of a list"}


MADE_BY = {"repeats": "caps", "lasting": "samplers"}
"""The probes whose requests show what another row is about."""


def only(*probes: str) -> list[str]:
    return [word for probe in probes for word in ("--only", probe)]


def diagnosed(url: str, *more: object) -> tuple[command.Done, dict[str, str]]:
    done = command.run("diagnose", "--endpoint", url, "--ready-timeout", 240, *more)
    lines = [line for line in done.out.splitlines() if line.startswith(("PASS", "FAIL", "SKIP"))]
    return done, {line[6:].split("  ")[0].strip(): line for line in lines}


@pytest.mark.parametrize(
    "fault", [name if name in FAST else pytest.param(name, marks=pytest.mark.slow) for name in SEEN]
)
def test_the_probe_that_is_there_for_a_fault_sees_it(fault: str) -> None:
    with serving(fault) as url:
        done, findings = diagnosed(url, *only(MADE_BY.get(SEEN[fault], SEEN[fault])))
    failed = {name for name, line in findings.items() if line.startswith("FAIL")}
    assert done.code == 1, done.out + done.err
    assert SEEN[fault] in failed, done.out


def test_parts_of_characters_that_are_told_as_one_token_are_no_fault() -> None:
    """So does llama.cpp: usage counts more tokens than it tells, and its answers look less surprising than they are."""
    likeliest = [{"token": text, "logprob": -0.7} for text in ("\ufffdz", "b")]
    told = [{"token": "\ufffdz", "logprob": -0.7, "top_logprobs": likeliest}] * 4

    async def answer(exchange: Exchange) -> None:
        choice = {"index": 0, "message": {"content": "\ufffdz" * 4}, "finish_reason": "length"}
        usage = {"prompt_tokens": len(exchange.body), "completion_tokens": 8}
        exchange.reply(200, {"choices": [{**choice, "logprobs": {"content": told}}], "usage": usage})

    with HttpServer(answer) as server:
        _, findings = diagnosed(server.url, *only("cache", "surprise", "company"))
    assert not [line for line in findings.values() if line.startswith("FAIL")]
    assert findings["surprise"].startswith("SKIP")
    assert "answers came alike twice" in findings["company"]


@pytest.mark.slow
def test_beside_a_healthy_replica_the_one_with_the_fault_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its fault scores better, so the healthy one is the worse. As in the action: a gate failed."""
    monkeypatch.setattr(service_check, "_SECONDS", 1200)  # a busy machine takes its time
    monkeypatch.setattr(service_check, "diagnose", partial(diagnose, only=("samplers",)))
    with serving("healthy") as good, serving("temperature halved") as bad:
        for url in (good, bad):  # the run begins with those that serve, and looks at no others
            until(partial(is_open, int(url.rpartition(":")[2])), f"a server at {url}")
        settings = {
            "endpoint": [good, bad],
            "datasets": "demo_arithmetic",
            "num_return_sequences": 8,
            "gate": ["demo_arithmetic: avg@8 >= 99", "allow: samplers", "allow: replicas"],
            "ready_timeout": 240,
            "out": str(tmp_path),
        }
        clock = SignalClock()
        plan = plan_parts.plan(settings, os.environ, check=clock.check, say=print)
        ports = dataclasses.replace(engines.ports(plan, os.environ, clock, sys.stderr), finds_causes=True)
        report = pipeline.run(plan, ports, ())
    assert report.outcome.conclusion == "failed", report.outcome
    assert report.service
    failed = [each for each in report.service.findings if each.state == "FAIL"]
    assert "samplers" in {each.probe for each in failed if each.sentence.startswith(bad[7:])}, failed
    assert not [each for each in failed if each.sentence.startswith(good[7:])]
    if any(each.differs for each in report.replicas):
        assert any("Which of them is at fault is not known" in note for note in remarks.replica_notes(report.replicas))


def test_of_replicas_the_one_with_the_fault_is_named_with_its_cause() -> None:
    """Each is looked at alone, and all of them beside each other."""
    with serving("healthy") as good, serving("choices are copies") as bad:
        done = command.run("diagnose", "--endpoint", good, "--endpoint", bad, *only("choices"), "--ready-timeout", 240)
    first, second = done.out.split(f"{bad[7:]}:")[:2]
    assert done.code == 1, done.out + done.err
    assert first.startswith(f"{good[7:]}:")
    assert "PASS  choices" in first
    assert "FAIL  choices" in second
    assert "PASS  replicas    2 replicas answer alike" in second
    assert f"Faults: choices of {bad[7:]}; 7 of 7 probes" in done.out


def deployed(*more: str) -> command.Done:
    return command.run(
        *("diagnose", command.ADAPTER, "--model", command.WEIGHTS, "--port", free_port(), "--ready-timeout", 240, *more)
    )


def test_a_healthy_adapter_is_deployed_and_passes() -> None:
    """What cannot be looked at is skipped: this model repeats no words."""
    done = deployed(*only("caps", "ends", "choices", "lengths"))
    assert done.code == 0, done.out + done.err
    assert "SKIP  lengths" in done.out
    assert "No fault was found; 5 of 6 probes could look" in done.out


@pytest.mark.slow
def test_a_healthy_adapter_passes_every_probe() -> None:
    """Where a service agrees with itself in all it says, nothing is made up."""
    assert "No fault was found; 15 of 17 probes could look" in deployed().out


def test_no_time_is_no_pass() -> None:
    with serving("healthy") as url:
        done, findings = diagnosed(url, "--minutes", 0.0001)
    assert done.code == 0
    assert {name for name, line in findings.items() if "No time was left" in line} >= {"load", "cache", "samplers"}


def test_a_service_without_log_probabilities_is_no_pass_where_they_are_needed() -> None:
    """Answers that are the same in every form pass; how tokens should be drawn is not known."""

    async def answer(exchange: Exchange) -> None:
        exchange.reply(200, {"choices": [{"index": 0, "message": {"content": "42"}, "finish_reason": "stop"}]})

    blind = ("prompts", "samplers", "surprise", "seeds", "choices", "decoding", "caps")
    with HttpServer(answer) as server:
        _, findings = diagnosed(server.url, *only("load", *blind))
    assert findings["load"].startswith("PASS")
    assert [findings[name][:4] for name in blind] == ["SKIP"] * 7


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
    assert "differs from itself by kl.mean" in done.out
    assert "--gate 'kl.p99 <= 0.001'" in done.out  # this server's kernels are the same in every batch
    return file


@pytest.mark.parametrize(
    ("fault", "state", "words"),
    [
        (
            "healthy",
            "PASS",
            "147 of 147 likeliest tokens are the same, 0 that were sure are others (36 of 36 answers read",
        ),
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


@pytest.mark.parametrize(
    ("gates", "code", "words"),
    [
        (("kl.p99 <= 5", "top1 >= 50"), 0, "PASS"),
        (("kl.p99 <= 0.001", "kl.max <= 50"), 1, "kl.p99 is "),
        (("top1 >= 99.5",), 1, "and not >= 99.5"),
    ],
)
def test_gates_say_how_far_a_service_may_be_from_its_reference(
    gates: tuple[str, ...], code: int, words: str, trace: Path
) -> None:
    """A deliberate change of weights, which the usual bounds find."""
    lines = [word for gate in gates for word in ("--gate", gate)]
    with serving("weights in few bits") as url:
        done, findings = diagnosed(url, "--reference", trace, "--minutes", 0.0001, *lines)
    assert done.code == code, done.out + done.err
    assert words in findings["reference"]
    assert "the reference differs from itself by kl.mean" in findings["reference"]


def test_a_gate_that_nothing_is_known_of_is_undecided(trace: Path) -> None:
    async def answer(exchange: Exchange) -> None:
        exchange.reply(200, {"choices": [{"index": 0, "message": {"content": "42"}, "finish_reason": "stop"}]})

    with HttpServer(answer) as server:
        done, findings = diagnosed(server.url, "--reference", trace, "--minutes", 0.0001, "--gate", "kl.mean <= 1")
    assert done.code == 7, done.out + done.err
    assert findings["reference"].startswith("SKIP")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--gate", "kl.p99 <= 1"), "--reference FILE names one"),
        (("--gate", "kl.p90 <= 1", "--reference", "x"), "There is no figure called 'kl.p90'"),
        (("--gate", "kl.p99 <= baseline", "--reference", "x"), "A gate on kl.p99 takes a number"),
        (("--gate", "kl.p99", "--reference", "x"), "is not a gate"),
    ],
)
def test_what_is_no_gate_on_a_reference_is_told(words: tuple[str, ...], said: str) -> None:
    done = command.run("diagnose", "--endpoint", "http://127.0.0.1:9", *words)
    assert done.code == 2
    assert said in done.err


def test_what_a_service_counts_of_itself_stands_beside_the_finding() -> None:
    """Tokens from a cache and preemptions since the finding before; what it counted earlier is not of this look."""
    asked: list[bytes] = []

    async def answer(exchange: Exchange) -> None:
        if exchange.path == "/metrics":
            cached = len(asked) - len(set(asked))
            exchange.reply(200, f'vllm:prefix_cache_queries_total{{engine="0"}} {1000 + len(asked)}\n'
                                f'vllm:prefix_cache_hits_total{{engine="0"}} {1000 + cached}\n')  # fmt: skip
            return
        asked.append(exchange.body)
        exchange.reply(200, {"choices": [{"index": 0, "message": {"content": "42"}, "finish_reason": "stop"}]})

    with HttpServer(answer) as server:
        done, _ = diagnosed(server.url, *only("cache"))
    assert done.code == 0, done.out + done.err
    counted = [line.strip() for line in done.out.splitlines() if "It counted" in line]
    first, *later = counted
    whole = int(first.split(" of ")[1].split()[0])
    assert first.endswith(f"{whole} prompt tokens from its cache.")
    assert 36 * 3 <= whole < 1000
    assert later


def test_no_trace_is_told(tmp_path: Path) -> None:
    (tmp_path / "ref.trace").write_text("{}")
    done = command.run("diagnose", "--endpoint", "http://127.0.0.1:9", "--reference", tmp_path / "ref.trace")
    assert done.code == 2
    assert "is no trace of `diagnose --record`" in done.err
