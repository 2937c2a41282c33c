"""The rows of a Parquet or Arrow file, read by a process of their own: see `decoder`."""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import TableFile
from model_accuracy_eval.system.table_decoder import LENGTH_BYTES, from_ext

ENDINGS = (".parquet", ".arrow")

_PACKAGE = str(Path(__file__).parents[2])
_CODE = """
import sys
sys.path.insert(0, sys.argv[1])
from model_accuracy_eval.system import table_decoder
table_decoder.main()
"""
_LONGEST_REASON = 300
_PANIC = "called `Result::unwrap()` on an `Err` value: "
"""What the library says before the reason when it gives up a file."""
_DECODER = msgspec.msgpack.Decoder(list[dict[str, Any]] | str, ext_hook=from_ext)


def rows(name: str, content: bytes | TableFile) -> Iterator[dict[str, Any]]:
    """Row by row, so that pictures are never all here; a file that cannot be read is one sentence with its name."""
    if isinstance(content, TableFile):
        yield from _decoded(name, content.path)
        return
    with tempfile.NamedTemporaryFile(prefix="table-") as file:
        file.write(content)
        file.flush()
        yield from _decoded(name, file.name)


def _decoded(name: str, path: str) -> Iterator[dict[str, Any]]:
    """A sound file's frames end with an empty text; if the process dies, they end without one."""
    command = [sys.executable, "-I", "-B", "-c", _CODE, _PACKAGE, path]
    with (
        tempfile.TemporaryFile() as noise,
        subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=noise) as process,  # noqa: S603
    ):
        assert process.stdout is not None
        reason: str | None = None
        try:
            while reason is None and (length := process.stdout.read(LENGTH_BYTES)):
                body = process.stdout.read(int.from_bytes(length, "big"))
                if len(body) < int.from_bytes(length, "big"):
                    break
                frame = _DECODER.decode(body)
                if isinstance(frame, str):
                    reason = frame
                else:
                    yield from frame
        finally:
            process.kill()
        if reason is None:
            noise.seek(0)
            said = noise.read().decode("utf-8", "replace").partition("stack backtrace:")[0]
            reason = " ".join(said.split()) or f"its reader ended with {process.wait()}"
        if reason:
            reason = reason.rpartition(_PANIC)[2].rstrip(".")[:_LONGEST_REASON]
            raise BadData(f"{name} is no Parquet or Arrow file that could be read: {reason}.")
