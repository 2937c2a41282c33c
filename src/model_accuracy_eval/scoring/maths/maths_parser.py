"""Tokens → trees, by recursive descent: lists of relations of sums of products of factors."""

import re

from model_accuracy_eval.scoring.maths import maths_words as words
from model_accuracy_eval.scoring.maths import units
from model_accuracy_eval.scoring.maths.maths_factors import FactorParser
from model_accuracy_eval.scoring.maths.maths_text import LONGEST_TEXT, plain
from model_accuracy_eval.scoring.maths.maths_tokens import tokens
from model_accuracy_eval.scoring.maths.maths_trees import (
    Node,
    Operation,
    Quantity,
    Sequence,
    Statement,
    Unreadable,
    inverse,
    negative,
    product_of,
    sum_of,
)

_NAME = re.compile(r"[^=<>\\]{0,40}(?:\\(?:text|mathrm|textbf)\{[^{}=<>]{1,60}\}|[A-Za-z]{4})[^=<>\\]{0,60}")
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


class Parser(FactorParser):
    def answer(self, *, in_set: bool = False) -> Node:
        """Items with commas, semicolons, "and" or "or" between them; one item stands for itself."""
        self._enter()
        items = [self._relation(in_set=in_set)]
        while self._separator():
            items.append(self._relation(in_set=in_set))
        self._leave()
        return items[0] if len(items) == 1 else Sequence(tuple(items))

    def _separator(self) -> bool:
        """Takes ",", ";", "and", and the ", and" before a last item."""
        start = self._place
        while self._at(",", ";"):
            self._take()
        return self._place > start

    def _relation(self, *, in_set: bool) -> Node:
        sides, signs = [self._sets(in_set=in_set)], []
        while self.next and self.next.kind in {"sign", "command"} and self.next.text in words.RELATIONS:
            signs.append(self._take().text)
            sides.append(self._sets(in_set=in_set))
        return Statement(tuple(signs), tuple(sides)) if signs else sides[0]

    def _sets(self, *, in_set: bool) -> Node:
        value = self._ratio(in_set=in_set)
        while self.next and self.next.text in words.SET_OPERATIONS:
            name = words.SET_OPERATIONS[self._take().text]
            earlier = value.operands if isinstance(value, Operation) and value.name == name else (value,)
            value = Operation(name, (*earlier, self._ratio(in_set=in_set)))
        return value

    def _ratio(self, *, in_set: bool) -> Node:
        parts = [self._quantity()]
        while not in_set and self._took(":"):
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
        parts: list[str] = []
        while self._kind() == "words" or (parts and (self._at("^", "/") or self._kind() == "number")):
            token = self._take()
            parts.append(token.text)
            if token.text == "^" and self._at("{"):
                parts.append(self._letters())
        text = " ".join(parts).replace("^ ", "^")
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
                return terms[0] if len(terms) == 1 else sum_of(*terms)
            sign = self._take().text

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
                return factors[0] if len(factors) == 1 else product_of(*factors)

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
