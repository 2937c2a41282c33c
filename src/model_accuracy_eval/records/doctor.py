"""What was looked at, and what was found."""

from typing import Literal

from model_accuracy_eval.records import Record


class Finding(Record, frozen=True, kw_only=True):
    """One thing that works, does not, or could not be found out; the sentence says what it means or what to type."""

    name: str
    state: Literal["PASS", "FAIL", "SKIP"]
    sentence: str
