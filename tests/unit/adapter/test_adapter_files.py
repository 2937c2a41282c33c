"""deploy.sh and requirements.txt: how the script is run, and what is refused with its cure."""

import os
import subprocess
import tarfile
from pathlib import Path

import pytest

from model_accuracy_eval.adapter import container_spec
from model_accuracy_eval.adapter.adapter_files import DEPLOY, interpreter, refuse_replacing, wants_packages
from model_accuracy_eval.errors import Refused


@pytest.mark.parametrize(
    ("first", "command"),
    [
        ("set -e", ["sh"]),
        ("#!/bin/sh -e", ["sh"]),
        ("#!/usr/bin/env dash", ["sh"]),
        ("#!/bin/bash", ["bash"]),
        ("#! /bin/bash -eu", ["bash", "-eu"]),
        ("#!/usr/bin/env bash", ["bash"]),
        ("#!/usr/bin/env -S bash -x", ["bash", "-x"]),
        ("#!/opt/nowhere/bash", ["bash"]),
        ("#!/opt/nowhere/fancyshell", ["sh"]),
        ("#!", ["sh"]),
        ("#!/usr/bin/env", ["sh"]),
        ("#!/bin/it's", ["sh"]),
    ],
)
def test_interpreter(tmp_path: Path, first: str, command: list[str]) -> None:
    """sh as the platform has it, unless the first line names something else that exists."""
    (tmp_path / "deploy.sh").write_text(f"{first}\ntr '\\0' '\\n' </proc/$$/cmdline\n", encoding="utf-8")
    words = interpreter(tmp_path / "deploy.sh")
    run = subprocess.run(["/bin/sh", "-c", DEPLOY, "deploy", *words], cwd=tmp_path, check=True, capture_output=True)
    program, *rest = run.stdout.decode().splitlines()
    assert [Path(program).name, *rest] == [*command, "deploy.sh"]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"#!/bin/sh\r\necho\r\necho\n", r"Windows line ends in 2 of its 3 lines.*sed -i 's/\\r\$//' deploy.sh"),
        (b"\xef\xbb\xbf#!/bin/sh\n", "begins with a UTF-8 byte order mark"),
        ("\ufeffecho\n".encode("utf-16-le"), "begins with UTF-16"),
    ],
)
def test_unreadable_for_shells(tmp_path: Path, content: bytes, sentence: str) -> None:
    """Files of Windows editors are refused with the cure."""
    (tmp_path / "deploy.sh").write_bytes(content)
    with pytest.raises(Refused, match=sentence):
        interpreter(tmp_path / "deploy.sh")


def test_carriage_returns_in_a_payload(tmp_path: Path) -> None:
    """A script that carries an archive may hold any bytes."""
    (tmp_path / "deploy.sh").write_bytes(b"#!/bin/sh\nexit\n\0\r\n")
    assert interpreter(tmp_path / "deploy.sh") == []


def test_no_script(tmp_path: Path) -> None:
    """A missing deploy.sh, a folder of that name and a link to itself have a sentence each."""
    script = tmp_path / "deploy.sh"
    with pytest.raises(Refused, match=r"There is no deploy\.sh in "):
        interpreter(script)
    script.mkdir()
    with pytest.raises(Refused, match=r"deploy\.sh is not a file"):
        interpreter(script)
    script.rmdir()
    script.symlink_to("nowhere")
    with pytest.raises(Refused, match="cannot be read: No such file"):
        interpreter(script)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [("", False), ("# a\n\n  # b\n", False), ("\ufeff# a\n", False), ("torch\n", True), ("-r more.txt", True)],
)
def test_wants_packages(tmp_path: Path, text: str, wanted: bool) -> None:
    """Comments and blank lines ask for nothing."""
    (tmp_path / "requirements.txt").write_text(text, encoding="utf-8")
    assert wants_packages(tmp_path / "requirements.txt") == wanted


def test_requirements_missing_or_unreadable(tmp_path: Path) -> None:
    """No file asks for nothing; a folder of that name cannot be meant."""
    assert not wants_packages(tmp_path / "requirements.txt")
    with pytest.raises(Refused, match="cannot be read: Is a directory"):
        wants_packages(tmp_path)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("torch==2.1\n", 1),
        ("numpy\n\nTorch_NPU>=2.1  # mine\n", 3),
        ("  torch-npu @ https://example.invalid/x.whl\n", 1),
        ("torch[all]; python_version > '3'\n", 1),
        ("torchvision\ntransformers==4.37.0\n# torch\n-r torch.txt\n", None),
        ("", None),
    ],
)
def test_requirements_that_replace_the_machines_torch(text: str, line: int | None, tmp_path: Path) -> None:
    """torch, torch_npu and CANN come with the environment; the line that asks for another one is named."""
    file = tmp_path / "requirements.txt"
    file.write_text(text)
    if line is None:
        refuse_replacing(file)
        return
    with pytest.raises(Refused, match=f"requirements.txt, line {line}, would replace") as refused:
        refuse_replacing(file)
    assert refused.value.about == ("requirements.txt", line)


def test_a_sparse_file_does_not_fill_the_disk(tmp_path: Path) -> None:
    """The copy for the container would have all of its zeros; odd names and pipes are copied as they are."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "two\nlines ::error::").write_text("text")
    copy = container_spec.archive(str(tmp_path), "", str(tmp_path / "log"))
    assert copy is not None
    with copy, tarfile.open(fileobj=copy) as tar:
        assert len(tar.getmembers()) == 3
    with (tmp_path / "zeros").open("wb") as file:
        file.truncate(1 << 43)
    with pytest.raises(Refused, match=r"holds 8,796,093,022,.* bytes up to zeros, .*large files belong to the weights"):
        container_spec.archive(str(tmp_path), "", str(tmp_path / "log"))
