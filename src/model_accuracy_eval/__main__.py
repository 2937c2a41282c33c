"""The program: `model-accuracy-eval`, and `python -m model_accuracy_eval`."""

import gc
import os
import signal
from types import FrameType

from model_accuracy_eval.commands import standard_streams

_NEW_OBJECTS = 200_000
"""After so many more objects than were there, Python looks for cycles that nobody uses; usually after 700."""


def program() -> None:
    """Runs the command line. Until it is loaded, a stop ends the process without a traceback of imports."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _leave)
    standard_streams.guard()
    # What is loaded and read stays until the end: to look through all of it for garbage, again and again, would cost a
    # short run a tenth of its time.
    gc.set_threshold(_NEW_OBJECTS)
    from model_accuracy_eval.cli import main  # noqa: PLC0415 - a stop may come while it is imported

    try:
        main(complete_var="_MODEL_ACCURACY_EVAL_COMPLETE")
    finally:
        # Nor is there anything to be found when all of it goes, where Python looks several times.
        gc.freeze()


def _leave(number: int, _frame: FrameType | None) -> None:
    os._exit(128 + number)


if __name__ == "__main__":
    program()
