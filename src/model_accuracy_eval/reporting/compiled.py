"""Compiled templates kept beside the templates, as Python keeps its own byte code: compiling them costs more than
filling them. Where the folder cannot be written they are compiled every time.
"""

import contextlib
import io
from pathlib import Path

from jinja2.bccache import Bucket, BytecodeCache

_FOLDER = Path(__file__).parent / "templates" / "__pycache__"


class KeptBytecode(BytecodeCache):
    """Jinja looks at version and source of what is kept before it uses it."""

    def load_bytecode(self, bucket: Bucket) -> None:
        with contextlib.suppress(OSError), self._file(bucket).open("rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        buffer = io.BytesIO()
        bucket.write_bytecode(buffer)
        with contextlib.suppress(OSError):
            _FOLDER.mkdir(exist_ok=True)
            # Beside it first: another run may be reading. Two writers write the same.
            beside = self._file(bucket).with_suffix(".new")
            beside.write_bytes(buffer.getvalue())
            beside.replace(self._file(bucket))

    @staticmethod
    def _file(bucket: Bucket) -> Path:
        return _FOLDER / f"{bucket.key}.jinja"
