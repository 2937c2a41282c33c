import os
import sys
import time
import zipfile
from pathlib import Path

import pytest
from tests.integration.process.conftest import Launch
from tests.integration.process.tools import alive, environment, make_adapter
from tests.waiting import until

from model_accuracy_eval.adapter.adapter_process import AdapterProcess, ProcessLauncher
from model_accuracy_eval.errors import AdapterFailed, EvalError, Refused

OFFLINE = {"PIP_NO_INDEX": "1", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}


@pytest.fixture(autouse=True)
def temporary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where temporary Pythons go."""
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(folder))
    return folder


def make_wheel(folder: Path, name: str, version: str) -> str:
    info = f"{name}-{version}.dist-info"
    files = {
        f"{name}.py": f"def main():\n    print('{name}', '{version}')\n",
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": f"[console_scripts]\nrun-{name} = {name}:main\n",
        f"{info}/RECORD": "",
    }
    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{name}-{version}-py3-none-any.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        for path, text in files.items():
            archive.writestr(path, text)
    return wheel.name


def fake_python(folder: Path, body: str) -> str:
    """A PATH on which python3 does as it is told."""
    folder.mkdir()
    (folder / "python3").write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
    (folder / "python3").chmod(0o755)
    return f"{folder}:{os.environ['PATH']}"


def ended(process: AdapterProcess) -> str:
    until(lambda: process.exit_code() is not None, "deploy.sh ends")
    return process.tail(20).rpartition("── deploy.sh\n")[2]


def test_satisfied_requirement(launch: Launch, tmp_path: Path, temporary: Path) -> None:
    """What the machine has is found without network; the adapter's Python is new, and removed at the stop."""
    make_adapter(tmp_path / "adapter", "")
    for name in ("logging", "json", "pip"):  # pip must not import the adapter's modules
        (tmp_path / "adapter" / f"{name}.py").write_text("raise SystemExit('shadowed')", encoding="utf-8")
    deploy = (
        'python3 -I -c "import msgspec, sys; print(sys.prefix)"; echo $VIRTUAL_ENV; command -v python3; '
        'head -1 "$VIRTUAL_ENV/bin/pygmentize"'
    )
    process = launch(deploy, "msgspec>=0.1  # there\n", **OFFLINE)
    prefix, variable, python, command = ended(process).splitlines()
    assert prefix == variable
    assert python == f"{prefix}/bin/python3"
    assert command == f"#!{prefix}/bin/python3"
    assert Path(prefix).parent == temporary
    process.stop()
    assert list(temporary.iterdir()) == []


def test_local_wheel(launch: Launch, tmp_path: Path) -> None:
    """A relative path counts from the adapter's folder, a newer version hides the machine's."""
    wheel = make_wheel(tmp_path / "adapter" / "wheels", "probe", "1.5")
    newer = make_wheel(tmp_path / "adapter" / "wheels", "iniconfig", "99.0")
    deploy = 'run-probe; python3 -I -c "import iniconfig; iniconfig.main()"'
    process = launch(deploy, f"./wheels/{wheel}\n./wheels/{newer}\n", **OFFLINE)
    assert ended(process) == "probe 1.5\niniconfig 99.0"


def test_failing_requirement(launch: Launch, temporary: Path, log: str) -> None:
    """pip's failure is a sentence with its exit code and the file, and its last words as detail."""
    with pytest.raises(AdapterFailed, match=r"Installing .*/requirements.txt failed with exit code 1\.") as caught:
        launch("echo never", "no-such-package-anywhere==1\n", **OFFLINE)
    assert "No matching distribution found for no-such-package-anywhere==1" in caught.value.detail
    assert "── pip install -r " in Path(log).read_text(encoding="utf-8")
    assert list(temporary.iterdir()) == []


@pytest.mark.parametrize(
    ("body", "kind", "sentence"),
    [
        ("exit 90", Refused, "this machine has no python3 with pip"),
        ("echo no venv; exit 1", AdapterFailed, r"requirements.txt failed with exit code 1\."),
    ],
)
def test_poor_python(launch: Launch, tmp_path: Path, body: str, kind: type[EvalError], sentence: str) -> None:
    """A python3 without pip or venv is a sentence."""
    with pytest.raises(kind, match=sentence):
        launch("echo never", "msgspec\n", PATH=fake_python(tmp_path / "bin", body))


def test_interrupted_installation(tmp_path: Path, log: str, temporary: Path) -> None:
    """What `check` raises ends the installation and all its children, and goes on."""
    mark = f"mark-{os.getpid()}-{time.monotonic_ns()}"
    child = f'{sys.executable} -I -S -c "import time; time.sleep(600)" {mark}'
    path = fake_python(tmp_path / "bin", f"{child} & {child}")

    def check() -> None:
        if len(alive(mark)) == 2:
            raise KeyboardInterrupt

    folder = make_adapter(tmp_path / "adapter", "echo never", "msgspec\n")
    with pytest.raises(KeyboardInterrupt):
        ProcessLauncher(environment(PATH=path), check=check).start(
            folder=folder, model_path="/weights", port=1, log=log
        )
    assert alive(mark) == []
    assert list(temporary.iterdir()) == []
