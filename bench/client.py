"""The client against its references: CPU, pace, connections, memory. Prints a Markdown table of ratios."""

import argparse
import json
import os
import sys
from importlib.util import find_spec
from statistics import median
from typing import NamedTuple

from measure import HERE, Line, report, run, serving, spread

TOKENS, DELAY_MS, STREAMS = 128, 5.0, 256
TUNED = ("tuned aiohttp", "the same, typed")
TARGETS = dict.fromkeys(TUNED, 0.9) | {"stock httpx": 0.18}
SCRIPTS = {
    "ours": "ask_ours.py",
    "tuned aiohttp": "ask_aiohttp.py",
    "the same, typed": "ask_aiohttp_typed.py",
    "stock httpx": "ask_httpx.py",
}


class Size(NamedTuple):
    """How much work: the full bench, or the short one."""

    rounds: int
    short: int
    """Rounds of what takes a second, and is therefore noisy."""
    many: int
    few: int
    timed: int
    long: int


FULL = Size(rounds=3, short=9, many=10_000, few=1_000, timed=1_000, long=20_000)
QUICK = Size(rounds=1, short=1, many=1_500, few=300, timed=512, long=3_000)


class Trial(NamedTuple):
    """One client: started, asked, ended."""

    cpu: float
    connections: int
    pace: float | None
    served_cpu: float
    """What the server spent."""
    wall: float
    """From the first question to the last answer, start-up excluded."""
    peak_mb: float
    growth_mb: float
    """Of the peak, after the first 1,000 answers."""


def trial(contender: str, loop: str, requests: int, streams: int, delay_ms: float = 0.0) -> Trial:
    with serving(TOKENS, delay_ms) as served:
        script = [sys.executable, str(HERE / SCRIPTS[contender]), served.url, f"--loop={loop}"]
        cost = run([*script, f"--requests={requests}", f"--concurrency={streams}", f"--tokens={TOKENS}"])
    if served.stats["requests"] != requests:
        raise SystemExit(f"{contender} made {served.stats['requests']} requests for {requests} answers")
    figures = json.loads(cost.output)
    stats = {"connections": served.stats["connections"], "pace": served.stats["pace"]}
    return Trial(cpu=cost.cpu, served_cpu=served.stats["cpu_seconds"], **stats, **figures)


def cpu(loop: str, requests: int, streams: int, rivals: tuple[str, ...], rounds: int) -> list[Line]:
    """Our client and each rival take turns, so that a noisy minute affects all of them; ratios are within a turn."""
    spent: dict[str, list[float]] = {name: [] for name in ("ours", *rivals)}
    for _ in range(rounds):
        for name, seconds in spent.items():
            seconds.append(trial(name, loop, requests, streams).cpu)
    lines = []
    for name in rivals:
        ratios = [mine / theirs for mine, theirs in zip(spent["ours"], spent[name], strict=True)]
        lines.append(
            Line(
                f"CPU, {requests:,} answers, {streams} streams, {loop}",
                f"{median(spent['ours']):.2f} s",
                f"{median(spent[name]):.2f} s ({name})",
                spread(ratios, "×"),
                f"≤ {TARGETS[name]}×",
                median(ratios) <= TARGETS[name],
            )
        )
    return lines


def pace(loop: str, requests: int, rounds: int) -> list[Line]:
    """Token by token at 256 streams: the server's own time is the ideal, as measured by its ticks."""
    trials = [trial("ours", loop, requests, STREAMS, DELAY_MS) for _ in range(rounds)]
    connections = max(result.connections for result in trials)
    memory = max(result.peak_mb for result in trials)
    where = f"{STREAMS} streams, {loop}"
    return [
        wall(f"wall, {requests:,} answers at {DELAY_MS:g} ms a token, {where}", requests, trials),
        Line(f"connections, {where}", str(connections), str(STREAMS), "", f"= {STREAMS}", connections == STREAMS),
        Line(f"peak memory, {where}", f"{memory:.0f} MB", "", "", "≤ 60 MB", memory <= 60),
    ]


def wall(what: str, requests: int, trials: list[Trial]) -> Line:
    waves = -(-requests // STREAMS)
    ideal = [waves * TOKENS * DELAY_MS / 1000 / (result.pace or 1.0) for result in trials]
    ratios = [result.wall / best for result, best in zip(trials, ideal, strict=True)]
    slowest = min(result.pace or 0.0 for result in trials)
    return Line(
        what,
        f"{median(result.wall for result in trials):.2f} s",
        f"{median(ideal):.2f} s (the server; it kept {slowest:.1%} of its pace)",
        spread(ratios, "×"),
        "≤ 1.15×",
        median(ratios) <= 1.15,
    )


def long(loop: str, requests: int) -> list[Line]:
    """Many answers in one run: the growth of memory, and whether the server could have answered faster."""
    result = trial("ours", loop, requests, 64)
    client_rate, server_rate = requests / result.cpu, requests / result.served_cpu
    what = f"peak memory, growth from 1,000 to {requests:,} answers, {loop}"
    return [
        Line(what, f"{result.growth_mb:.1f} MB", "", "", "< 5 MB", result.growth_mb < 5),
        Line(
            f"answers per CPU second, {loop}",
            f"{client_rate:,.0f}",
            f"{server_rate:,.0f} (the server)",
            f"{client_rate / server_rate:.2f}×",
            "",
            None,
        ),
    ]


def bench(size: Size, loops: list[str]) -> list[Line]:
    lines: list[Line] = []
    for loop in loops:
        for name in SCRIPTS:  # compiles all modules once
            trial(name, loop, 1, 1)
        lines += cpu(loop, size.many, 64, TUNED, size.rounds)
        lines += cpu(loop, size.few, STREAMS, TUNED, size.short)
        lines += cpu(loop, size.few, STREAMS, ("stock httpx",), size.rounds)
        lines += pace(loop, size.timed, size.rounds)
        lines += long(loop, size.long)
    return lines


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--quick", action="store_true", help="some 30 seconds instead of six minutes: figures are rough"
    )
    options = parser.parse_args()
    loops = ["asyncio", "uvloop"] if find_spec("uvloop") else ["asyncio"]
    lines = bench(QUICK, loops[-1:]) if options.quick else bench(FULL, loops)
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}\n")
    print(report(lines))


if __name__ == "__main__":
    main()
