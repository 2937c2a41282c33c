"""Bad input gets its exit code and one clear sentence; nothing is started, nothing is written."""

import socket
from pathlib import Path

import pytest
from tests.e2e import command

ENDPOINT = ["--endpoint", "http://127.0.0.1:9"]
WEIGHTS = ["--model", command.WEIGHTS]

USAGE = {
    "unknown dataset": ([*ENDPOINT, "--datasets", "gsm8kk"], "There is no dataset called 'gsm8kk'; did you mean gsm8k"),
    "gate nonsense": ([*ENDPOINT, "--datasets", "demo_gsm8k", "--gate", "avg@5 > 3"], "'avg@5 > 3' is not a gate"),
    "adapter and endpoint": (
        [command.ADAPTER, *WEIGHTS, *ENDPOINT, "--datasets", "demo_gsm8k"], "not both",
    ),
    "data file that is not there": ([*ENDPOINT, "--datasets", "no/such.jsonl"], "There is no data file 'no/such.jsonl'"),
    "folder of data that is not there": (
        [*ENDPOINT, "--datasets", "demo_gsm8k", "--data-dir", "no/such"], "There is no folder 'no/such', where --data-dir",
    ),
    "rows that must be fetched first": ([*ENDPOINT, "--datasets", "gsm8k", "--offline"], "tasks prepare"),
    "a dataset in the adapter's place": (["gsm8k"], "is a dataset, and the adapter's folder is to stand there: run ADAPTER"),
    "reuse of what is no run": (["--reuse", "docs"], "'docs' is not the folder of a run"),
    "configuration file that is not there": (["--config", "no.yaml"], "The configuration file no.yaml cannot be read"),
    "endpoint that is no URL": (["--endpoint", "localhost:8000", "--datasets", "demo_gsm8k"], "must be an http"),
}  # fmt: skip


def refuse(tmp_path: Path, code: int, *arguments: object) -> str:
    """The one sentence of a refusal that left nothing behind; a command to type next may follow it."""
    out = tmp_path / "out"
    done = command.run("run", *arguments, "--out", out, MODEL_ACCURACY_EVAL_CACHE=str(tmp_path / "cache"))
    assert done.code == code, done.out + done.err
    assert done.out == ""
    assert not out.exists()
    sentence, *steps = done.err.strip().splitlines()
    assert sentence.startswith("Error: ")
    assert not steps or (len(steps) == 1 and steps[0].startswith("Next: model-accuracy-eval "))
    return sentence


@pytest.mark.parametrize(("arguments", "sentence"), USAGE.values(), ids=USAGE)
def test_usage(arguments: list[object], sentence: str, tmp_path: Path) -> None:
    """Exit code 2 before anything is started."""
    assert sentence in refuse(tmp_path, 2, *arguments)


def test_a_proxy_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It would be found out in the middle of the run, at the first file that is to be fetched."""
    monkeypatch.setenv("HTTPS_PROXY", "socks9://proxy:1")
    told = refuse(tmp_path, 2, *ENDPOINT, "--datasets", "demo_gsm8k")
    assert "HTTPS_PROXY is 'socks9://proxy:1', which is not a proxy" in told


def test_an_adapter_without_deploy_sh(tmp_path: Path) -> None:
    """Exit code 3, and the weights that are missing too are told in the same sentence."""
    (tmp_path / "adapter").mkdir()
    sentence = refuse(tmp_path, 3, tmp_path / "adapter", "--model", "no/weights", "--datasets", "demo_gsm8k")
    assert "has no deploy.sh at its root" in sentence
    assert "The weights 'no/weights' are not there" in sentence


def test_an_adapter_folder_that_is_not_there(tmp_path: Path) -> None:
    """Exit code 3 with the folder's name."""
    assert "adapter folder 'nowhere' is not there" in refuse(
        tmp_path, 3, "nowhere", *WEIGHTS, "--datasets", "demo_gsm8k"
    )


def test_a_taken_port(tmp_path: Path) -> None:
    """Exit code 3 with the owner's name and pid."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        sentence = refuse(tmp_path, 3, command.ADAPTER, *WEIGHTS, "--datasets", "demo_gsm8k", "--port", port)
    assert f"Port {port} is already in use by python" in sentence
    assert "pid" in sentence


def test_a_reuse_with_other_sampling_shows_the_difference(tmp_path: Path) -> None:
    """Another n is refused as a difference, and the run stays as it was."""
    command.run("run", *ENDPOINT, "--datasets", "demo_gsm8k", "--out", tmp_path, "--ready-timeout", 0.1)
    folder = command.only_run(tmp_path)
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}
    done = command.run("run", "--reuse", folder, "-n", 3, "--temperature", 0.5)
    assert done.code == 2
    assert "num-return-sequences was 5, is 3; temperature was not there, is 0.5" in done.err
    assert {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()} == before
