"""A run in 10,000 shards on 1,000 nodes that fail, simulated: wall time against the ideal, work lost, time to merge.

No shard is run. Their lengths vary by a log-normal factor, nodes fail at random and come back repaired, and a shard
whose node failed goes to the next free one. What is left of it decides: `nothing` where its folder went with the node,
`artifact` where it uploads its folder at times, `stream` where each answer has left the node when it is there.
"""

import argparse
import heapq
import itertools
import random
import statistics
import time
from collections import deque
from dataclasses import dataclass
from typing import NamedTuple

HOUR = 3600.0
MERGE_CPU = 100e-6
"""Seconds a sample, measured by `large_runs.py`: copied, judged and written into the report."""
KEPT = {"nothing": None, "artifact": 900.0, "stream": 5.0}
"""Seconds between two moments at which what was answered leaves the node; None: it never does before the end."""


@dataclass(frozen=True)
class Cluster:
    """What is simulated; times in seconds."""

    shards: int = 10_000
    nodes: int = 1_000
    shard: float = 0.5 * HOUR
    """The mean work of a shard."""
    spread: float = 0.3
    """Sigma of the logarithm of a shard's work."""
    guess: float = 0.1
    """The same for the error of what an earlier run expects of it."""
    start: float = 300.0
    """From a free node to the first answer: weights from its disk, the service loaded."""
    fails_after: float = 100 * HOUR
    """The mean time of a node between failures."""
    repaired_after: float = 0.5 * HOUR
    kept_each: float | None = 5.0
    longest_first: bool = True
    stays_loaded: bool = False
    """Whether a node's service stays from one shard to the next, as under Ray; a job of a matrix starts its own."""


class Outcome(NamedTuple):
    """Of one simulated run."""

    wall: float
    ideal: float
    lost: float
    """Seconds of work that were done again."""
    starts: float
    failures: int
    tail: float
    """From the moment at which the first node found no shard left to the end."""


class _Attempt(NamedTuple):
    """One try of a shard on a node, ordered by its end."""

    end: float
    number: int
    shard: int
    failed: bool


class _Run:
    """The state of one simulated run: nodes that are free, shards that wait, and attempts under way."""

    def __init__(self, cluster: Cluster, seed: int) -> None:
        self.cluster = cluster
        self.chance = random.Random(seed)
        mean = -(cluster.spread**2) / 2
        self.left = [cluster.shard * self.chance.lognormvariate(mean, cluster.spread) for _ in range(cluster.shards)]
        self.ideal = sum(self.left) / cluster.nodes
        expected = [work * self.chance.lognormvariate(0, cluster.guess) for work in self.left]
        shards = range(cluster.shards)
        self.waiting = deque(sorted(shards, key=lambda shard: -expected[shard]) if cluster.longest_first else shards)
        self.numbers = itertools.count()
        self.free = [(0.0, next(self.numbers), False) for _ in range(cluster.nodes)]
        """When each is free, a number, and whether its service is loaded already."""
        self.running: list[_Attempt] = []
        self.now = self.lost = self.starts = 0.0
        self.failures = 0
        self.first_idle: float | None = None

    def simulate(self) -> Outcome:
        """Events are the ends of attempts, good or bad; between them nothing changes."""
        while self.waiting or self.running:
            if self.waiting and self.free and (not self.running or self.free[0][0] <= self.running[0].end):
                self._begin()
            else:
                self._end(heapq.heappop(self.running))
        tail = self.now - (self.now if self.first_idle is None else self.first_idle)
        return Outcome(self.now, self.ideal, self.lost, self.starts, self.failures, tail)

    def _begin(self) -> None:
        since, _, is_loaded = heapq.heappop(self.free)
        begin = max(since, self.now)  # the node may have been idle before the shard came back
        start = 0.0 if is_loaded and self.cluster.stays_loaded else self.cluster.start
        shard = self.waiting.popleft()
        until_failure = self.chance.expovariate(1 / self.cluster.fails_after)
        needed = start + self.left[shard]
        failed = until_failure < needed
        self.starts += min(start, until_failure)
        if failed:
            worked = max(0.0, until_failure - start)
            each = self.cluster.kept_each
            kept = 0.0 if each is None else worked - worked % each
            self.left[shard] -= kept
            self.lost += worked - kept
        attempt = _Attempt(begin + min(until_failure, needed), next(self.numbers), shard, failed)
        heapq.heappush(self.running, attempt)

    def _end(self, attempt: _Attempt) -> None:
        self.now = attempt.end
        repair = self.cluster.repaired_after if attempt.failed else 0.0
        heapq.heappush(self.free, (attempt.end + repair, next(self.numbers), not attempt.failed))
        if attempt.failed:
            self.failures += 1
            self.waiting.append(attempt.shard)
        elif not self.waiting and self.first_idle is None:
            self.first_idle = attempt.end


def line(name: str, cluster: Cluster, seeds: int) -> str:
    found = [_Run(cluster, seed).simulate() for seed in range(seeds)]
    walls = [one.wall / one.ideal for one in found]
    work = [one.ideal * cluster.nodes for one in found]
    lost = statistics.mean(one.lost / total for one, total in zip(found, work, strict=True))
    starts = statistics.mean(one.starts / total for one, total in zip(found, work, strict=True))
    failures, tail = (
        statistics.mean(values) for values in zip(*((one.failures, one.tail) for one in found), strict=True)
    )
    return (
        f"{name:<44} {statistics.mean(walls):5.2f}  ({min(walls):.2f} to {max(walls):.2f})  {lost:7.2%}  {starts:7.1%}"
        f"  {failures:7.0f}  {tail / 60:6.0f}"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--samples", type=int, default=10_000_000, help="of the whole run, for the time to merge")
    asked = parser.parse_args()
    began = time.perf_counter()
    print(f"{'':<44}  wall / ideal           lost  starting  failures  tail, min")
    for kept, seconds in KEPT.items():
        for hours in (10.0, 100.0, 1000.0):
            cluster = Cluster(kept_each=seconds, fails_after=hours * HOUR)
            print(line(f"kept: {kept}; a node fails each {hours:,.0f} h", cluster, asked.seeds))
    for hours in (10.0, 100.0):
        cluster = Cluster(fails_after=hours * HOUR, stays_loaded=True)
        print(line(f"stream; {hours:,.0f} h, the service stays loaded", cluster, asked.seeds))
    print(line("stream, 100 h, in the order of their numbers", Cluster(longest_first=False), asked.seeds))
    print(line("stream, 100 h, 100,000 shards of 3 minutes", Cluster(shards=100_000, shard=180.0), asked.seeds))
    few = Cluster(shards=100_000, shard=180.0, stays_loaded=True)
    print(line("the same, the service stays loaded", few, asked.seeds))
    print(line("stream, 100 h, 1,000 shards of 5 hours", Cluster(shards=1_000, shard=5 * HOUR), asked.seeds))
    print(line("stream, never, no start", Cluster(fails_after=1e12, start=0.0), asked.seeds))
    print(f"\nmerging {asked.samples:,} samples: {asked.samples * MERGE_CPU / 60:.0f} min of one core")
    print(f"{asked.seeds} seeds each, simulated in {time.perf_counter() - began:.0f} s")


if __name__ == "__main__":
    main()
