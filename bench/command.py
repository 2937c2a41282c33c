"""The whole command for 1,000 problems: load, ask, score, report. And how long `--help` takes."""

import argparse
import json
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median

from measure import Cost, Line, report, run, serving, spread

PROGRAM = [sys.executable, "-m", "model_accuracy_eval"]
QUESTION = (
    "A farmer has {0} baskets with 42 apples each. He gives away all baskets but one, and counts "
    "its apples twice, to be sure, before the sun sets on day {0} of the harvest. How many apples are left?"
)


def rows(count: int) -> str:
    """GSM8K-shaped, and every answer is what the server says."""
    lines = (
        {"question": QUESTION.format(i), "answer": "One basket is left: 42.\n#### 42"} for i in range(2, count + 2)
    )
    return "".join(json.dumps(line) + "\n" for line in lines)


def evaluate(count: int, folder: Path) -> Cost:
    data = folder / "apples.jsonl"
    data.write_text(rows(count))
    with serving(tokens=128) as served:
        options = ["--endpoint", served.url, "--datasets", str(data), "--out", str(folder / "outputs")]
        cost = run([*PROGRAM, "run", *options, "-n", "1", "--concurrency", "64"], folder, quiet=True)
    if served.stats["requests"] < count:
        raise SystemExit(f"{served.stats['requests']} requests for {count} problems")
    return cost


def whole_command(count: int, rounds: int) -> list[Line]:
    costs = []
    for size in (1, *[count] * rounds):
        with tempfile.TemporaryDirectory() as folder:
            costs.append(evaluate(size, Path(folder)))
    del costs[0]  # it compiled the modules
    cpu, wall = [cost.cpu for cost in costs], [cost.wall for cost in costs]
    what = f"whole command, {count:,} problems"
    return [
        Line(f"{what}: CPU", spread(cpu, " s"), "", "", "≤ 1 s", median(cpu) <= 1),
        Line(f"{what}: wall", spread(wall, " s"), "", "", "", None),
        Line(f"{what}: peak memory", f"{max(cost.rss_mb for cost in costs):.0f} MB", "", "", "", None),
    ]


def start(rounds: int) -> list[Line]:
    """In turns with an interpreter that does nothing, whose time cannot be saved."""
    run([*PROGRAM, "--help"])  # compiles all modules once
    helps, passes = [], []
    for _ in range(rounds):
        passes.append(run([sys.executable, "-c", "pass"]))
        helps.append(run([*PROGRAM, "--help"]))
    lines = []
    for name, pick in (("wall", lambda cost: cost.wall), ("CPU", lambda cost: cost.cpu)):
        lines.append(compare(name, pick, helps, passes))
    return lines


def compare(name: str, pick: Callable[[Cost], float], helps: list[Cost], passes: list[Cost]) -> Line:
    ours, bare = median(map(pick, helps)), median(map(pick, passes))
    return Line(
        f"`--help`: {name}",
        f"{ours:.3f} s",
        f"{bare:.3f} s (`python -c pass`)",
        f"{ours / bare:.1f}×",
        "< 0.2 s",
        ours < 0.2,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one round instead of five")
    rounds = 1 if parser.parse_args().quick else 5
    lines = [*start(2 * rounds + 1), *whole_command(1000, rounds)]
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}\n")
    print(report(lines))


if __name__ == "__main__":
    main()
