"""In which order problems are asked: those with long answers first, so that at the end no long one runs alone.

How long answers are is known from an earlier run: the baseline, or this run before it was continued. The order changes
no sample, because seeds are of problems and not of requests.
"""

import contextlib
from collections.abc import Iterable, Mapping
from statistics import median

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.ports import Archive, Ports, Store
from model_accuracy_eval.records import RunPlan
from model_accuracy_eval.run.sample_collector import SampleRequest
from model_accuracy_eval.run_folder import journal, runfile
from model_accuracy_eval.run_folder.runfile import RUN_FILE

Lengths = Mapping[int, float]
"""Seconds that the longest answer to a problem took, by the problem's id."""


def longest_first(requests: list[SampleRequest], plan: RunPlan, store: Store, ports: Ports) -> list[SampleRequest]:
    """Requests of which no length is known come where the middle one of their dataset would.

    What gates are decided by keeps its order, which was drawn at random, and goes ahead. Where no earlier run says
    anything, nothing changes.
    """
    followed = [request for request in requests if request.collector.follower is not None]
    free = [request for request in requests if request.collector.follower is None]
    datasets = dict.fromkeys(request.dataset for request in free)
    lengths = _lengths(datasets, plan, store, ports)
    known = [seconds for of_dataset in lengths.values() for seconds in of_dataset.values()]
    if not known:
        return requests
    for collector in dict.fromkeys(request.collector for request in free):
        collector.log.write("problems whose answers took long before are asked first")
    usual = {name: median(lengths[name].values() or known) for name in datasets}

    def expected(request: SampleRequest) -> float:
        return lengths[request.dataset].get(request.problem.id, usual[request.dataset])

    return followed + sorted(free, key=expected, reverse=True)


def _lengths(datasets: Iterable[str], plan: RunPlan, store: Store, ports: Ports) -> dict[str, Lengths]:
    """Of each dataset. What this run has seen itself counts more than its baseline."""
    label = plan.settings.label
    own = {name: longest_answers(store.lines(journal.file(label, name))) for name in datasets}
    before: dict[str, Lengths] = {}
    # A baseline that cannot be read any more costs time at the end of the run, but no run.
    with contextlib.suppress(EvalError):
        if plan.settings.baseline:
            before = _of_run(ports.open_archive(plan.settings.baseline), datasets)
    return {name: {**before.get(name, {}), **own[name]} for name in datasets}


def _of_run(archive: Archive, datasets: Iterable[str]) -> dict[str, Lengths]:
    label = runfile.read(archive.read(RUN_FILE), archive.root).label
    return {name: longest_answers(archive.lines(journal.file(label, name))) for name in datasets}


def longest_answers(lines: Iterable[bytes]) -> dict[int, float]:
    """Of the samples of each problem the longest one, as one request may have asked for all of them."""
    longest: dict[int, float] = {}
    for problem, seconds in filter(None, map(journal.sample_time, lines)):
        longest[problem] = max(seconds, longest.get(problem, 0.0))
    return longest
