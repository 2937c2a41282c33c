"""Tokens → trees, by recursive descent: lists of relations of sums of products of factors."""

import re
from collections.abc import Callable
from fractions import Fraction

from model_accuracy_eval.scoring.maths import maths_text as words
from model_accuracy_eval.scoring.maths import units
from model_accuracy_eval.scoring.maths.maths_text import LONGEST_TEXT, MathsToken, Unreadable, plain, tokens
from model_accuracy_eval.scoring.maths.maths_trees import (
    Bracket,
    Constant,
    Matrix,
    Node,
    Numeral,
    Operation,
    Quantity,
    Sequence,
    Statement,
    Symbol,
    determinant,
    difference,
    inverse,
    negative,
    number,
    product_of,
    quotient_of,
    sum_of,
)

_CLOSING = {")": ")", "]": "]", "[": ")"}
"""]0, 1[ is (0, 1)."""
_DEEPEST = 30
"""Levels of brackets; deeper texts are compared letter by letter."""
_MOST_MARKS = 20
_LARGEST_DETERMINANT = 4
_MOST_IN_A_DETERMINANT = 100
"""Numbers, symbols and operations: each stands in the expansion many times."""


class Parser:
    """`answer` reads whatever may stand between brackets; the methods below it are in the order of descent."""

    def __init__(self, stream: list[MathsToken]) -> None:
        self._stream = stream
        self._place = self._depth = 0
        self._bars = 0
        """How many of the open brackets end with a bar, or have one in them, which then begins no factor."""
        self._currency = ""
        self._readers: dict[str, Callable[[], Node]] = {
            r"\frac": lambda: quotient_of(self._argument(digit=True), self._argument(digit=True)),
            r"\sqrt": self._root,
            r"\binom": lambda: Operation("binomial", (self._argument(digit=True), self._argument(digit=True))),
            r"\mathbb": lambda: Symbol("\\mathbb" + self._letters()),
            r"\lfloor": lambda: self._enclosed("floor", r"\rfloor"),
            r"\lceil": lambda: self._enclosed("ceiling", r"\rceil"),
            r"\langle": lambda: self._bracket("("),
            r"\{": self._set,
            r"\begin": self._matrix,
            "|": self._absolute,
            "(": lambda: self._bracket("("),
            "[": lambda: self._bracket("["),
            "]": lambda: self._bracket("("),
            "{": self._group,
        }

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

    def answer(self) -> Node:
        """Items with commas, semicolons, "and" or "or" between them; one item stands for itself."""
        self._enter()
        items = [self._relation()]
        while self._took(",", ";"):
            while self._took(",", ";"):  # the ", and" before a last item
                continue
            items.append(self._relation())
        self._leave()
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    def _relation(self) -> Node:
        sides, signs = [self._sets()], []
        while self._at(*words.RELATIONS):
            signs.append(self._take().text)
            sides.append(self._sets())
        return Statement(tuple(signs), tuple(sides)) if signs else sides[0]

    def _sets(self) -> Node:
        value = self._ratio()
        while self._at(*words.SET_OPERATIONS):
            name = words.SET_OPERATIONS[self._take().text]
            earlier = value.operands if isinstance(value, Operation) and value.name == name else (value,)
            value = Operation(name, (*earlier, self._ratio()))
        return value

    def _ratio(self) -> Node:
        parts = [self._quantity()]
        while not self._bars and self._took(":"):
            parts.append(self._quantity())
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts), ratio=True)

    def _quantity(self) -> Node:
        """A sum, and the unit behind or the currency before it."""
        outer, self._currency = self._currency, ""
        value = self._sum()
        unit, self._currency = self._currency, outer
        if self._kind() == "words":
            unit = self._unit()
        elif self._kind() == "currency":
            unit = self._take().text
        return Quantity(value, unit) if unit else value

    def _unit(self) -> str:
        """All that follows a value in words, with powers and slashes: cm^2, miles per hour, m/s."""
        text = ""
        while self._kind() == "words" or (text and (self._at("^", "/", "*", r"\Omega") or text.endswith("^"))):
            token = self._take()
            text += f" {token.text}" if token.kind == "words" and not text.endswith("^") else token.text
            if token.text == "^" and self._at("{"):
                text += self._letters()
        if re.search(r"\s\d", text) or text.endswith("*") or units.CHANGING.search(text):
            raise Unreadable(text)
        return units.canonical(text) or text

    def _sum(self) -> Node:
        terms: list[Node] = []
        sign = self._take().text if self._at("+", "-", r"\pm", r"\mp") else "+"
        while True:
            term = self._product()
            if sign in {r"\pm", r"\mp"}:
                term = Operation(sign, (term,))
            terms.append(negative(term) if sign == "-" else term)
            if not self._at("+", "-", r"\pm", r"\mp"):
                break
            sign = self._take().text
        value = sum_of(*terms)
        if self._took(r"\over"):
            return quotient_of(value, self._sum())
        return Operation("binomial", (value, self._sum())) if self._took(r"\choose") else value

    def _product(self) -> Node:
        factors = [self._factor()]
        while True:
            if self._took("*"):
                factors.append(self._signed_factor())
            elif self._took("/"):
                factors.append(inverse(self._signed_factor()))
            elif self._begins_factor() or self._number_after_power(factors[-1]):
                factors.append(self._factor())
            else:
                return product_of(*factors)

    def _number_after_power(self, last: Node) -> bool:
        """2^3 3^2 is a product, 3 4 is none."""
        spaced = self.next is not None and self.next.kind == "number" and self.next.spaced
        return spaced and isinstance(last, Operation) and last.name == "power"

    def _signed_factor(self) -> Node:
        """A factor after a sign, which may have a sign of its own: 2 · -3."""
        if self._took("-"):
            return negative(self._factor())
        self._took("+")
        return self._factor()

    def _begins_factor(self) -> bool:
        """Whether a factor follows without a sign between: 2x, 3(x + 1), but not 3 4."""
        token = self.next
        if token is None or token.kind in {"words", "separator", "currency"}:
            return False
        if token.kind == "number":
            return self._stream[self._place - 1].kind != "number"
        if token.text == "[":
            return self._ahead(2) == ["[", r"\begin"]
        return token.kind == "letter" or token.text in words.BEGIN_FACTORS or (token.text == "|" and not self._bars)

    def _factor(self) -> Node:
        start = self._place
        value = self._primary()
        if isinstance(value, Constant):
            value = self._mixed(value) or value
        for _ in range(_MOST_MARKS):
            if self._took("^"):
                value = value if self._took("'") else Operation("power", (value, self._argument()))
            elif self._took("!"):
                value = Operation("factorial", (value,))
            elif self._at("°", "%"):
                value = Quantity(value, self._take().text)
            elif isinstance(value, Symbol) and self._took("'"):
                value = Symbol(value.name + "'")
            elif isinstance(value, Symbol) and self._took("_"):
                value = Symbol(f"{value.name}_{self._letters()}")
            elif isinstance(value, Constant) and self._took("_"):
                value = self._numeral(next(token for token in self._stream[start:] if token.kind == "number"))
            else:
                return value
        raise Unreadable("marks")

    def _mixed(self, whole: Constant) -> Node | None:
        r"""1\frac{1}{2} and 1 1/2 are three halves."""
        if whole.value.denominator != 1 or whole.places:
            return None
        start = self._place
        over: Node | None = None
        under: Node | None = None
        if self._took(r"\frac"):
            over, under = self._argument(digit=True), self._argument(digit=True)
        elif self.next and self.next.kind == "number" and self.next.spaced:
            over = self._primary()
            under = self._primary() if self._took("/") and self._kind() == "number" else None
        if isinstance(over, Constant) and isinstance(under, Constant) and 0 < over.value < under.value:
            return Constant(whole.value + over.value / under.value)
        self._place = start
        return None

    def _numeral(self, token: MathsToken) -> Node:
        base = self._letters().strip("()")
        number = words.BASES.get(base.casefold()) or (int(base) if base.isdecimal() else 0)
        if not token.text.replace(".", "", 1).isdecimal() or not number:
            raise Unreadable(base)
        return Numeral(token.text, number)

    def _argument(self, *, digit: bool = False) -> Node:
        """What belongs to a command or an exponent: a group in braces, or the one thing that follows, which may be the
        first digit of a number."""
        if self._took("{"):
            value = self.answer()
            self._expect("}")
            return value
        if self._took("-"):
            return negative(self._primary())
        token = self.next
        if digit and token and token.kind == "number" and token.text.isdecimal() and len(token.text) > 1:
            self._stream[self._place : self._place + 1] = [
                MathsToken("number", part, value=Fraction(part)) for part in (token.text[0], token.text[1:])
            ]
        return self._primary()

    def _primary(self) -> Node:
        self._enter()
        token = self._take()
        if token.kind == "number":
            value: Node = Constant(token.value, token.places)
        elif token.kind == "letter":
            value = self._letter(token)
        elif token.kind == "currency":
            self._currency = token.text
            value = self._primary()
        elif token.kind == "words" and units.is_unit(token.text):
            value = Symbol(units.canonical(token.text))
        elif token.text in words.NAMES:
            value = Symbol(token.text)
        elif token.text in words.FUNCTIONS:
            value = self._function(words.FUNCTIONS[token.text])
        elif token.text in words.ACCENTS or token.text in words.PREFIXES:
            value = Symbol(token.text + self._letters())
        elif token.kind not in {"words", "separator"} and token.text in self._readers:
            value = self._readers[token.text]()
        else:
            raise Unreadable(token.text)
        self._leave()
        return value

    def _letter(self, token: MathsToken) -> Node:
        name = token.text
        if name in words.FUNCTION_LETTERS and self._ahead(5) == [*"^{-1}"]:
            self._place += 5
            name += "^-1"
        follower = self.next
        if not follower or follower.text != "(" or follower.spaced:
            return Symbol(name)
        function = token.text in words.FUNCTION_LETTERS
        _, number, *closing = [*self._ahead(3), ""]
        if closing[:1] == [")"] and number[0].isdecimal() and (function or name.isupper() or number == "0"):
            self._place += 3
            return Symbol(f"{name}({number})")
        return Operation("value of function", (Symbol(name), self._primary())) if function else Symbol(name)

    def _function(self, name: str) -> Node:
        exponent = base = None
        while self._at("^") or (name == "log" and self._at("_")):
            if self._take().text == "^":
                exponent = self._argument()
            else:
                base = self._argument(digit=True)
        argument = self._primary() if self._at("(", "{") else self._bare_argument()
        if exponent == negative(number(1)) and name in words.INVERSE_FUNCTIONS:
            return Operation(words.INVERSE_FUNCTIONS[name], (argument,))
        if name == "det":
            return self._determinant(argument)
        value = _DEFINED[name](argument) if name in _DEFINED else Operation(name, (argument,))
        value = quotient_of(value, Operation("ln", (base,))) if base else value
        return Operation("power", (value, exponent)) if exponent else value

    def _bare_argument(self) -> Node:
        """The 2x of sin 2x cos y."""
        if self._took("-"):
            return negative(self._bare_argument())
        factors = [self._factor()]
        while self._begins_factor() and not self._at("(", *words.FUNCTIONS):
            factors.append(self._factor())
        return product_of(*factors)

    def _root(self) -> Node:
        exponent: Node = Constant(Fraction(1, 2))
        if self._took("["):
            exponent = inverse(self.answer())
            self._expect("]")
        return Operation("power", (self._argument(), exponent))

    def _enclosed(self, name: str, closing: str) -> Node:
        value = self.answer()
        self._expect(closing)
        return Operation(name, (value,))

    def _absolute(self) -> Node:
        self._bars += 1
        value = self.answer()
        self._expect("|")
        self._bars -= 1
        return self._determinant(value) if isinstance(value, Matrix) else Operation("absolute value", (value,))

    def _bracket(self, opening: str) -> Node:
        bars, self._bars = self._bars, 0
        content = self.answer()
        self._bars = bars
        closing = ")" if self._took(r"\rangle") else _CLOSING.get(self._take().text, "")
        if isinstance(content, Sequence) and not content.ratio and closing:
            return Bracket(opening, closing, content.items)
        if opening + closing not in {"()", "[]"}:
            raise Unreadable(f"{opening}{closing}")
        return content

    def _group(self) -> Node:
        """Braces without backslashes: a group of LaTeX, or a set where there are several items."""
        content = self.answer()
        self._expect("}")
        return Bracket("{", "}", content.items) if isinstance(content, Sequence) else content

    def _set(self) -> Node:
        if self._took(r"\}"):
            return Bracket("{", "}", ())
        self._bars += 1
        content = self.answer()
        condition = self.answer() if self._took("|", ":") else None
        self._bars -= 1
        if isinstance(content, Matrix) and {len(row) for row in content.rows} == {1} and not self._at(r"\}"):
            return Sequence(content.parts)
        self._expect(r"\}")
        if condition is None:
            return Bracket("{", "}", content.items if isinstance(content, Sequence) else (content,))
        name = content.sides[0] if isinstance(content, Statement) else content
        is_all = isinstance(name, Symbol) and condition.symbols() == name.symbols()  # {x : x > 2} is x > 2
        return condition if is_all else Operation("where", (content, condition))

    def _matrix(self) -> Node:
        name = self._letters()
        if name in words.SYSTEMS:
            return self._system()
        if name not in words.MATRICES:
            raise Unreadable(name)
        if name == "array":
            self._letters()
        rows: list[tuple[Node, ...]] = []
        row: list[Node] = []
        while not self._took(r"\end"):
            row.append(self.answer())
            if self._took("&"):
                continue
            rows.append(tuple(row))
            row = []
            if not self._took("\\\\") and not self._at(r"\end"):
                raise Unreadable("matrix")
        if self._letters() != name:
            raise Unreadable(name)
        matrix = Matrix(tuple(rows))
        return self._determinant(matrix) if name == "vmatrix" else matrix

    def _determinant(self, matrix: Node) -> Node:
        if not isinstance(matrix, Matrix):
            return Operation("determinant", (matrix,))
        size = sum(1 for entry in matrix.parts for _ in entry.walk())
        widths = {len(row) for row in matrix.rows}
        if widths != {len(matrix.rows)} or max(widths) > _LARGEST_DETERMINANT or size > _MOST_IN_A_DETERMINANT:
            raise Unreadable("determinant")
        return determinant(matrix.rows)

    def _system(self) -> Node:
        """Equations below each other; values with conditions beside them are not read."""
        items = [self.answer()]
        while self._took("\\\\"):
            if not self._at(r"\end"):
                items.append(self.answer())
        self._expect(r"\end")
        self._letters()
        return Sequence(tuple(items))


def _called(name: str, argument: Node) -> Node:
    return Operation(name, (argument,))


def _of_exponentials(combine: Callable[[Node, Node], Node], argument: Node) -> Node:
    return combine(_called("exp", argument), _called("exp", negative(argument)))


_DEFINED: dict[str, Callable[[Node], Node]] = {
    "cis": lambda it: _called("exp", product_of(Symbol("i"), it)),
    "log": lambda it: _called("ln", it),
    "lg": lambda it: quotient_of(_called("ln", it), _called("ln", number(10))),
    "tan": lambda it: quotient_of(_called("sin", it), _called("cos", it)),
    "cot": lambda it: quotient_of(_called("cos", it), _called("sin", it)),
    "sec": lambda it: inverse(_called("cos", it)),
    "csc": lambda it: inverse(_called("sin", it)),
    "sinh": lambda it: quotient_of(_of_exponentials(difference, it), number(2)),
    "cosh": lambda it: quotient_of(_of_exponentials(sum_of, it), number(2)),
    "tanh": lambda it: quotient_of(_of_exponentials(difference, it), _of_exponentials(sum_of, it)),
}
"""Functions that are others put together."""

_NO_MATHS = r"[^=<>\\\d+*/^-]"
_NAME = re.compile(
    rf"{_NO_MATHS}{{0,40}}(?:\\(?:text|mathrm|textbf)\{{[^{{}}=<>]{{1,60}}\}}|[A-Za-z]{{4}}){_NO_MATHS}{{0,60}}"
)
"""Words on the left side of an =."""


def read(text: str) -> Node:
    """The tree of a text; `Unreadable` where it is no mathematics that is known here."""
    if len(text) > LONGEST_TEXT:
        raise Unreadable(f"{len(text)} characters")
    parser = Parser(tokens(plain(text)))
    answer = parser.answer()
    if parser.next:
        raise Unreadable(parser.next.text)
    return answer


def read_value(text: str) -> Node:
    """The tree; of a value that is named in words, as in "Area = 12", without the name."""
    try:
        return read(text)
    except Unreadable:
        name, _, value = text.partition("=")
        if not _NAME.fullmatch(name):
            raise
        return read(value)
