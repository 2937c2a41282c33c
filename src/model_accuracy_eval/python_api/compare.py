"""Compares two runs."""

import os

from model_accuracy_eval.records import Comparison
from model_accuracy_eval.run.previous_run import compare as compare_runs
from model_accuracy_eval.run_folder import kept_run
from model_accuracy_eval.run_folder.run_archive import open_archive


def compare(base: str | os.PathLike[str], new: str | os.PathLike[str], *, unverified: bool = False) -> Comparison:
    """Compares two runs, each a folder or a zip of one: differences with intervals, and which problems flipped.

    `unverified`: goes on with a run whose files are not as it left them, and says so in the notes.
    """
    kept = (kept_run.opened(open_archive(os.fspath(place)), unverified=unverified) for place in (base, new))
    return compare_runs(*kept)
