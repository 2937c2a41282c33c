"""A reply → the Python program in it.

Of several fenced blocks the last one that defines the entry point counts, because replies correct themselves
downwards; declarations of earlier blocks are put in front, because replies also build up. If no block defines it, the
longest block of Python counts. Without a fence the reply itself is read: from where code begins, as far as it is
Python. If the question was the head of a function, a reply that only continues with the body is put after the head.
"""

import ast
import re
import textwrap
from collections.abc import Iterator
from typing import NamedTuple

from model_accuracy_eval.scoring.code.code_syntax import (
    Code,
    first_line,
    is_declaration,
    is_talk,
    longest_prefix,
    names_of,
    parse,
    returns,
    starts,
)

# Markdown's fenced blocks, read in one pass over the lines.


_FENCE = re.compile(r"([ \t]*)(`{3,}|~{3,})[ \t]*([^`\s]*)[^`]*")


class Block(NamedTuple):
    """The text between two fences; `language` is the first word after the opening fence."""

    language: str
    text: str


def fenced_blocks(text: str) -> list[Block]:
    """Every block in order. A block that nothing closes reaches to the end: the reply was cut off."""
    result: list[Block] = []
    fence, indent, language = "", "", ""
    lines: list[str] = []
    for line in text.split("\n"):
        match = _FENCE.fullmatch(line.rstrip())
        if not fence and match:
            indent, fence, language = match.groups()
            lines = []
        elif fence and match and match[2].startswith(fence) and not match[3]:
            result.append(Block(language.lower(), "\n".join(lines)))
            fence = ""
        else:
            lines.append(line.removeprefix(indent))
    if fence:
        result.append(Block(language.lower(), "\n".join(lines)))
    return result


def before(text: str) -> str:
    """The text before the first fence; the whole text where there is none."""
    lines = text.split("\n")
    first = next((place for place, line in enumerate(lines) if _FENCE.fullmatch(line.rstrip())), len(lines))
    return "\n".join(lines[:first])


_BLOCKS = 64
"""No honest reply has more blocks; the last ones count."""
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
FENCES = {
    "python": ("python", "python3", "py", "py3", "pypy", "pypy3", "pycon", "{python}", "{.python}", "python:"),
    "cpp": ("cpp", "c++", "cxx", "cc", "c", "cpp17", "c++17"),
    "go": ("go", "golang"),
    "java": ("java",),
    "javascript": ("javascript", "js", "node", "nodejs", "typescript"),
    "perl": ("perl", "pl"),
    "rust": ("rust", "rs"),
    "bash": ("bash", "sh", "shell"),
}
"""Language → the words after a fence."""


def solution(text: str, entry_point: str, prompt: str = "") -> str | None:
    """The whole program, `prompt` in front; None where the reply holds no code."""
    text = text.replace("\r\n", "\n")
    blocks = [block.text for block in fenced_blocks(text) if block.language in {"", *FENCES["python"]}][-_BLOCKS:]
    program = _defining(blocks, entry_point) or _defining([before(text), text], entry_point)
    candidates = blocks or [before(text)]
    bodies = [_body(prompt, candidate, entry_point) for candidate in candidates if prompt]
    body = max((body for body in bodies if body), key=lambda body: len(body.source), default=None)
    function = _function(body, entry_point) if body else None
    gives = function is not None and any(map(returns, function.body))
    if program is not None and not (gives and _only_assigns(program, entry_point)):
        return after_head(prompt, program.source)
    if prompt:
        return body.source if body else None
    codes = [_code(candidate, entry_point) for candidate in candidates]
    codes = [code for code in codes if any(is_declaration(node) for node in code.tree.body)]
    return max((code.source for code in codes), key=len, default=None)


def _defining(candidates: list[str], entry_point: str) -> Code | None:
    """The last candidate that defines the entry point, after the declarations of those before it."""
    codes = [_code(candidate, entry_point) for candidate in candidates]
    places = [place for place, code in enumerate(codes) if code.defines(entry_point)]
    if not places:
        return None
    place = places[-1]
    known = {name for node in codes[place].tree.body for name in names_of(node)} | {entry_point}
    front = "".join(_declarations(code, known) for code in codes[:place])
    return Code(front + codes[place].source, codes[place].tree)


def _declarations(code: Code, known: set[str]) -> str:
    """The declarations of a block whose names no later block defines."""
    lines = code.source.split("\n")
    declarations = [
        "\n".join(lines[first_line(node) - 1 : node.end_lineno]) + "\n"
        for node in code.tree.body
        if is_declaration(node) and known.isdisjoint(names_of(node)) and not _shares_a_line(node, code)
    ]
    return "".join(declarations)


def _shares_a_line(node: ast.stmt, code: Code) -> bool:
    """Whether its lines contain other statements, which would come along."""
    return any(other is not node and other.lineno <= (node.end_lineno or 0) and (other.end_lineno or 0) >= node.lineno
               for other in code.tree.body)  # fmt: skip


def _code(text: str, entry_point: str) -> Code:
    """The code of one candidate, which may begin after talk; talk that happens to be Python ends it."""
    text = textwrap.dedent(text).strip("\n")
    first = code = longest_prefix(text)
    if not code.defines(entry_point):
        later = (longest_prefix(start) for start in starts(text, entry_point))
        code = next((other for other in later if other.defines(entry_point)), first)
    target = next((node for node in code.tree.body if entry_point in names_of(node)), None)
    if target is not None:
        following = code.tree.body[code.tree.body.index(target) + 1 :]
        end = next((node for node in following if is_talk(node)), None)
        code = code.upto(end) if end is not None else code
    return code


def _only_assigns(code: Code, entry_point: str) -> bool:
    """Whether the name is nothing but a variable: `common = []` begins the body of `common`, too."""
    nodes = [node for node in code.tree.body if entry_point in names_of(node)]
    return all(isinstance(node, (ast.Assign, ast.AnnAssign)) for node in nodes)


def _body(prompt: str, completion: str, entry_point: str) -> Code | None:
    """The prompt and the body that continues it; None if the text is no such body."""
    stub = _function(longest_prefix(prompt), entry_point)
    statements = len(stub.body) if stub else 0
    for body in _indented(completion.strip("\n"), _indentation(prompt, stub)):
        code = longest_prefix(prompt.rstrip("\n") + "\n" + body)
        function = _function(code, entry_point)
        if function and len(function.body) > statements:
            # A base model goes on after the function: helpers stay, anything else and another use of the name end it.
            following = code.tree.body[code.tree.body.index(function) + 1 :]
            end = next((node for node in following if not _helps(node, entry_point)), None)
            return code.upto(end) if end is not None else code
    return None


def _helps(node: ast.stmt, entry_point: str) -> bool:
    return is_declaration(node) and not is_talk(node) and entry_point not in names_of(node)


def _function(code: Code, name: str) -> ast.FunctionDef | ast.AsyncFunctionDef | None:
    """The first of that name: a base model may go on with another one."""
    functions = (node for node in code.tree.body if isinstance(node, _FUNCTION))
    return next((function for function in functions if function.name == name), None)


def _indentation(prompt: str, stub: ast.stmt | None) -> str:
    """That of the head's docstring, whose last line may be indented otherwise; without one, four blanks."""
    lines = prompt.rstrip().split("\n")
    first = lines[stub.body[0].lineno - 1] if isinstance(stub, _FUNCTION) else lines[-1]
    return first[: len(first) - len(first.lstrip())] or "    "


def _indented(completion: str, indent: str) -> Iterator[str]:
    """The body unchanged; with its first line's indentation restored; indented as a whole."""
    if completion[:1].isspace():
        yield completion
    first, moved = indent + completion.lstrip(), textwrap.indent(textwrap.dedent(completion), indent)
    yield from (first, moved) if _lost_its_first_indentation(completion, indent) else (moved, first)


def _lost_its_first_indentation(body: str, indent: str) -> bool:
    """Whether the line after the first statement is indented too far for a body that begins at the margin."""
    first, *rest = [line for line in body.split("\n") if line.strip()] or [""]
    depth = sum(map(first.count, "([{")) - sum(map(first.count, ")]}"))
    opens = first.rstrip().endswith(":")
    for line in rest:
        if depth <= 0:
            return len(line) - len(line.lstrip()) > (len(indent) if opens else 0)
        depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
        opens = opens or line.rstrip().endswith(":")
    return False


def after_head(prompt: str, source: str) -> str:
    """The program after a head's imports and helpers; its `from __future__` lines come before them."""
    if not prompt:
        return source
    head = longest_prefix(prompt)
    tree = parse(source)
    future = [
        node for node in (tree.body if tree else []) if isinstance(node, ast.ImportFrom) and node.module == "__future__"
    ]
    lines = source.split("\n")
    early = "".join("\n".join(lines[node.lineno - 1 : node.end_lineno]) + "\n" for node in future)
    for node in future:
        lines[node.lineno - 1 : node.end_lineno] = [""] * ((node.end_lineno or node.lineno) - node.lineno + 1)
    return f"{early}{head.source.rstrip()}\n\n\n" + "\n".join(lines)
