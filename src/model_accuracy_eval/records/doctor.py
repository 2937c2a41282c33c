"""What was looked at, and what was found."""

from typing import Literal

from model_accuracy_eval.records import Record


class Finding(Record, frozen=True, kw_only=True):
    """One thing that was looked at; the sentence says what it means or what to do.

    PASS: it works. WARN: runs work, at a cost. FAIL: it stands in their way. SKIP: it could not be found out, or is
    needed by some runs only.
    """

    name: str
    state: Literal["PASS", "WARN", "FAIL", "SKIP"]
    sentence: str
