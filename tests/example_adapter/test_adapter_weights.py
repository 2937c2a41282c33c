"""The weights: what the files say, and what the model can do."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.example_adapter.client import ADAPTER, Server

WEIGHTS = ADAPTER / "weights"


def test_the_model_can_add_what_it_never_saw(server: Server, held_out: list[tuple[int, int]]) -> None:
    """At temperature 0 more than four in five of the held-out sums are right, yet not all."""

    def right(pair: tuple[int, int]) -> bool:
        return server.texts(f"{pair[0]}+{pair[1]}=", temperature=0, max_tokens=8) == [str(sum(pair))]

    with ThreadPoolExecutor(8) as pool:
        share = sum(pool.map(right, held_out[:200])) / 200
    assert 0.8 < share < 1


def test_more_tries_help(server: Server, held_out: list[tuple[int, int]]) -> None:
    """At temperature 1 five tries find clearly more right answers than one does."""

    def right(numbered: tuple[int, tuple[int, int]]) -> list[bool]:
        number, (a, b) = numbered
        texts = server.texts(f"{a}+{b}=", n=5, seed=1000 * number, max_tokens=8)
        return [text == str(a + b) for text in texts]

    with ThreadPoolExecutor(8) as pool:
        tries = list(pool.map(right, enumerate(held_out[:200])))
    average = sum(map(sum, tries)) / 1000
    assert 0.7 < average < 0.85
    assert sum(map(any, tries)) / 200 > average + 0.1
