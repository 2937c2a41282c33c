"""What is looked at before a run: services that draw otherwise than asked, and often score better for it."""

import asyncio
import dataclasses
import json
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import command
from tests.e2e.broken import script, serving
from tests.fake_ports import MemoryStore
from tests.waiting import free_port

from model_accuracy_eval.run import deploy, engines, plan_parts, preflight
from model_accuracy_eval.run.service_check import ServiceCheck
from model_accuracy_eval.system.clock import SignalClock


def evaluated(fault: str, out: Path, *gates: str) -> tuple[command.Done, dict[str, Any]]:
    with serving(fault) as url:
        words = [word for gate in ("demo_arithmetic: avg@5 >= 70", *gates) for word in ("--gate", gate)]
        done = command.run("run", "--endpoint", url, "--datasets", "demo_arithmetic", "--out", out, *words,
                           "--ready-timeout", 240)  # fmt: skip
    return done, json.loads(next(out.glob("*/run.json")).read_text())


def test_a_healthy_service_is_evaluated(tmp_path: Path) -> None:
    done, run = evaluated("healthy", tmp_path)
    assert done.code == 0, done.out + done.err
    (finding,) = run["findings"]
    assert (finding["probe"], finding["state"]) == ("samplers", "PASS")
    assert "first tokens were drawn as often as with temperature 1" in finding["sentence"]


@pytest.mark.parametrize(
    ("fault", "words"), [("min_p added", "min_p 0.1"), ("choices are copies", "choices of a request are copies")]
)
def test_a_gate_refuses_a_service_that_draws_otherwise(fault: str, words: str, tmp_path: Path) -> None:
    """Before it is asked anything, with what is to be typed next."""
    done, run = evaluated(fault, tmp_path)
    assert done.code == 4, done.out + done.err
    assert words in run["sentence"]
    assert "allow: samplers" in run["sentence"]
    assert run["seconds"].keys() >= {"infer"}
    assert run["datasets"]["demo_arithmetic"]["counts"]["answered"] == 0
    assert "Next: model-accuracy-eval diagnose --endpoint" in done.out + done.err


def test_who_allows_it_gets_the_figure_and_the_finding_first(tmp_path: Path) -> None:
    done, run = evaluated("temperature halved", tmp_path, "allow: samplers")
    assert done.code == 0, done.out + done.err
    assert run["findings"][0]["state"] == "FAIL"
    assert "samplers: Asked for temperature 1, it draws as with temperature 0.5" in run["service_notes"][0]
    assert "draws as with temperature 0.5" in done.out


def test_prompts_that_are_not_the_weights_own_refuse_a_gate(tmp_path: Path) -> None:
    """Of a deployed adapter, whose weights have a tokenizer and a template."""
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "deploy.sh").write_text(script("'a beginning token added'"))
    done = command.run(
        *("run", adapter, "--model", command.WEIGHTS, "--datasets", "demo_arithmetic", "--out", tmp_path / "out"),
        *("--port", free_port(), "--gate", "demo_arithmetic: avg@5 >= 5", "--ready-timeout", 240),
    )
    assert done.code == 4, done.out + done.err
    assert "Every prompt has 1 more than it should" in done.out
    assert "'allow: template'" in done.out
    assert f"Next: model-accuracy-eval diagnose {adapter} --model" in done.out + done.err


@pytest.mark.parametrize(("fault", "refused"), [("healthy", ""), ("temperature halved", "draws as with temperature")])
def test_a_replica_that_joins_later_has_to_pass_the_same(fault: str, refused: str) -> None:
    """And is held beside the one that the run began with."""
    clock = SignalClock()
    with serving("healthy") as first, serving(fault) as new:
        settings = {"datasets": "demo_arithmetic", "gate": ["demo_arithmetic: avg@5 >= 70"], "ready_timeout": 240}
        plans = [
            plan_parts.plan({**settings, "endpoint": [url]}, os.environ, check=clock.check, say=print)
            for url in (first, new)
        ]
        ports = engines.ports(plans[0], os.environ, clock, sys.stderr)
        datasets, _ = preflight.check(plans[0], ports, ())
        with (
            deploy.service(plans[0], "", MemoryStore(), ports) as one,
            deploy.service(plans[1], "", MemoryStore(), ports) as other,
        ):
            named = [dataclasses.replace(each, name=each.service.base_url) for each in (one, other)]
            findings, objection = asyncio.run(ServiceCheck(plans[0], datasets, "", ports).newcomer(*named))
    assert [each.probe for each in findings] == ["samplers", "replicas"]
    assert findings[0].state == ("FAIL" if refused else "PASS")
    assert findings[1].state == "PASS"  # the weights are the same, and so are the chances
    assert refused in objection
    assert bool(objection) == bool(refused)
