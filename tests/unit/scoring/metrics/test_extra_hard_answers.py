"""BIG-Bench Extra Hard's comparison: the examples of its own script, and the differences that do not count."""

import pytest

from model_accuracy_eval.scoring.metrics.exams import bbeh_match


@pytest.mark.parametrize(
    ("reply", "right", "verdict"),
    [
        (r"Fine. The final answer is: \boxed{4}.", "4", True), (r"The final answer is: \boxed{4}.", "3", False),
        ("The final answer is: 2, 3, 4", "2,3,4", True), ("The final answer is: 2, 3, 4", "2,3,5", False),
        ("The answer is: (A)", "a", True), ("The answer is: (A)", "(A)", True), ("The answer is: A", "(A)", True),
        ("The answer is: (A)", "b", False), ("The answer is: **25**\nHere is why.", "25.0", True),
        ("The answer is: **25**\nHere is why.", "26.0", False), ("The answer is no", "No", True),
        ("The answer is: [emma, lily]", "emma, lily", True), ("emma, lily", "[emma, lily]", True),
        ("The answer is: who?", "who", True), ("The answer is: who", "who?", False), ("The answer is: dont", "don't", True),
        ("The answer is 3. No: The answer is 4.", "4", True), ("I would say 4", "4", False),
        (r"The answer is: $\text{unknown}$", "unknown", True), ("The answer is: nan", "nan", True), ("", "a", False),
    ],
)  # fmt: skip
def test_what_follows_the_answer_is(reply: str, right: str, verdict: bool) -> None:
    """By the last of the four ways to announce it, in the order in which the script looks for them."""
    assert bool(bbeh_match(reply, (right,))) is verdict
