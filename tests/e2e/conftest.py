"""What several files of commands need."""

import pytest
from tests.sandboxed import lacks

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.sandbox.backends import IMAGE, open_sandbox


def obstacle(kind: str) -> str | None:
    """Why a sandbox of this kind does not work here."""
    if kind == "docker" and (reason := lacks(IMAGE)):  # nothing is pulled for tests
        return reason
    try:
        open_sandbox(kind, {}, workers=1).end()  # type: ignore[attr-defined]
    except EvalError as refusal:
        return refusal.sentence
    return None


@pytest.fixture(scope="module")
def sandbox() -> str:
    """The kind that works here, the run_any first."""
    refusals = {}
    for kind in ("docker", "bwrap"):
        if (refusal := obstacle(kind)) is None:
            return kind
        refusals[kind] = refusal
    pytest.skip(f"no sandbox works here: {' '.join(refusals.values())}")
