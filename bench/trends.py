"""How often the rule for regressions is wrong, and how soon it is right: histories of runs with a known truth.

    python bench/trends.py [histories]
    python bench/trends.py --shapes [histories of each shape]

Each history has 60 runs of 1,319 problems, one sample each; the problems' chances vary around 70 % (correlation of a
problem's samples .5). From the 16th run on the truth is 0, 1, 2 or 3 points lower. The rules beside ours are what is
done elsewhere: an alarm at a fall of a point since the last run, and paired tests of 5 %.

The shapes are short histories of 30 runs that fall at the third or the thirteenth: not at all, at once, over eight
runs, for one run, or from 100 to 0. Of each the bench tells how often the place and the size of the fall lie within
what is said of them.
"""

import sys
from collections.abc import Callable
from statistics import median

import numpy

from model_accuracy_eval.scoring.verdicts.regressions import limit_of_one, paired_change, trend

PROBLEMS, RUNS, CHANGE, MEAN, CORRELATION = 1319, 60, 15, 0.7, 0.5
Runs = list[numpy.ndarray]


def history(generator: numpy.random.Generator, drop: float) -> Runs:
    spread = (1 - CORRELATION) / CORRELATION
    chances = generator.beta(MEAN * spread, (1 - MEAN) * spread, PROBLEMS)
    lower = chances * (1 - drop / 100 / MEAN)
    return [generator.binomial(1, chances if run < CHANGE else lower).astype(float) for run in range(RUNS)]


def cusum(runs: Runs) -> int | None:
    regressions = trend(runs).regressions
    return regressions[0].noticed if regressions else None


def place_of_alarm(runs: Runs) -> int | None:
    regressions = trend(runs).regressions
    return regressions[0].first if regressions else None


def a_point_lower(runs: Runs) -> int | None:
    means = [run.mean() for run in runs]
    return next((place for place in range(1, RUNS) if means[place] < means[place - 1] - 0.01), None)


def against_last(runs: Runs) -> int | None:
    return next((place for place in range(1, RUNS) if paired_change(runs[place - 1], runs[place]).z < -1.645), None)


def against_first(runs: Runs) -> int | None:
    return next((place for place in range(1, RUNS) if paired_change(runs[0], runs[place]).z < -1.645), None)


def together(generator: numpy.random.Generator, series: int, histories: int) -> float:
    """The share of quiet histories of several series in which one of them alarms."""
    limit = limit_of_one(series)
    alarms = sum(any(trend(history(generator, 0), limit).regressions for _ in range(series)) for _ in range(histories))
    return alarms / histories


RULES: dict[str, Callable[[Runs], int | None]] = {
    "a point below the last run": a_point_lower,
    "paired test against the last run, 5 %": against_last,
    "paired test against the first run, 5 %": against_first,
    "CUSUM of paired z, rolling reference": cusum,
}


SHAPES: dict[str, Callable[[int], float]] = {
    "flat": lambda _: 0.0,
    "step": lambda since: float(since >= 0),
    "drift over 8 runs": lambda since: min(1.0, max(0.0, (since + 1) / 8)),
    "one outlier": lambda since: float(since == 0),
    "100 to 0": lambda since: float(since >= 0),
}
SIZES = ((200, 10.0), (1319, 4.0), (1319, 20.0))
"""Problems, and points of the fall."""


def shapes(histories: int) -> None:
    """A table with a line for each shape."""
    generator = numpy.random.default_rng(29)
    print("shape              false alarms  found  runs until it is  placed exactly  place within  size within")
    for shape, fall_at in SHAPES.items():
        false, delays, exact, placed, sized = 0, [], 0, 0, 0
        for number in range(histories):
            (problems, drop), change = SIZES[number % len(SIZES)], (2, 12)[number % 2]
            spread = (1 - CORRELATION) / CORRELATION
            chances = generator.beta(MEAN * spread, (1 - MEAN) * spread, problems)
            if shape == "100 to 0":
                chances, drop = numpy.ones(problems), 100.0
            share = drop / 100 / (1 if shape == "100 to 0" else MEAN)
            levels = [chances * (1 - share * fall_at(run - change)) for run in range(30)]
            falls = trend([generator.binomial(1, level).astype(float) for level in levels]).regressions
            if not falls or shape == "flat" or falls[0].noticed < change:
                false += bool(falls)
                continue
            fall, split = falls[0], falls[0].split
            delays.append(fall.noticed - change + 1)
            exact += fall.first == change
            last = change + 7 if shape.startswith("drift") else change
            placed += split.earliest + 1 <= last and change <= split.latest + 1
            sides = levels[split.since : fall.first], levels[fall.first : fall.noticed + 1]
            before, after = (float(numpy.mean(side)) for side in sides)
            if not shape.startswith("drift"):  # which has one true size, wherever it is placed
                before, after = float(levels[0].mean()), float(levels[change].mean())
            sized += split.interval.low <= 100 * (after - before) <= min(split.interval.high, 0.0)
        found = len(delays)
        shares = "".join(f"{100 * each / max(found, 1):13.1f} %" for each in (exact, placed, sized))
        print(f"{shape:18} {100 * false / histories:10.1f} % {found:6} {median(delays) if found else '-':>17} {shares}")


def main() -> None:
    if sys.argv[1:2] == ["--shapes"]:
        shapes(int(sys.argv[2]) if len(sys.argv) > 2 else 200)
        return
    histories = int(sys.argv[1]) if len(sys.argv) > 1 else 300
    generator = numpy.random.default_rng(15)
    print(f"{histories} histories of {RUNS} runs; the truth falls after run {CHANGE}")
    print("drop  rule                                     false, 15 runs  found  runs until it is")
    for drop in (0, 1, 2, 3):
        runs = [history(generator, drop) for _ in range(histories)]
        for name, rule in RULES.items():
            alarms = [rule(each) for each in runs]
            early = sum(alarm is not None and alarm < CHANGE for alarm in alarms)
            found = [alarm - CHANGE + 1 for alarm in alarms if alarm is not None and alarm >= CHANGE]
            share = f"{100 * len(found) / histories:5.1f} %  {median(found) if found else '-'}"
            print(f"{drop:4}  {name:40} {100 * early / histories:10.1f} %   {share}", flush=True)
        places = [place for each in runs if (place := place_of_alarm(each)) is not None]
        exact, one, three = (sum(abs(place - CHANGE) <= far for place in places) for far in (0, 1, 3))
        print(f"{drop:4}  placed by it: exactly {exact}, within one run {one}, within three {three} of {len(places)}")
    for series in (1, 5, 20):
        false = 100 * together(generator, series, histories // 3)
        print(f"{series:3} quiet series, limit {limit_of_one(series):.1f}: one alarms in {false:.1f} %", flush=True)


if __name__ == "__main__":
    main()
