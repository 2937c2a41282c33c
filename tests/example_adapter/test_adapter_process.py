"""The process: how it starts, what it tells about itself, how it ends."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from http.client import IncompleteRead
from pathlib import Path

import pytest
from tests.example_adapter.client import ADAPTER, Server, start, stop
from tests.waiting import free_port, until


def test_the_model_is_named_by_its_path(server: Server) -> None:
    """GET /v1/models lists the weight path as given, with the context length."""
    (model,) = server.get("/v1/models").json["data"]
    assert model["id"] == "weights"
    assert model["max_model_len"] == 2048


def test_deploy_script_serves_until_stopped(tmp_path: Path) -> None:
    """deploy.sh names MODEL_PATH, serves in the foreground from any folder, and ends soon after SIGTERM."""
    port, model = free_port(), str(ADAPTER / "weights")
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    environment |= {"MODEL_PATH": model, "PORT": str(port), "PYTHONDONTWRITEBYTECODE": "1"}
    script = str(ADAPTER / "deploy.sh")
    pipe = subprocess.PIPE
    process = subprocess.Popen([script], cwd=tmp_path, env=environment, stdout=pipe, stderr=pipe, text=True)
    server = Server(port, model)
    try:
        until(lambda: _answers(port) or process.poll() is not None, "it answers or ends")
        assert server.texts("27+58=", model=model, temperature=0) == ["85"]
        process.terminate()
        said, complained = process.communicate()
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 0
    assert said.startswith(f"MODEL_PATH={model}\n")
    assert complained == ""


def test_sigterm_ends_it_in_the_middle_of_a_stream() -> None:
    """SIGTERM does not wait for answers that are being written."""
    process = start("weights", "--port", "0")
    assert process.stdout is not None
    server = Server(int(process.stdout.readline().rsplit(":", 1)[1]), "weights")
    asked = b'{"messages":[{"role":"user","content":"a"}],"stream":true,"n":64,"temperature":60}'
    connection, response = server.open("POST", "/v1/chat/completions", asked)
    response.read(10)
    _, complained = stop(process)
    with pytest.raises(IncompleteRead):
        response.read()
    assert (process.returncode, complained) == (0, "")
    response.close()
    connection.close()


def test_a_busy_port_is_one_sentence() -> None:
    """If the port is taken the server says so in one line and exits with 1."""
    with socket.create_server(("127.0.0.1", 0)) as taken:
        complaint = _fails("weights", "--port", str(taken.getsockname()[1]))
    assert complaint.startswith("Cannot listen on 127.0.0.1:")


def test_missing_weights_are_one_sentence(tmp_path: Path) -> None:
    """A folder that is not there, or empty, is named in one line."""
    assert _fails(str(tmp_path / "nowhere")).startswith("There is no weights folder")
    assert "config.json" in _fails(str(tmp_path))


def _cut(weights: Path) -> None:
    path = weights / "model.safetensors"
    path.write_bytes(path.read_bytes()[:-1000])


def _rename(weights: Path) -> None:
    _edit(weights / "config.json", "architectures", ["OtherModel"])


@pytest.mark.parametrize("damage", [_cut, _rename], ids=lambda f: f.__name__)
def test_damaged_weights_are_one_sentence(tmp_path: Path, damage: object) -> None:
    """Weights that are damaged or of another kind end the start in one line that names the file."""
    weights = tmp_path / "weights"
    shutil.copytree(ADAPTER / "weights", weights)
    assert callable(damage)
    damage(weights)
    assert str(weights) in _fails(str(weights))


SEEING = {
    "another tower": ("config.json", "vision_config", {"model_type": "clip_vision_model"}, "model_type = pixtral"),
    "no text": ("config.json", "text_config", None, "a needed number is missing or wrong"),
    "a template of text": ("tokenizer_config.json", "chat_template", "{{ messages[-1]['content'] }}", "chat_template"),
}


@pytest.mark.parametrize(("file", "key", "value", "sentence"), SEEING.values(), ids=SEEING)
def test_a_tower_of_another_kind_is_one_sentence(
    tmp_path: Path, file: str, key: str, value: object, sentence: str
) -> None:
    """What the server would see wrongly it does not serve."""
    weights = tmp_path / "weights"
    shutil.copytree(ADAPTER / "weights-digits", weights)
    _edit(weights / file, key, value)
    complaint = _fails(str(weights))
    assert str(weights) in complaint
    assert sentence in complaint


def _edit(path: Path, key: str, value: object) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text(encoding="utf-8")), key: value}), encoding="utf-8")


def _answers(port: int) -> bool:
    with socket.socket() as probe:
        return probe.connect_ex(("127.0.0.1", port)) == 0


def _fails(*arguments: str) -> str:
    """Start it where it must fail; return its one line."""
    process = start(*arguments)
    said, complained = process.communicate()
    assert (process.returncode, said) == (1, "")
    assert complained.count("\n") == 1
    return complained
