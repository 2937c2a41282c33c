"""For a bounded time, programs that nobody wrote: none passes what cannot be passed, stops its worker or harms the next.

MUTANT_SECONDS and MUTANT_SEED make it longer, or another one.
"""

import os
import time

import pytest
from tests.integration.sandbox.conftest import opened, runner
from tests.integration.sandbox.mutants import UNPASSABLE, mutants
from tests.integration.sandbox.test_sandbox_programs import NEXT, seen, seen_on_a_fresh_worker

from model_accuracy_eval.records.code import Limits, Program
from model_accuracy_eval.system.clock import run

SECONDS = float(os.environ.get("MUTANT_SECONDS", "25"))
SEED = int(os.environ.get("MUTANT_SEED", "1"))
LIMITS = Limits(wall_seconds=0.5, output_kb=1024)


@pytest.mark.parametrize("kind", ["docker", "bwrap"])
def test_no_mutant_passes_stops_its_worker_or_harms_the_next(kind: str) -> None:
    """Apart from its tests and beside them; what the machine was too busy for is not counted."""
    fresh = seen_on_a_fresh_worker(kind)
    box = opened(kind, workers=1)
    run_all = runner(box)
    end = time.monotonic() + SECONDS
    try:
        for number, code in enumerate(mutants(SEED)):
            mode = ("split", "shared")[number % 2]
            program = Program(code=code, tests=UNPASSABLE, entry_points=("f",), mode=mode, limits=LIMITS)  # type: ignore[arg-type]
            done = run_all([program])[0]
            assert done.verdict != "passed", (number, code, done)
            assert done.verdict != "harness_error" or "too busy" in done.detail, (number, code, done)
            assert seen(run_all([NEXT])[0]) == fresh, (number, code)
            if time.monotonic() > end:
                break
    finally:
        run(box.close())
    assert number > SECONDS / 10
