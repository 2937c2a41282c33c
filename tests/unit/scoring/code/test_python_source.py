"""Sources are read into trees by several threads at once, as the threads of a sandbox do."""

import ast
import gc
import sys
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from model_accuracy_eval.scoring.code.code_syntax import parse_source

SOURCE = "".join(f"def f{number}(x):\n    return [{{x: (x, [x])}} for x in range({number})]\n" for number in range(30))


class Cyclic:
    """Garbage whose end takes a while, so that another thread goes on in the midst of a parse."""

    def __init__(self) -> None:
        self.own = self

    def __del__(self) -> None:
        for _ in range(50):
            pass


@pytest.fixture
def hasty_threads() -> Iterator[None]:
    """Threads that give way as often as they can, and a collector that never rests."""
    interval, thresholds = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(50)
    yield
    gc.set_threshold(*thresholds)
    sys.setswitchinterval(interval)


def at_depth(frames: int, parse: Callable[[str], ast.Module]) -> str:
    """Called from threads that have come down as far, which is what Python mistakes for each other's depth."""
    return at_depth(frames - 1, parse) if frames else ast.dump(parse(SOURCE))


@pytest.mark.usefixtures("hasty_threads")
def test_threads_that_parse_at_once_get_their_trees() -> None:
    """With `ast.parse` itself, some of them get a SystemError from CPython 3.11."""

    def parse(turn: int) -> str:
        garbage = [Cyclic() for _ in range(5)]
        del garbage
        return at_depth(turn % 7 * 5, parse_source)

    with ThreadPoolExecutor(4) as threads:
        assert set(threads.map(parse, range(60))) == {ast.dump(ast.parse(SOURCE))}
