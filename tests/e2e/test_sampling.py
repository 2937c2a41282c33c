"""`--sampling plain` over real HTTP: neutral values go to services that take them, and no service fails for them."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.e2e import command
from tests.servers.sampler_server import Accepts, SamplerServer

from model_accuracy_eval.records.exchange import NEUTRAL_SAMPLERS

SERVICES: dict[str, Accepts] = {
    "takes all": lambda _name, _value: True,
    "top_k only as -1": lambda name, value: name != "top_k" or value == -1,
}


def numbers(request: dict[str, Any]) -> list[str]:
    return [f"#### {len(request['messages'][-1]['content'])}"] * request.get("n", 1)


@pytest.mark.parametrize("name", SERVICES)
def test_a_plain_run_is_complete_on_every_service(name: str, tmp_path: Path) -> None:
    """Whatever the service refuses: all samples are answered, and run.json says what was sent and what was refused."""
    questions = tmp_path / "lengths.jsonl"
    questions.write_text(json.dumps({"question": "How long?", "answer": "9"}) + "\n")
    arguments = ["--datasets", questions, "--out", tmp_path / "out", "--sampling", "plain", "-n", 2]
    with SamplerServer(SERVICES[name], answer=numbers, owner="vllm") as server:
        done = command.run("run", "--endpoint", server.url, *arguments, "--generation", '{"min_p": 0.1}')
        asked = [chat for chat in server.chats if chat.get("max_tokens") != 1]
    assert done.code == 0, done.err
    run = json.loads((command.only_run(tmp_path / "out") / "run.json").read_bytes())
    neutral = {each: values[0] for each, values in NEUTRAL_SAMPLERS.items()}
    neutral["top_k"] = -1 if name == "top_k only as -1" else 0
    assert run["sampling"] == "plain"
    assert run["samplers"]["neutral"] == neutral
    for chat in asked:
        assert {each: chat.get(each) for each in NEUTRAL_SAMPLERS} == neutral | {"min_p": 0.1}
    assert "Requests had neutral values of samplers" in done.out
