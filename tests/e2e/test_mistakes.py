"""Every mistake of `mistakes.py` as it happens: one sentence, the exit code, and a command to type next if one is known.

`tests/golden/mistakes.md` has what is seen here, for reviewers to read: UPDATE_GOLDEN=1 writes it anew.
"""

import contextlib
import os
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e import command
from tests.e2e.mistakes import MISTAKES, Mistake, healthy
from tests.servers.http import HttpServer
from tests.waiting import free_port

PAGE = command.ROOT / "tests/golden/mistakes.md"
HEAD = """\
# Mistakes, and what each of them says

<!-- What tests/e2e/test_mistakes.py saw; UPDATE_GOLDEN=1 makes it anew. Addresses, process numbers and times are examples. -->
"""
SEEN: dict[str, str] = {}
ALL = [mistake for group in MISTAKES.values() for mistake in group]

_SAME_EVERYWHERE = (
    (r"http(s?)://127\.0\.0\.1:\d+", r"http\1://127.0.0.1:8000"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:8000"),
    (r"\b[0-9a-f]{32}(?=x?\b)", "RUN"),
    (r"\d+\.\d s\b", "0.0 s"),
    (r" \(_ssl\.c:\d+\)", ""),
    (r"\[Errno -\d+\] [^(;]*", "[Errno -2] Name or service not known "),
    (r"by [\w.]+, pid \d+", "by python3, pid 4711"),
    (r"Port \d+ is", "Port 8000 is"),
    (r"process \d+ listens on \d+", "process 4711 listens on 9000"),
    (r"--port \d+", "--port 9000"),
)
"""What differs from machine to machine, and what the page shows in its place."""


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A run that ended well."""
    out = tmp_path_factory.mktemp("runs")
    with healthy() as server:
        done = command.run("run", "--endpoint", server.url, "--datasets", "demo_gsm8k", "-n", 1, "--out", out)
    assert done.code == 0, done.err
    return command.only_run(out)


def happened(mistake: Mistake, folder: Path, run: Path) -> command.Done:
    values = {"port": free_port(), "other": free_port(), "run": run}
    for name, text in mistake.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.replace("{other}", str(values["other"])).encode())
    with mistake.service() if mistake.service else contextlib.nullcontext() as server:
        if isinstance(server, HttpServer):
            values |= {"url": server.url, "https": server.url.replace("http:", "https:"), "used": server.port}
        words = [word.format(**values) for word in shlex.split(mistake.command)]
        return command.run_in(folder, *words, **mistake.environment)


def shown(text: str, *folders: Path) -> str:
    """The text as it is on every machine, in one cell of a table."""
    for folder in folders:
        text = text.replace(f"{folder}/", "").replace(str(folder), "FOLDER")
    for pattern, same in _SAME_EVERYWHERE:
        text = re.sub(pattern, same, text)
    return text.replace("|", "\\|").replace("<", "&lt;")


@pytest.mark.parametrize("mistake", ALL, ids=lambda mistake: mistake.what)
def test_a_mistake_ends_with_a_sentence_and_a_code(mistake: Mistake, tmp_path: Path, run: Path) -> None:
    """The page has the sentence and the command as they were seen."""
    done = happened(mistake, tmp_path, run)
    assert done.code == mistake.code, done.out + done.err
    # A key is looked at when the service is asked for the first time.
    assert mistake.code not in {2, 3} or mistake.environment or not (tmp_path / "outputs").exists()
    told = (done.out + done.err).splitlines()
    pattern = r"(?:Error: |[A-Z][a-z, ]+ \(exit code \d+\): )(.*)"
    (sentence,) = [found[1] for line in told if (found := re.fullmatch(pattern, line))]
    steps = [line.removeprefix("Next: ") for line in told if line.startswith("Next: ")]
    assert len(steps) <= 1
    step = "".join(f"`{shown(step, tmp_path, run.parent)}`" for step in steps)
    row = f"| {mistake.what} | {mistake.code} | {shown(sentence, tmp_path, run.parent)} | {step} |"
    SEEN[mistake.what] = row
    assert os.environ.get("UPDATE_GOLDEN") or row in PAGE.read_text().splitlines()


def tables() -> Iterator[str]:
    for heading, group in MISTAKES.items():
        rows = [SEEN[mistake.what] for mistake in group]
        yield "\n".join(
            [f"## {heading}", "", "| what happened | exit code | it says | next |", "|---|---|---|---|", *rows]
        )


def test_the_page_has_every_mistake_once() -> None:
    """And no other."""
    if os.environ.get("UPDATE_GOLDEN") and len(SEEN) == len(ALL):
        PAGE.write_text("\n\n".join([HEAD.rstrip(), *tables()]) + "\n")
    rows = re.findall(r"^\| (.*?) \| \d+ \| .* \|$", PAGE.read_text(), re.MULTILINE)
    assert rows == [mistake.what for mistake in ALL]
    assert len(rows) >= 60
