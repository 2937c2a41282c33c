"""The simulated runner keeps the runner's rules: what an action sees, what is read back, and how it is cancelled."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.simulator.commands import REGISTERED, pairs, parse, read_log
from tests.simulator.runner import Runner

ACTION = """
name: probe
description: probe
inputs:
  who-asks: {description: x, default: "${{ github.token }}"}
  plain: {description: x, default: there}
runs:
  using: docker
  image: Dockerfile
  args: [main, "${{ inputs.plain }}"]
  post-entrypoint: /post.py
"""

MAIN = """#!/usr/bin/env python3
import os, signal, sys, time
def told(number, _):
    print(f"signal {number}", flush=True)
    if number == signal.SIGTERM or os.environ["INPUT_PLAIN"] == "obedient":
        sys.exit(130)
signal.signal(signal.SIGINT, told); signal.signal(signal.SIGTERM, told)
print("::add-mask::hush", flush=True)
print("I say hush to", os.environ["INPUT_WHO-ASKS"], sys.argv[1:], os.getcwd())
print("::stop-commands::abcdefgh"); print("::error::not obeyed"); print("::abcdefgh::")
print("::notice title=a%3Ab::obeyed%0Atwice", flush=True)
open(os.environ["GITHUB_OUTPUT"], "a").write("answer<<E\\n1\\n2\\nE\\n")
open(os.environ["GITHUB_STATE"], "a").write("made=it\\n")
open(os.environ["GITHUB_STEP_SUMMARY"], "a").write("x" * int(os.environ.get("SUMMARY", "3")))
open("/github/workspace/left-behind", "w").close()
while os.environ["INPUT_PLAIN"] in ("obedient", "stubborn"):
    time.sleep(0.1)
"""

POST = '#!/usr/bin/env python3\nimport os\nprint("post", os.environ["STATE_made"])\n'


@pytest.fixture(scope="module")
def probe(engine: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Path, str]]:
    """An action that tells what it sees, and its image."""
    folder = tmp_path_factory.mktemp("probe")
    (folder / "action.yml").write_text(ACTION)
    (folder / "main.py").write_text(MAIN)
    (folder / "post.py").write_text(POST)
    entry = 'ENTRYPOINT ["python3", "/main.py"]'
    (folder / "Dockerfile").write_text(f"FROM {engine}\nCOPY main.py post.py /\nRUN chmod +x /post.py\n{entry}\n")
    image = Runner(folder / "builder", {}).build(folder)
    yield folder, image
    subprocess.run(["docker", "image", "rm", "-f", image], check=True, capture_output=True)


def test_a_step_with_its_post_step(probe: tuple[Path, str], tmp_path: Path) -> None:
    """Inputs with their defaults, arguments, masks, fences, outputs, state, summary, the workspace, and the post step."""
    runner = Runner(tmp_path, {"token": "marker-token", "repository": "org/adapter"})
    step = runner.run(*probe, {}, {})
    assert step.exit_code == 0, step.text
    assert "I say *** to marker-token ['main', 'there'] /github/workspace" in step.text
    assert step.log.annotations("error") == []
    assert step.log.annotations("notice") == ["obeyed\ntwice"]
    assert (step.outputs, step.state, step.summary) == ({"answer": "1\n2"}, {"made": "it"}, "xxx")
    assert (runner.workspace / "left-behind").exists()
    post = runner.run(*probe, {}, {}, stage="post", state=step.state)
    assert (post.exit_code, post.text) == (0, "post it")


def test_a_summary_that_is_too_long_is_dropped(probe: tuple[Path, str], tmp_path: Path) -> None:
    """More than 1 MiB: the summary is gone, the step is not."""
    step = Runner(tmp_path, {"token": "t"}, {"SUMMARY": str(1024 * 1024 + 1)}).run(*probe, {}, {})
    assert (step.exit_code, step.summary) == (0, None)


def test_a_cancelled_step_gets_sigint_first(probe: tuple[Path, str], tmp_path: Path) -> None:
    """A program that ends on SIGINT is told nothing else."""
    step = Runner(tmp_path, {"token": "t"}).run(
        *probe, {"plain": "obedient"}, {}, cancel=lambda log: any("I say" in line for line in log.lines)
    )
    assert step.exit_code == 130
    assert "signal 2" in step.text
    assert "signal 15" not in step.text


def test_a_stubborn_step_gets_sigterm_after_seven_and_a_half_seconds(probe: tuple[Path, str], tmp_path: Path) -> None:
    """The second signal comes when the first changed nothing."""
    step = Runner(tmp_path, {"token": "t"}).run(
        *probe, {"plain": "stubborn"}, {}, cancel=lambda log: any("I say" in line for line in log.lines)
    )
    assert ("signal 2" in step.text, "signal 15" in step.text) == (True, True)
    assert step.seconds > 7.5


def test_the_old_form_of_commands_is_found_anywhere() -> None:
    """`##[error]` in the middle of a line is obeyed, as the runner does."""
    found = parse("2026 some ##[error]text", REGISTERED)
    assert found is not None
    assert (found.name, found.data) == ("error", "text")


@pytest.mark.parametrize("text", ["a<<E\n1\n", "a<<\n1\n", "<<E\nE\n", "=1\n", "nothing\n"])
def test_a_file_that_breaks_the_rules_fails_the_step(text: str) -> None:
    """An output that is not closed, or has no name, is an error, never a shorter output."""
    with pytest.raises(ValueError, match="Unable to process file command"):
        pairs(text.encode())


def test_a_fence_holds_until_its_own_token() -> None:
    """Another token, or another stop, changes nothing; names of commands know no case."""
    log = read_log("::stop-commands::Abc\n::error::1\n::xyz::\n::stop-commands::xyz\n ::abc::\n::ERROR::2\n")
    assert [command.data for command in log.named("error")] == ["2"]
    assert log.lines == ["::error::1", "::xyz::", "::stop-commands::xyz"]


def test_a_mask_hides_later_lines_only() -> None:
    """What was printed before the mask stays readable: masks come first."""
    assert read_log("secret\n::add-mask::secret\nsecret\n").lines == ["secret", "***"]
