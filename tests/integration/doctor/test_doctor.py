"""The doctor's findings about real servers, and about this machine."""

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.servers.fault_server import FaultServer, default_answer
from tests.servers.likelihood_server import VLLM, LikelihoodServer

from model_accuracy_eval.cli import main


def states(output: str) -> dict[str, str]:
    """Of every line its name and its state; names are followed by two blanks."""
    return {line[6:].split("  ")[0].strip(): line[:4] for line in output.splitlines()}


def look(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["doctor", *words])
    return done.exit_code, done.output


def stopping(request: dict[str, Any]) -> list[str]:
    """The usual answers, as far as the request's stops let them go."""
    stops = request.get("stop") or []
    return [text.split(stops[0])[0] if stops else text for text in default_answer(request)]


def test_a_sound_service_passes() -> None:
    """Seeds, several samples, stops, greedy answers, usage and pieces; only likelihoods are not told."""
    with FaultServer(stopping) as server:
        code, output = look("--endpoint", server.url)
    assert code == 0
    assert [name for name, state in states(output).items() if state != "PASS"] == ["likelihoods"], output


def test_what_a_service_passes_over_is_found_out() -> None:
    """A stop that is not obeyed, and answers that differ although nothing was left to chance."""
    count = iter(range(1000))
    with FaultServer(
        lambda request: [f"word {next(count)} of many words" for _ in range(request.get("n", 1))]
    ) as server:
        code, output = look("--endpoint", server.url)
    found = states(output)
    assert (code, found["temperature 0"], found["seed"], found["stop"]) == (0, "FAIL", "FAIL", "FAIL"), output


def test_the_way_of_weighing_is_told() -> None:
    """The first rung of the ladder that holds."""
    with LikelihoodServer(style=VLLM) as server:
        code, output = look("--endpoint", server.url)
    assert (code, states(output)["likelihoods"]) == (0, "PASS"), output
    assert "echo: " in output


def test_nobody_there_is_exit_code_4() -> None:
    """With a sentence, and without further questions."""
    with FaultServer() as server:
        url = server.url
    code, output = look("--endpoint", url)
    assert (code, states(output)) == (4, {"answers": "FAIL"})


def test_this_machine_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every part has a finding, and what is missing is no failure of the command."""
    monkeypatch.setenv("MODEL_ACCURACY_EVAL_CACHE", str(tmp_path / "not" / "yet"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    code, output = look()
    found = states(output)
    assert (code, found["python"], found["docker"], found["cache"]) == (0, "PASS", "FAIL", "PASS"), output
    assert {"bwrap", "NPUs", "extra text"} <= set(found)
