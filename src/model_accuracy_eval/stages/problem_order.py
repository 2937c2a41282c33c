"""Problems by their numbers, and their results in the order of the dataset, whenever each of them was judged."""

from array import array
from collections.abc import Iterator, Mapping, Sequence

from model_accuracy_eval.records import PreparedDataset, Problem, ProblemResult
from model_accuracy_eval.records.packed_records import PackedRecords, RecordsById


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
