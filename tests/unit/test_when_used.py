"""Parts that are built when they are first used."""

from model_accuracy_eval.wiring.when_used import when_used


class Part:
    built = 0

    def __init__(self) -> None:
        Part.built += 1
        self.asked: list[int] = []

    def __call__(self, number: int) -> int:
        return 2 * number

    def ask(self, number: int) -> list[int]:
        self.asked.append(number)
        return self.asked


def test_a_part_is_built_once_and_when_it_is_first_used() -> None:
    """Called, or asked for a method: both are of the same part."""
    part = when_used(Part)
    assert Part.built == 0
    assert part.ask(1) == [1]
    assert (part(4), part.ask(2), Part.built) == (8, [1, 2], 1)
