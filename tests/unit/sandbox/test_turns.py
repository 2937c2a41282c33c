"""Alone means that nothing else runs, and nobody waits for ever."""

import random
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from model_accuracy_eval.sandbox.pool import Turns


@pytest.mark.parametrize("seed", range(5))
def test_who_is_alone_sees_nobody_and_all_have_their_turn(seed: int) -> None:
    """Whatever comes in whatever order, on eight threads."""
    turns, lock, chance = Turns(), threading.Lock(), random.Random(seed)
    running: list[bool] = []
    seen: list[tuple[bool, int]] = []

    def work(is_alone: bool) -> None:
        with turns.alone() if is_alone else turns.beside_others():
            with lock:
                running.append(is_alone)
                seen.append((is_alone, len(running)))
            with lock:
                clash = len(running) > 1 and any(running)
                running.remove(is_alone)
            assert not clash

    orders = [chance.random() < 0.2 for _ in range(400)]
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(work, orders))
    assert len(seen) == len(orders)
    assert {count for is_alone, count in seen if is_alone} == {1}


def test_an_error_gives_the_turn_back() -> None:
    """Others go on after a program whose judging has failed."""
    turns = Turns()
    for turn in (turns.alone, turns.beside_others, turns.alone):
        with pytest.raises(ValueError, match="broken"), turn():
            raise ValueError("broken")
