"""A task file whose parts are other datasets, run over HTTP."""

import json
from pathlib import Path

from tests.e2e import command
from tests.servers.fault_server import FaultServer


def test_n2_a_mixture_is_declared_and_run(tmp_path: Path) -> None:
    """Two parts of the package and one file of the user's, one of them twice; every part is judged in its own way."""
    own = tmp_path / "own.jsonl"
    own.write_text('{"question": "The capital of France?", "answer": "Paris"}\n')
    file = tmp_path / "mix.yaml"
    file.write_text(
        f"name: mix\nabout: Sums and capitals.\nparts: [demo_arithmetic, {own}, {own}]\narrangement: mixture\n"
        "slice: {start: 0, stop: 60}\ngrouping: {by: category}\n"
    )
    with FaultServer(lambda request: "Paris" if "France" in request["messages"][-1]["content"] else "?") as server:
        done = command.run("run", "--endpoint", server.url, "--datasets", file, "-n", 1, "--out", tmp_path / "out")
    assert done.code == 0, done.err
    folder = command.only_run(tmp_path / "out")
    whole = json.loads((folder / "run.json").read_text())["datasets"]["mix"]
    samples = command.journal(folder, "mix")
    assert whole["problems"] == len(samples)
    right = [text for text in samples.values() if text == "Paris"]
    assert whole["metrics"]["accuracy"] == 100 * len(right) / len(samples)
    assert whole["metrics"]["accuracy[own]"] == 100
    assert whole["metrics"]["accuracy[demo_arithmetic]"] == 0
