"""What `diagnose` says of engines that nobody here wrote."""

from pathlib import Path

import pytest
from tests.e2e import command
from tests.live.conftest import Models
from tests.live.live_servers import serving
from tests.waiting import free_port

FAULTS = {"vllm": "No fault was found", "llamacpp": "Faults: reference, samplers"}
"""llama.cpp leaves rare tokens out where a request says nothing of min_p, and reads no blanks with this tokenizer."""


@pytest.mark.parametrize("name", FAULTS)
@pytest.mark.timeout(1800)
def test_an_engine_is_diagnosed_beside_the_adapters_own_server(name: str, models: Models, tmp_path: Path) -> None:
    trace = tmp_path / "ref.trace"
    recorded = command.run(
        "diagnose", command.ADAPTER, "--model", command.WEIGHTS, "--port", free_port(), "--record", trace
    )
    assert recorded.code == 0, recorded.err
    with serving(name, models.adding(name), tmp_path / "server.log") as server:
        done = command.run("diagnose", "--endpoint", server.url, "--reference", trace, "--ready-timeout", 900)
    assert FAULTS[name] in done.out, done.out + done.err
    if name == "vllm":
        assert "PASS  reference" in done.out
    else:
        assert "it draws as with min_p 0.05" in done.out
        assert "The prompt of '17 + 25 =' has 6 tokens, and 9 at the reference." in done.out
