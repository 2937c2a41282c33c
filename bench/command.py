"""The whole command: load, ask, score, report; its start; and how well it keeps a service busy."""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable, Sequence
from operator import attrgetter
from pathlib import Path
from random import Random
from statistics import median

from measure import HERE, PROGRAM, Cost, Line, ServerRun, report, run, serving, spread

QUESTION = (
    "A farmer has {0} baskets with 42 apples each. He gives away all baskets but one, and counts "
    "its apples twice, to be sure, before the sun sets on day {0} of the harvest. How many apples are left?"
)
CPU, WALL = attrgetter("cpu"), attrgetter("wall")
TICK_MS = 5.0
LENGTHS = (16, 32, 64, 128, 256, 512, 1024)
"""Tokens of answers where they differ: each length is half as frequent as the one before, as wrong answers of models
that think make them."""


def rows(count: int, lengths: Sequence[int] = ()) -> str:
    """GSM8K-shaped, and every answer is what the server says, in as many tokens as the question asks for."""
    wishes = [f" Please answer in {length} tokens." for length in lengths] or [""] * count
    lines = (
        {"question": QUESTION.format(i) + wish, "answer": "One basket is left: 42.\n#### 42"}
        for i, wish in enumerate(wishes, start=2)
    )
    return "".join(json.dumps(line) + "\n" for line in lines)


def evaluate(
    data: str, folder: Path, *, concurrency: int = 64, delay_ms: float = 0.0, more: Sequence[str] = ()
) -> tuple[Cost, ServerRun]:
    count = data.count("\n")
    (folder / "apples.jsonl").write_text(data)
    with serving(tokens=128, delay_ms=delay_ms) as served:
        options = ["--endpoint", served.url, "--datasets", "apples.jsonl", "--out", "outputs", *more]
        cost = run([*PROGRAM, "run", *options, "-n", "1", "--concurrency", str(concurrency)], folder, quiet=True)
    if served.stats["requests"] < count:
        raise SystemExit(f"{served.stats['requests']} requests for {count} problems")
    return cost, served


def client_alone(count: int) -> Cost:
    """A tuned aiohttp client that asks as many questions and does nothing else."""
    with serving(tokens=128) as served:
        return run([sys.executable, str(HERE / "ask_aiohttp_typed.py"), served.url, f"--requests={count}"])


def whole_command(count: int, rounds: int) -> list[Line]:
    costs, clients = [], []
    for size in (1, *[count] * rounds):
        with tempfile.TemporaryDirectory() as folder:
            costs.append(evaluate(rows(size), Path(folder))[0])
        clients.append(client_alone(size))
    del costs[0], clients[0]  # they compiled the modules
    cpu, wall, peers = ([pick(cost) for cost in of] for of, pick in ((costs, CPU), (costs, WALL), (clients, CPU)))
    what = f"whole command, {count:,} problems"
    return [
        Line(
            f"{what}: CPU",
            spread(cpu, " s"),
            f"{spread(peers, ' s')} (tuned aiohttp, asking alone)",
            spread([own / peer for own, peer in zip(cpu, peers, strict=True)], "×"),
            "≤ 1.5 s",
            median(cpu) <= 1.5,
        ),
        Line(f"{what}: wall", spread(wall, " s"), "", "", "", None),
        Line(f"{what}: peak memory", f"{max(cost.rss_mb for cost in costs):.0f} MB", "", "", "", None),
    ]


def against_the_service(count: int, rounds: int) -> list[Line]:
    """The command's wall beside what the service needs for its tokens at the pace that it kept in the same run."""
    streams, walls, needs, shares = 256, [], [], []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            cost, served = evaluate(rows(count), Path(folder), concurrency=streams, delay_ms=TICK_MS)
        ticks, busy = served.stats["ticks"], served.stats["busy_seconds"]
        need = -(-count // streams) * 128 * busy / ticks
        walls.append(cost.wall)
        needs.append(need)
        shares.append(served.stats["pace"])
    ratios = [wall / need for wall, need in zip(walls, needs, strict=True)]
    return [
        Line(
            f"whole command, {count:,} problems at {TICK_MS:g} ms a token, {streams} streams: wall",
            spread(walls, " s"),
            f"{spread(needs, ' s')} (the server; it kept {100 * min(shares):.1f}% of its pace)",
            spread(ratios, "×"),
            "≤ 1.6×",
            median(ratios) <= 1.6,
        )
    ]


def unequal_lengths(count: int, rounds: int) -> list[Line]:
    """Steps of the server until the last answer, beside the least in which so many streams can give all tokens: in any
    order first, then with that run as the baseline."""
    streams = 64
    weights = [2.0**-place for place in range(len(LENGTHS))]
    lengths = Random(17).choices(LENGTHS, weights, k=count)
    least = max(-(-sum(lengths) // streams), *lengths)
    found: dict[str, list[float]] = {"the order of the file": [], "longest first by an earlier run": []}
    tails: dict[str, list[float]] = {name: [] for name in found}
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as place:
            folder, more = Path(place), list[str]()
            for name, ratios in found.items():
                _, served = evaluate(rows(count, lengths), folder, concurrency=streams, delay_ms=TICK_MS, more=more)
                ratios.append(served.stats["ticks"] / least)
                latest = json.loads((folder / "outputs" / "latest" / "run.json").read_bytes())
                tails[name].append(latest["tail_seconds"] / latest["seconds"]["infer"])
                more = ["--baseline", str((folder / "outputs" / "latest").resolve())]
    return [
        Line(
            f"{count:,} answers of {min(LENGTHS)} to {max(LENGTHS):,} tokens, {streams} streams, {name}: steps",
            f"{median(ratios) * least:,.0f}",
            f"{least:,} (the least)",
            spread(ratios, "×"),
            "≤ 1.05×" if name != next(iter(found)) else "",
            median(ratios) <= 1.05 if name != next(iter(found)) else None,
        )
        for name, ratios in found.items()
    ] + [
        Line(f"its tail, {name}: share of the asking", f"{100 * median(shares):.0f} %", "", "", "", None)
        for name, shares in tails.items()
    ]


def start(rounds: int) -> list[Line]:
    """In turns with an interpreter that does nothing, whose time cannot be saved."""
    run([*PROGRAM, "--help"])  # compiles all modules once
    helps, passes = [], []
    for _ in range(rounds):
        passes.append(run([sys.executable, "-c", "pass"]))
        helps.append(run([*PROGRAM, "--help"]))
    return [compare(name, pick, helps, passes) for name, pick in (("wall", WALL), ("CPU", CPU))]


def compare(name: str, pick: Callable[[Cost], float], helps: list[Cost], passes: list[Cost]) -> Line:
    ours, bare = median(map(pick, helps)), median(map(pick, passes))
    return Line(
        f"`--help`: {name}",
        f"{ours:.3f} s",
        f"{bare:.3f} s (`python -c pass`)",
        f"{ours / bare:.1f}×",
        "< 0.3 s",
        ours < 0.3,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round instead of five")
    rounds = 1 if parser.parse_args().quick else 5
    lines = [
        *start(2 * rounds + 1),
        *whole_command(1000, rounds),
        *against_the_service(1000, rounds),
        *unequal_lengths(1200, 1 if rounds == 1 else 2),
    ]
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}\n")
    print(report(lines))


if __name__ == "__main__":
    main()
