"""The doctor's findings about real servers, and about this machine."""

from importlib.metadata import metadata
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.servers.fault_server import FaultServer, Style, always, default_answer
from tests.servers.likelihood_server import NOTHING, PROMPT_LOGPROBS, TOP, VLLM, LikelihoodServer
from tests.servers.likelihood_server import Style as LikelihoodStyle

from model_accuracy_eval.cli import main


def states(output: str) -> dict[str, str]:
    """Of every line its name and its state; names are followed by two blanks."""
    return {line[6:].split("  ")[0].strip(): line[:4] for line in output.splitlines()}


def look(*words: str) -> tuple[int, str]:
    done = CliRunner().invoke(main, ["doctor", *words])
    return done.exit_code, done.output


SIMPLE = {"17+25=": "17+25=42", "marmalade": "Marmalade.", "colour": "The word is green"}


def sane(request: dict[str, Any]) -> list[str]:
    """Right answers to simple questions, else the usual ones."""
    asked = request["messages"][0]["content"]
    return [answer for part, answer in SIMPLE.items() if part in asked] or default_answer(request)


def test_a_sound_service_passes() -> None:
    """Several samples, usage and pieces; it does not read pictures, and weighs nothing."""
    with FaultServer(sane) as server:
        server.models["data"][0]["max_model_len"] = 4096
        code, output = look("--endpoint", server.url)
    assert code == 0
    lacking = ["thinking", "likelihoods", "pictures"]
    assert [name for name, state in states(output).items() if state != "PASS"] == lacking, output
    assert "up to 4,096 tokens" in output


def test_answers_that_break_later_are_told_one_by_one() -> None:
    """Only the first request is answered: every other finding has the server's words, and the run could go on."""
    with FaultServer(plan=lambda number, _: "status_503" if number > 2 else None) as server:
        code, output = look("--endpoint", server.url, "--model-name", "m")
    found = states(output)
    assert (code, found["answers"]) == (0, "PASS"), output
    assert {found[name] for name in ("sense", "samplers", "n")} == {"WARN"}, output
    assert output.count("trouble 503") >= 3


@pytest.mark.parametrize(
    ("habit", "name"),
    [
        ({"stream": False}, "streaming"),
        ({"usage": "none"}, "usage"),
        ({"ignore_n": True}, "n"),
        ({"finish": "none"}, "finish_reason"),
    ],
)
def test_a_habit_of_a_server_has_its_own_warning(habit: dict[str, Any], name: str) -> None:
    """Answers in one piece, uncounted tokens, a single sample of two, no finish reasons."""
    with FaultServer(sane, style=Style(**habit)) as server:
        code, output = look("--endpoint", server.url)
    assert (code, states(output)[name]) == (0, "WARN"), output


def test_a_model_without_words_is_asked_a_sum() -> None:
    """One that continues texts may say nothing to a request in words."""
    with FaultServer(lambda request: ["42" if "17+25=" in str(request["messages"]) else ""]) as server:
        code, output = look("--endpoint", server.url)
    assert (code, states(output)["streaming"], states(output)["n"]) == (0, "PASS", "PASS"), output


@pytest.mark.parametrize(
    ("style", "state", "words"),
    [
        (VLLM, "PASS", ["Runs use echo: every metric of log-likelihoods is known."]),
        (PROMPT_LOGPROBS, "PASS", ["Runs use prompt-logprobs: every metric", "(echo: "]),
        (TOP, "WARN", ["unknown are acc_norm, acc_bytes, ", "(echo: the service has no completions: HTTP 404"]),
        (NOTHING, "WARN", ["Runs use extracted: ", "; extracted: letters are extracted from free answers"]),
    ],
)
def test_what_runs_would_take_for_log_likelihoods_is_told(style: LikelihoodStyle, state: str, words: list[str]) -> None:
    """With what is unknown by it, and why nothing more exact works."""
    with LikelihoodServer(style=style) as server:
        code, output = look("--endpoint", server.url)
    assert (code, states(output)["likelihoods"]) == (0, state), output
    assert [part for part in words if part not in output] == [], output


def test_nobody_there_is_exit_code_4() -> None:
    """With a sentence, and without further questions."""
    with FaultServer() as server:
        url = server.url
    code, output = look("--endpoint", url)
    assert (code, states(output)) == (4, {"answers": "FAIL"})
    assert "Connection refused" in output
    assert output.endswith("Start the service, or name another address.\n")


@pytest.mark.parametrize(
    "fault", ["stalled_before_head", "stalled_before_first_token", "stalled_mid_stream", "endless"]
)
def test_a_service_that_does_not_come_to_an_end_is_given_up(fault: str) -> None:
    """Whatever it hangs in, the time that was allowed is in the sentence."""
    with FaultServer(plan=always(fault)) as server:
        code, output = look("--endpoint", server.url, "--model-name", "m", "--timeout", "0.3")
    assert (code, states(output)) == (4, {"answers": "FAIL"})
    assert "0.3 s" in output
    assert "--timeout" in output


def test_this_machine_is_looked_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every part has a finding, and what is missing is no failure of the command."""
    monkeypatch.setenv("MODEL_ACCURACY_EVAL_CACHE", str(tmp_path / "not" / "yet"))
    monkeypatch.setenv("DOCKER_HOST", f"unix://{tmp_path}/none.sock")
    code, output = look()
    found = states(output)
    assert (code, found["python"], found["docker"], found["cache"]) == (0, "PASS", "WARN", "PASS"), output
    assert {"bwrap", "NPUs", "driver", "extra text"} <= set(found)


def test_every_extra_is_looked_for() -> None:
    """Whoever adds one to the package adds it here; that of developers is no user's."""
    known = {f"extra {name}" for name in metadata("model-accuracy-eval").get_all("Provides-Extra") or []}
    _, output = look()
    assert {name for name in states(output) if name.startswith("extra ")} == known - {"extra dev"}


def test_a_taken_port_is_told_with_its_owner() -> None:
    """An adapter could not serve there."""
    with FaultServer() as server:
        taken = server.url.rpartition(":")[2]
        code, output = look("--port", taken)
    assert (code, states(output)["port"]) == (0, "WARN"), output
    assert f"{taken} is taken by " in output


def test_a_cache_that_nobody_can_write_stands_in_the_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Exit code 3, and the variable that names another."""
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("MODEL_ACCURACY_EVAL_CACHE", str(tmp_path / "file" / "cache"))
    code, output = look()
    assert (code, states(output)["cache"]) == (3, "FAIL"), output
    assert "MODEL_ACCURACY_EVAL_CACHE" in output
