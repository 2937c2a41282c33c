"""What the tests of the real benchmarks use is never taken from the program, but for what they ask it for."""

from collections import Counter

import pytest
from tests.integration.sandbox.benchmarks import mbpp, rows
from tests.integration.sandbox.conftest import RunAll

from model_accuracy_eval.records.code import Program
from model_accuracy_eval.sandbox.program_judging import split_integrity
from model_accuracy_eval.scoring.code.benchmark_suites import humaneval

FORGED_NAMES = """
class Lie:
    isclose = fabs = staticmethod(lambda *_: 0)
    getsizeof = staticmethod(lambda *_: 4)
math = sys = Lie
poly = encode_cyclic = encode_shift = lambda it, *_: 0 if _ else it
find_zero = tuple_size = lambda *_: 4
decode_cyclic = decode_shift = lambda it: it
"""


def human_eval(code: str | None = None) -> list[Program]:
    """As runs judge it: with what the prompt gives."""
    return [
        humaneval(code or row["prompt"] + row["canonical_solution"], row)
        for row in rows("humaneval/HumanEval.jsonl.gz")
    ]


def test_names_of_helpers_and_modules_forge_nothing(run_any: RunAll) -> None:
    """Each of these programs passed where its names were taken before those of the task and of Python."""
    forged = [human_eval(FORGED_NAMES)[number] for number in (32, 38, 50)]
    sizes = mbpp()["MBPP/596"]
    forged.append(Program(code=FORGED_NAMES, tests=sizes.tests, entry_points=sizes.entry_points))
    assert [done.passed for done in run_any(forged)] == [False] * 4
    right = [*(human_eval()[number] for number in (32, 38, 50)), sizes]
    assert [(done.passed, done.integrity) for done in run_any(right)] == [(True, "split")] * 4


@pytest.mark.parametrize(
    ("programs", "counts"),
    [(human_eval, {"split": 164}), (lambda: mbpp().values(), {"split": 971, "split+names": 3})],
    ids=["HumanEval", "MBPP"],
)
def test_integrity_is_told_for_each_task(programs: object, counts: dict[str, int]) -> None:
    """Three tasks of MBPP build arguments of the program's own classes; nobody else supplies their names."""
    assert Counter(map(split_integrity, programs())) == counts  # type: ignore[operator]
