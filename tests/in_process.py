"""The Python of task files, loaded into the tests' own process; the program never does that."""

import importlib
import importlib.util
from pathlib import PurePath
from typing import Any

from model_accuracy_eval.errors import BadValue


def load_in_process(path: str) -> Any:
    """The function at `module:function` or `file.py:function`."""
    place, _, attribute = path.rpartition(":")
    try:
        module = _file(place) if place.endswith(".py") else importlib.import_module(place)
    except Exception as error:
        raise BadValue(f"'{path}' cannot be loaded: {type(error).__name__}: {error}.") from error
    if not hasattr(module, attribute):
        raise BadValue(f"'{path}' cannot be loaded: {place} has no '{attribute}'.")
    return getattr(module, attribute)


def _file(place: str) -> Any:
    spec = importlib.util.spec_from_file_location(PurePath(place).stem, place)
    if spec is None or spec.loader is None:
        raise BadValue(f"{place} is not a Python file.")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
