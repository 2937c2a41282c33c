"""How often the rule for regressions is wrong, and how soon it is right: histories of runs with a known truth.

    python bench/trends.py [histories]

Each history has 60 runs of 1,319 problems, one sample each; the problems' chances vary around 70 % (correlation of a
problem's samples .5). From the 16th run on the truth is 0, 1, 2 or 3 points lower. The rules beside ours are what is
done elsewhere: an alarm at a fall of a point since the last run, and paired tests of 5 %.
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


def main() -> None:
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
