"""A reply → the Python program in it.

Of several fenced blocks the last one that defines the entry point counts, because replies correct themselves
downwards; declarations of earlier blocks are put in front, because replies also build up. If no block defines it, the
longest block of Python counts. Without a fence the reply itself is read: from where code begins, as far as it is
Python. If the question was the head of a function, a reply that only continues with the body is put after the head.
"""

import ast
import textwrap
from collections.abc import Iterator

from model_accuracy_eval.scoring.code import markdown_blocks
from model_accuracy_eval.scoring.code.syntax import (
    Code,
    first_line,
    is_declaration,
    is_talk,
    longest_prefix,
    names_of,
    parse,
    starts,
)

_BLOCKS = 64
"""No honest reply has more blocks; the last ones count."""
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_PYTHON = {"", "python", "python3", "py", "py3", "pycon", "{python}", "{.python}", "python:"}


def solution(text: str, entry_point: str, prompt: str = "") -> str | None:
    """The whole program, `prompt` in front; None where the reply holds no code."""
    text = text.replace("\r\n", "\n")
    blocks = [block.text for block in markdown_blocks.blocks(text) if block.language in _PYTHON][-_BLOCKS:]
    program = _defining(blocks, entry_point) or _defining([markdown_blocks.before(text), text], entry_point)
    if program is not None:
        return _after(prompt, program.source)
    candidates = blocks or [markdown_blocks.before(text)]
    if prompt:
        bodies = [body for body in (_body(prompt, candidate, entry_point) for candidate in candidates) if body]
        return max(bodies, key=len, default=None)
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


def _body(prompt: str, completion: str, entry_point: str) -> str | None:
    """The prompt and the body that continues it; None if the text is no such body."""
    head = longest_prefix(prompt)
    stub = next((node for node in reversed(head.tree.body) if entry_point in names_of(node)), None)
    statements = len(stub.body) if isinstance(stub, _FUNCTION) else 0
    for body in _indented(prompt, completion.strip("\n")):
        code = longest_prefix(prompt.rstrip("\n") + "\n" + body)
        function = next((node for node in reversed(code.tree.body) if entry_point in names_of(node)), None)
        if isinstance(function, _FUNCTION) and len(function.body) > statements:
            return _without_the_rest(code, function).source
    return None


def _indented(prompt: str, completion: str) -> Iterator[str]:
    """The body unchanged; with its first line's indentation restored; indented as a whole."""
    last = prompt.rstrip().rpartition("\n")[2]
    indent = last[: len(last) - len(last.lstrip())] or "    "
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


def _without_the_rest(code: Code, function: ast.stmt) -> Code:
    """A base model goes on after the function: helpers are kept, anything else ends the program."""
    following = code.tree.body[code.tree.body.index(function) + 1 :]
    end = next((node for node in following if not is_declaration(node) or is_talk(node)), None)
    return code.upto(end) if end is not None else code


def _after(prompt: str, source: str) -> str:
    """The program after the question's imports and helpers; its `from __future__` lines come before them."""
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
