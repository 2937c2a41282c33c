"""`rescore` on 100,000 kept samples, beside a program that does no more than decode the same lines with `json`."""

import argparse
import json
import os
import sys
import tempfile
from pathlib import Path

from measure import PROGRAM, Cost, Line, report, run

BARE = "import json, sys\nfor line in open(sys.argv[1], 'rb'): json.loads(line)"
SAMPLES = 5
LIMIT_MB = 500
"""For 100,000 samples; more are shards, each a process."""
REPLY = "Let me think about it for a while. " + "One thing follows from the other. " * 6
TURNS = [{"role": "HUMAN", "prompt": "Question " * 20}]


def write(path: Path, problems: int) -> None:
    """AISBench's lines; four of five samples are right, whichever problem it is."""
    with path.open("w") as file:
        for problem in range(problems):
            for sample in range(SAMPLES):
                said = problem if (problem * 7 + sample * 3) % 5 else -1
                row = {
                    "data_abbr": "numbers", "id": problem, "success": True, "uuid": "0" * 32, "origin_prompt": TURNS,
                    "prediction": f"{REPLY} The answer is {said}.", "gold": f"#### {problem}",
                }  # fmt: skip
                file.write(json.dumps(row) + "\n")


def measured(problems: int, folder: Path) -> tuple[Cost, Cost]:
    path = folder / f"numbers_{problems}.jsonl"
    write(path, problems)
    ours, bare = run([*PROGRAM, "rescore", str(path)]), run([sys.executable, "-c", BARE, str(path)])
    if "80.00" not in ours.output:
        raise SystemExit(f"the figure is wrong:\n{ours.output}")
    path.unlink()
    return ours, bare


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--samples", type=int, default=100_000, help=f"in all, {SAMPLES} of each problem")
    most = parser.parse_args().samples // SAMPLES
    with tempfile.TemporaryDirectory() as folder:
        small, _ = measured(most // 10, Path(folder))
        ours, bare = measured(most, Path(folder))
    what = f"rescore, {most * SAMPLES:,} samples"
    grown = (ours.rss_mb - small.rss_mb) * 1024 * 1024 / (most * SAMPLES * 0.9)
    limit = LIMIT_MB * max(1, most * SAMPLES / 100_000)
    lines = [
        Line(
            f"{what}: CPU",
            f"{ours.cpu:.1f} s",
            f"{bare.cpu:.1f} s (`json` alone)",
            f"{ours.cpu / bare.cpu:.1f}×",
            "",
            None,
        ),
        Line(f"{what}: samples per CPU second", f"{most * SAMPLES / ours.cpu:,.0f}", "", "", "", None),
        Line(
            f"{what}: peak memory",
            f"{ours.rss_mb:.0f} MB",
            f"{small.rss_mb:.0f} MB (a tenth of them)",
            "",
            f"≤ {limit:.0f} MB",
            ours.rss_mb <= limit,
        ),
        Line(f"{what}: memory that one more sample takes", f"{grown:.0f} bytes", "", "", "", None),
    ]
    print(f"{os.cpu_count()} cores, Python {sys.version.split()[0]}\n")
    print(report(lines))


if __name__ == "__main__":
    main()
