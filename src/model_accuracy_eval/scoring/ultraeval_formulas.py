r"""UltraEval's answers that are formulas: LaTeX in one spelling, so that \dfrac12, 1/2 and 0.5 are the same."""

import re

_SPELLINGS = (
    ("\n", ""), ("\\!", ""), ("\\\\", "\\"), ("tfrac", "frac"), ("dfrac", "frac"), ("\\left", ""), ("\\right", ""),
    ("^{\\circ}", ""), ("^\\circ", ""), ("\\$", ""),
)  # fmt: skip
_WORDS = (
    ("an ", ""), ("a ", ""), (".$", "$"), ("\\$", ""), (r"\ ", ""), (" ", ""), ("mbox", "text"),
    (",\\text{and}", ","), ("\\text{and}", ","), ("\\text{m}", "\\text{}"), ("\\le", "<"),
)  # fmt: skip
_UNITS = (
    "square", "ways", "integers", "dollars", "mph", "inches", "ft", "hours", "km", "units", "\\ldots", "sue", "points",
    "feet", "minutes", "digits", "cents", "degrees", "cm", "gm", "pounds", "meters", "meals", "edges", "students",
    "childrentickets", "multiples", "\\text{s}", "\\text{.}", "\\text{\ns}", "\\text{}^2", "\\text{}^3", "\\text{\n}",
    "\\text{}", r"\mathrm{th}", r"^\circ", r"^{\circ}", r"\;", r",\!", "{,}", '"', "\\dots", "\n", "\r", "\f",
)  # fmt: skip
_WRAPPED = (r"\\text\{(.*?)\}", r"\\textbf\{(.*?)\}", r"\\overline\{(.*?)\}", r"\\boxed\{(.*)\}")
_ENCLOSED = (r"finalansweris(.*)", r"oxed\{(.*?)\}", r"\$(.*?)\$")
_CONCLUDING = ("final answer", "therefore", "thus", "hence")


def plain(text: str) -> str:
    """The formula in its one spelling; a text that cannot be read as LaTeX stays as it is."""
    normalized = _normalized(text)
    return text if normalized is None else normalized


def _normalized(text: str) -> str | None:
    """None where a command lacks its argument, or where two units follow."""
    text = _replaced(text, _SPELLINGS)
    text, *units = text.split("\\text{ ")
    if len(units) > 1:
        return None
    text = _replaced(text, (("\\%", ""), (" .", " 0."), ("{.", "{0.")))
    text = f"0{text}" if text.startswith(".") else text
    sides = text.split("=")
    text = sides[1] if len(sides) == 2 and len(sides[0]) <= 2 else text
    rooted = _rooted(text)
    divided = None if rooted is None else _divided(rooted.replace(" ", ""))
    return None if divided is None else _fraction("\\frac{1}{2}" if divided == "0.5" else divided)


def _replaced(text: str, pairs: tuple[tuple[str, str], ...]) -> str:
    for old, new in pairs:
        text = text.replace(old, new)
    return text


def _rooted(text: str) -> str | None:
    r"""\sqrt3 becomes \sqrt{3}."""
    front, *rest = text.split("\\sqrt")
    if "" in rest:
        return None
    return front + "".join("\\sqrt" + (piece if piece[0] == "{" else f"{{{piece[0]}}}{piece[1:]}") for piece in rest)


def _divided(text: str) -> str | None:
    r"""\frac12 becomes \frac{1}{2}; where one fraction has a single character, all stay as they are."""
    front, *rest = text.split("\\frac")
    result = front
    for piece in rest:
        if not piece:
            return None
        if piece[0] != "{" and len(piece) < 2:
            return text
        result += "\\frac" + (piece if piece[0] == "{" else f"{{{piece[0]}}}{_denominator(piece[1:])}")
    return result


def _denominator(text: str) -> str:
    return text if text[0] == "{" else f"{{{text[0]}}}{text[1:]}"


def _fraction(text: str) -> str:
    r"""1/2 becomes \frac{1}{2}, where both are whole numbers."""
    match = re.fullmatch(r"(0|-?[1-9][0-9]*)/(0|-?[1-9][0-9]*)", text)
    return f"\\frac{{{match[1]}}}{{{match[2]}}}" if match else text


def final_answer(text: str) -> str:
    """The last concluding sentence, else the first, as a formula: without words, units and enclosing commands."""
    return plain(_without_words(_conclusion(text)))


def _conclusion(text: str) -> str:
    """Reads lines from the last to the first, and the pieces between periods of one line from the first to the last."""
    pieces = (piece for line in reversed(text.split("\n")) for piece in line.split("."))
    concluding = (piece for piece in pieces if any(word in piece.lower() for word in _CONCLUDING))
    return next(concluding, text.split(".", maxsplit=1)[0])


def _without_words(text: str) -> str:
    text = _replaced(text, (*_WORDS, *((unit, "") for unit in _UNITS)))
    for pattern in _WRAPPED:
        text = re.sub(pattern, r"\1", text)
    for pattern in _ENCLOSED:
        text = (re.findall(pattern, text) or [text])[-1]
    text = text.strip()
    if "rac" in text and "\\frac" not in text:
        text = text.replace("rac", "\\frac")
    text = re.sub(r"(frac)([^{])(.)", r"frac{\2}{\3}", text)
    text = re.sub(r"(sqrt)([^{])", r"sqrt{\2}", text).replace("$", "")
    bare = text.replace(",", "")
    return bare if bare.isdigit() else text


def cloze(text: str) -> str | None:
    r"""The content of the last \boxed{}, else of the last $…$, else what follows the last =, else the last number."""
    text = _after_prefix(_after_prefix(text, "The answer is therefore"), "答案是")
    formula = _boxed(text) if "\\boxed" in text else _in_dollars(text) or _without_dollars(text)
    return None if formula is None else plain(formula)


def _after_prefix(text: str, prefix: str) -> str:
    if text.startswith(prefix):
        return text[len(prefix) :].strip()
    return text.rpartition(prefix)[2].strip() if prefix in text else text


def _boxed(text: str) -> str | None:
    r"""None where the last \boxed has no braces, or they are not closed."""
    text = text[text.rfind("\\boxed") :]
    depth = 0
    for place, character in enumerate(text):
        depth += {"{": 1, "}": -1}.get(character, 0)
        if character == "}" and depth == 0:
            return _right_side(text[len("\\boxed{") : place]) if text.startswith("\\boxed{") else None
    return None


def _right_side(text: str) -> str:
    return text.rsplit("=", maxsplit=1)[-1].lstrip(" ") if "=" in text else text


def _in_dollars(text: str) -> str | None:
    matches = re.findall(r"\$(.*)\$", text)
    return _right_side(matches[-1]) if matches else None


def _without_dollars(text: str) -> str | None:
    if "=" in text:
        return _right_side(text).rstrip(".").split("\\n")[0]
    numbers = re.findall(r"(?:\$)?\d+(?:\.\d+)?(?![\w\d])", text)
    return numbers[-1] if numbers else None
