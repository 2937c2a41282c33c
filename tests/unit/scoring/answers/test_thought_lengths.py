"""How much of a reply is thought, wherever the thought is."""

import pytest

from model_accuracy_eval.scoring.answers.cleaning import lengths

HARMONY = "<|channel|>analysis<|message|>{}<|end|><|start|>assistant<|channel|>final<|message|>42<|return|>"


@pytest.mark.parametrize(
    ("text", "reasoning", "found"),
    [
        ("The answer is 42.", "", (0, 17)),
        ("42", "so it is", (8, 2)),
        ("<think>so it is</think>\n\n42", "", (6, 2)),
        ("so it is</think>42", "", (6, 2)),
        ("<think>so it", "", (4, 0)),
        ("<think>\n\n</think>\n\n42", "", (0, 2)),
        ("[THINK]so[/THINK]42", "", (2, 2)),
        ("◁think▷so◁/think▷42", "", (2, 2)),
        ("<|channel|>final<|message|>42", "", (0, 2)),
        ("x < 3 and y[0] > 2", "", (0, 12)),
        (" \n", " ", (0, 0)),
    ],
)
def test_thought_and_answer_are_measured_apart(text: str, reasoning: str, found: tuple[int, int]) -> None:
    """An empty pair of marks is no thought, and a thought that was cut off is all there is."""
    assert lengths(text, reasoning) == found


def test_channels_of_thought_are_thought() -> None:
    """More of it is more thought, and no more answer."""
    short, long = (lengths(HARMONY.format("so " * times)) for times in (1, 100))
    assert long[0] - short[0] == 2 * 99
    assert short[1] == long[1] > 0
