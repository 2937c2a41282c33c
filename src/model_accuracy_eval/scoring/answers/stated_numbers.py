"""Numbers as replies state them, in the notations of their languages."""

import re
from decimal import Context, Decimal, InvalidOperation
from fractions import Fraction

from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring import maths
from model_accuracy_eval.scoring.answers import markers
from model_accuracy_eval.scoring.answers.cleaning import is_cut_off
from model_accuracy_eval.scoring.answers.reader import (
    BOXED,
    STATED,
    ClaimedAnswer,
    Doubtful,
    SaidText,
    Value,
    Wanted,
    is_hash,
    read,
)
from model_accuracy_eval.scoring.maths import units

# How numbers are written.


_SIGN = r"(?:(?<![\w)\]])([-−+]))?\\?[$€£¥]?"  # the - of 10-5 and of "pages 3-7" is not a sign
_DIGITS = r"((?<!\d,)\d{1,3}(?:,\d{3})+(?![,\d]\d)(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+)"  # 1,2,3 is a list
_NUMBER = re.compile(_SIGN + _DIGITS)
_TIMES = r"\s*(?:[×·*xX]|\\?times|\\cdot)\s*"
_EXPONENT = r"[-−+]?\d{1,3}"
_SCIENTIFIC = re.compile(
    rf"(?<![\w.,^])(?:(\d+(?:\.\d+)?|\.\d+)[eE]({_EXPONENT})(?!\d)"
    rf"|(?:(\d+(?:\.\d+)?|\.\d+){_TIMES})?10\s*(?:(?:\^|\*\*)\s*(?:[{{(]\s*({_EXPONENT})\s*[}})]|({_EXPONENT})(?!\w))"
    r"|([⁺⁻]?[⁰¹²³⁴-⁹]{1,3})))"
)
_PLAIN = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻−", "0123456789+--")
_LATEX_COMMA = re.compile(r"(?<=\d)(?:\{,\}|,?\\[,!;])(?=\d{3})")
_MIXED = re.compile(r"(?<![\d/.,])(\d{1,4})(?: (\d{1,3})/(\d{1,3})|\\[dt]?frac\{(\d{1,3})\}\{(\d{1,3})\})(?![\d/])")
"""3 1/2"""
_LATEX_FRACTION = re.compile(r"(?<!\d)(?<!\d )\\[dt]?frac\{(\d+)\}\{(\d+)\}")
_UNIT = rf"[{markers.CURRENCIES}]|\\?%|(?i:{'|'.join(map(re.escape, units.SPELLINGS))})s?(?![A-Za-z])"
_GROUPED = re.compile(
    r"(?<![\d.,])(\d{1,3}(?:\.\d{3})+),(\d+)(?![\d.,]\d)|(?<![\d.,])(\d{1,3}(?:\.\d{3}){2,})(?![\d,.]\d)"
)
"""1.234,5 and 1.234.567, as many languages write them."""
_DECIMAL_COMMA = re.compile(
    rf"(?<![\d.,])(\d+),(\d{{1,2}})(?=\s?(?:{_UNIT}))"
    rf"|(?<=[{markers.CURRENCIES}])(\d+),(\d{{1,2}})(?![\d,])"
)
"""18,00 € is no list. Without a unit it may be one."""
_DIGITS_OF_DECIMALS = Context(prec=40)


def _plain_numbers(text: str) -> str:
    """With a point before decimals, no blanks between thousands, and no exponents, whose digits would be numbers."""
    text = _MIXED.sub(_sum, text) if "/" in text or "frac" in text else text
    text = _LATEX_FRACTION.sub(r"\1/\2", _LATEX_COMMA.sub(",", text))
    text = _GROUPED.sub(_with_point, _SCIENTIFIC.sub(_digits_of, text).replace("٫", ".").replace("٬", ","))
    return _DECIMAL_COMMA.sub(lambda number: f"{number[1] or number[3]}.{number[2] or number[4]}", text)


def _sum(mixed: re.Match[str]) -> str:
    """The decimals of a whole number and a fraction; what is no fraction below 1 stays."""
    whole, *parts = (int(part) for part in mixed.groups() if part)
    above, below = parts
    return _decimal(whole + Fraction(above, below)) if above < below else mixed[0]


def _with_point(number: re.Match[str]) -> str:
    whole, decimals, alone = number.groups("")
    return (whole or alone).replace(".", "") + (f".{decimals}" if decimals else "")


def _digits_of(scientific: re.Match[str]) -> str:
    short, its_exponent, mantissa, *exponents = scientific.groups("")
    exponent = "".join((its_exponent, *exponents)).translate(_PLAIN)
    return f"{Decimal(f'{short or mantissa or 1}e{exponent}'):f}"


# A number.


_OPENED = re.compile(
    r"[\s*_:=$\\(\[{≈~`\"'“>：]{0,12}(?:[-•]\s)?(?:(?i:approximately|about|around|exactly|only|just|roughly|text\{|boxed\{|"
    r"rs\.?|(?:us|usd|eur|rmb)(?=[ $])|ca\.|environ|etwa|约|約|共|(?:a )?total of)[\s$*_~\\({]{0,4}){0,2}"
)
_RESULT = re.compile(rf"=[\s$*\\(]{{0,4}}(?:text\{{)?{_SIGN}{_DIGITS}")
_OPERATOR = re.compile(r"[-+*/×÷−!]|\\times|\\cdot|\b(?:x|times|plus|minus)\b")
_FRACTION = re.compile(r"\s?/\s?(\d+)(?!\d|/|\.\d)")
_ASIDE = re.compile(r"\([^()]{0,300}\)|（[^（）]{0,300}）")
_CIRCUMSTANCE = re.compile(
    r"\b(?i:in|after|for|per|at|from|every|each|within|by|over|with|during|on|and|than|least)\s(?:the\s|all\s)?\Z"
)
_FORMULA = re.compile(r"[\s*_:]{0,6}(?:\$\$?(?=[^$]*[\\^A-Za-z])|\\[(\[])(.{1,300}?)(?:\$|\\[)\]])")
"""What is more than a number between dollars."""
_ONE_OF_SEVERAL = re.compile(
    r"(?:,|[\s$*\\)]{0,4}\b(?:or|oder|ou|или)\b[\s$*\\(]{0,4})\d"  # 5 or 6
    r"|[ ]?(?:-(?=\S)|[–—~～])[ ]?[$€£]?\d|[至到]\d"  # 2-7
    r"|[ ](?:to|bis|à|до)[ ][$€£]?\d(?!\d*[ ](?:significant|decimal|digits|places|[sd]\.?[fp]\b))"  # to 2 digits is one
    r"|:(?!00(?!\d))\d"  # 3:2, 6:30; 2:00 is 2
    r"|(?:\s*,\s*(?:and\s)?[-−]?[\d.]+)+[\s*$\\.\])}]*\Z"  # (1, 0)
    r"|(?:(?!\b(?:between|of|from|both|because|since)\b)[^,;=(])*?\band\s+\$?\d(?!\d*[ ]of\b)"  # 5 hours and 30 minutes
    r"|(?:[ ]?[-+][ ]?\d*)?(?:[exyzn](?![A-Za-z]|[ ][a-z])|xy)"  # 4x, 2e, 5 + 3x
)
_NO_NUMBER = re.compile(
    r"[\s*_:$\\({\[+−-]{0,6}(?i:∞|infty\b|infinit[ey]\b|undefined\b|diverge|does not exist|无穷|不存在)"
)


def _number_at(reply: SaidText, claim: ClaimedAnswer) -> Value | None:
    """The value of the formula that a claim begins with; else the number it begins with, or that its calculation ends
    with; of a sentence about it the first number that is no circumstance, such as "in 3 days"."""
    span = reply.text[claim.start : claim.end]
    formula = (span, span) if claim.strength == BOXED else _FORMULA.match(span)
    if formula and (found := _in_formula(formula[1])) is not None:
        return Value(found or None, claim.start, claim.start + len(formula[0]))
    if claim.strength == BOXED:
        return None
    if is_hash(reply, claim) and _HEADING.match(span) and reply.text[claim.end :].strip():
        return None
    if _NO_NUMBER.match(span):
        return Value(None, claim.start, claim.end)
    plain = _plain_numbers(_WITH_BLANKS.sub(lambda number: number[0].replace(number[1], ""), span, count=1))
    opened = _OPENED.match(plain)
    number = _NUMBER.match(plain, opened.end() if opened else 0)
    if number is None or _SYMBOLIC.search(plain):
        return _number_behind(reply, claim, plain)
    return _number_in_front(reply, claim, number, claim.start + len(span) - len(plain))


def _number_in_front(reply: SaidText, claim: ClaimedAnswer, number: re.Match[str], begin: int) -> Value | None:
    plain = number.string
    end = _SENTENCES.search(plain, number.end())
    sentence = plain[number.end() : end.start() if end else len(plain)]
    rest = sentence.partition(", ")[0]
    place = begin + number.end()
    if _ONE_OF_SEVERAL.match(sentence):
        return Value(None, claim.start, place)
    results = [*_RESULT.finditer(plain, number.end(), number.end() + len(rest))]
    if results and _OPERATOR.search(plain, number.end(), results[-1].start()):
        return Value(_written(results[-1]), claim.start, max(place, claim.start + results[-1].end()))
    fraction = _FRACTION.match(rest)
    others = _NUMBER.search(_without_asides(rest[fraction.end() if fraction else 0 :]))
    if claim.strength != STATED and not is_hash(reply, claim) and others:
        return None  # a label whose line has other numbers
    return Value(_written(number), claim.start, place)


_SYMBOLIC = re.compile(
    r"[√π]|(?<![a-z])pi\b|sqrt|\\(?:log|ln|sin|cos|tan|binom)\b|(?<![A-Za-z])(?:log|ln|sin|cos|tan)[_(^]|\be\^|\d\s?(?:\^|\*\*)\s?[{(]?\d"
    r"|\d!\.|(?<![A-Za-z])[\dn)]!\s?[/*(+)\\-]|[A-Za-z][+*]\d"
    r"|\d\s?/\s?(?:[xyn]\b|(?:the )?number of\b)"
)
"""What makes of a number a part of a formula, such as 2π, 3^2023, 8!/2, Kim+8 and 420/number of days."""
_EQUALS = re.compile(r"[=≈]|\\approx\b|\b(?:approximately|about)\b")


def _value_of(sentence: str, place: int) -> str:
    """The number that a formula is said to be; empty where that is a formula too."""
    end = _SENTENCES.search(sentence, place)
    value = _EQUALS.split(sentence[: end.start() if end else len(sentence)])[-1]
    number = None if _SYMBOLIC.search(value) else _NUMBER.search(value)
    return _written(number) if number else ""


_WITH_BLANKS = re.compile(r"(?<![\d.,])\d{1,3}([ \u00a0\u2009\u202f])\d{3}(?:\1\d{3})*(?=\s*(?:\Z|[.!]|[^\W\d_]))")


def _number_behind(reply: SaidText, claim: ClaimedAnswer, plain: str) -> Value | None:
    """The number of a claim that begins with something else, or with a part of a formula."""
    if formula := _SYMBOLIC.search(plain):
        return Value(_value_of(plain, formula.end()), claim.start, claim.end)
    if is_hash(reply, claim):
        return None
    first = _SENTENCES.split(plain, maxsplit=1)[0]
    if not _NUMBER.search(first) and markers.REFUSED.search(first.lower()):
        return Value(None, claim.start, claim.end)
    number = _number_of_sentence(plain, is_announced=True)
    if number is None:
        return None
    place = max(claim.start, reply.text.find(number[0], claim.start, claim.end))
    if _ANOTHER.match(number.string, number.end()):
        return Value(None, place, place + len(number[0]))
    return Value(_written(number), place, place + len(number[0]))


_ANOTHER = re.compile(r".*?\band\s+\$?\d|[^,:=]*,\s?\w+\s?[:=]\s?\$?\d")
"""Behind a number: and 7, or y = 7."""


def _without_asides(text: str) -> str:
    return markers.CITATION.sub("", _ASIDE.sub("", text))


def _number_of_sentence(text: str, *, is_announced: bool) -> re.Match[str] | None:
    """Of the numbers of the last sentence that are no circumstances: what stands behind the last "is" or =, else the
    first one of an announced answer, the last one of any other sentence; of a list the last."""
    sentence = _last_with_number(_SENTENCES.split(_without_asides(text))) or text
    said = _EXPLANATION.split(sentence)[0]
    said = said if _NUMBER.search(said) else sentence
    numbers = [*_NUMBER.finditer(said)]
    direct = [number for number in numbers if not _CIRCUMSTANCE.search(said, 0, number.start())]
    if not direct:
        return numbers[-1] if numbers else None
    verbs = [verb.end() for verb in _IS_ANY.finditer(said) if verb.end() <= direct[-1].start()]
    stated = [number for number in direct if verbs and number.start() >= verbs[-1]]
    direct = stated or (direct if is_announced else direct[-1:])
    later = [number for number in numbers if number.start() > direct[0].start()]
    is_listed = later and _LISTED.fullmatch(said, direct[0].end(), later[0].start())
    return later[-1] if is_listed else direct[0]


def _last_with_number(parts: list[str]) -> str | None:
    return next((part for part in reversed(parts) if _NUMBER.search(part)), None)


_SENTENCES = re.compile(r"\.(?=[\s*$]|$)|!(?!\s?=)|[?。；！？]|\n")
_IS_ANY = re.compile(r"\b(?:is|are|was|were|be|equals)\b|[=≈]")
_EXPLANATION = re.compile(r"\b(?:because|since|where|while|to buy|with(?!.*\b(?:is|are|was|equals)\b))\b")
_LISTED = re.compile(r"[\s$*\\]{0,4}(?:[-–+*×÷,]|and|times|plus|minus)[\s$*\\]{0,4}(?:and\s)?")


def _written(number: re.Match[str]) -> str:
    """The number as it is written; a fraction as its decimals."""
    written = "".join(number.groups(""))
    fraction = _FRACTION.match(number.string, number.end())
    if fraction is None or not int(fraction[1]):
        return written
    return _decimal(Fraction(as_number(written) or 0) / int(fraction[1]))


def _in_formula(box: str) -> str | None:
    """The value of a formula, its first number if it is not mathematics, as in "42 eggs for 7 days"; empty where it has
    several values, None where it has no number."""
    if (number := _NUMBER.fullmatch(box.strip(" $\\"))) is not None:
        return "".join(number.groups(""))
    box = _plain_numbers(box)
    if (number := _NUMBER.search(box)) is None:
        return None
    try:
        value = maths.value_of(box)
    except maths.Unreadable:
        return "" if _STRUCTURED.search(box) else "".join(number.groups(""))
    return "" if value is None else _decimal(value)


_STRUCTURED = re.compile(r"\\[dt]?frac|[*^=]")


def _decimal(value: Fraction) -> str:
    return f"{_DIGITS_OF_DECIMALS.divide(Decimal(value.numerator), Decimal(value.denominator)):f}"


_ALONE = re.compile(rf"[\s*_$\\(\[{{=≈~>]{{0,8}}{_SIGN}{_DIGITS}(?:[ ]answer)?(?:[\s*_.$\\)\]}}。，,]){{0,8}}\Z")


def _number_alone(reply: SaidText) -> Value | None:
    """The number that is the whole last line, else the whole first line."""
    text = reply.text.strip()
    for line in (text.rpartition("\n")[2], text.partition("\n")[0]):
        if len(line) < _LONGEST_ALONE and (number := _ALONE.match(_plain_numbers(line))):
            end = len(line) if text.startswith(line) else len(reply.text)
            return Value("".join(number.groups("")), 0, end)
    plain = _plain_numbers(text) if len(text) < _LONGEST_ALONE and not _NOT_ALONE.search(text) else ""
    number = _NUMBER.match(plain)
    several = _ONE_OF_SEVERAL.match(plain, number.end()) if number else None
    # "600 and 634 make 1234" goes on to its answer.
    is_all = several and (several.end() == len(plain) or len(_NUMBER.findall(plain)) <= 2)
    return Value(None, 0, len(reply.text)) if is_all or _LIST.fullmatch(plain) else None


_LONGEST_ALONE = 60
_LIST = re.compile(r"\[[^\]]*\d[^\]]*, [^\]]*\d[^\]]*\]")
_NOT_ALONE = re.compile(r"[\n=≈]")


def _last_number(reply: SaidText) -> str | None:
    """The number of the last sentence that has one, unless the end of the reply is open."""
    if has_open_end(reply.text.rstrip()) or (number := number_of_last_sentence(reply.text)) is None:
        return None
    is_only_one = len({found[0] for found in _NUMBER.finditer(reply.text)}) == 1
    return number if is_only_one else Doubtful(number)


def number_of_last_sentence(text: str) -> str | None:
    line = _last_with_number(text.split("\n"))
    plain = _plain_numbers(_LABEL.sub("", line or ""))
    if _UNEQUAL.search(plain):
        return None
    if _SYMBOLIC.search(plain):
        return _value_of(plain, len(plain)) or None
    found = _number_of_sentence(plain, is_announced=False)
    return _written(found) if found and not _RANGE.search(plain, 0, found.start()) else None


_RANGE = re.compile(r"\d[-–~～]\Z")
_UNEQUAL = re.compile(r"(?:\\n(?:ot|eq?)\b|≠)[^,]*\Z")
_LABEL = re.compile(r"\A\s*(?:[-*•#]+\s*)?(?:step\s*)?\d+(?:\.\d+)*\s*[.):]\s", re.IGNORECASE)
"""The number of a step or of an item."""
_HEADING = re.compile(rf"{_LABEL.pattern}*[^\W\d_]", re.IGNORECASE)


def has_open_end(text: str) -> bool:
    """Whether a reply that states nothing says that it has no answer, or what is still to be done, or was cut off."""
    last = text[-ENDING:].rpartition("\n")[2].lower()
    says_none = markers.REFUSED.search(last) or (_OPEN.search(last) and not _NUMBER.search(last))
    return bool(says_none) or is_cut_off(text)


_OPEN = re.compile(r"\banswer\b(?!s)")
ENDING = 600


def last_number(text: str, problem: Problem) -> str | None:
    """The last number of the text, with commas and sign: "… is $1,234.50." gives 1,234.50, "-$5" gives -5."""
    end = next((place for place in range(len(text) - 1, -1, -1) if text[place].isdecimal()), None)
    if end is None:
        return None
    # A number is a run of signs and digits; what belongs to its exponent, or is its unit, is near.
    numbers = _NUMBER.findall(_plain_numbers(text[max(0, end - _NEAR) : end + 20]))
    return "".join(numbers[-1])


_NEAR = 80


_A_NUMBER = Wanted(_number_at, _number_alone, _last_number)


def number_answer(text: str, problem: Problem, *, flexible: bool = True) -> str | None:
    """The number that the reply states as its answer, else that alone on its last or first line, else, if `flexible`,
    that of its last sentence with one.

    "#### Step 2: …" is a Markdown heading, and its 2 is not an answer. A box with a fraction or a calculation has its
    value; one with several values or with a formula has no number.
    """
    return read(text, problem, _A_NUMBER, flexible=flexible)


# Texts that are numbers.


_DECORATION = re.compile(r"[$€£¥]|%$")
_COMMAS = re.compile(r"(?<![\d,])(\d{1,3}(?:,\d{3})+)(?![\d,])")
"""Commas between thousands. 1,2 and 1,0000 are no numbers."""


def as_number(text: str) -> Decimal | None:
    """The number that the text is. Decimal, not float: 0.1 is 0.1, and 20 digits stay 20 digits."""
    if text.isascii() and text.isdecimal():  # most right answers: no need to look for commas and currencies
        return Decimal(text)
    bare = _DECORATION.sub("", text.strip()).replace("−", "-").rstrip(".")
    bare = _COMMAS.sub(lambda thousands: thousands[0].replace(",", ""), bare)
    try:
        value = Decimal(bare)
    except InvalidOperation:
        return None
    return value if value.is_finite() else None
