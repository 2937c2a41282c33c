"""How much faster 8 replicas on a Ray cluster answer than one, of servers that take their time.

    ray start --head --num-cpus 1       # or RAY_ADDRESS of a cluster
    python bench/ray_scaling.py

Both runs are of one call; each replica has as many requests at a time in both. The work a replica gets is the same.
"""

import argparse
import json
import os
import shutil
import tempfile
from pathlib import Path

from measure import HERE, PROGRAM, run

SERVER = HERE.parent / "tests" / "servers" / "seeded_server.py"
EACH = 8
"""Requests that a replica has at a time."""


def adapter(folder: Path, replicas: int, seconds: float) -> Path:
    """Its replicas begin to serve when all of them have been started, so that what is measured is the asking."""
    folder.mkdir()
    shutil.copy(SERVER, folder / "server.py")
    begun = folder.parent / f"{folder.name}-begun"
    begun.mkdir()
    wait = f'touch {begun}/$PORT; until [ "$(ls {begun} | wc -l)" = {replicas} ]; do sleep 0.1; done'
    (folder / "deploy.sh").write_text(f'{wait}\nexec python3 server.py "$PORT" seconds\n')
    (folder / "seconds").write_text(str(seconds))
    return folder


def rate(folder: Path, replicas: int, seconds: float, waves: int) -> float:
    """Requests a second while there are any."""
    name = f"of-{replicas}"
    served, data, out = adapter(folder / name, replicas, seconds), folder / f"{name}.jsonl", folder / f"{name}-out"
    count = replicas * EACH * waves
    rows = (json.dumps({"question": f"How long is {'x' * at}?", "answer": at + 13}) + "\n" for at in range(count))
    data.write_text("".join(rows))
    words = [str(served), "--model", str(served), "--datasets", str(data), "-n", "1", "--out", str(out)]
    words += ["--engine", "ray", "--replicas", str(replicas), "--concurrency", str(replicas * EACH)]
    run([*PROGRAM, "run", *words], quiet=True)
    (facts,) = (json.loads(path.read_bytes()) for path in out.glob("*/run.json") if not path.parent.is_symlink())
    return float(count / facts["seconds"]["infer"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicas", type=int, default=8)
    parser.add_argument("--seconds", type=float, default=2.0, help="that a server takes for an answer")
    parser.add_argument("--waves", type=int, default=8, help="of requests that each replica gets")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="bench-ray-") as folder:
        one, all_of_them = (
            rate(Path(folder), replicas, asked.seconds, asked.waves) for replicas in (1, asked.replicas)
        )
    ideal = EACH / asked.seconds
    print(f"one replica: {one:.2f} requests a second, {one / ideal:.3f} of what its server gives")
    print(f"{asked.replicas} replicas: {all_of_them:.2f} requests a second")
    print(f"efficiency: {all_of_them / (asked.replicas * one):.3f} (load {os.getloadavg()[0]:.1f})")


if __name__ == "__main__":
    main()
