"""Data files inside of zip files, by a path that goes on behind the zip: `questions.zip/test.csv`."""

import zipfile
import zlib
from pathlib import Path, PurePosixPath

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.hubs.split_layout import DATA_ENDINGS
from model_accuracy_eval.hubs.weights_listing import show_size
from model_accuracy_eval.system import table_files

_LARGEST = 2 << 30
"""Bytes of a member that are unpacked into memory at most."""
_SHOWN = 8


def is_zip(path: Path) -> bool:
    return path.suffix.lower() == ".zip" and path.is_file()


def zip_of(path: Path) -> Path | None:
    """The zip file that the path goes into."""
    return next(filter(is_zip, path.parents), None)


def members(path: Path) -> list[str]:
    """The data files in it, without what programs add beside them."""
    with _opened(path) as archive:
        names = [entry.filename for entry in archive.infolist() if not entry.is_dir()]
    return sorted(name for name in names if _is_data(name))


def has(path: Path) -> bool:
    """Whether the path leads to a file in a zip file."""
    archive = zip_of(path)
    return archive is not None and path.relative_to(archive).as_posix() in members(archive)


def read(path: Path) -> bytes:
    """The bytes of a file in a zip file, which `has` knows."""
    archive_path = zip_of(path)
    if archive_path is None:
        raise BadData(f"{path} is in no zip file.")
    name = path.relative_to(archive_path).as_posix()
    if name.endswith(table_files.ENDINGS):
        raise BadData(f"{path}: tables with pictures are read where they lie: unpack {archive_path.name} first.")
    with _opened(archive_path) as archive:
        entry = archive.getinfo(name)
        if entry.file_size > _LARGEST:
            raise BadData(f"{path} has {show_size(entry.file_size)} unpacked: unpack {archive_path.name} first.")
        try:
            return archive.read(entry)
        except (RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error, EOFError, OSError) as error:
            # A RuntimeError says that it is encrypted.
            raise BadData(f"{path} cannot be unpacked: {error}.") from error


def which(path: Path) -> BadData:
    """The error for a zip file itself, with what to name instead."""
    names = members(path)
    if not names:
        return BadData(f"{path} is a zip file without a data file ({', '.join(DATA_ENDINGS)}).")
    more = f", and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return BadData(
        f"{path} is a zip file with {', '.join(names[:_SHOWN])}{more}. Name one of them: --datasets {path}/{names[0]}."
    )


def _is_data(name: str) -> bool:
    parts = PurePosixPath(name).parts
    hidden = any(part.startswith((".", "__MACOSX")) for part in parts)
    return name.removesuffix(".gz").endswith(DATA_ENDINGS) and not hidden


def _opened(path: Path) -> zipfile.ZipFile:
    try:
        return zipfile.ZipFile(path)
    except (OSError, zipfile.BadZipFile) as error:
        raise BadData(f"{path} cannot be read as a zip file: {error}.") from error
