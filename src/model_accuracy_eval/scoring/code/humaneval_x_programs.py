"""HumanEval-X: a reply in one of its languages → its program; the program and its row → what is run."""

import re

from model_accuracy_eval.records import JSONObject, Problem
from model_accuracy_eval.records.code import Limits, Program
from model_accuracy_eval.scoring.code import markdown_blocks
from model_accuracy_eval.scoring.code.file_assembly import complete_file, functions, requested_function
from model_accuracy_eval.scoring.code.languages import LANGUAGES, Language, blank_out
from model_accuracy_eval.scoring.code.solutions import solution

_LIMITS = Limits(wall_seconds=30.0, memory_mb=2048, processes=128, file_mb=64)
"""Compilers and virtual machines need far more than the programs they make."""
_SETUP = {"javascript": "console.assert = (holds, ...said) => { if (!holds) throw new Error(said.join(' ')); };\n"}
"""JavaScript only prints a failed assertion; this makes it an error."""
_WRONG_SOLUTIONS = {"JavaScript/112", "JavaScript/155"}
"""Published solutions that rightly fail their tests, so they say nothing about the place where programs run."""


def foreign_code(text: str, problem: Problem, *, language: str) -> str | None:
    """The complete file in the reply, without its tests."""
    row = problem.extras
    if language == "python":
        return solution(text, entry_point(row), str(row["prompt"]))
    known = LANGUAGES[language]
    source = _source_in(known, text.replace("\r\n", "\n"), requested_function(known, row).name)
    return complete_file(language, source, row) if source.strip() else None


def entry_point(row: JSONObject) -> str:
    """The Python function that the task asks for: the last one of the head."""
    return str(re.findall(r"^def (\w+)", str(row["declaration"]), re.MULTILINE)[-1])


def _source_in(known: Language, text: str, name: str) -> str:
    """The last block that defines the function, else the longest block; without blocks, the code within the text."""
    blocks = [block.text for block in markdown_blocks.blocks(text) if block.language in {"", *known.fences}]
    defining = [source for source in blocks if name in {function.name for function in functions(known, source)}]
    if defining:
        return defining[-1]
    return max(blocks, key=len) if blocks else _unfenced(known, markdown_blocks.before(text), name)


def _unfenced(known: Language, text: str, name: str) -> str:
    """The text without the talk before a whole function and after the last brace."""
    blanked = blank_out(text, known.hidden)
    starts = [function.start for function in functions(known, text) if function.name == name]
    first = re.search(rf"^(?:{known.opening})", blanked, re.MULTILINE)
    start = min([*starts, first.start()] if first else starts) if starts else 0
    end = blanked.rfind("}") + 1 or len(text)
    return text[start:end] + (";" if text[end : end + 1] == ";" else "")


def foreign(code: str, row: JSONObject, *, language: str) -> Program:
    """One file whose exit code decides; only Python's tests can be kept apart from the program."""
    if language == "python":
        return Program(code=code, tests=row["test"], entry_points=(entry_point(row),))
    correct = row["task_id"] not in _WRONG_SOLUTIONS
    return Program(
        code=code,
        tests=_SETUP.get(language, "") + row["test"],
        language=LANGUAGES[language].recipe or language,
        reference=complete_file(language, row["canonical_solution"], row) if correct else "",
        limits=_LIMITS,
    )
