"""HumanEval-X: a reply in another language → the whole file, but for its tests."""

import re
from typing import NamedTuple

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.code import fences


class Language(NamedTuple):
    """What has to be known of a language to put a reply behind its head."""

    fences: tuple[str, ...]
    defining: str
    """Pattern of a definition; {name} is what it defines."""
    opening: str
    """Pattern of the lines that any file of it begins with."""
    wrapping: str = ""
    """What stands around functions."""
    closing: str = ""


_C_LIKE = r"\b{name}\s{{0,9}}\([^;{{}}]{{0,500}}\)[\w\s]{{0,40}}\{{"
LANGUAGES = {
    "cpp": Language(("cpp", "c++", "cxx", "cc", "c"), _C_LIKE, r"#\s*include|using\s"),
    "java": Language(("java",), _C_LIKE, r"import\s", "\nclass Solution {", "\n}"),
    "javascript": Language(
        ("javascript", "js", "node", "typescript"), r"(?m)^(?:export\s+)?(?:const|let|var|function)\s+{name}\b", r"(?!)"
    ),
}
_DEFINED = re.compile(
    r"^\s*(?:(?:const|let|var|function)\s+(\w+)|[\w<>:,\[\] ]+?\s[&*]?(\w+)\s*\([^()]*\)[\w\s,]*\{)", re.MULTILINE
)
_WORDS = {"while", "for", "if", "switch", "catch"}


def foreign_code(
    text: str, problem: Problem, *, language: str, prompt: str = "prompt", head: str = "declaration"
) -> str | None:
    """`prompt` and `head` name columns: what a body goes on with, and the same without its comment."""
    known = LANGUAGES[language]
    written = [block.text for block in fences.blocks(text) if block.language in {"", *known.fences}]
    source = max(written, key=len) if written else fences.before(text)
    if not source.strip():
        return None
    heads = _heads(str(problem.extras[head]))
    if not heads or not _defines(known, heads[-1].name, source):
        return str(problem.extras[prompt]).rstrip("\n") + "\n" + source
    return _whole(known, source, str(problem.extras[head]), heads)


def _whole(known: Language, source: str, declaration: str, heads: list["_Head"]) -> str:
    """The reply defines the function itself: in front of it stands what it left out."""
    above = declaration[: heads[-1].start].rstrip()
    opening = "\n".join(line for line in declaration.split("\n") if re.match(known.opening, line))
    if re.search(r"\bclass\s+Solution\b", source):
        return f"{opening}\n" + re.sub(r"\bpublic\s+(?=class\s+Solution\b)", "", source)
    if any(_defines(known, one.name, source) for one in heads[:-1]):
        above = opening + known.wrapping
    return f"{above}\n{source}{known.closing}"


class _Head(NamedTuple):
    """Where a definition begins, and what it defines."""

    start: int
    name: str


def _heads(declaration: str) -> list[_Head]:
    """What the head of a problem defines, the function that is asked for last."""
    found = (_Head(match.start(), match[1] or match[2]) for match in _DEFINED.finditer(declaration))
    return [head for head in found if head.name not in _WORDS]


def _defines(known: Language, name: str, source: str) -> bool:
    return re.search(known.defining.format(name=re.escape(name)), source) is not None
