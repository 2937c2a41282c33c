"""(answer, problem) → what it is worth, for answers that only their problem explains: options, letters, boxes."""

import json
import re
from collections.abc import Mapping, Sequence
from string import ascii_uppercase

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.metrics.row import Metric


def qa_match(answer: str, problem: Problem) -> float:
    """1 if the first letter that stands alone on the first line is the right option's, else if its wording follows.

    The question, said again, may stand before the wording.
    """
    text = answer.strip()
    right = problem.references[0]
    if _lone_letter(text, len(problem.choices)) == f"({right.strip('()')})":
        return 1.0
    question = str(problem.extras.get("question", "")).strip()
    text = text.removeprefix(question).strip() if question else text
    return float(any(text.startswith(wording.strip()) for wording in _right_wordings(problem)))


def _right_wordings(problem: Problem) -> list[str]:
    """Of the right options; of rows that say what each option is worth, the first that is worth 1."""
    worth = problem.extras.get("target_scores")
    if isinstance(worth, dict):
        return [option for option, value in worth.items() if value == 1][:1]
    return [problem.choices[place] for place in problem.gold]


def _lone_letter(text: str, options: int) -> str:
    offered = {f"({letter})" for letter in ascii_uppercase[:options]}
    words = [word.removesuffix(".") for word in text.partition("\n")[0].split(" ")]
    return next((named for word in words if (named := f"({word.strip('()')})") in offered and _whole(word)), "")


def _whole(word: str) -> bool:
    """Both brackets or none."""
    return len(word) == 1 or (word.startswith("(") and word.endswith(")"))


def gaokaobench_match(answer: str, problem: Problem) -> float:
    """Share of the right letters that stand at their places; of two readings the one that is long enough counts."""
    right = problem.references[0]
    first, separator, second = answer.partition("[SEP]")
    said = first if not separator or len(first) == len(right) else second[: len(right)]
    same = sum(one == other for one, other in zip(said, right, strict=False))
    return same / len(right) if right else 0.0


def iou(answer: str, problem: Problem, *, form: str = "xyxy") -> float:
    """Area that two boxes share, by the area that they cover together; the boxes are the last four numbers of each."""
    said = box(answer, form)
    known = [right for reference in problem.references if (right := box(reference, form))]
    return max((_overlap(said, right) for right in known), default=0.0) if said else 0.0


def iou_at(answer: str, problem: Problem, *, threshold: float = 0.5, form: str = "xyxy") -> float:
    """1 if the boxes overlap by the threshold or more."""
    return float(iou(answer, problem, form=form) >= threshold)


Box = tuple[float, float, float, float]


def box(text: str, form: str) -> Box | None:
    """Left, top, right, bottom; `xywh` has width and height in the last two places. None without four numbers."""
    numbers = [float(number) for number in re.findall(r"-?\d+(?:\.\d+)?", text)][-4:]
    if len(numbers) < 4:
        return None
    x, y, right, bottom = numbers
    if form == "xywh":
        right, bottom = x + right, y + bottom
    return min(x, right), min(y, bottom), max(x, right), max(y, bottom)


def _overlap(one: Box, other: Box) -> float:
    width = min(one[2], other[2]) - max(one[0], other[0])
    height = min(one[3], other[3]) - max(one[1], other[1])
    shared = max(width, 0.0) * max(height, 0.0)
    covered = _area(one) + _area(other) - shared
    return shared / covered if covered else float(one == other)


def _area(one: Box) -> float:
    return (one[2] - one[0]) * (one[3] - one[1])


def json_equal(answer: str, problem: Problem) -> float:
    """1 if the answer is JSON that says the same as a reference, whatever its blanks and the order of its names."""
    return float(any(_json(answer) == _json(reference) is not None for reference in problem.references))


def _json(text: str) -> Mapping[str, object] | Sequence[object] | str | float | None:
    try:
        return json.loads(text)  # type: ignore[no-any-return]
    except ValueError:
        return None


ROWS = {
    "qa_match": Metric(score=qa_match, reads="answers in their problem", yes_or_no=True),
    "gaokaobench_match": Metric(score=gaokaobench_match, reads="answers in their problem"),
    "iou": Metric(score=iou, reads="answers in their problem"),
    "iou_at": Metric(score=iou_at, reads="answers in their problem", yes_or_no=True),
    "json_equal": Metric(score=json_equal, reads="answers in their problem", yes_or_no=True),
}
