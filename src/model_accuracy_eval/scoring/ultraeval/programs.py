"""Replies that go on with a program, cut where the program ends."""

import re

_NEXT = ("\nclass", "\ndef", "\n#", "\n@", "\nprint", "\nif", "<|endoftext|>")
"""What begins behind the body of a function."""
_QUOTES = '"""'
_INDENT = "    "


def mbpp(text: str) -> str:
    """Up to the first empty line."""
    return text.split("\n\n", maxsplit=1)[0]


def humaneval(text: str) -> str:
    """Up to what no longer belongs to the function."""
    return text[: min([place for mark in _NEXT if (place := text.find(mark)) >= 0], default=len(text))]


def humaneval_chatgpt(text: str) -> str:
    """The function's body, indented: out of the first fence, without imports, head and what follows two empty lines."""
    if "```" in text:
        text = _fenced(text)
    if text.strip().startswith(("from", "import")) and "def" in text:
        text = _behind_line(text, text.find("def"))
    text = text.split("\n\n\n")[0]
    if text.strip().startswith("def"):
        text = text.partition("\n")[2]
    if text.startswith(_INDENT):
        return text
    if text.startswith(" "):
        return _INDENT + text.lstrip()
    return "\n".join(_INDENT + line for line in text.split("\n"))


def _fenced(text: str) -> str:
    """The first block without the word behind its fence; of a block that nothing closes, the word stays."""
    block = re.search(r"```(.*?)```", text, re.DOTALL)
    if block is None:
        return text.split("```")[1]
    return block[1] if block[1].startswith("\n") else _behind_line(block[1], 0)


def _behind_line(text: str, place: int) -> str:
    """What follows the line that has that place; all of it, where no line does."""
    return text[text.find("\n", place) + 1 :]


def new_mbpp(text: str) -> str:
    """Up to the docstring that a next task begins with."""
    quotes = [place for place in range(len(text)) if text.startswith(_QUOTES, place)]
    if len(quotes) % 2:
        return text[: quotes[0]].strip()
    pairs = zip(quotes[::2], quotes[1::2], strict=True)
    return text[: next((start for start, end in pairs if "def" in text[end:]), len(text))].strip()
