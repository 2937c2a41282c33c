"""Where the adapter's files are kept, and that they go, whoever ends the step and however."""

import io
import os
from pathlib import Path

import pytest

from model_accuracy_eval.commands.action_context import remove, temporary_folder
from model_accuracy_eval.github.runner import Runner


class Step(Runner):
    """Keeps what would go to the post step."""

    def __init__(self) -> None:
        super().__init__({}, io.StringIO())
        self.saved: list[str] = []
        self.warnings: list[str] = []

    def save(self, name: str, value: str) -> None:
        self.saved.append(value)

    def warning(self, message: str, *, title: str = "") -> None:
        self.warnings.append(message)


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("runner_temp", ["", "/nowhere/at/all"])
def test_without_the_runners_folder_the_workspace_is_used(runner_temp: str, tmp_path: Path) -> None:
    """And is as before afterwards."""
    step = Step()
    with temporary_folder({"RUNNER_TEMP": runner_temp, "GITHUB_WORKSPACE": str(tmp_path)}, step) as folder:
        assert Path(folder).parent == tmp_path
        assert step.saved == [folder]
        (Path(folder) / "file").touch()
    assert names(tmp_path) == []


def test_folders_that_deploy_sh_has_closed_are_removed(tmp_path: Path) -> None:
    """Also by somebody who is not root, and without following links out of the folder."""
    place = tmp_path / "place"
    outside = tmp_path / "outside"
    for folder in (outside, place / "open" / "closed" / "inner"):
        folder.mkdir(parents=True)
    (place / "open" / "closed" / "inner" / "file").touch()
    (place / "open" / "link").symlink_to(outside)
    outside.chmod(0o500)
    for folder in (place / "open" / "closed" / "inner", place / "open" / "closed"):
        folder.chmod(0o000)
    if os.geteuid() == 0:
        for parent, folders, files in os.walk(place, topdown=False):
            for name in [*folders, *files]:
                os.chown(Path(parent, name), 65534, 65534, follow_symlinks=False)
        os.chown(place, 65534, 65534)
        for above in [tmp_path, *tmp_path.parents]:
            if above.stat().st_uid == 0 and not above.stat().st_mode & 0o001:
                above.chmod(above.stat().st_mode | 0o011)
    pid = os.fork()
    if pid == 0:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
        step = Step()
        remove(str(place / "open"), step.warning)
        os._exit(len(step.warnings))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert names(place) == []
    assert outside.stat().st_mode & 0o777 == 0o500


def test_what_cannot_be_removed_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With its place and the reason; the step goes on."""

    def refuse(_folder: str) -> None:
        raise OSError(30, "Read-only file system")

    monkeypatch.setattr("shutil.rmtree", refuse)
    step = Step()
    remove(str(tmp_path), step.warning)
    assert step.warnings == [
        f"The adapter's files in {tmp_path} could not be removed: Read-only file system. Remove them on the runner."
    ]
