"""HumanEval-X and MultiPL-E: a reply in one of their languages → the complete file; the file and its row → what is run.

What a reply leaves out is put in front of it. What the tests define is removed from it, because replies bring their own
mains and tests. Imports are gathered in one place.
"""

import re
from collections.abc import Callable, Iterable
from typing import NamedTuple

from model_accuracy_eval.records import JSONObject, Problem
from model_accuracy_eval.records.code import Limits, Program
from model_accuracy_eval.scoring.code.solutions import FENCES, before, fenced_blocks, solution

# The languages with braces of HumanEval-X: their patterns, and the definitions in a source text.


_COMMENT = r"//[^\n]*|/\*(?s:.*?)(?:\*/|\Z)"
_TEXT = r'"(?:\\.|[^"\\\n])*"?'
_LETTER = r"'(?:\\.|[^'\\\n])*'?"
_RAW = r"`[^`]*`?"
_CALLABLE = (
    r"^(?:[^\n(){};=#]*[\s*&])?(?!(?:if|for|while|switch|catch)\b)(\w+)[^\S\n]*"
    r"\((?:[^{};\n]|\n(?!\n)){0,500}\)[\w\s,]{0,80}\{"
)
_BRACE = re.compile(r"[{}]")


class Language(NamedTuple):
    """Patterns of a language. `function` and `unit` go from the begin of a definition to its name or its brace."""

    hidden: str
    """Comments and string literals."""
    function: str
    unit: str
    """What a file defines at its top level: functions, in most languages."""
    opening: str
    """Lines that come first in every file."""
    front: str = ""
    """What the published runner puts in front of every program."""
    head: str = "declaration"
    """The column that an answer continues."""
    recipe: str = ""
    """The sandbox's name for how it is run, if that is not the language's own name."""


class Definition(NamedTuple):
    """A named piece of source; `depth` counts the braces around it, `body` is the place of its own opening brace."""

    name: str
    start: int
    body: int
    end: int
    depth: int


def blank_out(source: str, hidden: str) -> str:
    """The source with comments and string literals replaced by blanks, so that all places stay the same."""
    return re.sub(hidden, lambda match: re.sub(r"[^\n]", " ", match[0]), source)


def definitions(blanked: str, pattern: str) -> list[Definition]:
    """All definitions with a body, in order. `pattern` goes from a definition's begin to its name or its brace."""
    closing = _closing_braces(blanked)
    matches = list(re.finditer(pattern, blanked, re.MULTILINE))
    limits = [*(match.start() for match in matches), len(blanked)][1:]
    place, depth, complete = 0, 0, []
    for match, limit in zip(matches, limits, strict=True):
        depth += blanked.count("{", place, match.start()) - blanked.count("}", place, match.start())
        place = match.start()
        body = _body(blanked, closing, match.end() - 1, limit)
        if body is not None:
            end = closing.get(body, len(blanked) - 1) + 1
            complete.append(Definition(match[1], match.start(), body, end, depth))
    return complete


def without(source: str, pieces: Iterable[Definition]) -> str:
    """The source without these definitions, which may be nested."""
    parts, place = [], 0
    for piece in sorted(pieces, key=lambda piece: piece.start):
        parts.append(source[place : max(place, piece.start)])
        place = max(place, piece.end)
    return "".join(parts) + source[place:]


def missing_braces(blanked: str) -> int:
    """How many closing braces are missing at the end."""
    return max(0, blanked.count("{") - blanked.count("}"))


def _closing_braces(blanked: str) -> dict[int, int]:
    """Place of each opening brace → place of its closing brace."""
    opened: list[int] = []
    pairs = {}
    for match in _BRACE.finditer(blanked):
        if match[0] == "{":
            opened.append(match.start())
        elif opened:
            pairs[opened.pop()] = match.start()
    return pairs


def _body(blanked: str, closing: dict[int, int], start: int, limit: int) -> int | None:
    """The brace that opens the body. Braces that close in the middle of a line belong to a type or an argument."""
    place = blanked.find("{", start, limit)
    while place >= 0:
        after = closing.get(place, len(blanked) - 1) + 1
        line = blanked[after : after + 80].partition("\n")[0]
        if not line.strip(" \t;})") and ";" not in blanked[start:place]:
            return place
        place = blanked.find("{", place + 1, limit)
    return None


_HEADERS = ("algorithm", "climits", "cstring", "iostream", "math.h", "stdio.h", "stdlib.h", "string", "vector")
_GO_FUNCTION = r"^func\s+(\w+)"
_JS_NAME = r"^(?:export\s+(?:default\s+)?)?(?:async\s+)?(?:const|let|var|function|class)\b\s*\*?\s*(\w+)"
_RUST_LETTER = r"'(?:\\(?:u\{[^}\n]*\}|[^\n])|[^'\\\n])'"
"""With its closing sign, because a lifetime begins with the same sign."""
_RUST_HEAD = r"^(?:[^\S\n]*#\[[^\n]*\][^\S\n]*\n){0,8}[^\S\n]*(?:pub(?:\([^)\n]*\))?\s+)?(?:(?:const|unsafe|async)\s+)*"

LANGUAGES = {
    "cpp": Language(
        hidden=rf'{_COMMENT}|R"(\w{{0,16}})\((?s:.*?)(?:\)\1"|\Z)|{_TEXT}|{_LETTER}',
        function=_CALLABLE,
        unit=_CALLABLE,
        opening=r"#\s*include|using\s+namespace\s",
        front="".join(f"#include <{name}>\n" for name in _HEADERS),
    ),
    "go": Language(
        hidden=rf"{_COMMENT}|{_RAW}|{_TEXT}|{_LETTER}",
        function=_GO_FUNCTION,
        unit=_GO_FUNCTION,
        opening=r"package\s|import\s",
        head="prompt",
        recipe="go_test",
    ),
    "java": Language(
        hidden=rf'{_COMMENT}|"""(?s:.*?)(?:"""|\Z)|{_TEXT}|{_LETTER}',
        function=_CALLABLE,
        unit=r"^(?:[^\n(){};=#]*[^\S\n])?(?:class|interface|enum|record)[^\S\n]+(\w+)",
        opening=r"import\s[^\n]*;",
    ),
    "javascript": Language(
        hidden=rf"{_COMMENT}|{_RAW}|{_TEXT}|{_LETTER}",
        function=_JS_NAME,
        unit=_JS_NAME,
        opening=r"['\"]use strict['\"]|(?:const|let|var)\s[^\n=]*=\s*require\b",
    ),
    "rust": Language(
        hidden=rf'{_COMMENT}|\br(#{{0,9}})"(?s:.*?)(?:"\1|\Z)|"(?:\\(?s:.)|[^"\\])*"?|{_RUST_LETTER}',
        function=_RUST_HEAD + r"fn\s+(\w+)",
        unit=_RUST_HEAD + r"(?:fn|mod|struct|enum|trait)\s+(\w+)",
        opening=r"(?:pub\s+)?use\s[^;]*;|extern\s+crate\s[^;]*;",
        recipe="rust_test",
    ),
}


def complete_file(language: str, source: str, row: JSONObject) -> str:
    """The file that contains `source`, a body or whole functions."""
    known = LANGUAGES[language]
    tested = {definition.name for definition in top_level(known, str(row["test"]))}
    source = _without_names(known, source, tested)
    target = requested_function(known, row)
    head = str(row[known.head])
    defined = {definition.name for definition in functions(known, source)}
    above = head if target.name not in defined else _without_names(known, head[: target.start], defined)
    return _FINISH[language](known, above, source, row)


def requested_function(known: Language, row: JSONObject) -> Definition:
    """The function that the task asks for; it comes last in the head."""
    return functions(known, str(row[known.head]))[-1]


def functions(known: Language, source: str) -> list[Definition]:
    return definitions(blank_out(source, known.hidden), known.function)


def top_level(known: Language, source: str) -> list[Definition]:
    """The definitions at the top level of a file. After a body whose head is elsewhere, the depth is negative."""
    units = definitions(blank_out(source, known.hidden), known.unit)
    return [definition for definition in units if definition.depth <= 0]


def _without_names(known: Language, source: str, names: set[str]) -> str:
    """The source without the definitions of these names, and without calls of them on lines of their own."""
    every = (*top_level(known, source), *functions(known, source))
    unwanted = {definition for definition in every if definition.name in names}
    calls = "|".join(re.escape(definition.name) for definition in unwanted)
    source = without(source, unwanted)
    return re.sub(rf"^(?:{calls})\(\);?[^\S\n]*$", "", source, flags=re.MULTILINE) if calls else source


def _split_opening(known: Language, source: str, opening: str = "") -> tuple[list[str], str]:
    """The lines that come first in every file, and the rest. Comments and string literals are not searched."""
    blanked = blank_out(source, known.hidden)
    matches = list(re.finditer(rf"^[^\S\n]*(?:{opening or known.opening})", blanked, re.MULTILINE))
    lines = [source[match.start() : match.end()].strip() for match in matches]
    for match in reversed(matches):
        source = source[: match.start()] + source[match.end() :]
    return lines, source


def _closed(known: Language, source: str) -> str:
    return source + "\n}" * missing_braces(blank_out(source, known.hidden))


def _joined(known: Language, above: str, source: str) -> str:
    """A head that is still open is continued, and closed if the reply has not closed it."""
    joined = above.rstrip("\n") + "\n" + source
    return _closed(known, joined) if missing_braces(blank_out(above, known.hidden)) else joined


def _cpp(known: Language, above: str, source: str, _row: JSONObject) -> str:
    return f"{known.front}{_joined(known, above, source)}\n"


def _java(known: Language, above: str, source: str, _row: JSONObject) -> str:
    """One file may hold one public class, and that is the tests'."""
    imports, above = _split_opening(known, above)
    more, source = _split_opening(known, source)
    source = _without_java_file_marks(source)
    if any(definition.name == "Solution" for definition in top_level(known, source)):
        above = ""
    return "\n".join([*dict.fromkeys([*imports, *more]), _closed(known, f"{above}\n{source}"), ""])


def _without_java_file_marks(source: str) -> str:
    """The source without its package, and without `public` before types, which binds a type to a file's name."""
    source = re.sub(r"^package\s[^;\n]*;", "", source, flags=re.MULTILINE)
    return re.sub(r"^public\s+(?=(?:\w+\s+)?(?:class|interface|enum|record)\b)", "", source, flags=re.MULTILINE)


def _javascript(known: Language, above: str, source: str, _row: JSONObject) -> str:
    """The program is not a module, so nothing may be exported."""
    source = re.sub(r"^export\s+(?:default\s+)?(?=const|let|var|function|async|class)", "", source, flags=re.MULTILINE)
    return f"{_joined(known, above, source)}\n"


def _rust(known: Language, above: str, source: str, _row: JSONObject) -> str:
    """The head's imports come by way of a module, so that the reply's own imports win over them."""
    attributes, source = _split_opening(known, source, r"#!\[[^\n]*\]")
    uses, above = _split_opening(known, above)
    module = "".join(f"    pub {line}\n" for line in uses)
    front = "\n".join(
        [*attributes, "#[allow(unused_imports)]", f"mod given {{\n{module}}}", "#[allow(unused_imports)]"]
    )
    return f"{front}\nuse given::*;\n{_joined(known, above, source)}\n"


_GO_IMPORT = re.compile(r'^import[^\S\n]*(?:\(([^()]*)\)|((?:[\w.]+[^\S\n]+)?"[^"\n]+"))[^\S\n]*;?', re.MULTILINE)
_GO_PACKAGE = re.compile(r"^package[^\S\n]+\w+[^\S\n]*;?", re.MULTILINE)
_GO_IMPORTED = re.compile(r'(?:([\w.]+)[^\S\n]+)?"([^"\n]+)"')
_GO_STANDARD = ("bytes", "crypto/md5", "fmt", "math", "math/rand", "regexp", "sort", "strconv", "strings", "time")
"""What the published runner imports by itself where it is used."""


def _go(known: Language, above: str, source: str, row: JSONObject) -> str:
    """In Go a missing import is an error, and so is an unused one."""
    imports, rest = _split_go_imports(_joined(known, above, source))
    needed = {**_split_go_imports(str(row["prompt"]))[0], **imports, **_split_go_imports(str(row["test_setup"]))[0]}
    standard = {_go_name(path): f'"{path}"' for path in _GO_STANDARD}
    # What `_` and `.` import is kept, because its use cannot be seen.
    blanked = blank_out(f"{rest}\n{row['test']}", known.hidden)
    used = set(re.findall(r"(?<![.\w])(\w+)\s*\.", blanked)) | {"_", "."}
    lines = [f"\t{line}\n" for name, line in sorted({**standard, **needed}.items()) if name in used]
    return f"package main\n\nimport (\n{''.join(lines)})\n\n{rest}\n"


def _split_go_imports(source: str) -> tuple[dict[str, str], str]:
    """The imports by the names they are used under, and the source without them."""
    lines = [line for match in _GO_IMPORT.finditer(source) for line in (match[1] or match[2]).split("\n")]
    matches = [_GO_IMPORTED.match(line.strip()) for line in lines]
    imports = {(match[1] or _go_name(match[2])): match[0] for match in matches if match}
    return imports, _GO_PACKAGE.sub("", _GO_IMPORT.sub("", source))


def _go_name(path: str) -> str:
    return path.rpartition("/")[2]


_FINISH: dict[str, Callable[[Language, str, str, JSONObject], str]] = {
    "cpp": _cpp,
    "go": _go,
    "java": _java,
    "javascript": _javascript,
    "rust": _rust,
}
"""What is left to do in each language."""


_SCRIPTS = {
    "bash": r"^(?:function[ \t]+)?(\w+)[ \t]*(?:\(\))?[ \t]*\n?[ \t]*\{",
    "perl": r"^sub[ \t]+(\w+)",
}
"""Languages whose files need nothing in front, with what defines a function there."""


def _defined(language: str, source: str) -> list[str]:
    if language in _SCRIPTS:
        return re.findall(_SCRIPTS[language], source, re.MULTILINE)
    return [definition.name for definition in functions(LANGUAGES[language], source)]


def _source_in(language: str, text: str, name: str) -> str:
    """The last block that defines the function, else the longest block; without blocks, the code within the text."""
    blocks = [block.text for block in fenced_blocks(text) if block.language in {"", *FENCES[language]}]
    defining = [source for source in blocks if name in _defined(language, source)]
    if blocks:
        return defining[-1] if defining else max(blocks, key=len)
    return before(text) if language in _SCRIPTS else _unfenced(LANGUAGES[language], before(text), name)


def _unfenced(known: Language, text: str, name: str) -> str:
    """The text without the talk before a whole function and after the last brace."""
    blanked = blank_out(text, known.hidden)
    starts = [function.start for function in functions(known, text) if function.name == name]
    first = re.search(rf"^(?:{known.opening})", blanked, re.MULTILINE)
    start = min([*starts, first.start()] if first else starts) if starts else 0
    end = blanked.rfind("}") + 1 or len(text)
    return text[start:end] + (";" if text.startswith(";", end) else "")


# HumanEval-X.


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
    name = requested_function(LANGUAGES[language], row).name
    source = _source_in(language, text.replace("\r\n", "\n"), name)
    return complete_file(language, source, row) if source.strip() else None


def entry_point(row: JSONObject) -> str:
    """The Python function that the task asks for: the last one of the head."""
    return str(re.findall(r"^def (\w+)", str(row["declaration"]), re.MULTILINE)[-1])


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


# MultiPL-E. Its authors join prompt, completion and tests. A reply to a chat has the whole function instead, perhaps
# with helpers and imports of its own; it takes the prompt's place then.


_MULTIPL_E_LIMITS = Limits(wall_seconds=15.0, memory_mb=2048, processes=128, file_mb=64)
"""Its own runner gives 15 s to a compiler and to a program; a compiler has more here."""
_RECIPES = {"go": "go_test", "java": "java_problem"}
"""Language → the sandbox's name for how its files are run, if that is another one."""


def multipl_e_code(text: str, problem: Problem, *, language: str, continues: bool = False) -> str | None:
    """The complete file, without its tests. `continues`: the text goes on where the prompt ends, as its authors ask."""
    row, text = problem.extras, text.replace("\r\n", "\n")
    if continues:
        return _continued(text, row)
    prompt = str(row["prompt"])
    name = _defined(language, prompt)[-1]  # which the prompt's end has opened
    source = _source_in(language, text, name)
    if not source.strip():
        return None
    if name not in _defined(language, source):
        return _continued(source, row)
    if language in _SCRIPTS or language == "java":
        return source if language in _SCRIPTS else _problem_class(source, prompt, name)
    # As the files of HumanEval-X, whose columns are these.
    columns = {"prompt": prompt, "declaration": prompt, "test": _tests_alone(row), "test_setup": ""}
    return complete_file(language, source, columns)


def _continued(text: str, row: JSONObject) -> str:
    """The prompt with the text as far as it goes on with it, closed where the tests would close it."""
    ends = [place for stop in row["stop_tokens"] if (place := text.find(stop)) >= 0]
    completed = f"{row['prompt']}{text[: min(ends, default=len(text))]}"
    # With a brace, the tests close the function that the prompt has opened; without one, completions do.
    return f"{completed}\n{'}' if str(row['tests']).lstrip().startswith('}') else ''}"


def _tests_alone(row: JSONObject) -> str:
    return str(row["tests"]).lstrip().removeprefix("}")


def _problem_class(source: str, prompt: str, name: str) -> str:
    """The tests are the rest of the class Problem, so what the reply has in a class of its own moves there."""
    known = LANGUAGES["java"]
    given, _ = _split_opening(known, prompt)
    more, rest = _split_opening(known, source)
    rest = _without_java_file_marks(rest)
    target = next(one for one in functions(known, rest) if one.name == name)
    types = top_level(known, rest)
    around = [one for one in types if one.body < target.start < one.end]
    beside = "\n".join(rest[one.start : one.end] for one in types if one not in around)
    members = rest[around[0].body + 1 : around[0].end - 1] if around else without(rest, types)
    members = without(members, [one for one in functions(known, members) if one.name == "main"])
    imports = "\n".join(dict.fromkeys([*given, *more]))
    return f"{imports}\n{beside}\nclass Problem {{\n{members}\n"


def multipl_e(code: str, row: JSONObject, *, language: str) -> Program:
    """One file whose exit code decides."""
    recipe = _RECIPES.get(language, language)
    return Program(code=code, tests=_tests_alone(row), language=recipe, limits=_MULTIPL_E_LIMITS)
