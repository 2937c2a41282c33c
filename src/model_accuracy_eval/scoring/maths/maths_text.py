r"""Answers as models write them → LaTeX with one spelling for each thing, before it is cut into tokens."""

import re
import unicodedata
from functools import lru_cache

_UNICODE = str.maketrans({
    "−": "-", "–": "-", "—": "-", "‐": "-", "×": r"\times ", "·": r"\cdot ", "⋅": r"\cdot ", "∗": "*", "÷": r"\div ",
    "π": r"\pi ", "∞": r"\infty ", "√": r"\sqrt ", "±": r"\pm ", "∓": r"\mp ", "≤": r"\le ", "⩽": r"\le ",
    "≥": r"\ge ", "⩾": r"\ge ", "≠": r"\ne ", "≈": r"\approx ", "∈": r"\in ", "∪": r"\cup ", "∩": r"\cap ",
    "∅": r"\emptyset ", "°": r"^\circ ", "º": r"^\circ ", "′": "'", "’": "'", "θ": r"\theta ", "α": r"\alpha ",
    "β": r"\beta ", "γ": r"\gamma ", "λ": r"\lambda ", "ℝ": r"\mathbb{R}", "，": ", ", "；": "; ", "：": ":", "。": ".",
    "、": ", ", "（": "(", "）": ")", "【": "[", "】": "]", "％": r"\%", "＝": "=", "\u00a0": " ", "\u202f": " ",
    "…": r"\ldots ",
    "½": r"\frac{1}{2}", "⅓": r"\frac{1}{3}", "⅔": r"\frac{2}{3}", "¼": r"\frac{1}{4}", "¾": r"\frac{3}{4}",
})  # fmt: skip
_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻ⁿ", "0123456789-n", strict=True))
_RAISED = re.compile(f"[{''.join(_SUPERSCRIPTS)}]+")
_SPELLINGS = (
    (re.compile(r"\\(?:left|right|bigg?[lrm]?|Bigg?[lrm]?)(?![A-Za-z])\s*\.?"), ""),
    (re.compile(r"\\(?:displaystyle|textstyle|scriptstyle|limits|nolimits|mathstrut|tt|bf|rm|it)(?![A-Za-z])"), " "),
    (re.compile(r"\\[hv]space\*?\{[^{}]*\}|\\phantom\{[^{}]*\}|\\label\{[^{}]*\}"), " "),
    (re.compile(r"\\(?:[dtcs]|nice)frac(?![A-Za-z])"), r"\\frac"),
    (re.compile(r"\\[dt]binom(?![A-Za-z])"), r"\\binom"),
    (re.compile(r"\\(?:operatorname|mathop)\*?\s*\{([A-Za-z]+)\}"), r"\\\1 "),
    (re.compile(r"\\(?:mathrm|text|textrm)\{\s*(arcsin|arccos|arctan|sin|cos|tan|cis|ln|log|exp)\s*\}"), r"\\\1 "),
    (re.compile(r"\^\s*(?:\{\s*\\circ\s*\}|\\circ(?![A-Za-z]))|\\degree(?![A-Za-z])"), "°"),
    (re.compile(r"°\s*(?:\\(?:text|mathrm)\{\s*[CF]\s*\}|[CF](?![A-Za-z]))"), "°"),
    (re.compile(r"\^\s*\{\s*\\prime\s*\}"), "'"),
    (re.compile(r"(?<=\d)\s*[xX]\s*(?=10\s*(?:\^|\*\*))"), r"\\times "),
    # A comma or a blank inside a number: 10{,}000, 10,\!000, 10\,000.
    (re.compile(r"(?<=\d)(?:\{,\}|,\s*\\!|\\[,!]|\\ |\\thinspace\s*)\s*(?=\d{3}(?!\d))"), ""),
    (re.compile(r"\\\\\s*\[[^\]]*\]|\\cr(?![A-Za-z])"), r"\\\\"),
    (re.compile(r"&\s*(?==|<|>|\\(?:le|ge|ne|approx))"), ""),
    (re.compile(r"(?<!\\)\\(?:[,;:!> ]|q?quad|thinspace(?![A-Za-z]))|(?<!\\)~"), " "),
    (re.compile(r"(?<!\\)\\[\[\]()]"), " "),
    (re.compile(r"(?<!\\)\$"), " "),
    (re.compile(r"\.{3,}|\\[cd]?dots[bcm]?(?![A-Za-z])"), r"\\ldots "),
    (re.compile(r"\\(?:text)?color\s*\{\w+\}"), ""),
    (re.compile(r"(?:\\text\s*\{)?\s*\b[Aa]ll real numbers\b\s*\}?(?!\s*[\w\\])"), r"\\mathbb{R}"),
    (
        re.compile(
            r"(?<=[^\s,;])[\s,;]+(?:\\text\{[^{}]*\}\s*)?(?:\(\s*)?([a-z])\s*\\in\s*(?:\\mathbb\s*\{?\s*Z\s*\}?|\\?Z)[\s.)]*$"
        ),
        r", \1 \\in \\mathbb{Z}",
    ),
    (re.compile(r"^\s*(?:=|\\approx(?![A-Za-z]))"), ""),
)
_ESCAPED = re.compile(r"\\\\(?=[A-Za-z{},!;%$])")
"""Backslashes that were doubled for JSON. Only matrices and systems have real double ones."""
_BOX = re.compile(r"\\(?:boxed|fbox|framebox)\s*")
LONGEST_TEXT = 2000
"""Longer texts are compared as they are; no answer of a benchmark is a tenth as long."""
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_LONGEST_JOIN = 60
_BLANKS = re.compile(r"[\s$]|\\[,; ()\[\]]|\\q?quad")
_JOIN = re.compile(
    r"[,;，；、]*(?:(?:\\text\{)?(?:and|or|和|或)\}?)?(?:[A-Za-z](?:_\{?\w\}?|(?:\\left)?\([^()=]+(?:\([^()=]*\))*\))?=)?"
)
WRAPPER = re.compile(
    r"\\(?:text|mbox|hbox|textbf|textit|textrm|textnormal|textsc|mathrm|mathbf|mathit|mathsf|mathcal|boldsymbol|emph|bm|underline)"
    r"(?![A-Za-z])\s*(?=\{)"
)
"""Commands that change the look of the group behind them."""


def last_boxes(text: str) -> list[str]:
    r"""The last one, and those before it with no more than "and", "or" or a comma between: \boxed{1} or \boxed{2}."""
    boxes: list[str] = []
    closings = _closings(text)
    end = 0
    for found in _BOX.finditer(text):
        start = found.end()
        closing = closings.get(start)
        if closing is None and text[start : start + 1] in {"", "{", "}", "\\"}:
            continue
        inside = text[start] if closing is None else text[start + 1 : closing]
        if found.start() < end:
            boxes[-1:] = [inside]
            continue
        between = text[end : found.start()]
        if len(between) > _LONGEST_JOIN or not _JOIN.fullmatch(_BLANKS.sub("", between)):
            boxes = []
        boxes.append(inside)
        end = start + 1 if closing is None else closing + 1
    return boxes


def _closings(text: str) -> dict[int, int]:
    """For the place of each opening brace, that of the brace which closes it."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for brace in _BRACE.finditer(text):
        if brace[0] == "{":
            opened.append(brace.start())
        elif brace[0] == "}" and opened:
            pairs[opened.pop()] = brace.start()
    return pairs


def group(text: str) -> str | None:
    """What stands between the brace at the start of the text and the one that closes it."""
    closing = _closings(text).get(0)
    return None if closing is None else text[1:closing]


@lru_cache(maxsize=64)
def plain(text: str) -> str:
    """The text with one spelling for each thing."""
    text = _RAISED.sub(lambda found: "^{" + "".join(_SUPERSCRIPTS[digit] for digit in found[0]) + "}", text)
    text = text.translate(_UNICODE)
    if "\\begin" not in text:
        text = _ESCAPED.sub(r"\\", text)
    for pattern, replacement in _SPELLINGS:
        text = pattern.sub(replacement, text)
    return text.strip("*` \n\t").rstrip("\\ .,;:\n\t")


def letters(text: str) -> str:
    """The text for a comparison letter by letter: without changes of its look, and without blanks except those between
    digits."""
    if len(text) > LONGEST_TEXT:
        return " ".join(text.split())
    text = unicodedata.normalize("NFKC", plain(text))
    while found := WRAPPER.search(text):
        inside = group(text[found.end() :]) or ""
        text = text[: found.start()] + inside + text[found.end() + len(inside) + 2 :]
    text = re.sub(r"([_^])\s*\{(\w)\}", r"\1\2", re.sub(r"\s+", " ", text)).strip(" .")
    return re.sub(r"(?<!\d) | (?!\d)", "", text)


# The LaTeX commands that are read, and what each is.


RELATIONS = frozenset(("=", "<", ">", r"\le", r"\ge", r"\ne", r"\approx", r"\in"))
SET_OPERATIONS = {r"\cup": "union", r"\cap": "intersection", r"\setminus": "without"}
_FUNCTION_NAMES = (
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "ln", "log",
    "lg", "exp", "cis", "det",
)  # fmt: skip
FUNCTIONS = {"\\" + name: name for name in _FUNCTION_NAMES}
INVERSE_FUNCTIONS = {"sin": "arcsin", "cos": "arccos", "tan": "arctan"}
"""What the exponent -1 makes of a function."""
ACCENTS = frozenset((r"\overline", r"\vec", r"\hat", r"\widehat", r"\bar", r"\tilde", r"\overrightarrow", r"\dot"))
PREFIXES = frozenset((r"\angle", r"\triangle"))
_SYMBOL_NAMES = (
    "alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta", "iota", "kappa",
    "lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "upsilon", "phi", "varphi", "chi", "psi", "omega", "Gamma",
    "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega", "pi", "infty", "ell", "emptyset",
)  # fmt: skip
NAMES = frozenset("\\" + name for name in _SYMBOL_NAMES)
FUNCTION_LETTERS = frozenset("fghFGHPQ")
"""f(2) is the value of a function; where it is no relation's left side it is read as a product, as h(a + b) may be."""
_BASE_NAMES = (
    "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve", "thirteen",
    "fourteen", "fifteen", "sixteen",
)  # fmt: skip
BASES = {name: base for base, name in enumerate(_BASE_NAMES, 2)}
MATRICES = frozenset(("matrix", "pmatrix", "bmatrix", "Bmatrix", "vmatrix", "Vmatrix", "smallmatrix", "array"))
SYSTEMS = frozenset(("cases", "dcases", "rcases", "aligned", "align", "align*", "gathered", "split"))
BEGIN_FACTORS = frozenset(
    ("(", "{", r"\frac", r"\sqrt", r"\binom", r"\lfloor", r"\lceil", r"\begin", *FUNCTIONS, *NAMES, *ACCENTS, *PREFIXES)
)
"""Signs and commands that continue a product without a sign between."""
