"""The problems of a file → those of a dataset: by the rows' own ids, by position, or by equal questions.

Every way is tried. One that places all problems of the file is taken if nothing in the file contradicts it: a question
must show the row's text, a right answer must be the row's. Else the way that places nearly all of them is, and the
others have no place; a file most of whose problems have none is of another dataset, and refused. Datasets are corrected
now and then, so a few problems may be of another edition; they are judged as the file has them.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from typing import NamedTuple

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import PreparedDataset, Problem
from model_accuracy_eval.rescoring import agreement
from model_accuracy_eval.rescoring.agreement import Contradiction
from model_accuracy_eval.rescoring.saved_replies import SavedProblem, plain

_OPENINGS = (256, 128, 64, 32, 16, 8, 4, 2, 1)
"""A row is looked up by so many first characters of its longest text, as many as it has: many questions begin alike."""
_HEAD = 8
_STARTS = re.compile(r" |(?<=\W)")
"""Where a text may begin inside of a question."""


def by_question(saved: Sequence[SavedProblem], problems: Sequence[Problem]) -> list[Problem | None]:
    """For each problem of a file the row whose texts its question contains; None if there is none, or several that
    differ. Rows that equal each other are taken in their order."""
    index = _QuestionIndex(problems)
    taken: set[int] = set()
    places = []
    for one in saved:
        place = index.find(one, taken)
        places.append(place)
        if place is not None:
            taken.add(place.id)
    return places


def _beside_the_words(problem: Problem) -> Iterator[object]:
    """The same words about another picture, or with other functions to call, are another question."""
    yield str(problem.functions)
    for message in problem.messages:
        yield message.media
        yield message.content if message.role == "system" else ""


class _QuestionIndex:
    def __init__(self, problems: Sequence[Problem]) -> None:
        self._texts = {problem.id: [plain(text) for text in problem.row_texts] for problem in problems}
        self._options = {
            problem.id: [plain(text) for text in problem.row_options or problem.choices] for problem in problems
        }
        self._by_opening: dict[str, list[Problem]] = {}
        for problem in problems:
            if texts := self._texts[problem.id]:
                opening = texts[0][: next(size for size in _OPENINGS if size <= len(texts[0]))]
                self._by_opening.setdefault(opening, []).append(problem)
        sizes = sorted({len(opening) for opening in self._by_opening}, reverse=True)
        self._short_sizes = [size for size in sizes if size < _HEAD]
        self._long_sizes = [size for size in sizes if size >= _HEAD]
        self._heads = {opening[:_HEAD] for opening in self._by_opening if len(opening) >= _HEAD}

    def find(self, saved: SavedProblem, taken: set[int]) -> Problem | None:
        question = saved.question
        # Prompts have thousands of words, and hardly one of them begins a row's text.
        starts = [0, *(match.end() for match in _STARTS.finditer(question))]
        heads = self._heads
        likely = [start for start in starts if question[start : start + _HEAD] in heads]
        openings = {question[start : start + size] for start in likely for size in self._long_sizes}
        openings |= {question[start : start + size] for start in starts for size in self._short_sizes}
        found = {
            problem.id: problem
            for opening in openings & self._by_opening.keys()
            for problem in self._by_opening[opening]
            if problem.id not in taken
        }
        fitting = [problem for problem in found.values() if all(text in question for text in self._texts[problem.id])]
        for worth in (self._end, self._shows_prompt, self._shows_options):
            best = max((worth(saved, problem) for problem in fitting), default=(0, 0))
            fitting = [problem for problem in fitting if worth(saved, problem) == best]
        kinds = {
            (problem.row_texts, problem.row_options, problem.choices, *_beside_the_words(problem))
            for problem in fitting
        }
        return fitting[0] if len(kinds) == 1 else None

    def _end(self, saved: SavedProblem, problem: Problem) -> tuple[int, int]:
        """Solved examples stand before the question, and a longer text may contain a shorter one."""
        texts = self._texts[problem.id]
        return saved.question.rfind(texts[0]) + len(texts[0]), sum(map(len, texts))

    def _shows_prompt(self, saved: SavedProblem, problem: Problem) -> tuple[int, int]:
        return int(bool(problem.messages) and plain(problem.messages[-1].words) in saved.question), 0

    def _shows_options(self, saved: SavedProblem, problem: Problem) -> tuple[int, int]:
        """All options in their order, or at least all; and how much of them."""
        options = self._options[problem.id]
        if saved.options:
            listed = [plain(option) for option in saved.options]
            return (2 if listed == options else int(sorted(listed) == sorted(options))), 0
        places = [saved.question.find(option) for option in options]
        if -1 in places:
            return 0, 0
        end = 0
        for option in options:
            place = saved.question.find(option, end)
            if place < 0:
                return 1, sum(map(len, options))
            end = place + len(option)
        return 2, sum(map(len, options))


_SEPARATORS = re.compile(r"[\s/_:-]+")
_NUMBER = re.compile(r"\d+$")

RowPlaces = Sequence[Problem | None]
"""For each problem of the file, that of the dataset."""


@dataclass(frozen=True, slots=True)
class Way:
    """One way to find a problem's row."""

    title: str
    places: RowPlaces

    by_names: bool = False
    """Whether the ids are words that no other dataset's rows have."""

    @property
    def missing(self) -> int:
        return self.places.count(None)

    @property
    def numbers(self) -> tuple[int | None, ...]:
        return tuple(None if place is None else place.id for place in self.places)

    @property
    def fits(self) -> bool:
        """Whether every problem of the file has a row of its own."""
        return not self.missing and len(set(self.numbers)) == len(self.places)


def ways_by_id(saved: Sequence[SavedProblem], problems: Sequence[Problem], *, own: bool) -> Iterator[Way]:
    """`own`: the ids are those of this program."""
    if not all(problem.id for problem in saved):
        return
    positions = [[str(int(one.id))] if one.id.isdecimal() else [] for one in saved]
    by_id = [(str(problem.id), problem) for problem in problems]
    if own:
        yield _by(positions, "positions in the run's order", by_id)
        return
    rows = [(str(problem.row), problem) for problem in problems if problem.row is not None]
    yield _by(positions, "positions in the data file", rows)
    yield _by(positions, "positions in the order of a run of this program", by_id)
    keys = [[key_form(one.id), *([key_form(f"{one.part}/{one.id}")] if one.part else [])] for one in saved]
    named = [(key_form("/".join(row.key)), row) for row in problems if row.key]
    of_rows = _by(keys, "the rows' own ids", named)
    yield replace(of_rows, by_names=not all(form.isdecimal() for form, _ in named))
    numbers = [[str(int(number[0]))] if (number := _NUMBER.search(one.id)) else [] for one in saved]
    yield _by(numbers, "numbers in the rows' own ids", list(_numbered(problems)))
    yield _by(positions, "positions in the dataset", [(str(place), row) for place, row in enumerate(problems)])
    yield _by(positions, "positions from 1", [(str(place), row) for place, row in enumerate(problems, start=1)])
    in_parts = [
        [f"{key_form(one.part)}/{position}" for position in found] for one, found in zip(saved, positions, strict=True)
    ]
    yield _by(in_parts, "positions in their part", list(_in_parts(problems)))


def _by(forms: Sequence[Sequence[str]], title: str, rows: Sequence[tuple[str, Problem]]) -> Way:
    """By equal ids. `forms`: how the row of each problem may be called; an id of two rows finds neither."""
    counts = Counter(form for form, _ in rows)
    table = {form: problem for form, problem in rows if counts[form] == 1}
    return Way(title, [next((table[form] for form in names if form in table), None) for names in forms])


def _in_parts(problems: Iterable[Problem]) -> Iterator[tuple[str, Problem]]:
    sizes: Counter[str] = Counter()
    for problem in problems:
        if problem.category:
            yield f"{key_form(problem.category)}/{sizes[problem.category]}", problem
            sizes[problem.category] += 1


def key_form(text: str) -> str:
    """An id whatever its capitals and what stands between its words."""
    return _SEPARATORS.sub("/", text.strip()).casefold()


def _numbered(problems: Iterable[Problem]) -> Iterator[tuple[str, Problem]]:
    for problem in problems:
        if len(problem.key) == 1 and (number := _NUMBER.search(problem.key[0])):
            yield str(int(number[0])), problem


_SHOWN = 3
"""How many problems a sentence names."""

_REWORDED, _CHANGED = 0.1, 0.01
"""The greatest shares of problems that may be of another edition: in hardly other words with the same right answer, or
with options or a right answer of the file's own. One always may."""
_BY_WORDS, _BY_ANSWERS = 0.5, 0.9
"""The least shares of a file's problems that have to be known as rows of the dataset, so that the others are the
exception: by their questions or the rows' own ids; by right answers, which may be the same by chance."""


class NotInDataset(BadData):
    """Problems of a file that are none of the dataset's."""


class Joined(NamedTuple):
    """For each problem of a file its problem in the dataset, and what a reader has to know of that."""

    problems: list[Problem | None]
    notes: tuple[str, ...] = ()
    strangers: tuple[str, ...] = ()
    """For each problem that has none, why."""


def join(name: str, saved: Sequence[SavedProblem], prepared: PreparedDataset, *, own: bool = False) -> Joined:
    """Finds the problems of the file `name` in the dataset. `own`: the ids are those of this program.

    Of a file whose problems are all in the dataset but for a few, those few have no place.
    """
    sound = [problem for problem in saved if not problem.odd]
    # Several kinds of ids often say the same of all problems.
    by_places = {way.numbers: way for way in reversed([*ways_by_id(sound, prepared.problems, own=own)])}
    ways = [_Check(way, sound, prepared) for way in reversed(by_places.values())]
    agreeing = [check for check in ways if check.agrees]
    if not agreeing and not own and any(problem.question for problem in sound):
        ways.append(_Check(Way("equal questions", by_question(sound, prepared.problems)), sound, prepared))
        agreeing = [check for check in ways if check.agrees]
    chosen = min(agreeing, key=lambda check: len(check.contradictions)) if agreeing else _best_part(ways, own=own)
    if chosen is None:
        raise _refusal(name, sound, prepared, ways)
    others = [check.way for check in agreeing if check.way.places != chosen.way.places]
    if others and not chosen.shows_all:
        raise BadData(
            f"The ids of {name} can be read as {chosen.way.title} and as {others[0].title} of {prepared.task.name}, "
            "which are different problems: add the question to every reply."
        )
    places, reasons = iter(chosen.places), chosen.reasons(prepared.task.name)
    problems = [None if problem.odd else next(places) for problem in saved]
    strangers = (
        f"problem {one.title}: {one.odd or next(reasons)}"
        for one, place in zip(saved, problems, strict=True)
        if place is None
    )
    return Joined(problems, chosen.notes(prepared.task.name), tuple(strangers))


class _Check:
    """A way, and what the file's questions, options and right answers say of it."""

    def __init__(self, way: Way, saved: Sequence[SavedProblem], prepared: PreparedDataset) -> None:
        self.way = way
        parts = {key_form(problem.category) for problem in prepared.problems if problem.category}
        self._findings = [
            None
            if place is None
            else _other_part(one, place, parts) or agreement.check(one, place, prepared.task.of(place))
            for one, place in zip(saved, way.places, strict=True)
        ]
        self.contradictions = [finding for finding in self._findings if isinstance(finding, Contradiction)]
        self._editions = self._known_editions(saved, prepared)
        self.agrees = way.fits and len(self._editions) == len(self.contradictions)
        self.shows_all = all(finding == "question" for finding in self._findings)
        """Whether every problem's question is its row's."""
        self.places = list(self._places())

    def _known_editions(self, saved: Sequence[SavedProblem], prepared: PreparedDataset) -> dict[int, Problem]:
        """Id of the row → the problem as the file has it; none if these are so many that it is another dataset."""
        if len(self.contradictions) > max(1, _REWORDED * len(saved)):
            return {}
        pairs = [
            (place, agreement.edition(one, place, prepared.task.of(place)))
            for one, place, finding in zip(saved, self.way.places, self._findings, strict=True)
            if place is not None and isinstance(finding, Contradiction) and finding.what != "part"
        ]
        found = {place.id: edition for place, edition in pairs if edition is not None}
        changed = sum(edition is not None and edition != place for place, edition in pairs)
        return found if changed <= max(1, _CHANGED * len(saved)) else {}

    def _places(self) -> Iterator[Problem | None]:
        """The rows that nothing in the file contradicts, each for the first problem that is found to be it."""
        taken: set[int] = set()
        for place, finding in zip(self.way.places, self._findings, strict=True):
            fits = place is not None and (not isinstance(finding, Contradiction) or place.id in self._editions)
            if place is None or not fits or place.id in taken:
                yield None
                continue
            taken.add(place.id)
            yield self._editions.get(place.id, place)

    def reasons(self, task: str) -> Iterator[str]:
        """Why a problem has no place, for each of these."""
        for found, place, finding in zip(self.places, self.way.places, self._findings, strict=True):
            if found is None and isinstance(finding, Contradiction):
                yield f"it has the {finding.what} {finding.file!r} in the file and {finding.row!r} in {task}"
            elif found is None:
                yield f"{task} has no such problem" if place is None else f"{task} has it once, the file twice"

    @property
    def is_of_the_dataset(self) -> bool:
        """Whether so many problems are known as rows that the others are the exception."""
        known = [finding for found, finding in zip(self.places, self._findings, strict=True) if found is not None]
        by_words = len(known) if self.way.by_names else known.count("question")
        by_answers = by_words + known.count("right answer")
        count = len(self._findings)
        return by_words >= _BY_WORDS * count > 0 or by_answers >= _BY_ANSWERS * count > 0

    def notes(self, task: str) -> tuple[str, ...]:
        """What the file says otherwise where it is joined all the same."""
        if not self._editions:
            return ()
        first = self.contradictions[0]
        sentence = (
            f"{len(self._editions):,} of the problems are of another edition in the file than in {task}, and are "
            f"judged as the file has them, such as problem {first.problem}: {first.what} {first.file!r} and not "
            f"{first.row!r}."
        )
        return (sentence,)


def _best_part(ways: Sequence[_Check], *, own: bool) -> _Check | None:
    """The way that places most problems, if these are nearly all. Two that place as many are two datasets."""
    placed = {check: len(check.places) - check.places.count(None) for check in ways if check.is_of_the_dataset}
    if own or not placed:
        return None
    best, *others = [check for check, count in placed.items() if count == max(placed.values())]
    return None if any(check.places != best.places for check in others) else best


def _other_part(saved: SavedProblem, problem: Problem, parts: Collection[str]) -> Contradiction | None:
    """Files call parts as they like, but what is the name of a part means it."""
    own, named = key_form(problem.category or ""), key_form(saved.part)
    if named not in parts or named == own:
        return None
    return Contradiction(problem=saved.title, what="part", file=saved.part, row=problem.category or "")


def _refusal(name: str, saved: Sequence[SavedProblem], prepared: PreparedDataset, ways: Sequence[_Check]) -> BadData:
    fitting = [check for check in ways if check.way.fits]
    if not fitting:
        most = min((check.way for check in ways), key=lambda way: way.missing, default=Way("ids", [None] * len(saved)))
        return NotInDataset(_not_found(name, saved, prepared, most))
    least = min(fitting, key=lambda check: len(check.contradictions))
    shown = "; ".join(
        f"problem {one.problem} has the {one.what} {one.file!r} in the file and {one.row!r} in the dataset"
        for one in islice(least.contradictions, _SHOWN)
    )
    return BadData(
        f"{len(least.contradictions):,} of {len(saved):,} problems of {name}, joined by {least.way.title}, contradict "
        f"{prepared.task.name}: {shown}. Name the dataset that was asked with --task, or give its rows with --data-dir."
    )


def _not_found(name: str, saved: Sequence[SavedProblem], prepared: PreparedDataset, way: Way) -> str:
    missing = [one.title for one, place in zip(saved, way.places, strict=True) if place is None]
    size, task = len(prepared.problems), prepared.task
    if not missing:  # two problems of the file are one of the dataset
        numbers = Counter(place.id for place in way.places if place is not None)
        number, count = numbers.most_common(1)[0]
        names = [one.title for one, place in zip(saved, way.places, strict=True) if place and place.id == number]
        return f"{count} problems of {name} are one and the same of {task.name}: {', '.join(names[:_SHOWN])}."
    named = ", ".join(missing[:_SHOWN])
    first, last = prepared.problems[0], prepared.problems[-1]
    own = f"its ids are '{'/'.join(first.key)}' to '{'/'.join(last.key)}', or " if first.key else ""
    return (
        f"{len(missing):,} of {len(saved):,} problems of {name} are not in {task.name}, such as {named}: "
        f"{own}positions from 0 to {size - 1:,}, or the questions themselves."
    )
