"""What a run of many samples costs: bytes on disk; CPU, time and memory of merging its shards and of reading it again.

No model answers. Each of four shards is started before a fast server and stopped at its first answers; the rest of its
journal is written here, with the lines that it began with as pattern. Then `merge` does what it does with any shards.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

import measure
from measure import PROGRAM

SHARDS, N = 4, 10
QUESTION = "A train leaves the station at noon, and its cars hold as many people as the hall. " * 3
WORDS = (Path(__file__).parent.parent / "README.md").read_text().split()
"""Replies are sixty of them by chance, which compress worse than what models say."""
TASK = """
name: large
data: {data}
fields: [question, answer]
prompt: {{question: "{{{{ question }}}}"}}
reference: "{{{{ answer }}}}"
pipelines: [{{filters: [number_answer], metrics: [{{name: number, label: accuracy}}]}}]
"""


class Measured(NamedTuple):
    """What a run cost."""

    costs: dict[str, measure.Cost]
    """By command."""
    files: dict[str, int]
    """Bytes by kind of file."""


def write_task(folder: Path, problems: int) -> Path:
    data, task = folder / "rows.jsonl", folder / "large.yaml"
    with data.open("w") as file:
        for number in range(problems):
            file.write(json.dumps({"question": f"{QUESTION}{number}?", "answer": str(number)}) + "\n")
    task.write_text(TASK.format(data=data))
    return task


def begun_shard(url: str, task: Path, index: int, out: Path) -> Path:
    """The folder of a shard that was stopped at its first answers."""
    command = [*PROGRAM, "run", "--endpoint", url, "--datasets", str(task), "-n", str(N), "--concurrency", "2"]
    command += ["--shard", f"{index}/{SHARDS}", "--mode", "infer", "--out", str(out)]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        while run.poll() is None and not any(file.stat().st_size for file in out.glob("*/predictions/*/large.jsonl")):
            time.sleep(0.01)
        run.send_signal(signal.SIGTERM)
    (folder,) = (path for path in out.iterdir() if not path.is_symlink())
    return folder


def lines(pattern: dict[str, Any], index: int, problems: int) -> Iterator[bytes]:
    """A shard's answers: four of five are right, whichever problem it is."""
    encode = msgspec.json.Encoder().encode
    prompt, chance = pattern["origin_prompt"], random.Random(index)
    for problem in range(index, problems, SHARDS):
        asked = [{**turn, "prompt": f"{QUESTION}{problem}?"} for turn in prompt]
        request = f"{index:08x}-{problem:x}"
        for sample in range(N):
            said = problem if (problem * 7 + sample * 3) % 5 else -1
            text = f"{' '.join(chance.choices(WORDS, k=60))}. The answer is {said}."
            yield encode({
                **pattern, "id": problem, "index": sample, "uuid": f"{request}{sample:04d}", "origin_prompt": asked,
                "prediction": text, "gold": str(problem), "request": request, "at": pattern["at"] + problem / SHARDS,
            }) + b"\n"  # fmt: skip


def fill(folder: Path, index: int, problems: int) -> None:
    (journal,) = folder.glob("predictions/*/large.jsonl")
    pattern = json.loads(journal.read_bytes().splitlines()[0])
    with journal.open("wb") as file:
        file.writelines(lines(pattern, index, problems))


def sizes(folder: Path) -> dict[str, int]:
    found: dict[str, int] = {}
    for path in folder.rglob("*"):
        if path.is_file():
            name = path.name if path.parent == folder else f"{path.parent.parent.name}/*{path.suffix}"
            found[name] = found.get(name, 0) + path.stat().st_size
    return found


def measured(url: str, samples: int) -> Measured:
    problems = samples // N
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        task = write_task(folder, problems)
        shards = [begun_shard(url, task, index, folder / str(index)) for index in range(SHARDS)]
        for index, shard in enumerate(shards):
            fill(shard, index, problems)
        cost = measure.run([*PROGRAM, "merge", *map(str, shards), "--out", str(folder / "merged")], quiet=True)
        if "80.00" not in cost.output:
            raise SystemExit(f"the figure is wrong:\n{cost.output}")
        (merged,) = (path for path in (folder / "merged").iterdir() if not path.is_symlink())
        costs = {"merge": cost}
        for command, runs in (("report", [merged]), ("compare", [merged, merged])):
            costs[command] = measure.run([*PROGRAM, command, *map(str, runs)], quiet=True)
        return Measured(costs, sizes(merged))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("samples", nargs="?", type=int, default=100_000, help="the default takes a minute")
    samples = parser.parse_args().samples
    measure.LIMIT = 3600.0
    with measure.serving(tokens=16) as server:
        found = measured(server.url, samples)
    print(f"{samples:,} samples, {N} a problem")
    for name, cost in found.costs.items():
        print(f"  {name:<8} {cost.wall:6.0f} s, {cost.cpu:.0f} s CPU, {cost.rss_mb:.0f} MB at most")
    for name, size in sorted(found.files.items(), key=lambda item: -item[1])[:6]:
        print(f"  {name:<28} {size / 1e6:10.1f} MB {size / samples:8.1f} bytes a sample")
    print(f"\n{os.cpu_count()} cores, load {os.getloadavg()[0]:.0f}, Python {sys.version.split()[0]}")


if __name__ == "__main__":
    main()
