"""What several files of commands need."""

import pytest

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.rim.sandbox.opening import open_sandbox


@pytest.fixture(scope="module")
def sandbox() -> str:
    """The kind that works here, the strongest first."""
    refusals = []
    for kind in ("docker", "bwrap"):
        try:
            open_sandbox(kind, {}, slots=1).end()  # type: ignore[attr-defined]
        except EvalError as refusal:
            refusals.append(refusal.sentence)
            continue
        return kind
    pytest.skip(f"no sandbox works here: {' '.join(refusals)}")
