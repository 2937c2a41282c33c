"""Seeds: the same question gives the same answer, however busy the server is."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

from tests.example_adapter.client import Server

HOT = {"temperature": 1.5, "max_tokens": 12}


def test_choices_count_the_seed_up(server: Server) -> None:
    """Choice i of seed s is what a lone request with seed s + i says."""
    together = server.texts("48+77=", seed=-3, n=8, **HOT)
    assert together == [server.texts("48+77=", seed=seed, **HOT)[0] for seed in range(-3, 5)]
    assert len(set(together)) > 1


def test_without_a_seed_answers_differ(server: Server) -> None:
    """Without a seed every request rolls fresh dice."""
    asked = {"n": 16, "temperature": 3, "max_tokens": 12}
    assert server.texts("48+77=", **asked) != server.texts("48+77=", **asked)


def test_temperature_zero_is_greedy(server: Server) -> None:
    """At temperature 0 all choices are the likeliest text, whatever the seed."""
    assert len(set(server.texts("48+77=", temperature=0, n=5) + server.texts("48+77=", temperature=0, seed=9))) == 1


def test_company_does_not_change_an_answer(server: Server, held_out: list[tuple[int, int]]) -> None:
    """Seeded answers and their logprobs are the same, to the bit, alone and in a crowd."""

    def ask(number: int) -> list[object]:
        a, b = held_out[number]
        answer = server.chat(f"{a}+{b}=", seed=number, n=3, logprobs=True, stream=False, **HOT)
        return [(choice["message"], choice["logprobs"]) for choice in answer.json["choices"]]

    alone = [ask(number) for number in range(40)]
    with ThreadPoolExecutor(20) as pool:
        crowd = list(pool.map(ask, range(40)))
    assert crowd == alone
