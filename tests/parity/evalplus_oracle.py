"""Runs in an environment that has EvalPlus: its own verdicts on programs, as JSON.

Standard input: {"humaneval": path, "mbpp": path, "programs": [[dataset, task id, code, least seconds for an input], …]}.
The answer has for each program whether it passes the original inputs, and whether it passes these and the added ones.
"""

# mypy: ignore-errors

import json
import sys
import types
from concurrent.futures import ProcessPoolExecutor
from functools import cache
from pathlib import Path

for absent in ("appdirs", "datasets", "tempdir", "wget"):  # it fetches its data with these
    module = sys.modules[absent] = types.ModuleType(absent)
    module.__getattr__ = lambda name: lambda *_: ""

from evalplus.data.mbpp import mbpp_deserialize_inputs  # noqa: E402
from evalplus.eval import PASS, untrusted_check  # noqa: E402
from evalplus.eval._special_oracle import MBPP_OUTPUT_NOT_NONE_TASKS  # noqa: E402
from evalplus.gen.util import trusted_exec  # noqa: E402

JOB = json.load(sys.stdin)


@cache
def rows(dataset):
    lines = Path(JOB[dataset]).read_text(encoding="utf-8").splitlines()
    return {row["task_id"]: row for row in map(json.loads, lines)}


@cache
def half(dataset, task_id, column):
    row = rows(dataset)[task_id]
    inputs = mbpp_deserialize_inputs(task_id, row[column]) if dataset == "mbpp" else row[column]
    name, source = row["entry_point"], row["prompt"] + row["canonical_solution"]
    not_none = dataset == "mbpp" and name in MBPP_OUTPUT_NOT_NONE_TASKS
    return inputs, *trusted_exec(source, inputs, name, record_time=True, output_not_none=not_none)


def judge(program):
    dataset, task_id, code, seconds = program
    row = rows(dataset)[task_id]
    passed = []
    for column in ("base_input", "plus_input"):
        inputs, expected, times = half(dataset, task_id, column)
        status, _ = untrusted_check(
            dataset, code, inputs, row["entry_point"], expected, row["atol"], times,
            fast_check=True, min_time_limit=seconds,
        )  # fmt: skip
        passed.append(status == PASS)
    return passed[0], all(passed)


if __name__ == "__main__":
    with ProcessPoolExecutor(2) as pool:
        json.dump(list(pool.map(judge, JOB["programs"])), sys.stdout)
