"""Problems by their numbers, and their results in the order of the dataset, whenever each of them was judged."""

from array import array
from collections.abc import Iterator, Mapping, Sequence

from model_accuracy_eval.ports import Store
from model_accuracy_eval.records import DatasetResult, PreparedDataset, Problem, ProblemResult
from model_accuracy_eval.records.packed_records import PackedRecords, RecordsById
from model_accuracy_eval.reporting import journal


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
