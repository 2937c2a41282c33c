"""How far samples of published outputs lie from the figure of all problems, and how often their intervals hold it.

    python bench/sampling.py FOLDER [--draws 1000] [--output docs/reference/samples.md]

FOLDER has files `DATASET, MODEL.jsonl` with one problem on each line, in the order of the dataset: its `part` (empty if
the dataset has none), its `question`, and what `rescore` says of the first reply to it: `correct`, from 0 to 1.
"""

import argparse
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from math import ceil
from pathlib import Path
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from model_accuracy_eval.scoring.figures.intervals import SampleOf, sample_interval
from model_accuracy_eval.tasks.draw import drawn

Floats = NDArray[np.float64]
Places = NDArray[np.intp]
SIZES = (100, 500)
SMALL = (100, 200)
DIRECTIONS = 32
ABOUT = """\
# Samples of published outputs

<!-- Made by bench/sampling.py, which says how. -->

Replies that others published, judged by `rescore`, and then what a sample of the problems would have said: how far it
is from the figure of all problems, in points (root mean square of {draws:,} draws), and how many of the {draws:,} 95 %
intervals hold that figure, in per cent. *First* are the first problems of the dataset, which is no draw: how far they
are off. *Plain* draws regardless of parts, *drawn* is what `--limit` does, under {draws:,} other seeds. Each cell has a
sample of {small} and one of {large} problems.
"""
WORDS = """
## Problems chosen by their words

Small sets that are to stand for all problems are often chosen by clustering. The questions alone, without right answers
and without replies of models, give this: their words are counted (tf-idf, in {directions} random directions), and the
problems of each part are halved along the direction in which their words differ most, and these halves again, until
there are as many cells as problems are to be asked, all of one size within one. Then one problem of each cell is asked:
a random one, or the one nearest to the centre of its cell ({seeds} choices, each by other directions). In the last
column the cells are made not of words, but of which problems the other outputs on the benchmark have right. The table
has the root mean square error, in points; where a benchmark has several outputs, the mean of theirs.
"""
END = """
One problem of each cell of words has {mean:.2f} of the error of the sample that is drawn, on the average over these
rows (from {low:.2f} to {high:.2f}): how a question is worded says next to nothing about who answers it. (A row is
known to some 2 %, the choices nearest the centre to some 7 %.) So `name@tiny` is no set of that kind. It is a sample
of 100 problems, drawn as `--limit 100` draws them, with the same statement of its error.
"""


@dataclass(frozen=True)
class Benchmark:
    """The outputs of several models on the same problems."""

    name: str
    parts: Sequence[str]
    questions: Sequence[str]
    outputs: dict[str, Floats]


def read(folder: Path) -> list[Benchmark]:
    found: dict[str, Benchmark] = {}
    for path in sorted(folder.glob("*.jsonl")):
        name, _, model = path.stem.partition(", ")
        lines = [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n") if line]
        parts, questions = [line["part"] for line in lines], [line["question"] for line in lines]
        benchmark = found.setdefault(name, Benchmark(name, parts, questions, {}))
        if benchmark.parts != parts:
            raise SystemExit(f"{path} has other problems than the outputs on {name} before it.")
        benchmark.outputs[model] = np.array([line["correct"] for line in lines], dtype=float)
    return list(found.values())


# Ways to draw: one row of places for every draw.


def plain(benchmark: Benchmark, size: int, draws: int) -> Places:
    random = np.random.default_rng(20261124)
    return np.array([random.permutation(len(benchmark.parts))[:size] for _ in range(draws)])


def by_parts(benchmark: Benchmark, size: int, draws: int) -> Places:
    return np.array([drawn(benchmark.parts, size, seed=str(seed)) for seed in range(draws)])


def one_of_each_cell(benchmark: Benchmark, found: Floats, size: int, draws: int) -> Places:
    random, split = np.random.default_rng(20261125), cells(benchmark, found, size)
    chosen: Places = np.array([cell[random.integers(len(cell), size=draws)] for cell in split]).T
    return chosen


def nearest_to_centre(benchmark: Benchmark, words: "Words", size: int, draws: int) -> Places:
    chosen = []
    for seed in range(seeds_of_words(draws)):
        found = words.projected(seed)
        split = cells(benchmark, found, size)
        chosen.append([cell[np.argmin(((found[cell] - found[cell].mean(0)) ** 2).sum(1))] for cell in split])
    return np.array(chosen)


def seeds_of_words(draws: int) -> int:
    return ceil(draws / 10)


@dataclass(frozen=True)
class Words:
    """How much each word says about each text, as tf-idf: one entry for every word of every text."""

    texts: Places
    words: Places
    weights: Floats

    @classmethod
    def of(cls, texts: Sequence[str]) -> "Words":
        counted = [Counter(re.findall(r"[^\W\d_]+|\d|[^\w\s]", text.lower())) for text in texts]
        number = {word: place for place, word in enumerate(dict.fromkeys(chain.from_iterable(counted)))}
        entries = [(place, number[word], count) for place, own in enumerate(counted) for word, count in own.items()]
        rows, words, counts = np.array(entries, dtype=np.intp).T
        weights = (1 + np.log(counts)) * np.log((1 + len(texts)) / (1 + np.bincount(words)))[words]
        return cls(rows, words, weights / np.sqrt(np.bincount(rows, weights**2))[rows].clip(1e-9))

    def projected(self, seed: int) -> Floats:
        """Every text as a point in few dimensions."""
        random, size = np.random.default_rng(seed), int(self.words.max()) + 1
        along = (random.standard_normal(size)[self.words] * self.weights for _ in range(DIRECTIONS))
        found: Floats = np.array([np.bincount(self.texts, each) for each in along]).T
        return found


def cells(benchmark: Benchmark, found: Floats, size: int) -> list[Places]:
    """Every part has as many cells as it has problems in the sample that `drawn` gives."""
    parts = np.array(benchmark.parts)
    wanted = Counter(benchmark.parts[place] for place in drawn(benchmark.parts, size))
    return [cell for part, count in wanted.items() for cell in _split(np.flatnonzero(parts == part), count, found)]


def _split(places: Places, count: int, found: Floats) -> Iterator[Places]:
    if count == 1:
        yield places
        return
    centred = found[places] - found[places].mean(0)
    along = centred @ np.linalg.eigh(centred.T @ centred)[1][:, -1]
    ordered, half = places[np.argsort(along, kind="stable")], count // 2
    middle = round(len(places) * half / count)
    yield from _split(ordered[:middle], half, found)
    yield from _split(ordered[middle:], count - half, found)


# What comes of them.


def error(values: Floats, draws: Places) -> float:
    """Root mean square, in points."""
    return float(100 * np.sqrt(np.mean((values[draws].mean(1) - values.mean()) ** 2)))


def held(values: Floats, draws: Places, parts: Sequence[str]) -> float:
    """Per cent of the samples whose interval holds the figure of all."""
    truth, share = 100 * values.mean(), draws.shape[1] / len(values)
    samples = [SampleOf(share, [parts[place] for place in row]) for row in draws]
    ends = [sample_interval(row, sample) for row, sample in zip(values[draws].tolist(), samples, strict=True)]
    return 100 * float(np.mean([end is not None and end.low <= truth <= end.high for end in ends]))


def sample_rows(benchmark: Benchmark, ways: Sequence[Places]) -> Iterator[list[list[float]]]:
    """Of every output and every size: how far the first problems are off and whether they hold, then errors and
    coverage of both ways."""
    for values in benchmark.outputs.values():
        alone = [""] * len(values)
        yield [
            [
                100 * float(values[:size].mean() - values.mean()),
                held(values, np.arange(size)[None], alone),
                *(error(values, way[:, :size]) for way in ways),
                *(
                    held(values, way[:, :size], parts)
                    for way, parts in zip(ways, (alone, benchmark.parts), strict=True)
                ),
            ]
            for size in SIZES
        ]


def page(benchmarks: Sequence[Benchmark], draws: int) -> Iterator[str]:
    both, most = " / ".join(map(str, SIZES)), max(SIZES)
    yield ABOUT.format(draws=draws, small=SIZES[0], large=SIZES[1])
    yield f"| output, {both} problems | of | parts | figure | first | plain | drawn | plain holds | drawn holds |"
    yield "|---|---|---|---|---|---|---|---|---|"
    drawings = [[way(benchmark, most, draws) for way in (plain, by_parts)] for benchmark in benchmarks]
    found: list[list[list[float]]] = []
    for benchmark, ways in zip(benchmarks, drawings, strict=True):
        for (model, values), row in zip(benchmark.outputs.items(), sample_rows(benchmark, ways), strict=True):
            found.append(row)
            first, _, *others = zip(*row, strict=True)
            about = (f"{len(values):,}", str(len(set(benchmark.parts))), f"{100 * values.mean():.2f}")
            cells_of = [_pair(first, "+.1f"), *(_pair(each, ".2f") for each in others[:2])]
            yield _row(f"{benchmark.name}, {model}", *about, *cells_of, *(_pair(each, ".1f") for each in others[2:]))
    table = np.array(found)
    off = [f"{np.sqrt(np.mean(table[:, at, 0] ** 2)):.1f}" for at in range(2)]
    holds = [f"{int((table[:, at, 1] > 0).sum())}" for at in range(2)]
    means = [_pair(table[:, :, at].mean(0), ".2f" if at < 4 else ".1f") for at in range(2, 6)]
    first_of_all = f"{' / '.join(off)}, their intervals hold {' / '.join(holds)}"
    yield _row(f"all {len(table)}: mean, of the first root mean square", "", "", "", first_of_all, *means)
    yield WORDS.format(directions=DIRECTIONS, seeds=seeds_of_words(draws))
    yield "| outputs on | problems | plain | drawn | one of each cell | nearest its centre | cells by other outputs |"
    yield "|---|---|---|---|---|---|---|"
    against: list[float] = []
    for benchmark, ways in zip(benchmarks, drawings, strict=True):
        words = Words.of(benchmark.questions)
        for size in SMALL:
            chosen = [
                *(way[:, :size] for way in ways),
                one_of_each_cell(benchmark, words.projected(0), size, draws),
                nearest_to_centre(benchmark, words, size, draws),
            ]
            errors = [fmean(error(values, way) for values in benchmark.outputs.values()) for way in chosen]
            against.append(errors[2] / errors[1])
            name = f"{benchmark.name} ({len(benchmark.outputs)})"
            yield _row(name, str(size), *(f"{each:.2f}" for each in errors), known_replies(benchmark, size, draws))
    yield END.format(mean=fmean(against), low=min(against), high=max(against))


def known_replies(benchmark: Benchmark, size: int, draws: int) -> str:
    """The error where the cells are made of what the other outputs have right, for each output in turn."""
    found = []
    for model, values in benchmark.outputs.items():
        others = [each for name, each in benchmark.outputs.items() if name != model]
        if others:
            found.append(error(values, one_of_each_cell(benchmark, np.array(others).T, size, draws)))
    return f"{fmean(found):.2f}" if found else "–"


def _pair(values: Iterable[float], form: str) -> str:
    return " / ".join(format(value, form) for value in values)


def _row(*cells_of: str) -> str:
    return f"| {' | '.join(cells_of)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--draws", type=int, default=1000)
    parser.add_argument("--output", type=Path, help="the page to write; default: print it")
    options = parser.parse_args()
    lines = page(read(options.folder), options.draws)
    if options.output:
        options.output.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    else:
        for line in lines:
            print(line, flush=True)


if __name__ == "__main__":
    main()
