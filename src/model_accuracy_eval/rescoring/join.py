"""The problems of a file → those of a dataset: by the rows' own ids, by position, or by equal questions.

Every way is tried. One that places all problems of the file is taken if nothing in the file contradicts it: a question
must show the row's text, a right answer must be the row's. What cannot be placed, or only in contradiction, is refused.
Datasets are corrected now and then, so a few problems may be of another edition; they are judged as the file has them.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import NamedTuple

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import PreparedDataset, Problem, Record, TaskSpec
from model_accuracy_eval.rescoring import agreement
from model_accuracy_eval.rescoring.agreement import Contradiction
from model_accuracy_eval.rescoring.saved_replies import SavedProblem, plain

_OPENINGS = (32, 16, 8, 4, 2, 1)
"""A row is looked up by so many first characters of its longest text."""
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
        self._sizes = sorted({len(opening) for opening in self._by_opening}, reverse=True)

    def find(self, saved: SavedProblem, taken: set[int]) -> Problem | None:
        question = saved.question
        found = {
            problem.id: problem
            for start in [0, *(match.end() for match in _STARTS.finditer(question))]
            for size in self._sizes
            for problem in self._by_opening.get(question[start : start + size], ())
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

    @property
    def missing(self) -> int:
        return self.places.count(None)

    @property
    def fits(self) -> bool:
        """Whether every problem of the file has a row of its own."""
        numbers = [place.id for place in self.places if place is not None]
        return len(set(numbers)) == len(self.places)


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
    yield _by(keys, "the rows' own ids", [(key_form("/".join(row.key)), row) for row in problems if row.key])
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


class NotInDataset(BadData):
    """Problems of a file that are none of the dataset's."""


class Joined(NamedTuple):
    """For each problem of a file its problem in the dataset, and what a reader has to know of that."""

    problems: list[Problem]
    notes: tuple[str, ...]


def join(name: str, saved: Sequence[SavedProblem], prepared: PreparedDataset, *, own: bool = False) -> Joined:
    """Finds the problems of the file `name` in the dataset. `own`: the ids are those of this program."""
    ways = [_Check(way, saved, prepared) for way in ways_by_id(saved, prepared.problems, own=own)]
    agreeing = [check for check in ways if check.agrees]
    if not agreeing and not own and all(problem.question for problem in saved):
        ways.append(_Check(Way("equal questions", by_question(saved, prepared.problems)), saved, prepared))
        agreeing = [check for check in ways if check.agrees]
    if not agreeing:
        raise _refusal(name, saved, prepared, ways)
    first, *others = sorted(agreeing, key=lambda check: len(check.contradictions))
    if not first.shows_all and (
        other := next((check for check in others if check.way.places != first.way.places), None)
    ):
        raise BadData(
            f"The ids of {name} can be read as {first.way.title} and as {other.way.title} of {prepared.task.name}, "
            "which are different problems: add the question to every reply."
        )
    problems = [first.editions.get(place.id, place) for place in first.way.places if place is not None]
    return Joined(problems, tuple(first.notes(prepared.task.name)))


class _Check:
    """A way, and what the file's questions, options and right answers say of it."""

    def __init__(self, way: Way, saved: Sequence[SavedProblem], prepared: PreparedDataset) -> None:
        self.way = way
        pairs = [(one, place) for one, place in zip(saved, way.places, strict=True) if place is not None]
        parts = {key_form(problem.category) for problem in prepared.problems if problem.category}
        findings = [
            _other_part(*pair, parts) or agreement.check(*pair, prepared.task.of(pair[1]))
            for pair in (pairs if way.fits else ())
        ]
        self.contradictions = [finding for finding in findings if isinstance(finding, Contradiction)]
        self.editions = {finding.edition.id: finding.edition for finding in self.contradictions if finding.edition}
        rows = {place.id: place for _, place in pairs}
        changed = sum(edition != rows[number] for number, edition in self.editions.items())
        few = changed <= max(1, _CHANGED * len(saved)) and len(self.editions) <= max(1, _REWORDED * len(saved))
        self.agrees = way.fits and few and len(self.editions) == len(self.contradictions)
        self.shows_all = all(finding is True for finding in findings)
        """Whether every problem's question is its row's."""

    def notes(self, task: str) -> Iterator[str]:
        """What the file says otherwise where it is joined all the same."""
        if count := len(self.contradictions):
            first = self.contradictions[0]
            yield (
                f"{count:,} of the problems are of another edition in the file than in {task}, and are judged as the "
                f"file has them, such as problem {first.problem}: {first.what} {first.file!r} and not {first.row!r}."
            )


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


class Coverage(Record, frozen=True, kw_only=True):
    """The problems to judge. `limit`: if they are what a run with that limit asks."""

    problems: Sequence[Problem]
    limit: int | None = None
    notes: tuple[str, ...] = ()


def coverage(
    name: str, task: TaskSpec, problems: Sequence[Problem], held: Collection[int], *, limit: int | None, subset: bool
) -> Coverage:
    """The problems that the figures are of.

    `held`: ids of the problems that the file holds. With a `limit` the first ones count, whether the file holds them or
    not; with `subset` those that it holds. Otherwise it is the whole dataset, unless the file holds its first problems
    and no others, or whole parts of it (subjects, languages) and nothing of others: then these were asked.
    """
    if limit is not None:
        return _limited(name, task, problems, held, limit)
    if subset:
        chosen = tuple(problem for problem in problems if problem.id in held)
        return Coverage(problems=chosen, notes=_of_these(len(chosen), len(problems), "holds"))
    parts = {problem.category for problem in problems if problem.id in held}
    of_parts = [problem for problem in problems if problem.category in parts]
    names = dict.fromkeys(problem.category for problem in problems)
    notes = (
        _parts(len(parts), len(names), sorted(filter(None, parts)), len(of_parts)) if len(parts) < len(names) else ()
    )
    chosen = _first(of_parts, held) or tuple(of_parts)
    whole = len(of_parts) == len(problems)
    if len(chosen) < len(of_parts):
        shown = _of_these(len(chosen), len(of_parts), "holds the first")
        prefix = whole and chosen == tuple(problems[: len(chosen)])
        return Coverage(problems=chosen, limit=len(chosen) if prefix else None, notes=(*notes, *shown))
    return Coverage(problems=chosen, notes=(*notes, *_lacking(chosen, held)))


def _limited(name: str, task: TaskSpec, problems: Sequence[Problem], held: Collection[int], limit: int) -> Coverage:
    chosen = tuple(problems[:limit])
    others = len(held) - sum(problem.id in held for problem in chosen)
    if others == len(held):
        raise BadData(f"{name} holds none of the first {limit:,} problems of {task.name}.")
    left_out = f"{others:,} problems of the file come after the first {limit:,} and are left out (--limit)."
    return Coverage(problems=chosen, limit=limit, notes=((left_out,) if others else ()) + _lacking(chosen, held))


def _first(problems: Sequence[Problem], held: Collection[int]) -> tuple[Problem, ...]:
    """The problems that the file holds if these are the first ones, or equally many first ones of every part."""
    chosen = tuple(problem for problem in problems if problem.id in held)
    if chosen == tuple(problems[: len(chosen)]):
        return chosen
    sizes, held_sizes = (Counter(problem.category for problem in some) for some in (problems, chosen))
    most = max(held_sizes.values())
    taken: Counter[str | None] = Counter()
    for problem in problems:
        taken[problem.category] += 1
        if (problem.id in held) != (taken[problem.category] <= most):
            return ()
    return chosen if len(sizes) > 1 else ()


def _of_these(chosen: int, size: int, holds: str) -> tuple[str, ...]:
    return (f"The file {holds} {chosen:,} of {size:,} problems: the figures are of these {chosen:,}.",)


def _parts(parts: int, size: int, names: Sequence[str], problems: int) -> tuple[str, ...]:
    shown = ", ".join(names[:5]) + (" and others" if len(names) > 5 else "")
    return (f"The file holds {parts:,} of {size:,} parts ({shown}): the figures are of their {problems:,} problems.",)


def _lacking(problems: Sequence[Problem], held: Collection[int]) -> tuple[str, ...]:
    lacking = sum(problem.id not in held for problem in problems)
    if not lacking:
        return ()
    sentence = (
        f"{lacking:,} of {len(problems):,} problems are not in the file, and their samples count as not correct; "
        "--subset judges those alone that it holds."
    )
    return (sentence,)
