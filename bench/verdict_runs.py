"""How often the whole command's verdicts are right: a server of known accuracy, asked again and again.

    python bench/verdict_runs.py [RUNS]

For each distance of the true figure from the line, RUNS (100) times: `run` with a gate on a number; and for every
second one `compare` with the run before it, with a gate on the change. A problem's chance of a right answer is its own
and stays the same, so the true figure is known: it is the mean chance. Every sample is drawn anew. Prints a Markdown
table.
"""

import json
import os
import random
import re
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent.parent))

from tests.servers.fault_server import FaultServer

from measure import PROGRAM

PROBLEMS, SAMPLES = 200, 5
SHAPE = (0.7, 0.3)
"""The beta distribution of the chances: easy and hard problems, samples of one correlated by .5, mean .7."""
DISTANCES = (-2, 0, 2)
VERDICTS = {0: "passed", 1: "failed", 7: "undecided"}


class KnownService:
    """Answers each problem rightly with that problem's chance."""

    def __init__(self) -> None:
        self._random = random.Random(20261122)
        self._chances = [self._random.betavariate(*SHAPE) for _ in range(PROBLEMS)]

    @property
    def truth(self) -> float:
        return 100 * sum(self._chances) / PROBLEMS

    def answer(self, request: dict[str, Any]) -> list[str]:
        problem = int(re.findall(r"\d+", request["messages"][-1]["content"])[0])
        chance = self._chances[problem % PROBLEMS]
        return [f"#### {problem if self._random.random() < chance else 'none'}" for _ in range(request.get("n", 1))]


def verdict(*arguments: object) -> str:
    """What the command decided, by its exit code; anything but a verdict ends this program."""
    done = subprocess.run([*PROGRAM, *map(str, arguments)], capture_output=True, text=True, check=False)
    if done.returncode not in VERDICTS:
        raise SystemExit(f"{done.args} ended with {done.returncode}:\n{done.stderr}")
    return VERDICTS[done.returncode]


def main() -> None:
    runs = int(sys.argv[1]) if len(sys.argv) > 1 else 100
    service = KnownService()
    with tempfile.TemporaryDirectory() as folder, FaultServer(service.answer) as server:
        data = Path(folder) / "known.jsonl"
        rows = ({"question": f"What is the number of problem {at}?", "answer": at} for at in range(PROBLEMS))
        data.write_text("".join(json.dumps(row) + "\n" for row in rows))
        print(
            f"{PROBLEMS} problems × {SAMPLES} samples, {runs} runs each; the true avg@{SAMPLES} is {service.truth:.2f}."
        )
        print("\n| true figure, from the line | a line in per cent | a line on the baseline |\n|---|---|---|")
        for distance in DISTANCES:
            numbers, changes, before = Counter[str](), Counter[str](), None
            for number in range(runs):
                out = Path(folder) / f"{distance}" / f"{number}"
                asked = ["--endpoint", server.url, "--datasets", data, "-n", SAMPLES, "--seed", number, "--out", out]
                gate = f"known: avg@{SAMPLES} >= {service.truth - distance:.4f}"
                numbers[verdict("run", *asked, "--gate", gate)] += 1
                (run,) = (path for path in out.iterdir() if not path.is_symlink())
                if before is not None:  # pairs have no run in common
                    sign = "+" if distance < 0 else "-"
                    gate = f"known: avg@{SAMPLES} >= baseline {sign} {abs(distance)}"
                    changes[verdict("compare", before, run, "--gate", gate)] += 1
                before = run if before is None else None
            print(f"| {distance:+} | {_shown(numbers)} | {_shown(changes)} |", flush=True)


def _shown(counts: "Counter[str]") -> str:
    return ", ".join(f"{counts[verdict]} {verdict}" for verdict in VERDICTS.values())


if __name__ == "__main__":
    os.environ["NO_PROXY"] = "*"
    main()
