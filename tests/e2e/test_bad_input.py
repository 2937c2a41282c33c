"""Bad input beside the mistakes of `mistakes.py`: one clear sentence; nothing is started, nothing is written."""

from pathlib import Path

import pytest
from tests.e2e import command

ENDPOINT = ["--endpoint", "http://127.0.0.1:9"]
WEIGHTS = ["--model", command.WEIGHTS]

USAGE = {
    "adapter and endpoint": (
        [command.ADAPTER, *WEIGHTS, *ENDPOINT, "--datasets", "demo_gsm8k"], "not both",
    ),
    "folder of data that is not there": (
        [*ENDPOINT, "--datasets", "demo_gsm8k", "--data-dir", "no/such"], "There is no folder 'no/such', where --data-dir",
    ),
    "reuse of what is no run": (["--reuse", "docs"], "'docs' is not the folder of a run"),
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
