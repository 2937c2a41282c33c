"""How far the figure of a sample misses that of all problems, and how often its interval holds it, by the program's own
functions.

    python bench/samples.py [DRAWS] [RESULTS.json …]

Prints a Markdown table: for each dataset and size, over DRAWS (250) samples, the root mean square error in points of
samples as they are drawn, of plain random ones, and of the first problems; and per cent of the samples whose 95 %
interval holds the figure of all. The datasets are simulated: parts of these sizes, whose shares of right answers differ
by so much (standard deviation of the logits). Results files of runs (`results/<label>/<dataset>.json`) are added.
"""

import json
import sys
from math import exp, log, sqrt
from pathlib import Path
from random import Random
from statistics import fmean
from typing import NamedTuple

from model_accuracy_eval.scoring.figures.intervals import SampleOf, sample_interval
from model_accuracy_eval.tasks.draw import drawn

SIZES = (100, 500)
KINDS = {
    "57 subjects, 100 to 1,534 problems": ([1534, 895, 783] + [300] * 14 + [110] * 40, 0.7, 0.6),
    "26 tasks of 250 problems": ([250] * 26, 0.6, 1.3),
    "16 subjects, 60 to 300 problems": ([300, 200, 150] + [100] * 8 + [60] * 5, 0.5, 1.0),
    "541 problems without parts": ([541], 0.8, 0.0),
}
"""Sizes of the parts, mean share of right answers, how unlike the parts are."""


class Dataset(NamedTuple):
    """What a whole run has shown."""

    parts: list[str]
    values: list[float]

    @property
    def figure(self) -> float:
        return fmean(self.values)


def simulated(sizes: list[int], mean: float, spread: float) -> Dataset:
    chance = Random(0)
    shares = [1 / (1 + exp(-chance.gauss(log(mean / (1 - mean)), spread))) for _ in sizes]
    rows = [(str(at), float(chance.random() < shares[at])) for at, size in enumerate(sizes) for _ in range(size)]
    return Dataset([part for part, _ in rows], [value for _, value in rows])


def of_run(path: Path) -> Dataset:
    details = json.loads(path.read_text())["details"]
    values = [each["c"] / each["n"] if each["c"] is not None else fmean(each["values"]) for each in details]
    return Dataset([each.get("category") or "" for each in details], values)


def line(dataset: Dataset, size: int, draws: int) -> list[str]:
    chance, whole = Random(1), len(dataset.values)
    ours, plain, held = [], [], 0
    for number in range(draws):
        places = drawn(dataset.parts, size, seed=str(number))
        values = [dataset.values[at] for at in places]
        ours.append(fmean(values) - dataset.figure)
        plain.append(fmean(chance.sample(dataset.values, size)) - dataset.figure)
        found = sample_interval(values, SampleOf(size / whole, [dataset.parts[at] for at in places]))
        held += found is not None and found.low <= 100 * dataset.figure <= found.high
    first = fmean(dataset.values[:size]) - dataset.figure
    errors = [100 * sqrt(fmean(error * error for error in errors)) for errors in (ours, plain, [first])]
    return [*(f"{error:.2f}" for error in errors), f"{100 * held / draws:.1f} %"]


def main(arguments: list[str]) -> None:
    draws = int(arguments[0]) if arguments else 250
    datasets = {name: simulated(*kind) for name, kind in KINDS.items()}
    datasets |= {Path(name).stem: of_run(Path(name)) for name in arguments[1:]}
    print("| dataset | sample | drawn | at random | the first | the interval holds |\n|---|---|---|---|---|---|")
    for name, dataset in datasets.items():
        for size in (size for size in SIZES if size < len(dataset.values)):
            print("|", " | ".join([name, str(size), *line(dataset, size, draws)]), "|", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
