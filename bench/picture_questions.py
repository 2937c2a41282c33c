"""Questions about pictures: their CPU above what encoding them takes, and memory while their number grows."""

import argparse
import asyncio
import base64
import json
import os
import random
import resource
import sys
import tempfile
from pathlib import Path
from typing import Any

from model_accuracy_eval.client import wire_format
from model_accuracy_eval.records import DataFile, Prompt, Request, TableFile, TaskSpec
from model_accuracy_eval.system.media_files import MediaFiles
from model_accuracy_eval.tasks import preparation, rows

PICTURE_BYTES = 30_000
TASK = TaskSpec(
    name="pictures",
    about="Pictures.",
    data=DataFile(name="pictures.parquet"),
    fields=("question", "image"),
    prompt=Prompt(question="{{ image }}\n{{ question }}"),
    reference="{{ answer }}",
)


def write(path: Path, count: int) -> None:
    import pyarrow as arrow  # noqa: PLC0415 - in this process alone
    from pyarrow import parquet  # noqa: PLC0415

    head = b"\x89PNG\r\n\x1a\n"
    made: list[dict[str, Any]] = [
        {"question": f"What is {n}?", "answer": "1", "image": {"bytes": head + os.urandom(PICTURE_BYTES), "path": None}}
        for n in range(count)
    ]
    parquet.write_table(arrow.Table.from_pylist(made), path, row_group_size=100)


def ask(path: Path, *, shuffled: bool = False) -> dict[str, float]:
    """Prepares the dataset and makes the body of every request; shuffled, as a run does that may stop early."""
    begin = cpu()
    table = rows.parse(str(path), TableFile(path=str(path)), TASK.fields)
    dataset = preparation.build(TASK, table, [], None)
    prepared = cpu()
    files, sent = MediaFiles(), 0
    problems = list(dataset.problems)
    if shuffled:
        random.Random(1).shuffle(problems)
    for problem in problems:
        sent += len(wire_format.encode_request("m", Request(messages=problem.messages), files.read))
    return {"prepared": prepared - begin, "asked": cpu() - prepared, "bytes": sent, "peak": peak()}


def bare(path: Path) -> dict[str, float]:
    """Encoding alone: the same number of pictures, from memory into JSON."""
    content = b"\x89PNG" + os.urandom(PICTURE_BYTES)
    begin, sent = cpu(), 0
    for _ in range(int(path.name)):
        url = f"data:image/png;base64,{base64.b64encode(content).decode()}"
        sent += len(
            json.dumps({"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": url}}]}]})
        )
    return {"asked": cpu() - begin, "bytes": sent, "peak": peak()}


def cpu() -> float:
    """Of this process and of its ended children."""
    both = (resource.getrusage(resource.RUSAGE_SELF), resource.getrusage(resource.RUSAGE_CHILDREN))
    return sum(one.ru_utime + one.ru_stime for one in both)


def peak() -> float:
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)) / 1024


async def child(*arguments: str) -> dict[str, float]:
    process = await asyncio.create_subprocess_exec(sys.executable, __file__, *arguments, stdout=asyncio.subprocess.PIPE)
    out, _ = await process.communicate()
    figures: dict[str, float] = json.loads(out)
    return figures


async def main(count: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        found, mixed = {}, {}
        for number in (count, 5 * count):
            path = Path(folder) / f"{number}.parquet"
            process = await asyncio.create_subprocess_exec(sys.executable, __file__, "--write", str(path), str(number))
            await process.wait()
            found[number] = await child("--ask", str(path))
            mixed[number] = await child("--ask", str(path), "--shuffled")
        reference = await child("--bare", str(count))
    first, many = found[count], found[5 * count]
    above = first["prepared"] + first["asked"] - reference["asked"]
    print(f"{count:,} pictures of {PICTURE_BYTES:,} bytes")
    print(f"CPU: {first['prepared']:.2f} s to read and prepare, {first['asked']:.2f} s to ask")
    print(f"encoding alone: {reference['asked']:.2f} s, so {above:.2f} s above it (limit 2.00)")
    asked = [mixed[number]["asked"] for number in (count, 5 * count)]
    print(f"in another order than the file's: {asked[0]:.2f} s, for {5 * count:,}: {asked[1]:.2f} s")
    print(
        f"peak memory: {first['peak']:.0f} MB, for {5 * count:,}: {many['peak']:.0f} MB, "
        f"in another order {mixed[5 * count]['peak']:.0f} MB"
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pictures", type=int, default=1000)
    parser.add_argument("--write", nargs=2)
    parser.add_argument("--ask", type=Path)
    parser.add_argument("--shuffled", action="store_true")
    parser.add_argument("--bare", type=Path)
    options = parser.parse_args()
    if options.write:
        write(Path(options.write[0]), int(options.write[1]))
    elif options.ask or options.bare:
        print(json.dumps(ask(options.ask, shuffled=options.shuffled) if options.ask else bare(options.bare)))
    else:
        asyncio.run(main(options.pictures))
