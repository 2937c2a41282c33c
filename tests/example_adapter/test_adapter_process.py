"""The process: how it starts, what it tells about itself, how it ends."""

from __future__ import annotations

from http.client import IncompleteRead
from pathlib import Path

import pytest
from tests.example_adapter.client import Server, start, stop


def test_the_model_is_named_by_its_path(server: Server) -> None:
    """GET /v1/models lists the weight path as given, with the context length."""
    (model,) = server.get("/v1/models").json["data"]
    assert model["id"] == "weights"
    assert model["max_model_len"] == 2048


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


def test_missing_weights_are_one_sentence(tmp_path: Path) -> None:
    """A folder that is not there, or empty, is named in one line."""
    for folder, sentence in ((tmp_path / "nowhere", "There is no weights folder"), (tmp_path, "config.json")):
        process = start(str(folder))
        said, complained = process.communicate()
        assert (process.returncode, said) == (1, "")
        assert complained.count("\n") == 1
        assert sentence in complained
