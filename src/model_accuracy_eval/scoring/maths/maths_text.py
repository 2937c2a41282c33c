r"""Answers as models write them → LaTeX with one spelling for each thing → tokens."""

import re
import unicodedata
from fractions import Fraction
from functools import lru_cache
from typing import Literal, NamedTuple

from model_accuracy_eval.scoring.maths.units import CURRENCIES, SPELLINGS, is_short_unit, is_unit


class Unreadable(Exception):
    """A text that is no mathematics, or none that is known here: it is compared as text."""


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
    closings = _closings(text, max(0, text.find("\\")))
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
        if not _is_joined(text[end : found.start()], is_same=boxes[-1:] == [inside]):
            boxes = []
        boxes.append(inside)
        end = start + 1 if closing is None else closing + 1
    return boxes


def _is_joined(between: str, *, is_same: bool) -> bool:
    """Whether nothing but a join stands between two boxes; with nothing at all between, the same one is shown again."""
    if len(between) > _LONGEST_JOIN:
        return False
    join = _BLANKS.sub("", between)
    return bool(_JOIN.fullmatch(join)) and not (is_same and not join)


def _closings(text: str, start: int = 0) -> dict[int, int]:
    """For the place of each opening brace from `start` on, that of the brace which closes it."""
    pairs: dict[int, int] = {}
    opened: list[int] = []
    for brace in _BRACE.finditer(text, start):
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


# LaTeX with one spelling for each thing → tokens.


Kind = Literal["number", "letter", "command", "words", "separator", "sign", "currency"]

_LARGEST_EXPONENT = 1000


class MathsToken(NamedTuple):
    kind: Kind
    text: str
    value: Fraction = Fraction(0)
    places: int = 0
    spaced: bool = False
    """Whether a blank stands before it."""


_REPEATING = re.compile(r"(\d*)\.(\d*)\\(?:overline|bar|dot)\s*\{?\s*(\d+)\s*\}?")
_ELLIPSIS = re.compile(r"(\d*)\.(\d*?)(?:(\d)\3{2,}|(\d{2,6}?)\4+)\s*(?:\.\.\.|\\[lc]?dots(?![A-Za-z]))")
_THOUSANDS = re.compile(r"\d{1,3}(?:,\d{3})+(?:\.\d+)?(?![\d,]*\d)")
_SPACED_THOUSANDS = re.compile(r"\d{1,3}(?: \d{3})+(?:\.\d+)?(?! ?\d|\s*/)")
"""2 101/102 is a mixed number."""
_PLAIN_NUMBER = re.compile(r"(?:\d+(?:\.\d*)?|\.\d+)(?:[eE]([+-]?\d{1,4})(?![A-Za-z0-9]))?")
_COMMAND = re.compile(r"\\(?:[A-Za-z]+|\\|[{}%$|#&_])")
_SIGN = re.compile(r"<=|>=|!=|==|\*\*|[-+*/^_=<>()\[\]{}|!,;:%°&'€£¥₹₩₽]")
_SIGN_OF = {
    "<=": r"\le", ">=": r"\ge", "!=": r"\ne", "==": "=", "**": "^", "\\leq": r"\le", "\\leqslant": r"\le",
    "\\geq": r"\ge", "\\geqslant": r"\ge", "\\neq": r"\ne", "\\lt": "<", "\\gt": ">", "\\mid": "|", "\\vert": "|",
    "\\lvert": "|", "\\rvert": "|", "\\|": "|", "\\colon": ":", "\\%": "%", "\\lbrace": "\\{", "\\rbrace": "\\}",
    "\\cdot": "*", "\\times": "*", "\\ast": "*", "\\div": "/", "\\simeq": r"\approx", "\\doteq": "=", "\\lbrack": "[",
    "\\rbrack": "]", "\\langle": "\\langle", "\\smallsetminus": "\\setminus", "\\backslash": "\\setminus",
    "\\varnothing": "\\emptyset", "\\prime": "'", "\\land": ",", "\\lor": ",", "\\wedge": ",", "\\vee": ",",
}  # fmt: skip
_COMMAND_WORDS = frozenset((*FUNCTIONS.values(), "sqrt", "pi", "infty", "frac"))
_WORD_SPELLINGS = {"inf": "infty", "infinity": "infty", "Infinity": "infty", "asin": "arcsin", "acos": "arccos",
                   "atan": "arctan", "oo": "infty", "union": "cup"}  # fmt: skip
_SEPARATORS = frozenset(("and", "or", "或", "和", "与"))
_SHORT_WORDS = frozenset((
    "of", "to", "is", "if", "for", "the", "are", "but", "not", "has", "was", "one", "two", "six", "ten",
    "yes", "no", "odd", "all", "any", "red", "mon", "tue", "wed", "thu", "fri", "sat", "sun", "jan", "feb", "mar",
    "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec", "am", "pm", "AM", "PM", "per", "st", "nd", "rd",
    "th",
))  # fmt: skip
_HAS_WORD = re.compile(r"(?<![^\W\d_])(?!(?:and|or)(?![^\W\d_]))[^\W\d_]{2}")
_BEGINS_NUMBER = re.compile(r"[-+]?(?:\\\$)?\.?\d")
_BEFORE_UNITS = frozenset((")", "]", "}", "!", "*", "/"))
_LONGEST_PRODUCT = 3
"""Letters side by side that are read as a product; more of them are a word."""


def tokens(text: str) -> list[MathsToken]:
    """All of it; a character that means nothing here makes the text unreadable."""
    result: list[MathsToken] = []
    depth = place = 0
    while place < len(text):
        if text[place].isspace():
            place += 1
            continue
        spaced = text[place - 1 : place].isspace()
        made, length = _next(text[place:], result[-1:], spaced=spaced, in_brackets=depth > 0)
        for token in made:
            depth += (token.text in {"(", "[", "\\{"}) - (token.text in {")", "]", "\\}"})
        result += [first._replace(spaced=spaced) for first in made[:1]] + made[1:]
        place += length
    return result


def _next(rest: str, last: list[MathsToken], *, spaced: bool, in_brackets: bool) -> tuple[list[MathsToken], int]:
    """The tokens at the start of the text behind the last one, and how many characters they are."""
    after_number = bool(last) and last[0].kind == "number"
    if wrapper := WRAPPER.match(rest):
        inside = group(rest[wrapper.end() :])
        if inside is None:
            raise Unreadable(rest)
        after_value = bool(last) and (last[0].kind in {"number", "words"} or last[0].text in _BEFORE_UNITS)
        return _wrapped(inside.strip(), after_value=after_value), wrapper.end() + len(inside) + 2
    if rest[0].isdigit() or rest[0] == ".":
        token, length = _number(rest, in_brackets=in_brackets)
        return [token], length
    if sign := _COMMAND.match(rest) or _SIGN.match(rest):
        if SPELLINGS.get(sign[0]) in CURRENCIES:
            return [MathsToken("currency", SPELLINGS[sign[0]])], sign.end()
        is_command = sign[0].startswith("\\") and sign[0] not in _SIGN_OF
        return [MathsToken("command" if is_command else "sign", _SIGN_OF.get(sign[0], sign[0]))], sign.end()
    word = re.match(r"[^\W\d_]+", rest)
    if not word:
        raise Unreadable(rest[0])
    return _word(word[0], after_number=spaced and after_number), len(word[0])


def _wrapped(content: str, *, after_value: bool) -> list[MathsToken]:
    r"""What \text{…} holds: a word for the reader, a separator, or mathematics after all, as in \text{1, 2, and 4}."""
    if content.strip(", ") in _SEPARATORS:
        return [MathsToken("separator", ",")]
    if (after_value and is_unit(content)) or (_HAS_WORD.search(content) and not _BEGINS_NUMBER.match(content)):
        return [MathsToken("words", content)]
    return tokens(content)


def _word(word: str, *, after_number: bool) -> list[MathsToken]:
    if word in _SEPARATORS:
        return [MathsToken("separator", ",")]
    if word in _COMMAND_WORDS or word in _WORD_SPELLINGS:
        return [MathsToken("command", "\\" + _WORD_SPELLINGS.get(word, word))]
    unit = is_short_unit(word, after_number=after_number)
    known = (word if word.isupper() else word.lower()) in _SHORT_WORDS  # NO may be a line of a triangle
    if unit or known or len(word) > _LONGEST_PRODUCT or not word.isascii():
        return [MathsToken("words", word)]
    return [MathsToken("letter", name) for name in ([word] if word.isupper() else word)]


def _number(rest: str, *, in_brackets: bool) -> tuple[MathsToken, int]:
    if found := _REPEATING.match(rest) or _ELLIPSIS.match(rest):
        whole, before, *periods = (part or "" for part in found.groups())
        return MathsToken("number", found[0], _repeating(whole, before, "".join(periods))), found.end()
    for pattern in (_THOUSANDS, _SPACED_THOUSANDS):
        found = pattern.match(rest)
        groups = re.split(r"[, ]", found[0].partition(".")[0]) if found else []
        # (100,200) is a point, and nobody writes 000 for 0.
        if found and not (in_brackets and pattern is _THOUSANDS and not any(part[0] == "0" for part in groups[1:])):
            return _decimal(re.sub("[, ]", "", found[0])), found.end()
    found = _PLAIN_NUMBER.match(rest)
    if not found or (found[1] and abs(int(found[1])) > _LARGEST_EXPONENT):
        raise Unreadable(rest)
    return _decimal(found[0].removesuffix(".")), found.end()  # that is the full stop of a sentence, or of three


def _decimal(text: str) -> MathsToken:
    is_plain = text.replace(".", "", 1).isdecimal()
    return MathsToken("number", text, Fraction(text), len(text.partition(".")[2]) if is_plain else 0)


def _repeating(whole: str, before: str, period: str) -> Fraction:
    """0.1666… of "0", "1" and "6"."""
    nines = 10 ** len(period) - 1
    scale = 10 ** len(before)
    return Fraction(int(whole or "0")) + Fraction(int(before or "0") * nines + int(period), nines * scale)
