"""Rows of a Parquet file, by the extra `parquet`."""

from typing import Any

from model_accuracy_eval.errors import BadData


def read(name: str, data: bytes) -> list[dict[str, Any]]:
    try:
        from pyarrow import ArrowException, BufferReader  # noqa: PLC0415 - an extra
        from pyarrow.parquet import read_table  # noqa: PLC0415
    except ImportError as error:
        raise BadData(f"{name}: Parquet needs an extra: pip install 'model-accuracy-eval[parquet]'.") from error
    try:
        rows: list[dict[str, Any]] = read_table(BufferReader(data)).to_pylist()
    except ArrowException as error:
        raise BadData(f"{name} is no Parquet file that could be read: {' '.join(str(error).split())}.") from error
    if not rows:
        raise BadData(f"{name}: there is not a single row in it.")
    return rows
