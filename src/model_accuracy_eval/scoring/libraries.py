"""Libraries that come with an extra: opened where they are used, and missed in one sentence."""

from importlib import import_module
from typing import Any

from model_accuracy_eval.errors import UsageError


def library(module: str, extra: str) -> Any:
    """A module that comes with one of our extras."""
    try:
        return import_module(module)
    except ImportError as error:
        name = module.partition(".")[0]
        raise UsageError(
            f"This needs {name}, which is not installed: pip install 'model-accuracy-eval[{extra}]'."
        ) from error
