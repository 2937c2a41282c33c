"""Runs of the command line over a demo dataset, and whether two of them can be samples of one model."""

import json
import math
from dataclasses import dataclass
from pathlib import Path

from tests.e2e import command

SECONDS = 1800
"""For a run on a busy machine of two cores."""


@dataclass(frozen=True)
class DemoAnswers:
    """The figure of a run, and which answers to each problem were right."""

    folder: Path
    avg: float
    right: dict[int, list[bool]]


def evaluate(out: Path, *arguments: object) -> DemoAnswers:
    done = command.finish(command.start("run", *arguments, "--out", out), SECONDS)
    assert done.code == 0, done.out + done.err
    return read(command.only_run(out))


def read(folder: Path) -> DemoAnswers:
    """From the verdicts of the results file, which must give the figure of the report."""
    ((dataset, facts),) = command.facts(folder)["datasets"].items()
    details = json.loads((folder / f"results/{command.LABEL}/{dataset}.json").read_bytes())["details"]
    right = {entry["id"]: entry["correct"] for entry in details}
    avg = next(value for name, value in facts["metrics"].items() if name.startswith(("avg@", "accuracy")))
    counted = 100 * sum(sum(verdicts) / len(verdicts) for verdicts in right.values()) / len(right)
    assert math.isclose(avg, counted), (avg, counted)
    return DemoAnswers(folder, avg, right)


def far_apart(one: DemoAnswers, other: DemoAnswers) -> float:
    """The difference of the means in standard errors, for the same problems asked again."""
    assert one.right.keys() == other.right.keys()
    difference = variance = 0.0
    for problem in one.right:
        for sign, answers in ((1, one.right[problem]), (-1, other.right[problem])):
            share = sum(answers) / len(answers)
            difference += sign * share
            variance += share * (1 - share) / (len(answers) - 1)
    return abs(difference) / math.sqrt(variance)
