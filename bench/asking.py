"""What the measured clients share: the work, the check of every answer, and the report on stdout."""

import argparse
import asyncio
import importlib
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import NamedTuple

QUESTION = (
    "Janet's ducks lay 16 eggs per day. She eats three for breakfast every morning and bakes muffins for her "
    "friends every day with four. She sells the remainder at the farmers' market daily for $2 per fresh duck "
    "egg. How much in dollars does she make every day at the farmers' market? This is problem number "
)


class Answer(NamedTuple):
    text: str
    finish: str | None
    used: int | None
    """Completion tokens, as the server counts them."""
    ttft: float | None
    """Seconds to the first text: every contender takes it."""


Ask = Callable[[str], Awaitable[Answer]]
Contender = Callable[[str, int], AbstractAsyncContextManager[Ask]]
"""URL, concurrency → how to ask one question."""


def peak_mb() -> float:
    """High-water mark of this very program; getrusage would start from that of its parent."""
    status = Path("/proc/self/status").read_text()
    return int(status.partition("VmHWM:")[2].split(maxsplit=1)[0]) / 1024


async def work(ask: Ask, numbers: Iterator[int], tokens: int, peaks: dict[int, float]) -> None:
    for number in numbers:
        answer = await ask(QUESTION + str(number))
        # A client that loses a part of an answer is no contender.
        if (answer.text[-7:], answer.finish, answer.used) != ("#### 42", "stop", tokens) or not answer.ttft:
            raise SystemExit(f"wrong answer: {answer}")
        if number == 1000:
            peaks[number] = peak_mb()


async def contest(contender: Contender, options: argparse.Namespace) -> None:
    numbers, peaks = iter(range(1, options.requests + 1)), dict[int, float]()
    async with contender(options.url, options.concurrency) as ask:
        began = time.perf_counter()
        workers = (work(ask, numbers, options.tokens, peaks) for _ in range(options.concurrency))
        await asyncio.gather(*workers)
        wall = time.perf_counter() - began
    peak = peak_mb()
    print(json.dumps({"wall": wall, "peak_mb": peak, "growth_mb": peak - peaks.get(1000, peak)}))


def main(contender: Contender) -> None:
    parser = argparse.ArgumentParser(description="One client asks one server; called by client.py.")
    parser.add_argument("url")
    parser.add_argument("--requests", type=int, default=1000)
    parser.add_argument("--concurrency", type=int, default=64)
    parser.add_argument("--tokens", type=int, default=128)
    parser.add_argument("--loop", choices=("asyncio", "uvloop"), default="asyncio")
    options = parser.parse_args()
    importlib.import_module(options.loop).run(contest(contender, options))
