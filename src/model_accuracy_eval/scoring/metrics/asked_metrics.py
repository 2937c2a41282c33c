"""Metrics that a judge model or a sandbox decides.

`asks` makes the question for the judge, or the program to run, and `score` reads the opinion, or how the program ended.
Where these say nothing the value is None: the sample is counted as unjudged, never as wrong.
"""

import re
from collections.abc import Callable
from typing import Any

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import Message, Opinion, Problem, Question
from model_accuracy_eval.records.code import Execution, Limits, Mode, Program
from model_accuracy_eval.scoring.code.benchmark_suites import find_suite, shown_tests
from model_accuracy_eval.scoring.code.case_programs import CaseRules, WrittenCases, case_program
from model_accuracy_eval.scoring.code.code_syntax import called_function
from model_accuracy_eval.scoring.metrics.metric_type import Metric, fill_template

CONSISTENT = (
    "Here are a reference answer and an answer to be marked.\n\nReference answer: {reference}\n\n"
    "Answer to be marked: {answer}\n\nDo both say the same in essence? Reply with the one word yes or no."
)
GRADED = (
    "Question: {question}\n\nReference answer: {reference}\n\nAnswer to be marked: {answer}\n\n"
    "How good is the answer, from 0 (useless) to {out_of} (as good as it can be)? Reply with the number alone."
)
_BEST = 10.0
"""The best mark, if the task does not say it."""
_WORD = re.compile(r"\b(yes|no)\b", re.IGNORECASE)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def ask_judge(
    answer: str,
    problem: Problem,
    *,
    prompt: str = CONSISTENT,
    system: str = "",
    max_tokens: int = 0,
    read: str = "yes-no",
    pattern: str = "",
    out_of: float = _BEST,
) -> Question:
    """A prompt with {question}, {answer}, {reference}, {choices} and the problem's columns filled in."""
    values = {
        **columns(problem),
        "question": problem.messages[-1].content if problem.messages else problem.text,
        "choices": "\n".join(problem.choices),
        "answer": answer,
        "out_of": f"{out_of:g}",
    }
    turns = (Message(role="system", content=system),) if system else ()
    content = fill_template(prompt, values)
    shown = tuple(media for media in problem.messages[-1].media if str(media) in content) if problem.messages else ()
    return Question(messages=(*turns, Message(role="user", content=content, media=shown)), max_tokens=max_tokens)


def ask_for_grade(
    answer: str,
    problem: Problem,
    *,
    prompt: str = GRADED,
    system: str = "",
    max_tokens: int = 0,
    pattern: str = "",
    out_of: float = _BEST,
) -> Question:
    """The same, for a number instead of a yes or no."""
    return ask_judge(answer, problem, prompt=prompt, system=system, max_tokens=max_tokens, out_of=out_of)


def columns(problem: Problem) -> dict[str, str]:
    """The problem's columns as texts, and its right answer as `reference`."""
    texts = {name: value if isinstance(value, str) else str(value) for name, value in problem.extras.items()}
    return {**texts, "reference": problem.references[0]}


def judged(
    opinion: Opinion, problem: Problem, *, read: str = "yes-no", pattern: str = "", **ask_settings: object
) -> float | None:
    """1 for yes, 0 for no: the first of these words, or whether a pattern matches."""
    if read == "yes-no":
        return _yes_or_no(opinion.text, pattern)
    if read != "regex":
        raise BadValue(f"A judge is read as yes-no, regex, not as '{read}'.")
    is_found = re.search(pattern, opinion.text) is not None
    # What a pattern looks for may have come behind the end.
    return None if opinion.cut and not is_found else float(is_found)


def denied(opinion: Opinion, problem: Problem, *, pattern: str = "", **ask_settings: object) -> float | None:
    """1 for no, 0 for yes: for questions about what a reply should not do."""
    value = _yes_or_no(opinion.text, pattern)
    return None if value is None else 1.0 - value


def graded(
    opinion: Opinion, problem: Problem, *, out_of: float = _BEST, pattern: str = "", **ask_settings: object
) -> float | None:
    """The first number of the opinion, or of the pattern's match, as a share of `out_of`; None outside 0..`out_of`."""
    number = _NUMBER.search(_matched(opinion.text, pattern) or "")
    if number is None or not 0 <= float(number[0]) <= out_of:
        return None
    return float(number[0]) / out_of


def _matched(text: str, pattern: str) -> str | None:
    """The first group that is not empty, else the whole match; without a pattern, the whole text."""
    if not pattern:
        return text
    match = re.search(pattern, text)
    return None if match is None else next(filter(None, match.groups()), match[0])


def _yes_or_no(text: str, pattern: str) -> float | None:
    word = _WORD.search(_matched(text, pattern) or "")
    return None if word is None else float(word[1].lower() == "yes")


# A judge's grade of a short factual answer: A correct, B incorrect, C not attempted, and the figures made of it.
#
# With c correct and a attempted of n answers, the F-score is the harmonic mean of c/n and c/a, and that is 2c / (n +
# a): both it and c/a are shares of counts that add up over the problems.


_GRADE = re.compile(r"(?:^|[^A-Za-z])([ABC])[^A-Za-z]*$")
"""The letter that ends the opinion; what precedes it are the judge's reasons."""
_FIRST = re.compile(r"^[^A-Za-z]*([ABC])(?=[^\w\s]|\s*$|\n)")
"""Also "A: correct", but not the article of "A name is missing"."""


def grade(opinion: Opinion) -> str | None:
    """The letter at the end, else the one at the beginning; None if there is none."""
    text = opinion.text.rpartition("</think>")[2].strip()
    found = _GRADE.search(text) or _FIRST.search(text)
    return found[1] if found else None


def _of_grade(about: str, *worth: Any, **more: Any) -> Metric:
    """`worth`: of a correct, an incorrect and a missing answer, by the judge's grade."""
    values = dict(zip("ABC", worth, strict=True))

    def score(opinion: Opinion, problem: Problem, **ask_settings: object) -> Any:
        return values.get(grade(opinion) or "")

    return _findings(score, ask_judge, about=about, unanswered=worth[2], **more)


def _of_counts(about: str, *worth: tuple[int, int]) -> Metric:
    correct, incorrect, _ = worth
    return _of_grade(about, *worth, aggregation="pooled", limits=lambda problem: (incorrect, correct))


# Answers that are programs: a sandbox runs them with their tests.


_CODE_EVAL_SECONDS = 3.0


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
    stdin: WrittenCases | str = (),
    calls: WrittenCases | str = (),
    function: str = "",
    checker: str = "",
    tolerance: float = 1e-6,
    all_cases: bool = False,
) -> Program:
    """The answer as a program with the problem's tests; `code` and `tests` may use the answer and the columns.

    `solution`, `files` and cases may use only the columns: whatever finds the mode must not depend on the answer.
    `stdin` and `calls` are cases, or name the column that has them; they replace `tests`.
    """
    row = columns(problem)
    values = {**row, "answer": answer}
    program = Program(
        code=fill_template(code, values),
        tests=fill_template(tests, values),
        entry_points=tuple(fill_template(name, values) for name in entry_points),
        mode=mode,
        reference=fill_template(solution, row),
        files={name: fill_template(text, row) for name, text in (files or {}).items()},
        language=language,
        limits=Limits(wall_seconds=seconds, memory_mb=memory_mb),
    )
    if not (stdin or calls):
        return program
    rules = CaseRules(fill_template(function, row), checker, tolerance, all_cases)
    return case_program(program, stdin or calls, rules, problem, row)


def ask_tests(answer: str, problem: Problem, *, suite: str, **settings: object) -> Program:
    """The answer with its row's tests, as the named suite puts them together."""
    return find_suite(suite)(answer, problem.extras, **settings)


def ask_tests_twice(answer: str, problem: Problem, *, suite: str, **settings: object) -> tuple[Program, ...]:
    """The tests, and the examples that the question itself shows."""
    shown = shown_tests(answer, problem.extras)
    hidden = ask_tests(answer, problem, suite=suite, **settings)
    return (hidden, shown) if shown else (hidden,)


def ask_code_eval(answer: str, problem: Problem) -> Program:
    """A whole program; the right answer is the lines that test it. The time limit is that of `code_eval`."""
    tests = problem.references[0]
    name = called_function([line for line in tests.splitlines() if line.startswith("assert ")])
    return Program(
        code=answer, tests=tests, entry_points=(name,) if name else (), limits=Limits(wall_seconds=_CODE_EVAL_SECONDS)
    )


def passed(execution: Execution, problem: Problem, **ask_settings: object) -> float | None:
    """1 if the tests passed; None if the sandbox could not decide."""
    return None if execution.passed is None else float(execution.passed)


def cases_passed(execution: Execution, problem: Problem, **ask_settings: object) -> float | None:
    """The share of the cases that passed."""
    if execution.passed is None:
        return None
    return sum(case.verdict == "passed" for case in execution.cases) / max(1, execution.all_cases)


def passed_and_shown(
    hidden: Execution, shown: Execution | None = None, *, problem: Problem, **ask_settings: object
) -> float | None:
    """1 for a pass, and 2 more if the sample passes the shown examples: `best_shown` chooses by that."""
    if hidden.passed is None or (shown is not None and shown.passed is None):
        return None
    return float(hidden.passed) + 2.0 * bool(shown is not None and shown.passed)


def _findings(score: Callable[..., float | None], asks: Callable[..., Any], **more: Any) -> Metric:
    return Metric(score=score, asks=asks, reads="findings", **more)


ASKED_METRICS = {
    "judge": _findings(judged, ask_judge, yes_or_no=True),
    "judge_no": _findings(denied, ask_judge, yes_or_no=True, unanswered=1.0),
    "judge_score": _findings(graded, ask_for_grade),
    "fact_correct": _of_grade("1 if the judge calls it correct", 1.0, 0.0, 0.0, yes_or_no=True),
    "fact_incorrect": _of_grade("1 if the judge calls it incorrect", 0.0, 1.0, 0.0, higher_is_better=False),
    "fact_not_attempted": _of_grade("1 if no fact is stated", 0.0, 0.0, 1.0, higher_is_better=False),
    "fact_correct_of_attempted": _of_counts("Correct answers, of those that state a fact", (1, 1), (0, 1), (0, 0)),
    "fact_f_score": _of_counts(
        "Harmonic mean of the shares of correct answers, of all and of attempted ones", (2, 2), (0, 2), (0, 1)
    ),
    "code": _findings(passed, ask_sandbox, yes_or_no=True),
    "code_eval": _findings(passed, ask_code_eval, yes_or_no=True),
    "tests": _findings(passed, ask_tests, yes_or_no=True),
    "code_cases": _findings(cases_passed, ask_sandbox),
    "tests_cases": _findings(cases_passed, ask_tests),
    "best_of_n": _findings(passed_and_shown, ask_tests_twice, limits=lambda problem: (0.0, 3.0)),
}
