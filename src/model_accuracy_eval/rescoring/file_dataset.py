"""A dataset made of what a file of replies says itself: its right answers and, for letters, its options.

It serves where there is no other: for questions that nobody here knows, and for a known dataset whose rows are not on
this machine.
"""

import re
from collections.abc import Iterable, Mapping, Sequence
from string import ascii_uppercase

from msgspec.structs import replace

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Candidate, PreparedDataset, Problem, TaskSpec
from model_accuracy_eval.rescoring import choose_scoring
from model_accuracy_eval.rescoring.saved_replies import ProblemName, SavedProblem
from model_accuracy_eval.scoring.metrics.metric_table import metric, metric_uses, pipelines
from model_accuracy_eval.tasks.prompts import positions

VERSION = "-"
"""In place of a hash: nothing is known of the prompts."""
_MOST_LETTERS = 10
"""How many letters count where options are not known."""


def suits(task: TaskSpec) -> bool:
    """Whether the right answers of a file are all that judging needs."""
    return not task.parts and not task.extras and not any(metric(use.name).asks for use in metric_uses(task))


def prepared(
    name: str, saved: Mapping[ProblemName, SavedProblem], task: TaskSpec
) -> tuple[PreparedDataset, dict[ProblemName, Problem]]:
    """The dataset of the file `name`, and its problems by their names in the file."""
    ordered = sorted(saved.items(), key=lambda item: _natural_order(item[1]))
    if missing := [problem.title for _, problem in ordered if not problem.gold]:
        raise BadData(
            f"{name} has no right answer for {len(missing):,} of {len(saved):,} problems, such as '{missing[0]}': name "
            "the dataset that was asked with --task."
        )
    task = _with_known_parts(task, saved.values())
    problems = {key: _problem(name, number, problem, task) for number, (key, problem) in enumerate(ordered)}
    dataset = PreparedDataset(task=task, problems=tuple(problems.values()), version=VERSION, questions=VERSION)
    return dataset, problems


def assumptions(task: TaskSpec, problems: Iterable[SavedProblem]) -> tuple[str, ...]:
    """What a reader has to know about letters of options that are in no file."""
    if not _reads_letters(task) or all(problem.options for problem in problems):
        return ()
    last = ascii_uppercase[_MOST_LETTERS - 1]
    sentence = (
        f"The file does not list its options: a reply counts by a letter from A to {last} that it marks as "
        "its answer, never by an option's words."
    )
    return (sentence,)


def _problem(name: str, number: int, saved: SavedProblem, task: TaskSpec) -> Problem:
    problem = Problem(
        id=number,
        messages=(),
        references=saved.gold,
        choices=saved.options,
        category=saved.part or None,
    )
    if task.kind != "generate":
        return _of_loglikelihoods(name, saved, problem)
    if not _is_filtered(task):
        problem = replace(problem, references=choose_scoring.right_answers(saved.gold))
    return replace(problem, references=_letters(name, saved)) if _reads_letters(task) else problem


def _of_loglikelihoods(name: str, saved: SavedProblem, problem: Problem) -> Problem:
    """A single text has no options: what counts is its likelihood, and whether greedy decoding gives it."""
    if len(saved.options) < 2:
        texts = saved.options or saved.gold
        return replace(
            problem, choices=(), candidates=tuple(Candidate(context="", continuation=text) for text in texts)
        )
    places = [positions(text, saved.options) for text in saved.gold]
    known = [place for found in places if found for place in found if 0 <= place < len(saved.options)]
    if len(known) < len(saved.gold):
        raise BadData(
            f"{name}: the right answer {' / '.join(saved.gold)!r} of problem '{saved.title}' is none of its "
            f"{len(saved.options)} options."
        )
    return replace(problem, gold=tuple(known))


def _letters(name: str, saved: SavedProblem) -> tuple[str, ...]:
    """The right answers as letters; with known options, a text of one may stand for its letter."""
    offered = ascii_uppercase[: len(saved.options) or _MOST_LETTERS]
    letters = tuple(_letter(text.strip(), saved.options, offered) for text in saved.gold)
    if all(letter and letter in offered for letter in letters):
        return letters
    options = f"its {len(saved.options)} options" if saved.options else f"the letters A to {offered[-1]}"
    raise BadData(
        f"{name}: the right answer {' / '.join(saved.gold)!r} of problem '{saved.title}' is none of {options}."
    )


def _letter(text: str, options: Sequence[str], offered: str) -> str:
    return offered[options.index(text)] if text in options else text.strip("()").upper()


def _reads_letters(task: TaskSpec) -> bool:
    return any(step.name == "choice_letter" for pipeline in pipelines(task) for step in pipeline.filters)


def _is_filtered(task: TaskSpec) -> bool:
    """Whether the answers were read by another program, which had its own way with right answers, too."""
    return not any(pipeline.filters for pipeline in pipelines(task))


def _with_known_parts(task: TaskSpec, saved: Iterable[SavedProblem]) -> TaskSpec:
    """Without its parts if the file does not name one for each problem."""
    grouping = task.grouping
    if grouping is None:
        return task
    areas = grouping.areas
    known = grouping.by == "category" and all(one.part and (not areas or one.part in areas) for one in saved)
    return task if known else replace(task, grouping=None)


def _natural_order(saved: SavedProblem) -> tuple[str, list[tuple[int, str]]]:
    """By part, then by id with numbers as numbers: q2 before q10."""
    pieces = re.findall(r"\d+|\D+", saved.id or saved.question)
    return saved.part, [(int(piece), "") if piece.isdecimal() else (-1, piece) for piece in pieces]
