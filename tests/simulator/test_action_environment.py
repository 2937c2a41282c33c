"""What an earlier step of the job can leave for this one: variables by `$GITHUB_ENV`, and files in the shared home."""

import json
from pathlib import Path

from tests.simulator.scene import EXAMPLE, Scene

LOADING = ("LD_PRELOAD", "LD_AUDIT", "LD_LIBRARY_PATH", "OPENSSL_CONF")


def plant(scene: Scene) -> Path:
    """Programs and configuration that would make a file, if somebody with our rights ran or read them."""
    folder = scene.runner.workspace / "evil"
    folder.mkdir()
    proof = scene.runner.workspace / "planted"
    for name in ("git", "sh", "python3", "test", "evil.sh", "docker-credential-evil"):
        (folder / name).write_text(f"#!/bin/sh\n: > /github/workspace/{proof.name}\n")
        (folder / name).chmod(0o755)
    (folder / "sitecustomize.py").write_text("open('/github/workspace/planted', 'w')\n")
    (scene.runner.home / ".docker").mkdir()
    (scene.runner.home / ".docker" / "config.json").write_text('{"credsStore": "evil"}')
    (scene.runner.home / ".gitconfig").write_text(
        "[core]\n\tsshCommand = /github/workspace/evil/evil.sh\n\tfsmonitor = /github/workspace/evil/evil.sh\n"
        "\thooksPath = /github/workspace/evil\n[credential]\n\thelper = !/github/workspace/evil/evil.sh\n"
        '[url "http://127.0.0.1:9/"]\n\tinsteadOf = http://\n'
    )
    return proof


def test_what_would_run_with_our_rights_is_not_run(scene: Scene) -> None:
    """Neither Python, git, a shell nor the engine's client takes anything of it; who is talked to is reported. The linker
    complains of a library that is none, wherever it looks at one: here it never does."""
    proof = plant(scene)
    (scene.runner.workspace / "library").write_text("no library\n")
    scene.runner.environment |= dict.fromkeys(LOADING, "/github/workspace/library")
    evil = "/github/workspace/evil"
    scene.runner.environment |= {
        "PATH": f"{evil}:/usr/local/bin:/usr/bin:/bin",
        "PYTHONPATH": evil,
        "PYTHONSTARTUP": f"{evil}/sitecustomize.py",
        "PYTHONHOME": evil,
        "BASH_ENV": f"{evil}/evil.sh",
        "ENV": f"{evil}/evil.sh",
        "GIT_SSH_COMMAND": f"{evil}/evil.sh",
        "GIT_EXEC_PATH": evil,
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "core.fsmonitor",
        "GIT_CONFIG_VALUE_0": f"{evil}/evil.sh",
        "HF_ENDPOINT": "http://127.0.0.1:9",
    }
    step = scene.run(EXAMPLE)
    assert step.exit_code == 0, step.text
    assert "ld.so" not in step.text + scene.post(step).text
    assert not proof.exists()
    environment = json.loads((scene.report(step) / "run.json").read_text())["environment"]
    assert "HF_ENDPOINT" in environment["obeyed variables"].split(", ")
