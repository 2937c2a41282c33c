"""The program: `model-accuracy-eval`, and `python -m model_accuracy_eval`."""

import gc
import os
import signal
from types import FrameType

from model_accuracy_eval.system import standard_streams


def program() -> None:
    """Runs the command line. Until it is loaded, a stop ends the process without a traceback of imports."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    standard_streams.guard()
    gc.set_threshold(_NEW_OBJECTS)
    from model_accuracy_eval.cli import main  # noqa: PLC0415 - a stop may come while it is imported

    main(complete_var="_MODEL_ACCURACY_EVAL_COMPLETE")


_NEW_OBJECTS = 50_000
"""Between two looks for cycles. What is imported and what is recorded stays to the end: looking through it after every
700 objects, as Python does, took a tenth of a run's time."""


def _leave(number: int, _frame: FrameType | None) -> None:
    os._exit(128 + number)


if __name__ == "__main__":
    program()
