"""How many tasks are passed by programs that solve nothing: the figures of docs/reference/sandbox.md are its.

Each task is tried in both modes, whichever its own solution needs. The benchmarks' files are looked for in
../shared/data; BigCodeBench needs the image of docker/bigcodebench.
"""

import argparse
import asyncio
import os
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from tests.integration.sandbox.programs.forging_any_task import FORGERIES, forged  # noqa: E402
from tests.real_data import paper  # noqa: E402

from model_accuracy_eval.records import Attempt  # noqa: E402 - the catalogue of programs lies among the tests
from model_accuracy_eval.records.code import Execution, Mode, Program  # noqa: E402
from model_accuracy_eval.sandbox.backends import IMAGE  # noqa: E402
from model_accuracy_eval.sandbox.docker_backend import DockerBackend  # noqa: E402
from model_accuracy_eval.sandbox.pool import WorkerPool  # noqa: E402
from model_accuracy_eval.scoring.figures.scorecard import Scorecard  # noqa: E402
from model_accuracy_eval.system.docker_engine import Labels  # noqa: E402

LIBRARIES = "mae-bigcodebench"
DATASETS = {
    "humaneval": ("HumanEval", IMAGE),
    "humaneval_plus": ("HumanEval+", IMAGE),
    "mbpp": ("MBPP", IMAGE),
    "mbpp_plus": ("MBPP+", IMAGE),
    "bigcodebench": ("BigCodeBench", LIBRARIES),
}


def tasks(dataset: str, every: int) -> list[Program]:
    """Each task's own solution with its tests."""
    prepared = paper(dataset)
    card = Scorecard(prepared.task, 1, (1,))
    found = []
    for problem in prepared.problems[::every]:
        row = problem.extras
        solution = f"{row['prompt']}{row['canonical_solution']}" if "libs" in row else problem.references[0]
        said = Attempt(problem=problem.id, index=0, text=f"```python\n{solution}\n```")
        found += [ask for ask in card.asks(problem, [said]) if isinstance(ask, Program)][:1]
    return found


NAMED = (
    "skips", "stops the test from within", "marks the tests as skipped", "empties the tests",
    "jumps to the end of the test", "gives back what its caller expects", "false modules",
)  # fmt: skip
"""Skipping, the garbage collector, frames and false modules: what has passed before."""


def attacks(programs: list[Program], mode: Mode, share: int, kinds: Sequence[str]) -> Iterator[tuple[str, Program]]:
    """Each task meets one in `share` of the forgeries, in turn; with a share of 1, all of them."""
    for place, program in enumerate(programs):
        for turn, name in enumerate(kinds):
            if (place + turn) % share == 0:
                limits = msgspec.structs.replace(program.limits, wall_seconds=10.0)
                code = forged(name, program.entry_points[0])
                yield name, msgspec.structs.replace(program, code=code, mode=mode, limits=limits)


async def run(dataset: str, programs: list[Program]) -> list[Execution]:
    backend = DockerBackend(os.environ, DATASETS[dataset][1], Labels(repository="bench/forging"), print, lambda: None)
    pool = WorkerPool(backend)
    try:
        return list(await asyncio.gather(*map(pool.run, programs)))
    finally:
        await pool.close()


def row(dataset: str, mode: str, count: int, executions: list[Execution]) -> str:
    kinds = ", ".join(f"`{kind}`" for kind in sorted({execution.integrity for execution in executions}))
    unjudged, passed = (sum(execution.passed is which for execution in executions) for which in (None, True))
    cells = (DATASETS[dataset][0], f"{count:,}", mode, kinds, f"{len(executions):,}", str(unjudged), str(passed))
    return f"| {' | '.join(cells)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--datasets", default=",".join(DATASETS))
    parser.add_argument("--modes", default="split,shared")
    parser.add_argument("--every", type=int, default=1, help="of the tasks, every n-th")
    parser.add_argument("--share", type=int, default=1, help="of the forgeries, each task meets one in n")
    parser.add_argument("--named", action="store_true", help="only skipping, gc, frames and false modules")
    parser.add_argument("--without", action="append", default=[], help="the name of a forgery that is left out")
    options = parser.parse_args()
    kinds = [kind for kind in (NAMED if options.named else FORGERIES) if kind not in options.without]
    lines = ["| dataset | tasks | mode | integrity | programs | not judged | passed |", "|---|---|---|---|---|---|---|"]
    for dataset in options.datasets.split(","):
        programs = tasks(dataset, options.every)
        for mode in options.modes.split(","):
            begin = time.perf_counter()
            names, tried = zip(*attacks(programs, mode, options.share, kinds), strict=True)
            executions = asyncio.run(run(dataset, list(tried)))
            for name, program, execution in zip(names, tried, executions, strict=True):
                if execution.passed is not False:
                    print(f"{dataset}, {execution.integrity}: {name}: {execution.verdict}: {execution.detail[:200]}")
                    print(program.tests[:200])
            lines.append(row(dataset, mode, len(programs), executions))
            print(f"{time.perf_counter() - begin:.0f} s", *lines, sep="\n", flush=True)


if __name__ == "__main__":
    main()
