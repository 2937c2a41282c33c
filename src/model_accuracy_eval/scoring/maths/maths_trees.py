"""What an answer is read into: tokens, then trees of numbers, symbols and operations, and lists, sets and intervals."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, ClassVar, Literal

from model_accuracy_eval.scoring.maths.maths_text import FUNCTIONS, WRAPPER, group
from model_accuracy_eval.scoring.maths.units import CURRENCIES, SPELLINGS, is_short_unit, is_unit


class Unreadable(Exception):
    """A text that is no mathematics, or none that is known here: it is compared as text."""


@dataclass(frozen=True, slots=True)
class Node:
    """Anything in a tree."""

    content: ClassVar[str] = ""
    """The name of the field that has the parts."""

    @property
    def parts(self) -> tuple["Node", ...]:
        return getattr(self, self.content) if self.content else ()

    def symbols(self) -> frozenset[str]:
        return frozenset(node.name for node in self.walk() if isinstance(node, Symbol))

    def walk(self) -> Iterator["Node"]:
        yield self
        for part in self.parts:
            yield from part.walk()


@dataclass(frozen=True, slots=True)
class Constant(Node):
    value: Fraction
    places: int = 0
    """How many digits were written behind the point; 0 for whole numbers and repeating decimals."""


@dataclass(frozen=True, slots=True)
class Symbol(Node):
    name: str


@dataclass(frozen=True, slots=True)
class Operation(Node):
    """An arithmetic operation, a function, or one of the operations on sets."""

    name: str
    operands: tuple[Node, ...]
    content: ClassVar[str] = "operands"


@dataclass(frozen=True, slots=True)
class Bracket(Node):
    """Items between brackets: a point, an interval, a set."""

    opening: str
    closing: str
    items: tuple[Node, ...]
    content: ClassVar[str] = "items"


@dataclass(frozen=True, slots=True)
class Sequence(Node):
    """Items without brackets: "1, 2", "1 or 2". Their order does not count, that of a ratio does."""

    items: tuple[Node, ...]
    ratio: bool = False
    content: ClassVar[str] = "items"


@dataclass(frozen=True, slots=True)
class Matrix(Node):
    rows: tuple[tuple[Node, ...], ...]

    @property
    def parts(self) -> tuple[Node, ...]:
        return tuple(entry for row in self.rows for entry in row)


@dataclass(frozen=True, slots=True)
class Statement(Node):
    """Sides with signs between them: x = 5, 0 < x ≤ 1."""

    signs: tuple[str, ...]
    sides: tuple[Node, ...]
    content: ClassVar[str] = "sides"


@dataclass(frozen=True, slots=True)
class Quantity(Node):
    """A value with a unit, per cent and degrees included."""

    value: Node
    unit: str

    @property
    def parts(self) -> tuple[Node, ...]:
        return (self.value,)


@dataclass(frozen=True, slots=True)
class Numeral(Node):
    """Digits in a base that is written with them: 204 with the subscript 5."""

    digits: str
    base: int


def sum_of(*terms: Node) -> Node:
    return terms[0] if len(terms) == 1 else Operation("add", terms)


def product_of(*factors: Node) -> Node:
    return factors[0] if len(factors) == 1 else Operation("multiply", factors)


def negative(term: Node) -> Node:
    return Operation("negate", (term,))


def quotient_of(over: Node, under: Node) -> Node:
    return product_of(over, inverse(under))


def inverse(factor: Node) -> Node:
    return Operation("inverse", (factor,))


def difference(left: Node, right: Node) -> Node:
    return sum_of(left, negative(right))


def mapped(node: Node, change: Callable[[Node], Node]) -> Node:
    """The tree with every part of it changed, from the leaves up; matrices stay as they are."""
    parts = tuple(mapped(part, change) for part in node.parts)
    if isinstance(node, Quantity):
        node = Quantity(parts[0], node.unit)
    elif node.content:
        content: dict[str, Any] = {node.content: parts}
        node = replace(node, **content)
    return change(node)


def determinant(rows: tuple[tuple[Node, ...], ...]) -> Node:
    """Laplace's expansion along the first row."""
    if len(rows) == 1:
        return rows[0][0]
    minors = [determinant(tuple(row[:place] + row[place + 1 :] for row in rows[1:])) for place in range(len(rows))]
    terms = [product_of(entry, minor) for entry, minor in zip(rows[0], minors, strict=True)]
    return sum_of(*(negative(term) if place % 2 else term for place, term in enumerate(terms)))


# LaTeX with one spelling for each thing → tokens: numbers, letters, commands, words and signs.


Kind = Literal["number", "letter", "command", "words", "separator", "sign", "currency"]

_LARGEST_EXPONENT = 1000


@dataclass(frozen=True, slots=True)
class MathsToken:
    kind: Kind
    text: str
    spaced: bool = False
    """Whether a blank stands before it."""
    value: Fraction = Fraction(0)
    places: int = 0


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
        spaced = place > 0 and text[place - 1].isspace()
        made, length = _next(text[place:], result[-1:], spaced=spaced, in_brackets=depth > 0)
        for token in made:
            depth += (token.text in {"(", "[", "\\{"}) - (token.text in {")", "]", "\\}"})
        result += made
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
        return _wrapped(inside, spaced=spaced, after_value=after_value), wrapper.end() + len(inside) + 2
    if rest[0].isdigit() or rest[0] == ".":
        return _number(rest, spaced=spaced, in_brackets=in_brackets)
    if command := _COMMAND.match(rest) or _SIGN.match(rest):
        return [_sign(command[0], spaced=spaced)], command.end()
    word = re.match(r"[^\W\d_]+", rest)
    if not word:
        raise Unreadable(rest[0])
    return _word(word[0], spaced=spaced, after_number=spaced and after_number), len(word[0])


def _sign(text: str, *, spaced: bool) -> MathsToken:
    if SPELLINGS.get(text) in CURRENCIES:
        return MathsToken("currency", SPELLINGS[text], spaced)
    command = text.startswith("\\") and text not in _SIGN_OF
    return MathsToken("command" if command else "sign", _SIGN_OF.get(text, text), spaced)


def _wrapped(inside: str, *, spaced: bool, after_value: bool) -> list[MathsToken]:
    r"""What \text{…} holds: a word for the reader, a separator, or mathematics after all, as in \text{1, 2, and 4}."""
    content = inside.strip()
    if content.strip(", ") in _SEPARATORS:
        return [MathsToken("separator", ",", spaced)]
    if (after_value and is_unit(content)) or (_HAS_WORD.search(content) and not _BEGINS_NUMBER.match(content)):
        return [MathsToken("words", content, spaced)]
    if not content:
        return []
    first, *others = tokens(content)
    return [MathsToken(first.kind, first.text, spaced, first.value, first.places), *others]


def _word(word: str, *, spaced: bool, after_number: bool) -> list[MathsToken]:
    if word in _SEPARATORS:
        return [MathsToken("separator", ",", spaced)]
    if word in _WORD_SPELLINGS:
        return [MathsToken("command", "\\" + _WORD_SPELLINGS[word], spaced)]
    if word in _COMMAND_WORDS:
        return [MathsToken("command", "\\" + word, spaced)]
    unit = is_short_unit(word, after_number=after_number)
    known = (word if word.isupper() else word.lower()) in _SHORT_WORDS  # NO may be a line of a triangle
    if unit or known or len(word) > _LONGEST_PRODUCT or not word.isascii():
        return [MathsToken("words", word, spaced)]
    if word.isupper():
        return [MathsToken("letter", word, spaced)]
    return [MathsToken("letter", letter, spaced and not place) for place, letter in enumerate(word)]


def _number(rest: str, *, spaced: bool, in_brackets: bool) -> tuple[list[MathsToken], int]:
    if found := _REPEATING.match(rest) or _ELLIPSIS.match(rest):
        whole, before, *periods = (part or "" for part in found.groups())
        return [MathsToken("number", found[0], spaced, _repeating(whole, before, "".join(periods)))], found.end()
    for pattern in (_THOUSANDS, _SPACED_THOUSANDS):
        found = pattern.match(rest)
        groups = re.split(r"[, ]", found[0].partition(".")[0]) if found else []
        # (100,200) is a point, and nobody writes 000 for 0.
        if found and not (in_brackets and pattern is _THOUSANDS and not any(part[0] == "0" for part in groups[1:])):
            return [_decimal(re.sub("[, ]", "", found[0]), spaced)], found.end()
    found = _PLAIN_NUMBER.match(rest)
    if not found:
        raise Unreadable(rest[0])
    if found[1] and abs(int(found[1])) > _LARGEST_EXPONENT:
        raise Unreadable(found[0])
    text = found[0]
    if text.endswith("."):
        # The full stop of a sentence, or of three.
        return [_decimal(text[:-1], spaced)], len(text)
    return [_decimal(text, spaced)], len(text)


def _decimal(text: str, spaced: bool) -> MathsToken:
    mantissa = re.split("[eE]", text)[0]
    places = len(mantissa.partition(".")[2]) if mantissa == text else 0
    return MathsToken("number", text, spaced, Fraction(text), places)


def _repeating(whole: str, before: str, period: str) -> Fraction:
    """0.1666… of "0", "1" and "6"."""
    nines = 10 ** len(period) - 1
    scale = 10 ** len(before)
    return Fraction(int(whole or "0")) + Fraction(int(before or "0") * nines + int(period), nines * scale)


# A place in a list of tokens, and the ways to look at and to take what follows it.


_DEEPEST = 30
"""Levels of brackets; deeper texts are compared letter by letter."""


class TokenCursor:
    def __init__(self, stream: list[MathsToken]) -> None:
        self._stream = stream
        self._place = 0
        self._depth = 0

    @property
    def next(self) -> MathsToken | None:
        return self._stream[self._place] if self._place < len(self._stream) else None

    def _kind(self) -> str:
        return self.next.kind if self.next else ""

    def _at(self, *texts: str) -> bool:
        """Whether one of these signs, commands or separators follows."""
        token = self.next
        return token is not None and token.kind in {"sign", "command", "separator"} and token.text in texts

    def _ahead(self, count: int) -> list[str]:
        return [token.text for token in self._stream[self._place : self._place + count]]

    def _take(self) -> MathsToken:
        token = self.next
        if token is None:
            raise Unreadable("the end")
        self._place += 1
        return token

    def _took(self, *texts: str) -> bool:
        if self._at(*texts):
            self._place += 1
            return True
        return False

    def _expect(self, text: str) -> None:
        if not self._took(text):
            raise Unreadable(f"no {text}")

    def _enter(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise Unreadable(f"more than {_DEEPEST} levels")

    def _leave(self) -> None:
        self._depth -= 1

    def _letters(self) -> str:
        """The next token, or all tokens of the next group in braces, as one name."""
        if not self._took("{"):
            return self._take().text
        parts = []
        while not self._took("}"):
            parts.append(self._take().text)
        return "".join(parts)
