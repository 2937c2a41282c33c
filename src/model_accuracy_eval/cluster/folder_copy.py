"""The adapter's folder as bytes, which travel to nodes that share no disk with this machine."""

import contextlib
import fcntl
import io
import shutil
import tarfile
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from model_accuracy_eval.errors import Refused

_LARGEST = 256 << 20
_PREFIX, _LOCK = "replica-", ".in-use"
_LEFT_OUT = {".git", "__pycache__"}


def pack(folder: str) -> bytes:
    """Files, links and modes, without what git and Python keep for themselves."""
    root = Path(folder)
    sent = (path for path in root.rglob("*") if not _LEFT_OUT & set(path.relative_to(root).parts))
    size = sum(path.lstat().st_size for path in sent)
    if size > _LARGEST:
        raise Refused(
            f"The adapter's folder '{folder}' has {size:,} bytes, and more than {_LARGEST:,} are not copied to the "
            "nodes: keep weights elsewhere, where every node finds them under one path, and name that with --model."
        )

    def kept(entry: tarfile.TarInfo) -> tarfile.TarInfo | None:
        return None if _LEFT_OUT & set(Path(entry.name).parts) else entry

    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w:gz", compresslevel=1) as archive:
        archive.add(folder, arcname=".", filter=kept)
    return packed.getvalue()


def unpack(packed: bytes, folder: str) -> None:
    """The packed folder, under its new path."""
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        # It is the user's own folder, so links may lead anywhere. The newest Pythons want to be told.
        archive.extraction_filter = getattr(tarfile, "fully_trusted_filter", None)
        archive.extractall(folder)  # noqa: S202


@contextmanager
def own_folder() -> Iterator[Path]:
    """A temporary folder; removed at the end, or by the next call on this machine if the process was killed."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*/{_LOCK}"):
        with contextlib.suppress(OSError), left.open("rb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left.parent, ignore_errors=True)
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX))
    try:
        with (folder / "lock").open("wb") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            (folder / "lock").rename(folder / _LOCK)  # nobody finds it before it is locked
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
