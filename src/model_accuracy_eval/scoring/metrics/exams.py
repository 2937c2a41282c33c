"""Metrics of exam answers: letters of options, points, grids, values in pictures."""

import json
import re
from collections.abc import Mapping, Sequence
from fractions import Fraction
from string import ascii_uppercase

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring import maths
from model_accuracy_eval.scoring.answers.published_readings import plain
from model_accuracy_eval.scoring.metrics import metric_type
from model_accuracy_eval.scoring.metrics.metric_type import Metric, in_problem, of_best


def qa_match(answer: str, problem: Problem) -> float:
    """1 if the first letter that stands alone on the first line is the right option's, or if the answer begins with
    the right option's text; the question may be repeated before that text."""
    text = answer.strip()
    words = _LETTER_ALONE.findall(text.partition("\n")[0])
    offered = ascii_uppercase[: len(problem.choices)]
    letter = next((one or other for one, other in words if (one or other) in offered), "")
    if letter and letter == problem.references[0].strip("()"):
        return 1.0
    question = str(problem.extras.get("question", "")).strip()
    text = text.removeprefix(question).strip() if question else text
    return float(any(text.startswith(option.strip()) for option in _right_options(problem)))


def _right_options(problem: Problem) -> list[str]:
    """Texts of the right options; where the row scores its options, the first one with score 1."""
    scores = problem.extras.get("target_scores")
    if isinstance(scores, dict):
        return [option for option, value in scores.items() if value == 1][:1]
    return [problem.choices[place] for place in problem.gold]


_LETTER_ALONE = re.compile(r"(?:^| )(?:\([()]*([A-Z])[()]*\)|([A-Z]))\.?(?= |$)")
"""With both brackets or none."""


def gaokaobench_match(answer: str, problem: Problem) -> float:
    """Share of the right letters at their places; of two readings, the one with the right length counts."""
    right = problem.references[0]
    first, separator, second = answer.partition("[SEP]")
    letters = first if not separator or len(first) == len(right) else second[: len(right)]
    matches = sum(letter == other for letter, other in zip(letters, right, strict=False))
    return matches / len(right) if right else 0.0


def exam_points(answer: str, references: Sequence[str]) -> float:
    """Mean over the questions of a block, whose answers are separated by commas: 1 for exactly the right letters, ½ for
    some of them and no wrong one, else 0. The wrong number of answers is worth 0."""
    answers, right = answer.split(","), references[0].split(",")
    if len(answers) != len(right):
        return 0.0
    return sum(map(_points, answers, right)) / len(right)


def scoring_rate(answer: str, problem: Problem) -> tuple[float, float]:
    """Points won and points possible; every question of a block is worth the column `score`."""
    possible = _possible_points(problem)
    return possible * exam_points(answer, problem.references), possible


def _possible_points(problem: Problem) -> float:
    score = problem.extras.get("score")
    if not isinstance(score, int | float):
        raise BadData(
            f"scoring_rate needs the points of a question, but problem {problem.id} has no number in 'score'."
        )
    return float(score) * len(problem.references[0].split(","))


def _points(letters: str, right: str) -> float:
    if set(letters) == set(right):
        return 1.0
    return 0.5 if letters and set(letters) < set(right) else 0.0


def math_within(answer: str, problem: Problem) -> float:
    """1 if the answer is the same mathematics as a reference, or a number that differs from it by no more than the
    column `error` allows."""
    if any(maths.equal(answer, reference) for reference in problem.references):
        return 1.0
    try:
        allowed = Fraction(str(problem.extras.get("error") or 0))
        values = [maths.value_of(text) for text in (answer, *problem.references)]
    except (ValueError, maths.Unreadable):  # several errors, for several answers; or no numbers
        return 0.0
    value, *right = values
    return float(value is not None and any(one is not None and abs(value - one) <= allowed for one in right))


# BIG-Bench Extra Hard's own comparison: what follows "the answer is", and small differences that do not count.


_PREFIXES = ("The answer is:", "The final answer is ", "The final answer is: ", "The answer is ")
_WRAPPINGS = ("boxed{", "text{", "texttt{")
_LETTER = re.compile(r"\((.)\)", re.DOTALL)


def bbeh_match(answer: str, right: str) -> bool:
    """1 if the answer is a reference, apart from case, quotation marks, brackets and a final mark."""
    reply, right = answer.strip(), right.strip().lower().replace(", ", ",")
    for prefix in _PREFIXES:
        if prefix in reply:
            reply = reply.rpartition(prefix)[2].strip()
    text = _unwrapped(reply.removesuffix(".")).lower().replace(", ", ",").replace("**", "")
    return _same(text.partition("\n")[0].removesuffix("."), right)


def _unwrapped(text: str) -> str:
    """Without dollars around it, and without the LaTeX commands that it ends."""
    if text.startswith("$") and text.endswith("$"):
        text = text[1:-1]
    for wrapping in _WRAPPINGS:
        if wrapping in text and text.endswith("}"):
            text = text[:-1].split(wrapping)[1]
    return text


def _same(answer: str, right: str) -> bool:
    if answer == right:
        return True
    # As in the original, a letter in brackets is compared as a letter, and in no other way.
    if letter := _LETTER.fullmatch(answer):
        return letter[1] == right
    if letter := _LETTER.fullmatch(right):
        return letter[1] == answer
    return (
        _as_float(answer) == _as_float(right) is not None
        or answer.replace("'", "") == right.replace("'", "")
        or f"[{right}]" == answer
        or f"[{answer}]" == right
        or (answer.endswith("?") and answer[:-1] == right)
    )


# Logic puzzles whose answer is a grid: house → attribute → value, as JSON in the reply.


Grid = dict[tuple[str, str], str]
"""(house, attribute) → value, in small letters."""

_HOUSE = "House"


def grid_solved(answer: str, problem: Problem) -> float:
    """1 if every cell is right."""
    hits, cells = grid_cells(answer, problem)
    return float(hits == cells)


def grid_cells(answer: str, problem: Problem) -> tuple[int, int]:
    """Right cells and all cells."""
    right = _right(problem)
    given = {
        (plain(house), plain(name)): plain(value)
        for house, attributes in (json.loads(answer) if answer else {}).items()
        if isinstance(attributes, dict)
        for name, value in attributes.items()
    }
    return sum(given.get(cell) == value for cell, value in right.items()), len(right)


def _right(problem: Problem) -> Grid:
    """From the column `solution`: a header whose first column is the house, and rows."""
    solution = problem.extras.get("solution")
    header = solution.get("header") if isinstance(solution, Mapping) else None
    if not isinstance(solution, Mapping) or not header or header[0] != _HOUSE or "rows" not in solution:
        raise BadData(f"Problem {problem.id} has no 'solution' with rows and a header that begins with '{_HOUSE}'.")
    return {
        (plain(f"{_HOUSE} {number}"), plain(name)): plain(value)
        for number, row in enumerate(solution["rows"], start=1)
        for name, value in zip(header[1:], row[1:], strict=True)
    }


def _solved(problem: Problem) -> tuple[str, ...]:
    """The solution as replies have it."""
    grid: dict[str, dict[str, str]] = {}
    for (house, name), value in _right(problem).items():
        grid.setdefault(house, {})[name] = value
    return (json.dumps({"solution": grid}),)


# (answer, right answers) → how right an answer about a picture is, as the benchmarks' own scripts count it.


_RELATIVE_ERROR = 0.05
"""ChartQA's: values are read off axes."""
_PEOPLE = 3
"""As many of the ten people who were asked make an answer wholly right."""
_FORMULAS = "HME100k"
"""The part of OCRBench whose answers are formulas."""

_SPACED = set(';/[]"{}()=+\\_-><@`,?!')
"""Punctuation that becomes a blank between letters, and nothing beside a blank."""
_GROUPED_DIGITS = re.compile(r"\d,\d")
_FULL_STOP = re.compile(r"\.(?!\d)")
_NUMBER_WORDS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]
_NUMBERS = {word: str(number) for number, word in enumerate(_NUMBER_WORDS)} | {"none": "0"}
_ARTICLES = {"a", "an", "the"}
_STEMS = {
    "'d": "he it she somebody someone something that there they we where who you",
    "'ll": "how it somebody someone something that they what who why you",
    "'m": "i",
    "'re": "there they what why you",
    "'s": "how let somebody someone something that there what when where who why",
    "'ve": "could i might must should they we what when where who would you",
    "n't": "are ca could did does do had has have is might must need ought sha should was were wo would",
}
_CONTRACTIONS = {
    f"{stem}{ending.replace(chr(39), '')}": f"{stem}{ending}"
    for ending, stems in _STEMS.items()
    for stem in stems.split()
}
"""Forms without their apostrophe → with it."""


def relaxed_number(answer: str, right: str) -> bool:
    """1 if a number is within 5 % of the right one, or a text equals the right one but for case."""
    value, wanted = _value(answer.strip()), _value(right.strip())
    if value is None or not wanted:
        return answer.strip().lower() == right.strip().lower()
    return abs(value - wanted) <= _RELATIVE_ERROR * abs(wanted)


def _as_float(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _value(text: str) -> float | None:
    """`12 %` is 0.12, as in ChartQA's script."""
    value = _as_float(text.removesuffix("%"))
    return value / 100 if value is not None and text.endswith("%") else value


def vqa_accuracy(answer: str, references: Sequence[str]) -> float:
    """How many of the people who were asked said the same, each left out once: three of the others are enough."""
    said = as_vqa(answer)
    others = [as_vqa(reference) for reference in references]
    same = others.count(said)
    if len(others) == 1:
        return float(same)
    shares = [min(1.0, (same - (other == said)) / _PEOPLE) for other in others]
    return sum(shares) / len(shares) if shares else 0.0


def as_vqa(text: str) -> str:
    """As VQA's evaluation compares answers: small letters, digits for number words, no articles or punctuation."""
    text = text.lower().replace("\n", " ").replace("\t", " ").strip()
    grouped = bool(_GROUPED_DIGITS.search(text))
    for mark in sorted(_SPACED & set(text)):
        beside_blank = f"{mark} " in text or f" {mark}" in text
        text = text.replace(mark, "" if beside_blank or grouped else " ")
    words = [_NUMBERS.get(word, word) for word in _FULL_STOP.sub("", text).split()]
    return " ".join(_CONTRACTIONS.get(word, word) for word in words if word not in _ARTICLES)


def ocrbench(answer: str, problem: Problem) -> float:
    """1 if a right answer occurs in the answer, whatever the case; a formula with its case, and without blanks."""
    is_formula = problem.extras.get("dataset") == _FORMULAS

    def plain(text: str) -> str:
        return re.sub(r"\s+", "", text) if is_formula else text.strip().lower().replace("\n", " ")

    return float(any(plain(right) in plain(answer) for right in problem.references))


EXAM_METRICS = {
    "math_within": in_problem(score=math_within, yes_or_no=True),
    "qa_match": in_problem(score=qa_match, yes_or_no=True),
    "gaokaobench_match": in_problem(score=gaokaobench_match),
    "exam_points": Metric(score=exam_points),
    "scoring_rate": in_problem(
        score=scoring_rate,
        aggregation="pooled",
        limits=lambda problem: metric_type.none_to_all(_possible_points(problem)),
    ),
    "bbeh_match": of_best(bbeh_match, yes_or_no=True),
    "grid_solved": in_problem(score=grid_solved, yes_or_no=True, right=_solved),
    "grid_cells": in_problem(
        score=grid_cells, aggregation="pooled", limits=lambda problem: metric_type.none_to_all(len(_right(problem)))
    ),
    "relaxed_number": of_best(relaxed_number, yes_or_no=True),
    "vqa_accuracy": Metric(score=vqa_accuracy),
    "ocrbench": in_problem(score=ocrbench, yes_or_no=True),
}
