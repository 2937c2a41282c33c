"""What `diagnose` says of engines that nobody here wrote."""

import json
import re
from pathlib import Path

import pytest
from tests.e2e import command
from tests.live import live_servers
from tests.live.conftest import Models
from tests.live.live_servers import serving
from tests.waiting import free_port

pytestmark = pytest.mark.timeout(1800)

FAULTS = {"vllm": set(), "llamacpp": {"forms", "samplers", "lasting", "hanging"}}
"""llama.cpp counts the first of two choices alone, leaves out rare tokens by a default of its own, and answers some
questions from a spoilt cache after streams of several choices: which of these is met depends on its slots."""


@pytest.mark.parametrize("name", FAULTS)
def test_an_engine_is_diagnosed_beside_the_adapters_own_server(name: str, models: Models, tmp_path: Path) -> None:
    trace = tmp_path / "ref.trace"
    recorded = command.run(
        "diagnose", command.ADAPTER, "--model", command.WEIGHTS, "--port", free_port(), "--record", trace
    )
    assert recorded.code == 0, recorded.err
    with serving(name, models.adding(name), tmp_path / "server.log") as server:
        done = command.run("diagnose", "--endpoint", server.url, "--reference", trace, "--ready-timeout", 900)
    failed = set(re.findall(r"^FAIL  (\w+)", done.out, re.MULTILINE))
    assert (failed <= FAULTS[name], bool(failed)) == (True, bool(FAULTS[name])), done.out + done.err
    read = "36 of 36 answers read to their ends" if name == "vllm" else "up to where answers part"
    assert re.search(rf"^PASS  reference .*\({read}\)", done.out, re.MULTILINE), done.out


@pytest.mark.parametrize(
    ("weights", "change", "least"), [("adding", "int8", 0.97), ("adding", "layer", 0.0), ("random", "int8", 0.6)]
)
def test_how_far_changed_weights_are_is_what_transformers_says(
    weights: str, change: str, least: float, models: Models, tmp_path: Path
) -> None:
    """Over every token of every answer, though the text of one has other tokens when it is read as a text: at least what
    both told of the same texts, and never more than the truth. `least`: of the truth, where most of it can be told."""
    healthy = models.adding("vllm") if weights == "adding" else models.written(weights, "vllm")
    trace, changed = tmp_path / "ref.trace", tmp_path / "changed"
    with serving("vllm", healthy, tmp_path / "server.log") as server:
        recorded = command.run("diagnose", "--endpoint", server.url, "--ready-timeout", 900, "--record", trace)
    assert recorded.code == 0, recorded.err
    live_servers.run_python("vllm", "diverge_models.py", "change", change, healthy, changed)
    told = live_servers.run_python("vllm", "diverge_models.py", "compare", healthy, changed, given=trace.read_text())
    truth = json.loads(told)
    assert (truth["straddling"] > 0) == (weights == "random")
    gates = [word for name in ("kl.mean", "kl.p99") for word in ("--gate", f"{name} <= 1e-9")]
    with serving("vllm", changed, tmp_path / "server.log") as server:
        asked = ("--endpoint", server.url, "--ready-timeout", 900, "--reference", trace, "--only", "ends", *gates)
        found = command.run("diagnose", *asked)
    assert found.code == 1, found.out
    for name in ("mean", "p99"):
        (said,) = re.findall(rf"kl\.{name} is (\S+), and", found.out)
        assert max(0.97 * truth[f"told_{name}"], least * truth[name]) <= float(said) <= 1.01 * truth[name], (
            found.out,
            truth,
        )
