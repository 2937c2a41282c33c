"""Metrics that somebody else decides: a judge model, or the tests that a program has to pass.

`asks` says what is to be found out, and `score` what the finding is worth. A finding that says nothing is None: the
sample is counted as unjudged, never as wrong.
"""

import re
from collections.abc import Callable

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import Message, Problem
from model_accuracy_eval.records.code import Execution, Limits, Mode, Program
from model_accuracy_eval.records.judge import Opinion, Question
from model_accuracy_eval.scoring.asks import filled
from model_accuracy_eval.scoring.metrics.row import Metric

CONSISTENT = (
    "Here are a reference answer and an answer to be marked.\n\nReference answer: {reference}\n\n"
    "Answer to be marked: {answer}\n\nDo both say the same in essence? Reply with the one word yes or no."
)
GRADED = (
    "Question: {question}\n\nReference answer: {reference}\n\nAnswer to be marked: {answer}\n\n"
    "How good is the answer, from 0 (useless) to {out_of} (as good as it can be)? Reply with the number alone."
)
_WORD = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def ask_judge(
    answer: str,
    problem: Problem,
    *,
    prompt: str = CONSISTENT,
    system: str = "",
    max_tokens: int = 64,
    read: str = "yes-no",
    pattern: str = "",
    out_of: float = 10.0,
) -> Question:
    """A prompt with {question}, {answer}, {reference}, {choices} and the problem's columns filled in."""
    values = {
        **_texts(problem),
        "question": problem.messages[-1].content if problem.messages else problem.text,
        "choices": "\n".join(problem.choices),
        "answer": answer,
        "out_of": f"{out_of:g}",
    }
    turns = (Message(role="system", content=system),) if system else ()
    return Question(messages=(*turns, Message(role="user", content=filled(prompt, values))), max_tokens=max_tokens)


def ask_for_grade(
    answer: str,
    problem: Problem,
    *,
    prompt: str = GRADED,
    system: str = "",
    max_tokens: int = 64,
    pattern: str = "",
    out_of: float = 10.0,
) -> Question:
    """The same, for a number instead of a yes or no."""
    return ask_judge(answer, problem, prompt=prompt, system=system, max_tokens=max_tokens, out_of=out_of)


def judged(
    opinion: Opinion, problem: Problem, *, read: str = "yes-no", pattern: str = "", **asked: object
) -> float | None:
    """1 for yes, 0 for no: the first of the words, or what a pattern finds."""
    if read not in _READERS:
        raise BadValue(f"A judge is read as {', '.join(_READERS)}, not as '{read}'.")
    return _READERS[read](opinion.text, pattern)


def graded(
    opinion: Opinion, problem: Problem, *, out_of: float = 10.0, pattern: str = "", **asked: object
) -> float | None:
    """The first number of the opinion, or of what the pattern finds, as a share of the best; None beyond 0..best."""
    found = _NUMBER.search(_found(opinion.text, pattern) or "")
    if found is None or not 0 <= float(found[0]) <= out_of:
        return None
    return float(found[0]) / out_of


def _found(text: str, pattern: str) -> str | None:
    """The first group that is not empty, else the whole match."""
    if not pattern:
        return text
    match = re.search(pattern, text)
    return None if match is None else next(filter(None, match.groups()), match[0])


def _yes_or_no(text: str, pattern: str) -> float | None:
    word = _WORD.search(_found(text, pattern) or "")
    return None if word is None else float(word[1].lower() == "yes")


_READERS: dict[str, Callable[[str, str], float | None]] = {
    "yes-no": _yes_or_no,
    "regex": lambda text, pattern: float(re.search(pattern, text) is not None),
}


def ask_sandbox(
    answer: str,
    problem: Problem,
    *,
    code: str = "{answer}",
    tests: str = "{reference}",
    entry_points: tuple[str, ...] = (),
    mode: Mode = "split",
    solution: str = "",
    files: dict[str, str] | None = None,
    language: str = "python",
    seconds: float = 10.0,
    memory_mb: int = 512,
) -> Program:
    """The answer as a program with the problem's tests; both templates see the answer and the problem's columns.

    `solution` and the texts of `files` see the columns alone: what finds the mode must not depend on the answer.
    """
    columns = _texts(problem)
    values = {**columns, "answer": answer}
    return Program(
        code=filled(code, values),
        tests=filled(tests, values),
        entry_points=tuple(filled(name, values) for name in entry_points),
        mode=mode,
        reference=filled(solution, columns),
        files={name: filled(text, columns) for name, text in (files or {}).items()},
        language=language,
        limits=Limits(wall_seconds=seconds, memory_mb=memory_mb),
    )


def passed(execution: Execution, problem: Problem, **asked: object) -> float | None:
    """1 if the tests were passed; None if the sandbox could not say."""
    return None if execution.passed is None else float(execution.passed)


def _texts(problem: Problem) -> dict[str, str]:
    """The problem's columns, and its right answer."""
    columns = {name: value if isinstance(value, str) else str(value) for name, value in problem.extras.items()}
    return {**columns, "reference": problem.references[0]}


ROWS = {
    "judge": Metric(score=judged, asks=ask_judge, reads="findings", yes_or_no=True),
    "judge_score": Metric(score=graded, asks=ask_for_grade, reads="findings"),
    "code": Metric(score=passed, asks=ask_sandbox, reads="findings", yes_or_no=True),
}
