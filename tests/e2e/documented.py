"""The commands that a page shows, typed as a reader types them, with the output that it shows."""

import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from tests.e2e import command

_DIFFERS = (
    (r"\b[0-9a-f]{32}\b", "RUN"),
    (r"127\.0\.0\.1:\d+", "127.0.0.1:8000"),
    (r"[\d,]+\.\d+", "0.0"),
    (r"[\d,]+ tokens/s", "0 tokens/s"),
    (r" --port \d+", ""),
    (r"\d+:\d\d elapsed", "0:01 elapsed"),
    (r"commit [0-9a-f]{40}|@[0-9a-f]{40}", "COMMIT"),
    (r" {2,}", "  "),
    (r"-{3,}", "---"),
)
"""Run ids, ports, seconds, commits, and figures, which differ a little between machines."""


def sessions(text: str) -> Iterator[tuple[str, list[str]]]:
    """Command and shown output, in the page's order."""
    for block in re.findall(r"```console\n(.*?)```", text, re.DOTALL):
        for typed, shown in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, re.MULTILINE):
            yield typed, shown.splitlines()


def saved_files(text: str) -> Iterator[tuple[str, str]]:
    """Name and contents of what a page has its reader save: "… as `name`:" and a block below it."""
    yield from re.findall(r"as `([\w./-]+)`:\n\n```\w*\n(.*?)```", text, re.DOTALL)


def follow(text: str, folder: Path, stands_for: Mapping[str, str], **environment: str) -> int:
    """Saves the page's files, types its commands in the folder and compares; returns how many were typed.

    `stands_for`: what is typed → what the test types instead, such as a port that is free.
    """
    for name, contents in saved_files(text):
        (folder / name).write_text(contents, encoding="utf-8")
    code, typed_commands = 0, 0
    for typed, shown in sessions(text):
        if typed == "echo $?":
            assert [str(code)] == shown, typed
            continue
        line = typed
        for words, others in stands_for.items():
            line = line.replace(words, others)
        done = subprocess.run(
            re.sub(r"(?<!\S)model-accuracy-eval", f"{sys.executable} -m model_accuracy_eval", line),
            shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False,
            cwd=folder, env=command.environment(**environment),
        )  # fmt: skip
        code, typed_commands = done.returncode, typed_commands + 1
        printed = done.stdout.replace(f"{folder}/", "")
        for words, others in stands_for.items():
            printed = printed.replace(others, words)
        check(typed, shown, printed)
    return typed_commands


def same(text: str) -> str:
    for pattern, replacement in _DIFFERS:
        text = re.sub(pattern, replacement, text)
    return text.rstrip()


def check(typed: str, shown: list[str], printed: str) -> None:
    """All that is shown was printed in that order; nothing is left out unless `…` says so."""
    lines = [same(line) for line in printed.splitlines() if line.strip()]
    skips = False
    for line in map(same, filter(str.strip, shown)):
        if line == "…":
            skips = True
            continue
        begin = line.removesuffix(" …")
        place = next(
            (at for at, said in enumerate(lines) if said == line or (begin != line and said.startswith(begin))), None
        )
        assert place is not None, f"{typed}\n{line!r} is shown, and was not printed:\n{printed}"
        assert skips or place == 0, f"{typed}\nbefore {line!r} the page leaves out {lines[:place]}"
        lines, skips = lines[place + 1 :], False
    assert skips or not lines, f"{typed}\nthe page leaves out {lines}"
