"""In which order problems are asked: those with long answers first, so that at the end no long one runs alone.

How long answers are is known from an earlier run: the baseline, or this run before it was continued. The order changes
no sample, because seeds are of problems and not of requests.
"""

import contextlib
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from statistics import median

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.ports import Archive, Ports, Store
from model_accuracy_eval.records import DatasetResult, PreparedDataset, Problem, ProblemResult, RunPlan
from model_accuracy_eval.records.packed_records import PackedRecords, RecordsById
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


# Problems by their numbers, and their results in the order of the dataset, whenever each of them was judged.


def by_id(prepared: PreparedDataset) -> RecordsById[Problem]:
    return RecordsById(prepared.problems, (problem.id for problem in prepared.problems))


class ShownQuestions(Mapping[int, str]):
    """Each problem's last message as it is asked, by the problem's number."""

    def __init__(self, prepared: PreparedDataset) -> None:
        self._problems = by_id(prepared)

    def __getitem__(self, number: int) -> str:
        return self._problems[number].messages[-1].shown

    def __iter__(self) -> Iterator[int]:
        return iter(self._problems)

    def __len__(self) -> int:
        return len(self._problems)


class AskedQuestions(Mapping[int, str]):
    """The last message that each judged problem was asked with, from the run's journals, read when it is asked for."""

    def __init__(self, store: Store, label: str, result: DatasetResult) -> None:
        self._store = store
        self._problems = RecordsById(result.problem_results, (each.problem for each in result.problem_results))
        self._found: dict[str, array[int]] = {}
        """Name of a journal → where the last line about each problem begins, or -1."""
        for name in (journal.failures_file(label, result.dataset), journal.file(label, result.dataset)):
            self._found[name] = array("q", [-1]) * len(self._problems)
            begin = 0
            for line in store.lines(name):
                place = self._problems.place(journal.key(line)[0])
                if place is not None:
                    self._found[name][place] = begin
                begin += len(line)

    def __getitem__(self, number: int) -> str:
        place = self._problems.place(number)
        for name, begins in self._found.items():
            if place is not None and begins[place] >= 0:
                (line,) = self._store.lines_at(name, [begins[place]])
                return journal.shown(line).question
        raise KeyError(number)

    def __iter__(self) -> Iterator[int]:
        return (number for number in self._problems if self._is_asked(number))

    def __len__(self) -> int:
        return sum(map(self._is_asked, self._problems))

    def _is_asked(self, number: int) -> bool:
        place = self._problems.place(number)
        return place is not None and any(begins[place] >= 0 for begins in self._found.values())


class ResultsInOrder:
    """The results that are there. Of two of one problem the later one counts."""

    def __init__(self, problems: RecordsById[Problem]) -> None:
        self._problems = problems
        self._judged: PackedRecords[ProblemResult] = PackedRecords(ProblemResult)
        self._places = array("q", [-1]) * len(problems)
        """Of each problem's result, in the order of the dataset."""
        self._count = 0

    def put(self, number: int, result: ProblemResult) -> None:
        place = self._problems.place(number)
        if place is None:
            raise KeyError(number)
        self._count += self._places[place] < 0
        self._places[place] = len(self._judged)
        self._judged.append(result)

    def __contains__(self, number: object) -> bool:
        place = self._problems.place(number) if isinstance(number, int) else None
        return place is not None and self._places[place] >= 0

    def __len__(self) -> int:
        return self._count

    def in_order(self) -> Sequence[ProblemResult]:
        return self._judged.arranged(place for place in self._places if place >= 0)
