"""Whether what a file says of a problem is what the dataset's row says: its question, options and right answer; and
which row a question shows."""

import re
from collections.abc import Iterator, Sequence
from difflib import SequenceMatcher
from string import ascii_uppercase
from typing import Literal

from msgspec.structs import replace

from model_accuracy_eval.records import Problem, Record, TaskSpec
from model_accuracy_eval.rescoring.saved_replies import SavedProblem, plain
from model_accuracy_eval.scoring.answers.stated_numbers import as_number
from model_accuracy_eval.scoring.metrics.metric_table import metric, metric_uses
from model_accuracy_eval.tasks.prompts import after

_SHOWN = 30
"""How many characters a sentence shows before and after the first difference of two values."""
_ALIKE = 0.9
"""The least share of characters that two editions of one question have in common."""
_LONG, _RUN = 100, 4
"""More letters than this are compared in runs of so many."""


class Contradiction(Record, frozen=True, kw_only=True):
    """A value of the file that is not the row's."""

    problem: str
    what: str
    file: str
    row: str


Agreement = Literal["question", "right answer", "nothing"]
"""What of a problem in the file is known to be the row's."""


def check(saved: SavedProblem, problem: Problem, task: TaskSpec) -> Contradiction | Agreement:
    shown = _shows(saved, problem)
    if shown is False:
        return _contradiction(saved, "question", saved.question, problem.row_texts[0])
    if not _has_options(saved, problem):
        return _contradiction(saved, "options", " / ".join(saved.options), " / ".join(problem.choices))
    is_right = _is_right(saved, with_options(problem, saved.options, task), task)
    if is_right is False:
        return _contradiction(saved, "right answer", " / ".join(saved.gold), " / ".join(problem.right))
    return "question" if shown else "right answer" if is_right else "nothing"


def _has_options(saved: SavedProblem, problem: Problem) -> bool:
    listed = [options for options in (problem.choices, problem.row_options) if options]
    return not (saved.options and listed) or any(_order(saved.options, options) is not None for options in listed)


def edition(saved: SavedProblem, problem: Problem, task: TaskSpec) -> Problem | None:
    """The problem as the file has it, if it is the row before or after a correction: hardly another question, and the
    same right answer, or options and right answer of its own."""
    if not (saved.question and problem.row_texts and _are_alike(saved.question, problem.row_texts[0])):
        return None
    if _has_options(saved, problem) and _is_right(saved, with_options(problem, saved.options, task), task):
        return problem
    letters = task.kind == "generate" and all(len(text) == 1 and text in ascii_uppercase for text in problem.references)
    places = _places(saved.gold, replace(problem, choices=saved.options))
    if not (letters and saved.options and len(places) == 1 and max(places) < len(saved.options)):
        return None
    return replace(problem, choices=saved.options, references=(ascii_uppercase[places.pop()],))


def _contradiction(saved: SavedProblem, what: str, file: str, row: str) -> Contradiction:
    texts = plain(file), plain(row)
    same = _shared(*texts)
    shown = [text[max(0, same - _SHOWN) : same + _SHOWN] for text in texts]
    return Contradiction(problem=saved.title, what=what, file=shown[0], row=shown[1])


def _shared(text: str, other: str) -> int:
    """How many first characters two texts have in common."""
    pairs = enumerate(zip(text, other, strict=False))
    return next((place for place, (one, another) in pairs if one != another), min(len(text), len(other)))


def _are_alike(text: str, other: str) -> bool:
    """Blanks do not count. Compared is what lies between the first and the last difference: letter by letter, or by
    runs of letters where that is long, because it would take seconds."""
    texts = ["".join(each.split()) for each in (text, other)]
    begin = _shared(*texts)
    rests = [each[begin:] for each in texts]
    end = _shared(*(each[::-1] for each in rests))
    middles = [each[: len(each) - end] for each in rests]
    size = 1 if max(map(len, middles)) <= _LONG else _RUN
    runs, others = ([middle[at : at + size] for at in range(len(middle) - size + 1)] for middle in middles)
    blocks = SequenceMatcher(None, runs, others, autojunk=False).get_matching_blocks()
    same = begin + end + sum(block.size + size - 1 for block in blocks if block.size)
    return 2 * same >= _ALIKE * sum(map(len, texts))


def _shows(saved: SavedProblem, problem: Problem) -> bool | None:
    """Whether the file's question is the row's, or contains it; None if one of them is not known."""
    if not saved.question or not problem.row_texts:
        return None
    texts = [plain(text) for text in problem.row_texts]
    asked = problem.messages[-1].words if problem.messages else problem.text
    return texts[0] in saved.question or saved.question in texts or saved.question in plain(asked)


def _order(options: Sequence[str], choices: Sequence[str]) -> tuple[int, ...] | None:
    """The place among the row's options of each of the file's; None if they are other options."""
    theirs, ours = [plain(text) for text in options], [plain(text) for text in choices]
    if theirs == ours:
        return tuple(range(len(ours)))
    if sorted(theirs) != sorted(ours) or len(set(ours)) < len(ours):
        return None
    return tuple(ours.index(text) for text in theirs)


def with_options(problem: Problem, options: Sequence[str], task: TaskSpec) -> Problem:
    """The problem with its options in the order in which the model saw them: programs may have shuffled them."""
    order = _order(options, problem.choices) if options and problem.choices else None
    if order is None or order == tuple(range(len(order))) or task.kind != "generate":
        return problem
    letters = tuple(
        ascii_uppercase[order.index(ascii_uppercase.index(letter))]
        if len(letter) == 1 and letter in ascii_uppercase[: len(order)]
        else letter
        for letter in problem.references
    )
    return replace(problem, choices=tuple(problem.choices[place] for place in order), references=letters)


def _is_right(saved: SavedProblem, problem: Problem, task: TaskSpec) -> bool | None:
    """Whether the file's right answer is the row's; None if the file has none, or nothing that could be compared."""
    if not saved.gold:
        return None
    right = {plain(text) for text in (*problem.references, *problem.right)}
    numbers = {as_number(text) for text in right} - {None}
    for text in map(plain, saved.gold):
        last = after(text, "####") if "####" in text else text
        if last in right or text in right or as_number(last) in numbers:
            return True
    if problem.choices:
        letters = {text for text in problem.references if len(text) == 1 and text in ascii_uppercase}
        return bool(_places(saved.gold, problem) & {*problem.gold, *map(ascii_uppercase.index, letters)})
    # Where answers are not compared with the reference, files may call anything their right answer.
    others = {"findings", "answers in their problem"}
    compared = task.kind != "rolling" and all(metric(use.name).reads not in others for use in metric_uses(task))
    return False if compared else None


def _places(gold: Sequence[str], problem: Problem) -> set[int]:
    """What a right answer may mean: a letter, a position from 0 or from 1, or an option's text."""
    choices = [plain(text) for text in problem.choices]
    places: set[int] = set()
    for text in map(plain, gold):
        bare = text.strip("()").upper()
        if len(bare) == 1 and bare in ascii_uppercase:
            places.add(ascii_uppercase.index(bare))
        elif text.isdecimal():
            places |= {int(text), int(text) - 1}
        places |= {place for place, choice in enumerate(choices) if choice == text}
    return places


# Rows by the questions that show them.


_OPENINGS = (256, 128, 64, 32, 16, 8, 4, 2, 1)
"""A row is looked up by so many first characters of its longest text, as many as it has: many questions begin alike."""
_HEAD = 8
_STARTS = re.compile(r" |(?<=\W)")
"""Where a text may begin inside of a question."""


def by_question(saved: Sequence[SavedProblem], problems: Sequence[Problem]) -> list[Problem | None]:
    """For each problem of a file the row whose texts its question contains; None if there is none, or several that
    differ. Rows that equal each other are taken in their order; what the file asks more often gets the same row."""
    index = _QuestionIndex(problems)
    taken: set[int] = set()
    places = []
    for one in saved:
        place = index.find(one, taken) or index.find(one, set())
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
