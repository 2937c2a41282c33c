"""A reply → the program in it.

Of several fenced blocks the last one that defines the entry point counts, because replies correct themselves
downwards; declarations of the blocks before it go in front, because replies also build up. If no block defines it,
the longest one that is Python counts. Without a fence the reply itself is read: from where code begins, as far as it is
Python. Where the question was the head of a function, a reply that only goes on with its body is put behind it.
"""

import ast
import textwrap
from collections.abc import Iterator

from model_accuracy_eval.scoring.code import fences
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
"""No honest reply has more; the last ones count."""
_FUNCTION = (ast.FunctionDef, ast.AsyncFunctionDef)
_PYTHON = {"", "python", "python3", "py", "py3", "pycon", "{python}", "{.python}", "python:"}


def solution(text: str, entry_point: str, prompt: str = "") -> str | None:
    """The whole program, `prompt` in front; None where the reply holds no code."""
    text = text.replace("\r\n", "\n")
    written = [block.text for block in fences.blocks(text) if block.language in _PYTHON][-_BLOCKS:]
    whole = _whole(written, entry_point) or _whole([fences.before(text), text], entry_point)
    if whole is not None:
        return _behind(prompt, whole.source)
    candidates = written or [fences.before(text)]
    if prompt:
        bodies = [body for body in (_body(prompt, one, entry_point) for one in candidates) if body]
        return max(bodies, key=len, default=None)
    codes = [_code(one, entry_point) for one in candidates]
    codes = [code for code in codes if any(is_declaration(node) for node in code.tree.body)]
    return max((code.source for code in codes), key=len, default=None)


def _whole(candidates: list[str], entry_point: str) -> Code | None:
    """The last candidate that defines the entry point, after what those before it declare."""
    codes = [_code(one, entry_point) for one in candidates]
    right = [place for place, code in enumerate(codes) if code.defines(entry_point)]
    if not right:
        return None
    place = right[-1]
    known = {name for node in codes[place].tree.body for name in names_of(node)} | {entry_point}
    front = "".join(_declarations(code, known) for code in codes[:place])
    return Code(front + codes[place].source, codes[place].tree)


def _declarations(code: Code, known: set[str]) -> str:
    """What a block declares and a later one does not."""
    lines = code.source.split("\n")
    kept = [
        "\n".join(lines[first_line(node) - 1 : node.end_lineno]) + "\n"
        for node in code.tree.body
        if is_declaration(node) and known.isdisjoint(names_of(node)) and not _on_its_own_line(node, code)
    ]
    return "".join(kept)


def _on_its_own_line(node: ast.stmt, code: Code) -> bool:
    """Whether the line has other statements beside it, which would come along."""
    return any(other is not node and other.lineno <= (node.end_lineno or 0) and (other.end_lineno or 0) >= node.lineno
               for other in code.tree.body)  # fmt: skip


def _code(text: str, entry_point: str) -> Code:
    """The code of one candidate, which may begin behind talk; talk that is Python by chance ends it."""
    text = textwrap.dedent(text).strip("\n")
    first = code = longest_prefix(text)
    if not code.defines(entry_point):
        found = (longest_prefix(one) for one in starts(text, entry_point))
        code = next((one for one in found if one.defines(entry_point)), first)
    own = next((node for node in code.tree.body if entry_point in names_of(node)), None)
    if own is not None:
        behind = code.tree.body[code.tree.body.index(own) + 1 :]
        end = next((node for node in behind if is_talk(node)), None)
        code = code.upto(end) if end is not None else code
    return code


def _body(prompt: str, completion: str, entry_point: str) -> str | None:
    """The prompt and the body that goes on with it; None where nothing does."""
    head = longest_prefix(prompt)
    stub = next((node for node in reversed(head.tree.body) if entry_point in names_of(node)), None)
    told = len(stub.body) if isinstance(stub, _FUNCTION) else 0
    for body in _indented(prompt, completion.strip("\n")):
        code = longest_prefix(prompt.rstrip("\n") + "\n" + body)
        own = next((node for node in reversed(code.tree.body) if entry_point in names_of(node)), None)
        if isinstance(own, _FUNCTION) and len(own.body) > told:
            return _without_the_rest(code, own).source
    return None


def _indented(prompt: str, completion: str) -> Iterator[str]:
    """The body as it is; with its first line's indentation put back; moved as a whole to where it belongs."""
    last = prompt.rstrip().rpartition("\n")[2]
    indent = last[: len(last) - len(last.lstrip())] or "    "
    if completion[:1].isspace():
        yield completion
    lost, moved = indent + completion.lstrip(), textwrap.indent(textwrap.dedent(completion), indent)
    yield from (lost, moved) if _lost_its_first_indentation(completion, indent) else (moved, lost)


def _lost_its_first_indentation(body: str, indent: str) -> bool:
    """Whether the line behind the first statement stands too far right for a body that begins at the margin."""
    first, *rest = [line for line in body.split("\n") if line.strip()] or [""]
    depth = sum(map(first.count, "([{")) - sum(map(first.count, ")]}"))
    opens = first.rstrip().endswith(":")
    for line in rest:
        if depth <= 0:
            return len(line) - len(line.lstrip()) > (len(indent) if opens else 0)
        depth += sum(map(line.count, "([{")) - sum(map(line.count, ")]}"))
        opens = opens or line.rstrip().endswith(":")
    return False


def _without_the_rest(code: Code, own: ast.stmt) -> Code:
    """A base model goes on with whatever may follow a function: helpers are kept, all else ends the program."""
    behind = code.tree.body[code.tree.body.index(own) + 1 :]
    end = next((node for node in behind if not is_declaration(node) or is_talk(node)), None)
    return code.upto(end) if end is not None else code


def _behind(prompt: str, source: str) -> str:
    """Imports and helpers of the question stand in front; what must be first of all in a file comes before them."""
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
