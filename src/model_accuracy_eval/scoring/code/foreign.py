"""HumanEval-X: a reply in one of its languages → its program; the program and its row → what is run."""

import re

from model_accuracy_eval.records import JSONObject, Problem
from model_accuracy_eval.records.code import Limits, Program
from model_accuracy_eval.scoring.code import fences
from model_accuracy_eval.scoring.code.assembling import asked, assembled, functions
from model_accuracy_eval.scoring.code.languages import LANGUAGES, Language
from model_accuracy_eval.scoring.code.shading import shade
from model_accuracy_eval.scoring.code.solutions import solution

_LIMITS = Limits(wall_seconds=30.0, memory_mb=2048, processes=128, file_mb=64)
"""Compilers and virtual machines take far more than what they make."""


def foreign_code(text: str, problem: Problem, *, language: str) -> str | None:
    """HumanEval-X's answers: the whole file in a language of its, but for its tests."""
    row = problem.extras
    if language == "python":
        return solution(text, entry_point(row), str(row["prompt"]))
    known = LANGUAGES[language]
    source = _written(known, text.replace("\r\n", "\n"), asked(known, row).name)
    return assembled(language, source, row) if source.strip() else None


def entry_point(row: JSONObject) -> str:
    """Python's function that is asked for: the last one of the head."""
    return str(re.findall(r"^def (\w+)", str(row["declaration"]), re.MULTILINE)[-1])


def _written(known: Language, text: str, name: str) -> str:
    """The last block that defines the function, else the longest one; without blocks, what is code of the reply."""
    written = [block.text for block in fences.blocks(text) if block.language in {"", *known.fences}]
    whole = [source for source in written if name in {one.name for one in functions(known, source)}]
    return whole[-1] if whole else max(written, key=len) if written else _bare(known, fences.before(text), name)


def _bare(known: Language, text: str, name: str) -> str:
    """Between talk in front of a whole function, and talk behind the last brace."""
    shaded = shade(text, known.hidden)
    own = [one.start for one in functions(known, text) if one.name == name]
    first = re.search(rf"^(?:{known.opening})", shaded, re.MULTILINE)
    start = min([*own, first.start()] if first else own) if own else 0
    end = shaded.rfind("}") + 1 or len(text)
    return text[start:end] + (";" if text[end : end + 1] == ";" else "")


_UNHEARD = {"javascript": "console.assert = (holds, ...said) => { if (!holds) throw new Error(said.join(' ')); };\n"}
"""Where a failed assertion is only printed, it is made to count."""


_WRONG_SOLUTIONS = {"JavaScript/112", "JavaScript/155"}
"""Published ones that do not pass their tests, which are right: the tests say nothing about what runs them."""


def foreign(code: str, row: JSONObject, *, language: str) -> Program:
    """HumanEval-X: one file, whose exit code decides; Python's tests are apart from the program, as they can be."""
    if language == "python":
        return Program(code=code, tests=row["test"], entry_points=(entry_point(row),))
    return Program(
        code=code,
        tests=_UNHEARD.get(language, "") + row["test"],
        language=LANGUAGES[language].recipe or language,
        reference="" if row["task_id"] in _WRONG_SOLUTIONS else assembled(language, row["canonical_solution"], row),
        limits=_LIMITS,
    )
