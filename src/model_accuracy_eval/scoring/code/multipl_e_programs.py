"""MultiPL-E: a reply in one of its languages → the complete file; the file and its row → what is run.

Its authors join prompt, completion and tests. A reply to a chat has the whole function instead, perhaps with helpers
and imports of its own; it takes the prompt's place then.
"""

import re
from collections.abc import Callable

from model_accuracy_eval.records import JSONObject, Problem
from model_accuracy_eval.records.code import Limits, Program
from model_accuracy_eval.scoring.code import solutions
from model_accuracy_eval.scoring.code.file_assembly import (
    LANGUAGES,
    Language,
    blank_out,
    complete_file,
    functions,
    requested_function,
    split_opening,
    top_level,
)
from model_accuracy_eval.scoring.code.solutions import solution

_LIMITS = Limits(wall_seconds=15.0, memory_mb=2048, processes=128, file_mb=64)
"""Its own runner gives 15 s to a compiler and to a program; a compiler has more here."""


def multipl_e_code(text: str, problem: Problem, *, language: str, continues: bool = False) -> str | None:
    """The complete file, without its tests. `continues`: the text goes on where the prompt ends, as its authors ask."""
    row = problem.extras
    text = text.replace("\r\n", "\n")
    if continues:
        return _continued(text, row)
    name = _wanted(language, str(row["prompt"]))
    blocks = [block.text for block in solutions.fenced_blocks(text)]
    defining = [block for block in blocks if _defines(language, block, name)]
    source = defining[-1] if defining else max(blocks, key=len) if blocks else text
    if not source.strip():
        return None
    if not _defines(language, source, name):
        return _continued(source, row)
    return _WHOLE.get(language, _assembled)(language, source, row)


def _continued(text: str, row: JSONObject) -> str:
    """The prompt with the text as far as it goes on with it, closed where the tests would close it."""
    ends = [place for stop in row["stop_tokens"] if (place := text.find(stop)) >= 0]
    completed = f"{row['prompt']}{text[: min(ends, default=len(text))]}"
    # With a brace, the tests close the function that the prompt has opened; without one, completions do.
    return f"{completed}\n{'}' if str(row['tests']).lstrip().startswith('}') else ''}"


def _tests_alone(row: JSONObject) -> str:
    return str(row["tests"]).lstrip().removeprefix("}")


_DEFINITION = {
    "bash": r"^(?:function[ \t]+)?{name}[ \t]*(?:\(\))?[ \t]*\n?[ \t]*\{{",
    "perl": r"^sub[ \t]+{name}\b",
}


def _wanted(language: str, prompt: str) -> str:
    """The name of the function that the prompt's end has opened."""
    if language in LANGUAGES:
        return functions(LANGUAGES[language], prompt)[-1].name
    return str(re.findall(r"^(?:sub[ \t]+)?(\w+)[ \t]*(?:\(\))?[ \t]*\{", prompt, re.MULTILINE)[-1])


def _defines(language: str, source: str, name: str) -> bool:
    if language in LANGUAGES:
        return name in {definition.name for definition in functions(LANGUAGES[language], source)}
    return re.search(_DEFINITION[language].format(name=re.escape(name)), source, re.MULTILINE) is not None


def _assembled(language: str, source: str, row: JSONObject) -> str:
    """As the files of HumanEval-X, whose columns are these."""
    prompt = str(row["prompt"])
    columns = {"prompt": prompt, "declaration": prompt, "test": _tests_alone(row), "test_setup": ""}
    return complete_file(language, source, columns)


def _java(language: str, source: str, row: JSONObject) -> str:
    """The tests are the rest of the class Problem, so what the reply has in a class of its own moves there."""
    known = LANGUAGES[language]
    given, _ = split_opening(known, str(row["prompt"]))
    more, rest = split_opening(known, source)
    rest = re.sub(r"^package\s[^;\n]*;", "", rest, flags=re.MULTILINE)
    target = next(one for one in functions(known, rest) if one.name == _wanted(language, str(row["prompt"])))
    types = top_level(known, rest)
    around = [one for one in types if one.body < target.start < one.end]
    beside = "\n".join(rest[one.start : one.end] for one in types if one not in around)
    beside = re.sub(r"^public\s+(?=(?:\w+\s+)?(?:class|interface|enum|record)\b)", "", beside, flags=re.MULTILINE)
    members = rest[around[0].body + 1 : around[0].end - 1] if around else rest
    members = members if around else members.replace(beside, "")
    for main in [one for one in functions(known, members) if one.name == "main"][::-1]:
        members = members[: main.start] + members[main.end :]
    imports = "\n".join(dict.fromkeys([*given, *more]))
    return f"{imports}\n{beside}\nclass Problem {{\n{members}\n"


_WHOLE: dict[str, Callable[[str, str, JSONObject], str]] = {
    "java": _java,
    "bash": lambda language, source, row: source,
    "perl": lambda language, source, row: source,
}
_RECIPES = {"go": "go_test", "java": "java_problem"}
"""Language → the sandbox's name for how its files are run, if that is another one."""


def multipl_e(code: str, row: JSONObject, *, language: str) -> Program:
    """One file whose exit code decides."""
    return Program(code=code, tests=_tests_alone(row), language=_RECIPES.get(language, language), limits=_LIMITS)


# HumanEval-X: a reply in one of its languages → its program; the program and its row → what is run.


_HUMANEVAL_X_LIMITS = Limits(wall_seconds=30.0, memory_mb=2048, processes=128, file_mb=64)
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
    blocks = [block.text for block in solutions.fenced_blocks(text) if block.language in {"", *known.fences}]
    defining = [source for source in blocks if name in {function.name for function in functions(known, source)}]
    if defining:
        return defining[-1]
    return max(blocks, key=len) if blocks else _unfenced(known, solutions.before(text), name)


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
        limits=_HUMANEVAL_X_LIMITS,
    )
