"""The folder of one step of the action, for the adapter's files; whatever ends the step, the folder is removed.

It is locked as long as its step lives. What a killed step left is removed by its post step and, where the machine was
gone before that, by the next run that finds such a folder without a lock.
"""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from model_accuracy_eval.ports.action_ports import RunnerStep

STATE_FOLDER = "folder"
"""What the post step reads to see which folder a killed step left behind."""
_PREFIX, _NEW = ".model-accuracy-eval-", ".new-model-accuracy-eval-"


@contextmanager
def temporary_folder(environment: Mapping[str, str], step: RunnerStep) -> Iterator[str]:
    """A folder that the host sees too, in the runner's own for such things, otherwise in the workspace."""
    places = (environment.get(name, "") for name in ("RUNNER_TEMP", "GITHUB_WORKSPACE"))
    place = next((place for place in places if Path(place or "/nowhere").is_dir()), tempfile.gettempdir())
    _remove_abandoned(Path(place), step)
    folder, lock = _locked_folder(place)
    try:
        step.save(STATE_FOLDER, folder)
        yield folder
    finally:
        os.close(lock)
        remove(folder, step.warning)


def _locked_folder(place: str) -> tuple[str, int]:
    """It gets its name when it has its lock: a run that looks for abandoned ones never sees it without."""
    made = Path(tempfile.mkdtemp(prefix=_NEW, dir=place))
    lock = os.open(made, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    fcntl.flock(lock, fcntl.LOCK_EX)
    return str(made.rename(made.with_name(_PREFIX + made.name.removeprefix(_NEW)))), lock


def remove(folder: str, warn: Callable[[str], object]) -> None:
    """Removes the adapter's files, if they are still there, also from folders that deploy.sh has closed."""
    try:
        try:
            shutil.rmtree(folder)
        except PermissionError:
            _open(folder)
            shutil.rmtree(folder)
    except FileNotFoundError:
        return
    except OSError as error:
        reason = error.strerror or error
        warn(f"The adapter's files in {folder} could not be removed: {reason}. Remove them on the runner.")


def _open(folder: str) -> None:
    with contextlib.suppress(OSError):  # what stays closed is told when it cannot be removed
        Path(folder).chmod(0o700)
        for parent, folders, _ in os.walk(folder):
            for inner in (Path(parent, name) for name in folders):
                if not inner.is_symlink():
                    inner.chmod(0o700)


def _remove_abandoned(place: Path, step: RunnerStep) -> None:
    """The lock of a step that lives cannot be had; that of a dead one is free, however it died."""
    for folder in place.glob(f"{_PREFIX}*"):
        try:
            lock = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        except OSError:  # another run was quicker, or it is none of ours
            continue
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            continue
        finally:
            os.close(lock)
        remove(str(folder), step.warning)
