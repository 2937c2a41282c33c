"""Task files on this machine."""

import os
from pathlib import Path

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

    def under(self, folder: str) -> list[str]:
        if not Path(folder).is_dir():
            raise BadData(f"There is no folder of tasks '{folder}'.")
        names = (Path(base, name) for base, _, files in os.walk(folder) for name in files)
        return sorted(str(path) for path in names if "yaml" in path.name or path.suffix == ".yml")
