"""The adapter's folder as bytes, which travel to nodes that share no disk with this machine."""

import io
import tarfile
from pathlib import Path

from model_accuracy_eval.errors import Refused

_LARGEST = 256 << 20
_LEFT_OUT = {".git", "__pycache__"}


def pack(folder: str) -> bytes:
    """Files, links and modes, without what git and Python keep for themselves."""
    size = sum(path.lstat().st_size for path in Path(folder).rglob("*") if not _LEFT_OUT & set(path.parts))
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
