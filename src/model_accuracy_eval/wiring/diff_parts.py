"""The file that `rescore --diff` writes."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.rescoring.disagreements import text_format
from model_accuracy_eval.rescoring.rescore import OnDisagreement


def check_diff(path: str, sources: Iterable[str]) -> None:
    """Refuses to write over what is read."""
    for source in sources:
        if Path(path).resolve() == Path(source).resolve():
            raise BadValue(f"--diff would write over {source}, which is read: name another file.")


@contextmanager
def diff_file(path: str) -> Iterator[OnDisagreement]:
    """Takes disagreements one by one; the file appears when all are there."""
    head, line = text_format(Path(path).suffix)
    partial = Path(f"{path}.{os.getpid()}.part")
    try:
        with partial.open("w", encoding="utf-8", errors="backslashreplace", newline="") as stream:
            stream.write(head)
            yield lambda disagreement: stream.write(line(disagreement))
        os.replace(partial, path)  # noqa: PTH105 - `path` stays as the user wrote it
    except OSError as error:
        raise BadValue(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        partial.unlink(missing_ok=True)
