"""Files of any size, line by line, packed or not."""

import gzip
from collections.abc import Iterator
from pathlib import Path

from model_accuracy_eval.errors import BadData


def lines(path: str) -> Iterator[bytes]:
    """The lines that are not blank."""
    opened = gzip.open if path.endswith(".gz") else open
    try:
        with opened(path, "rb") as stream:
            for line in stream:
                if not line.isspace():
                    yield line
    except (OSError, EOFError) as error:
        raise BadData(f"{path} cannot be read: {error}.") from error


def whole(path: str) -> bytes:
    """All bytes of a file, unpacked."""
    try:
        data = Path(path).read_bytes()
        return gzip.decompress(data) if path.endswith(".gz") else data
    except (OSError, EOFError) as error:
        raise BadData(f"{path} cannot be read: {error}.") from error
