from pathlib import Path

import pytest

from model_accuracy_eval.errors import Refused
from model_accuracy_eval.rim.adapter.adapter_python import refuse_replacing, wants_packages
from model_accuracy_eval.rim.adapter.deploy_script import deploy_command
from model_accuracy_eval.rim.adapter.log_tail import tail
from model_accuracy_eval.rim.adapter.surroundings import adapter_environment

PATH = "/usr/local/bin:/usr/bin:/bin"

DROPPED = [
    "GITHUB_TOKEN", "GH_TOKEN", "ACTIONS_RUNTIME_TOKEN", "ACTIONS_RESULTS_URL", "ACTIONS_ID_TOKEN_REQUEST_URL",
    "INPUT_TOKEN", "INPUT_ADAPTER-TOKEN", "INPUT_MODEL", "STATE_run", "GITHUB_ENV", "GITHUB_OUTPUT", "GITHUB_PATH",
    "GITHUB_STATE", "GITHUB_STEP_SUMMARY", "RUNNER_TRACKING_ID", "HF_TOKEN", "HUGGING_FACE_HUB_TOKEN",
    "MODELSCOPE_API_TOKEN", "OPENAI_API_KEY", "openai_api_key", "AWS_SECRET_ACCESS_KEY", "AWS_ACCESS_KEY_ID",
    "AWS_SESSION_TOKEN", "AZURE_CLIENT_SECRET", "DB_PASSWORD", "PGPASSWORD", "MYSQL_PWD", "REDIS_PASS", "MY_PASSWD",
    "SSH_PRIVATE_KEY", "SSH_AUTH_SOCK", "GIT_ASKPASS", "WANDB_APIKEY", "GOOGLE_CREDENTIALS", "AUTHTOKEN", "CI_JWT",
    "GH_PAT", "DOCKER_AUTH_CONFIG", "SENTRY_DSN", "SLACK_WEBHOOK_URL", "SESSION_COOKIE", "PYTHONHOME",
]  # fmt: skip
KEPT = [
    "PATH", "HOME", "LANG", "PWD", "OLDPWD", "TMPDIR", "TOKENIZERS_PARALLELISM", "KEYBOARD", "CUDA_VISIBLE_DEVICES",
    "ASCEND_RT_VISIBLE_DEVICES", "ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "LD_LIBRARY_PATH", "PYTHONPATH", "HF_HOME",
    "HCCL_BUFFSIZE", "VLLM_USE_V1", "OMP_NUM_THREADS", "GITHUB_ACTIONS", "GITHUB_SHA", "RUNNER_OS", "CI", "COMPASS",
    "XAUTHORITY", "PIP_INDEX_URL", "PATTERN", "PASSAGE", "MONKEY", "AUTHOR", "http_proxy",
]  # fmt: skip


def given(**environ: str) -> dict[str, str]:
    return adapter_environment(environ, model_path="/weights", port=8000)


@pytest.mark.parametrize("name", DROPPED)
def test_dropped(name: str) -> None:
    """Secrets, and what is the runner's or ours, do not reach the adapter."""
    assert given(**{name: "some value"}) == {"MODEL_PATH": "/weights", "PORT": "8000"}


@pytest.mark.parametrize("name", KEPT)
def test_kept(name: str) -> None:
    """What an adapter may need reaches it unchanged."""
    assert given(**{name: "some value"})[name] == "some value"


@pytest.mark.parametrize(
    ("name", "value", "kept"),
    [
        ("EOS_TOKEN_ID", "151645", True),
        ("MAX_TOKENS", "4096", True),
        ("MAX_TOKENS", "abc", False),
        ("PIN_PASSWORD", "12", False),
    ],
)
def test_numbers(name: str, value: str, kept: bool) -> None:
    """In this trade a token is often a number, and then it is no secret."""
    assert (name in given(**{name: value})) == kept


@pytest.mark.parametrize(
    ("value", "kept"),
    [
        ("http://proxy:3128", "http://proxy:3128"),
        ("http://me:pass@proxy:3128", "http://proxy:3128"),
        ("https://sometoken@host/simple", "https://host/simple"),
        ("http://me:p@ss@proxy:3128/", "http://proxy:3128/"),
        ("ssh://git@host/x.git", "ssh://git@host/x.git"),
        ("postgres://me:pass@host/db", "postgres://host/db"),
        ("a http://u:p@one b socks5://u:p@two", "a http://one b socks5://two"),
        ("https://host/@scope/x", "https://host/@scope/x"),
        ("mail me@host", "mail me@host"),
    ],
)
def test_urls(value: str, kept: str) -> None:
    """A URL loses user and password, nothing else."""
    assert given(SOME_URL=value)["SOME_URL"] == kept


def test_secret_values() -> None:
    """A secret's value is not kept under another name; a path such as a credentials file's does no harm."""
    environ = {"MY_TOKEN": "ghs_0123456789", "HEADER": "Bearer ghs_0123456789", "KEY_FOLDER": "/usr/bin", "PATH": PATH}
    assert given(**environ) == {"PATH": PATH, "MODEL_PATH": "/weights", "PORT": "8000"}


@pytest.mark.parametrize(("path", "kept"), [("/venv/bin:/bin", True), ("/bin", False), ("/venv/bin2", False)])
def test_virtual_env(path: str, kept: bool) -> None:
    """VIRTUAL_ENV stays only where the PATH uses it: else it is that of our own tool."""
    assert ("VIRTUAL_ENV" in given(VIRTUAL_ENV="/venv", PATH=path)) == kept


def test_given_values_win() -> None:
    """MODEL_PATH and PORT are the run's, also when the machine has some, and there may be no model."""
    assert adapter_environment({"MODEL_PATH": "/old", "PORT": "1"}, model_path=None, port=8000) == {"PORT": "8000"}


# ── deploy.sh ─────────────────────────────────────────────────────────────────────────────────────


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
    (tmp_path / "deploy.sh").write_text(f"{first}\n", encoding="utf-8")
    program, *rest = deploy_command(str(tmp_path), PATH)
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
        deploy_command(str(tmp_path), PATH)


def test_carriage_returns_in_a_payload(tmp_path: Path) -> None:
    """A script that carries an archive may hold any bytes."""
    (tmp_path / "deploy.sh").write_bytes(b"#!/bin/sh\nexit\n\0\r\n")
    assert deploy_command(str(tmp_path), PATH)[1:] == ["deploy.sh"]


def test_no_script(tmp_path: Path) -> None:
    """A missing deploy.sh, a folder of that name and a link to itself have a sentence each."""
    script = tmp_path / "deploy.sh"
    with pytest.raises(Refused, match=r"There is no deploy\.sh in "):
        deploy_command(str(tmp_path), PATH)
    script.mkdir()
    with pytest.raises(Refused, match=r"deploy\.sh is not a file"):
        deploy_command(str(tmp_path), PATH)
    script.rmdir()
    script.symlink_to("nowhere")
    with pytest.raises(Refused, match="cannot be read: No such file"):
        deploy_command(str(tmp_path), PATH)


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


# ── The log's end ─────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("written", "seen"),
    [
        (b"", ""),
        (b"one\ntwo\nthree\nfour\n\n\n", "two\nthree\nfour"),
        (b"\x1b[1;31mred\x1b[0m \x1b]0;title\x07text\x1b(B\n", "red text"),
        (b" 10%\r 50%\r100% done\n", "100% done"),
        (b" 10%\r 50%\r", " 50%"),
        (b"windows\r\nends\r\n", "windows\nends"),
        (b"half \xe4\xbd\n", "half \ufffd"),
        (b"bell\x07 nul\0 tab\t|\n", "bell nul tab\t|"),
    ],
)
def test_tail(tmp_path: Path, written: bytes, seen: str) -> None:
    """The last lines as a person would have seen them."""
    (tmp_path / "log").write_bytes(written)
    assert tail(str(tmp_path / "log"), 3) == seen


def test_tail_of_a_long_log(tmp_path: Path) -> None:
    """Only the end is read, from the first whole line on; one endless progress line still has its last state."""
    (tmp_path / "log").write_bytes(b"x" * 300_000 + b"\nend\n")
    assert tail(str(tmp_path / "log"), 3) == "end"
    (tmp_path / "log").write_bytes(b"  1%\r" * 100_000 + b"100%")
    assert tail(str(tmp_path / "log"), 3) == "100%"


def test_tail_of_no_log(tmp_path: Path) -> None:
    """No log, no lines."""
    assert tail(str(tmp_path / "log"), 3) == ""


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
