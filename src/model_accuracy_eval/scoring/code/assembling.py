"""A body or whole functions in a language of HumanEval-X → the whole file, but for its tests.

What a reply leaves out stands in front of it. What the tests define, it loses: replies bring mains and tests of their
own. Imports are brought to one place.
"""

import re
from collections.abc import Callable

from model_accuracy_eval.records import JSONObject
from model_accuracy_eval.scoring.code import go_imports
from model_accuracy_eval.scoring.code.languages import LANGUAGES, Language
from model_accuracy_eval.scoring.code.shading import Definition, definitions, missing_braces, shade, without


def assembled(language: str, source: str, row: JSONObject) -> str:
    """`source` is a body or whole functions."""
    known = LANGUAGES[language]
    tested = {one.name for one in _tops(known, str(row["test"]))}
    source = _without(known, source, tested)
    wanted = asked(known, row)
    head = str(row[known.head])
    own = {one.name for one in functions(known, source)}
    above = head if wanted.name not in own else _without(known, head[: wanted.start], own)
    return _FINISHED[language](known, above, source, row)


def asked(known: Language, row: JSONObject) -> Definition:
    """The function that is asked for; it comes last in the head."""
    return functions(known, str(row[known.head]))[-1]


def functions(known: Language, source: str) -> list[Definition]:
    return definitions(shade(source, known.hidden), known.function)


def _tops(known: Language, source: str) -> list[Definition]:
    """What stands at the top of a file; less than that is deep what follows a body, whose head is elsewhere."""
    return [one for one in definitions(shade(source, known.hidden), known.unit) if one.depth <= 0]


def _without(known: Language, source: str, names: set[str]) -> str:
    """Less definitions of these names, and calls of them on lines of their own."""
    found = {one for one in (*_tops(known, source), *functions(known, source)) if one.name in names}
    calls = "|".join(re.escape(one.name) for one in found)
    source = without(source, found)
    return re.sub(rf"^(?:{calls})\(\);?[^\S\n]*$", "", source, flags=re.MULTILINE) if calls else source


def _lifted(known: Language, source: str, opening: str = "") -> tuple[list[str], str]:
    """The lines that stand first in any file, and the rest. They are looked for where no text or comment is."""
    shaded = shade(source, known.hidden)
    found = list(re.finditer(rf"^[^\S\n]*(?:{opening or known.opening})", shaded, re.MULTILINE))
    lines = [source[one.start() : one.end()].strip() for one in found]
    for one in reversed(found):
        source = source[: one.start()] + source[one.end() :]
    return lines, source


def _closed(known: Language, source: str) -> str:
    return source + "\n}" * missing_braces(shade(source, known.hidden))


def _cpp(known: Language, above: str, source: str, _row: JSONObject) -> str:
    return f"{known.front}{_joined(known, above, source)}\n"


def _java(known: Language, above: str, source: str, _row: JSONObject) -> str:
    """One file holds one public class, and that is the tests'."""
    imports, above = _lifted(known, above)
    more, source = _lifted(known, source)
    source = re.sub(r"^package\s[^;\n]*;", "", source, flags=re.MULTILINE)
    source = re.sub(r"^public\s+(?=(?:\w+\s+)?(?:class|interface|enum|record)\b)", "", source, flags=re.MULTILINE)
    if any(one.name == "Solution" for one in _tops(known, source)):
        above = ""
    return "\n".join([*dict.fromkeys([*imports, *more]), _closed(known, f"{above}\n{source}"), ""])


def _javascript(known: Language, above: str, source: str, _row: JSONObject) -> str:
    """The program is no module, so nothing is exported."""
    source = re.sub(r"^export\s+(?:default\s+)?(?=const|let|var|function|async|class)", "", source, flags=re.MULTILINE)
    return f"{_joined(known, above, source)}\n"


def _rust(known: Language, above: str, source: str, _row: JSONObject) -> str:
    """What the head brings into scope gives way to what the reply does: it comes by way of a module."""
    attributes, source = _lifted(known, source, r"#!\[[^\n]*\]")
    uses, above = _lifted(known, above)
    given = "".join(f"    pub {line}\n" for line in uses)
    front = "\n".join([*attributes, "#[allow(unused_imports)]", f"mod given {{\n{given}}}", "#[allow(unused_imports)]"])
    return f"{front}\nuse given::*;\n{_joined(known, above, source)}\n"


def _go(known: Language, above: str, source: str, row: JSONObject) -> str:
    imports, rest = go_imports.taken(_joined(known, above, source))
    needed = {**go_imports.taken(str(row["prompt"]))[0], **imports, **go_imports.taken(str(row["test_setup"]))[0]}
    block = go_imports.written(needed, shade(f"{rest}\n{row['test']}", known.hidden))
    return f"package main\n\n{block}\n{rest}\n"


def _joined(known: Language, above: str, source: str) -> str:
    """A head that is still open is gone on with, and closed where the reply has not done so."""
    whole = above.rstrip("\n") + "\n" + source
    return _closed(known, whole) if missing_braces(shade(above, known.hidden)) else whole


_FINISHED: dict[str, Callable[[Language, str, str, JSONObject], str]] = {
    "cpp": _cpp,
    "go": _go,
    "java": _java,
    "javascript": _javascript,
    "rust": _rust,
}
"""What is left to do in each language."""
