"""The sentences below the table of speeds."""

import msgspec
import pytest
from tests.unit.report.fixed_report import report

from model_accuracy_eval.records import Counts, DatasetResult, Speed
from model_accuracy_eval.report import figures, remarks


def test_a_sum_of_tokens_says_which_requests_it_lacks() -> None:
    """A total of some requests is not read as that of all."""
    result = DatasetResult(
        dataset="gsm8k",
        version="a1b2c3",
        rows=(),
        problem_results=(),
        counts=Counts(),
        speed=Speed(prompt_tokens=1200, completion_tokens=34567, uncounted=1000),
    )
    assert figures.tokens(result) == (
        "1,200 prompt tokens, 34,567 completion tokens without those of 1,000 requests, of which the service counted "
        "none, or one choice of several"
    )


@pytest.mark.parametrize(
    ("seconds", "tail", "said"),
    [
        (
            {"infer": 50.0},
            2.5,
            [
                "Tail: for 2.5 s of 50.0 s of asking (5 %), fewer than 32 requests were under way, because none was left."
            ],
        ),
        (
            {"infer": 1.0},
            1.001,
            [
                "Tail: for 1.0 s of 1.0 s of asking (100 %), fewer than 32 requests were under way, because none was left."
            ],
        ),
        ({"infer": 50.0}, None, []),
        ({}, 1.0, []),
        ({"infer": 0.1}, 0.0, []),
    ],
    ids=["short", "all", "unknown", "nothing-asked", "all-was-there"],
)
def test_the_tail_is_told_as_a_share_of_the_asking(
    seconds: dict[str, float], tail: float | None, said: list[str]
) -> None:
    """What an earlier version left, or a run that asked nothing, says nothing."""
    changed = msgspec.structs.replace(report(()), seconds=seconds, tail_seconds=tail)
    assert list(remarks.tail(changed)) == said
