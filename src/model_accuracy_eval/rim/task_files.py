"""Task files on this machine."""

import os
from pathlib import Path
from typing import Literal

from model_accuracy_eval.errors import BadData


class TaskFiles:
    """Implements `tasks.lm_eval.reading.Files`."""

    def read(self, path: str) -> bytes:
        try:
            return Path(path).read_bytes()
        except FileNotFoundError:
            raise BadData(f"There is no task file '{os.path.normpath(path)}'.") from None
        except OSError as error:
            raise BadData(f"The task file '{path}' cannot be read: {error.strerror or error}.") from error

    def under(self, folder: str, kind: Literal["yaml", "json"] = "yaml") -> list[str]:
        if not Path(folder).is_dir():
            raise BadData(f"There is no folder of tasks '{folder}'.")
        names = (Path(base, name) for base, _, files in os.walk(folder) for name in files)
        ending = ".yml" if kind == "yaml" else ".json"
        return sorted(str(path) for path in names if path.suffix == ending or (kind == "yaml" and "yaml" in path.name))
