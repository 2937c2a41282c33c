"""Golden files: what a report looked like when somebody last looked at it. `UPDATE_GOLDEN=1` writes them anew."""

import os
from pathlib import Path

FOLDER = Path(__file__).parent / "golden"


def check(name: str, found: str | bytes) -> None:
    """Compares with `golden/<name>` byte by byte."""
    path = FOLDER / name
    data = found.encode() if isinstance(found, str) else found
    if os.environ.get("UPDATE_GOLDEN"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    assert path.is_file(), f"There is no {path}; `make golden` writes it."
    assert data.decode() == path.read_bytes().decode(), f"{path} is different; `make golden` writes it anew."
