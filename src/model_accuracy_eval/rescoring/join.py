"""The problems of a file → those of a dataset: by the rows' own ids, by position, or by equal questions.

Every way is tried. One that places all problems of the file is taken if nothing in the file contradicts it: a question
must show the row's text, a right answer must be the row's. Else the way that places nearly all of them is, and the
others have no place; a file most of whose problems have none is of another dataset, and refused. Datasets are corrected
now and then, so a few problems may be of another edition; they are judged as the file has them.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import PreparedDataset, Problem, Record, TaskSpec
from model_accuracy_eval.rescoring import agreement
from model_accuracy_eval.rescoring.agreement import Contradiction, by_question
from model_accuracy_eval.rescoring.saved_replies import SavedProblem

_SEPARATORS = re.compile(r"[\s/_:-]+")
_NUMBER = re.compile(r"\d+$")

RowPlaces = Sequence[Problem | None]
"""For each problem of the file, that of the dataset."""
FoundRows = tuple[str, RowPlaces]
"""What problems are found by, and where."""
_OWN_IDS = "the rows' own ids"


def found_by_id(saved: Sequence[SavedProblem], problems: Sequence[Problem], *, own: bool) -> Iterator[FoundRows]:
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
    yield _by(keys, _OWN_IDS, named)
    numbers = [[str(int(number[0]))] if (number := _NUMBER.search(one.id)) else [] for one in saved]
    yield _by(numbers, "numbers in the rows' own ids", list(_numbered(problems)))
    yield _by(positions, "positions in the dataset", [(str(place), row) for place, row in enumerate(problems)])
    yield _by(positions, "positions from 1", [(str(place), row) for place, row in enumerate(problems, start=1)])
    in_parts = [
        [f"{key_form(one.part)}/{position}" for position in found] for one, found in zip(saved, positions, strict=True)
    ]
    yield _by(in_parts, "positions in their part", list(_in_parts(problems)))


def _by(forms: Sequence[Sequence[str]], title: str, rows: Sequence[tuple[str, Problem]]) -> FoundRows:
    """By equal ids. `forms`: how the row of each problem may be called; an id of two rows finds neither."""
    counts = Counter(form for form, _ in rows)
    table = {form: problem for form, problem in rows if counts[form] == 1}
    return title, [next((table[form] for form in names if form in table), None) for names in forms]


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
    by_ids = list(found_by_id(sound, prepared.problems, own=own))
    by_places = {tuple(place and place.id for place in places): (title, places) for title, places in reversed(by_ids)}
    ways = [Way(*found, sound, prepared) for found in reversed(by_places.values())]
    agreeing = [way for way in ways if way.agrees]
    if not agreeing and not own and any(problem.question for problem in sound):
        ways.append(Way("equal questions", by_question(sound, prepared.problems), sound, prepared))
        agreeing = [way for way in ways if way.agrees]
    chosen = min(agreeing, key=lambda way: len(way.contradictions)) if agreeing else _best_part(ways, own=own)
    if chosen is None:
        raise _refusal(name, sound, prepared, ways)
    others = [way for way in agreeing if way.rows != chosen.rows]
    if others and not chosen.shows_all:
        raise BadData(
            f"The ids of {name} can be read as {chosen.title} and as {others[0].title} of {prepared.task.name}, "
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


class Way:
    """One way to find the problems' rows, and what the file's questions, options and right answers say of it."""

    def __init__(self, title: str, rows: RowPlaces, saved: Sequence[SavedProblem], prepared: PreparedDataset) -> None:
        self.title = title
        self.rows = rows
        # Ids that are words are those of no other dataset's rows.
        self._by_names = title == _OWN_IDS and not all(
            key_form("/".join(row.key)).isdecimal() for row in prepared.problems if row.key
        )
        self.missing = rows.count(None)
        self.fits = not self.missing and len({row.id for row in rows if row}) == len(rows)
        """Whether every problem of the file has a row of its own."""
        parts = {key_form(problem.category) for problem in prepared.problems if problem.category}
        self._findings = [
            None if row is None else _other_part(one, row, parts) or agreement.check(one, row, prepared.task.of(row))
            for one, row in zip(saved, rows, strict=True)
        ]
        self.contradictions = [finding for finding in self._findings if isinstance(finding, Contradiction)]
        self._editions = self._known_editions(saved, prepared)
        self.agrees = self.fits and len(self._editions) == len(self.contradictions)
        self.shows_all = all(finding == "question" for finding in self._findings)
        """Whether every problem's question is its row's."""
        self.places = list(self._places())

    def _known_editions(self, saved: Sequence[SavedProblem], prepared: PreparedDataset) -> dict[int, Problem]:
        """Id of the row → the problem as the file has it; none if these are so many that it is another dataset."""
        if len(self.contradictions) > max(1, _REWORDED * len(saved)):
            return {}
        pairs = [
            (place, agreement.edition(one, place, prepared.task.of(place)))
            for one, place, finding in zip(saved, self.rows, self._findings, strict=True)
            if place is not None and isinstance(finding, Contradiction) and finding.what != "part"
        ]
        found = {place.id: edition for place, edition in pairs if edition is not None}
        changed = sum(edition is not None and edition != place for place, edition in pairs)
        return found if changed <= max(1, _CHANGED * len(saved)) else {}

    def _places(self) -> Iterator[Problem | None]:
        """The rows that nothing in the file contradicts, each for the first problem that is found to be it."""
        taken: set[int] = set()
        for place, finding in zip(self.rows, self._findings, strict=True):
            fits = place is not None and (not isinstance(finding, Contradiction) or place.id in self._editions)
            if place is None or not fits or place.id in taken:
                yield None
                continue
            taken.add(place.id)
            yield self._editions.get(place.id, place)

    def reasons(self, task: str) -> Iterator[str]:
        """Why a problem has no place, for each of these."""
        for found, place, finding in zip(self.places, self.rows, self._findings, strict=True):
            if found is None and isinstance(finding, Contradiction):
                yield f"it has the {finding.what} {finding.file!r} in the file and {finding.row!r} in {task}"
            elif found is None:
                yield f"{task} has no such problem" if place is None else f"{task} has it once, the file twice"

    @property
    def is_of_the_dataset(self) -> bool:
        """Whether so many problems are known as rows that the others are the exception."""
        known = [finding for found, finding in zip(self.places, self._findings, strict=True) if found is not None]
        by_words = len(known) if self._by_names else known.count("question")
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


def _best_part(ways: Sequence[Way], *, own: bool) -> Way | None:
    """The way that places most problems, if these are nearly all. Two that place as many are two datasets."""
    placed = {way: len(way.places) - way.places.count(None) for way in ways if way.is_of_the_dataset}
    if own or not placed:
        return None
    best, *others = [way for way, count in placed.items() if count == max(placed.values())]
    return None if any(way.places != best.places for way in others) else best


def _other_part(saved: SavedProblem, problem: Problem, parts: Collection[str]) -> Contradiction | None:
    """Files call parts as they like, but what is the name of a part means it."""
    own, named = key_form(problem.category or ""), key_form(saved.part)
    if named not in parts or named == own:
        return None
    return Contradiction(problem=saved.title, what="part", file=saved.part, row=problem.category or "")


def _refusal(name: str, saved: Sequence[SavedProblem], prepared: PreparedDataset, ways: Sequence[Way]) -> BadData:
    fitting = [way for way in ways if way.fits]
    if not fitting:
        most = min(ways, key=lambda way: way.missing, default=None)
        return NotInDataset(_not_found(name, saved, prepared, most.rows if most else [None] * len(saved)))
    least = min(fitting, key=lambda way: len(way.contradictions))
    shown = "; ".join(
        f"problem {one.problem} has the {one.what} {one.file!r} in the file and {one.row!r} in the dataset"
        for one in islice(least.contradictions, _SHOWN)
    )
    return BadData(
        f"{len(least.contradictions):,} of {len(saved):,} problems of {name}, joined by {least.title}, contradict "
        f"{prepared.task.name}: {shown}. Name the dataset that was asked with --task, or give its rows with --data-dir."
    )


def _not_found(name: str, saved: Sequence[SavedProblem], prepared: PreparedDataset, rows: RowPlaces) -> str:
    missing = [one.title for one, place in zip(saved, rows, strict=True) if place is None]
    size, task = len(prepared.problems), prepared.task
    if not missing:  # two problems of the file are one of the dataset
        numbers = Counter(place.id for place in rows if place is not None)
        number, count = numbers.most_common(1)[0]
        names = [one.title for one, place in zip(saved, rows, strict=True) if place and place.id == number]
        return f"{count} problems of {name} are one and the same of {task.name}: {', '.join(names[:_SHOWN])}."
    named = ", ".join(missing[:_SHOWN])
    first, last = prepared.problems[0], prepared.problems[-1]
    own = f"its ids are '{'/'.join(first.key)}' to '{'/'.join(last.key)}', or " if first.key else ""
    return (
        f"{len(missing):,} of {len(saved):,} problems of {name} are not in {task.name}, such as {named}: "
        f"{own}positions from 0 to {size - 1:,}, or their questions, in a field that --map names as `question`."
    )


# Which problems of a dataset the figures of a file are of: all, the first ones, whole parts, or those it holds.


class Coverage(Record, frozen=True, kw_only=True):
    """The problems to judge. `first`: if they are what a run with `--first` asks."""

    problems: Sequence[Problem]
    first: int | None = None
    notes: tuple[str, ...] = ()


def coverage(
    name: str,
    task: TaskSpec,
    problems: Sequence[Problem],
    held: Collection[int],
    *,
    wanted: PreparedDataset | None,
    subset: bool,
    unplaced: int = 0,
) -> Coverage:
    """The problems that the figures are of.

    `held`: ids of the problems that the file holds; `unplaced`: how many more it holds of which nobody knows which ones
    they are: the first ones that its parts lack, most likely. Those that are `wanted` count, whether the file holds
    them or not; with `subset` those that it holds. Otherwise it is the whole dataset, unless the file holds its first
    problems and no others, or whole parts of it (subjects, languages) and nothing of others: then these were asked.
    """
    if subset and wanted is None:
        chosen = tuple(problem for problem in problems if problem.id in held)
        return Coverage(problems=chosen, notes=(_of_these(len(chosen), len(problems), "holds"),))
    own = {problem.category for problem in problems if problem.id in held}
    lacking = (problem.id for problem in problems if problem.id not in held and problem.category in own)
    held = {*held, *islice(lacking, unplaced)}
    if wanted is not None:
        return _wanted(name, task, wanted, held)
    parts = {problem.category for problem in problems if problem.id in held}
    of_parts = [problem for problem in problems if problem.category in parts]
    names = {problem.category for problem in problems}
    notes: list[str] = []
    if len(parts) < len(names):
        named = sorted(filter(None, parts))
        shown = ", ".join(named[:5]) + (" and others" if len(named) > 5 else "")
        of = f"the figures are of their {len(of_parts):,} problems."
        notes.append(f"The file holds {len(parts):,} of {len(names):,} parts ({shown}): {of}")
    chosen = _first_of(of_parts, held) or tuple(of_parts)
    if len(chosen) == len(of_parts):
        return Coverage(problems=chosen, notes=(*notes, *_lacking(chosen, held)))
    notes.append(_of_these(len(chosen), len(of_parts), "holds the first"))
    prefix = len(of_parts) == len(problems) and chosen == tuple(problems[: len(chosen)])
    return Coverage(problems=chosen, first=len(chosen) if prefix else None, notes=tuple(notes))


def _wanted(name: str, task: TaskSpec, wanted: PreparedDataset, held: Collection[int]) -> Coverage:
    chosen = wanted.problems
    others = len(held) - sum(problem.id in held for problem in chosen)
    if others == len(held):
        raise BadData(f"{name} holds none of the {len(chosen):,} problems of {task.name} ({wanted.draw}).")
    left_out = f"{others:,} problems of the file are left out: they are not among {wanted.draw}."
    return Coverage(problems=chosen, notes=(*([left_out] if others else []), *_lacking(chosen, held)))


def _first_of(problems: Sequence[Problem], held: Collection[int]) -> tuple[Problem, ...]:
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


def _of_these(chosen: int, size: int, holds: str) -> str:
    return f"The file {holds} {chosen:,} of {size:,} problems: the figures are of these {chosen:,}."


def _lacking(problems: Sequence[Problem], held: Collection[int]) -> Iterator[str]:
    lacking = sum(problem.id not in held for problem in problems)
    if lacking:
        yield (
            f"{lacking:,} of {len(problems):,} problems are not in the file, and their samples count as not correct; "
            "--subset judges those alone that it holds."
        )
