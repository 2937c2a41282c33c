"""Laws of equality that hold for any expression, with sympy's forms of the same expression as the oracle."""

import sys
from decimal import Decimal
from fractions import Fraction

import pytest
import sympy  # type: ignore[import-untyped]
from hypothesis import assume, given
from hypothesis import strategies as st
from tests.maths_pairs import TOPICS, PairTopic

from model_accuracy_eval.scoring.maths import equal, last_boxes, value_of
from model_accuracy_eval.scoring.maths.maths_parser import read
from model_accuracy_eval.scoring.maths.maths_text import Unreadable

FRACTIONS = st.fractions(min_value=-1000, max_value=1000, max_denominator=1000)


@given(FRACTIONS, st.integers(1, 9))
def test_a_fraction_is_the_same_in_every_form(value: Fraction, scale: int) -> None:
    """Reduced or not, in LaTeX or with a slash, mixed, as an equation, with a unit."""
    over, under = value.numerator * scale, value.denominator * scale
    sign = "-" if value < 0 else ""
    whole, rest = divmod(abs(value.numerator), value.denominator)
    forms = [f"\\frac{{{over}}}{{{under}}}", f"{over}/{under}", f"x = {value}", f"${value}$", f"{value} \\text{{ m}}"]
    if whole and rest:
        forms += [f"{sign}{whole}\\frac{{{rest}}}{{{value.denominator}}}", f"{sign}{whole} {rest}/{value.denominator}"]
    for form in forms:
        assert equal(form, str(value)), form
        assert not equal(form, str(value + Fraction(1, 999))), form


@given(st.decimals(allow_nan=False, allow_infinity=False, places=5, min_value=-(10**7), max_value=10**7))
def test_a_decimal_is_the_same_in_every_form(value: Decimal) -> None:
    """With zeros behind it, commas in it, in powers of ten, or as a fraction; the next decimal is another."""
    over, under = value.as_integer_ratio()
    for form in (f"{value:f}00", f"{value:,f}", f"{value:E}", f"{value / 1000:f} \\times 10^3", f"{over}/{under}"):
        assert equal(form, f"{value:f}"), form
        assert not equal(form, f"{value + Decimal('0.00001'):f}"), form


@given(st.fractions(min_value=0, max_value=10**6, max_denominator=1000), st.integers(2, 7))
def test_a_root_of_a_power_is_exact(value: Fraction, degree: int) -> None:
    """However long its digits are, which a float would not hold; of the next number it is none."""
    power = value**degree
    assert value_of(f"\\sqrt[{degree}]{{{power}}}") == value
    assert value_of(f"\\sqrt[{degree}]{{{power.numerator + 1}/{power.denominator}}}") == (None if value else 1)


@given(FRACTIONS, FRACTIONS)
def test_two_numbers_are_the_same_only_if_they_are(left: Fraction, right: Fraction) -> None:
    """As fractions, as points, as sets and as ends of intervals."""
    same = left == right
    for form in ("{}", "({}, 1)", r"\{{{}, 5000\}}", "[{}, 5000)", "x > {}", r"\sqrt{{2}} + {}", r"{} \pi"):
        written = [form.format(f"\\frac{{{value.numerator}}}{{{value.denominator}}}") for value in (left, right)]
        assert equal(*written) is same, written


SPELLINGS = (
    (r"{{{} \over {}}}", r"\frac{{{}}}{{{}}}"),
    (r"{{{} \choose {}}}", r"\binom{{{}}}{{{}}}"),
    ("{} x 10^{}", r"{} \times 10^{{{}}}"),
    (r"{}.{}\,\text{{N}}", "{}.{}"),
    ("{}.{} m/s^2", r"{}.{}\ \mathrm{{m/s}}^2"),
    (r"{}\operatorname{{cis}} \frac{{\pi}}{{{}}}", r"{} e^{{i\pi/{}}}"),
    (r"{}({}|x|)", r"{0} \cdot {1}|x|"),
    (r"|x-{}| < {}", r"-{1} < x - {0} < {1}"),
    (r"|x| > {}{}", r"(-\infty,-{0}{1}) \cup ({0}{1},\infty)"),
    (r"\begin{{vmatrix}}{}&2\\3&{}\end{{vmatrix}}", "{} \\cdot {} - 6"),
    (r"\textbf{{(B)}}\ {}.{}", "{}.{}"),
    (r"\text{{{}, {}, and 100}}", "100, {}, {}"),
    (r"({}{}5)_{{16}}", "{}{}5_{{16}}"),
    (r"{} + {}\pi n", r"{} + {}\pi k"),
    (r"f(x) = {}x + {}", "{}x + {}"),
    (r"\text{{\$}}{}{}\\", "{}{}"),
    (r"{}, -{}", "({}, -{})"),
    (r"\left\{{\begin{{array}}{{l}} x = {} \\ y = {} \end{{array}}\right.", "x={}, y={}"),
)
"""What models write with two numbers in it, and what it means."""
DIGITS = st.tuples(st.integers(1, 9), st.integers(1, 9))


@pytest.mark.parametrize(("written", "meant"), SPELLINGS)
@given(DIGITS, DIGITS)
def test_a_way_of_writing_is_read_with_every_number_in_it(
    written: str, meant: str, numbers: tuple[int, int], others: tuple[int, int]
) -> None:
    """Other numbers are equal only if what is meant by them is."""
    assert equal(written.format(*numbers), meant.format(*numbers))
    same = equal(meant.format(*numbers), meant.format(*others))
    assert equal(written.format(*numbers), meant.format(*others)) is same
    assert equal(meant.format(*others), written.format(*numbers)) is same


SAME_BY_CHANCE = {
    r"\text{Area} = 12 \text{ cm}^3",
    "x_2 = 2, x_2 = 3",
    "x_1 = 2, x_3 = 3",
    r"[0,2]\cup[1,2]",
}


def test_another_digit_or_sign_is_another_answer() -> None:
    """In any answer of the page that is right."""
    same = set()
    for right, answer in (pair for topic in TOPICS for pair in topic.same):
        for place, sign in enumerate(answer):
            if sign.isdecimal() or sign in "+-":
                other = str((int(sign) + 1) % 10) if sign.isdecimal() else "+-"[sign == "+"]
                changed = answer[:place] + other + answer[place + 1 :]
                same |= {changed} if equal(changed, right) else set()
    assert same == SAME_BY_CHANCE


def calls(text: str) -> int:
    """How many functions are called for a verdict: a measure of work that no clock disturbs."""
    count = 0

    def counted(*_: object) -> None:
        nonlocal count
        count += 1

    sys.setprofile(counted)
    try:
        equal(text, text + "+1")
    finally:
        sys.setprofile(None)
    return count


@pytest.mark.parametrize(
    "piece",
    ["(A) ", r"\text{(B)}", "|x", "1,", "x=1;", r"\over 2", r"{1 \over ", "5 million ", r"\text{ m}", "m/s^2", "f(0)",
     r"\begin{vmatrix}", r", k \in \mathbb{Z}", r"+2\pi n", r"\boxed{1} and ", "[", r"\pm1", "x10^"],
)  # fmt: skip
def test_work_grows_with_the_length_of_a_text_and_not_with_its_square(piece: str) -> None:
    """Twice the text is hardly more than twice the work."""
    short = piece * (300 // len(piece))
    assert calls(short * 2) <= 3 * calls(short) + 1000


X, Y = sympy.symbols("x y")
LEAVES = st.one_of(
    st.sampled_from([X, Y, sympy.pi]), st.integers(1, 9).map(sympy.Integer), st.integers(2, 7).map(sympy.sqrt)
)


def grown(children: st.SearchStrategy[sympy.Expr]) -> st.SearchStrategy[sympy.Expr]:
    pairs = st.tuples(children, children)
    return st.one_of(
        pairs.map(lambda two: two[0] + two[1]),
        pairs.map(lambda two: two[0] * two[1]),
        pairs.map(lambda two: two[0] - two[1]),
        st.tuples(children, st.integers(2, 3)).map(lambda two: two[0] ** two[1]),
        children.map(sympy.sin),
        children.map(lambda inner: sympy.log(inner**2 + 1)),
        children.map(lambda inner: sympy.sqrt(inner**2 + 1)),
    )


EXPRESSIONS = st.recursive(LEAVES, grown, max_leaves=6)


@given(EXPRESSIONS)
def test_an_expression_is_what_sympy_makes_of_it(expression: sympy.Expr) -> None:
    """Expanded, gathered and factored forms are the same; one more is another."""
    written = sympy.latex(expression)
    for form in (sympy.expand(expression), sympy.together(expression), sympy.factor(expression)):
        assert equal(sympy.latex(form), written), (written, sympy.latex(form))
    assert not equal(sympy.latex(sympy.expand(expression + 1)), written)
    assume(expression != 0)
    assert not equal(sympy.latex(sympy.expand(2 * expression)), written)


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.name)
def test_the_pairs_of_the_page_are_judged_as_it_says(topic: PairTopic) -> None:
    """In both directions."""
    for pairs, same in ((topic.same, True), (topic.different, False)):
        for right, answer in pairs:
            assert equal(answer, right) is equal(right, answer) is same, (right, answer)


@pytest.mark.parametrize(
    ("text", "inside"),
    [
        (r"So \boxed{5}.", "5"),
        (r"\boxed{\frac{1}{2}}", r"\frac{1}{2}"),
        (r"\boxed{\frac{\sqrt{3}}{2}} and \boxed{\{1,2\}}", r"\{1,2\}"),
        (r"\boxed{1} then \boxed{2", "1"),
        (r"\boxed 7", "7"),
        (r"\fbox{3}", "3"),
        (r"\boxed{}", ""),
        (r"\boxed", None),
        ("no box", None),
    ],
)
def test_the_last_box_is_read_with_the_braces_in_it(text: str, inside: str | None) -> None:
    """One that is not closed was cut off and does not count."""
    assert last_boxes(text)[-1:] == ([inside] if inside is not None else [])


PIECES = [
    "\\frac", "\\sqrt", "{", "}", "(", ")", "[", "]", "\\{", "\\}", "^", "_", "x", "2", "10", "9" * 40, "1.5", "!", "%",
    "\\pm", "\\cup", ",", ";", "=", "<", "|", ":", "+", "-", "*", "/", "\\pi", "\\infty", "\\ln", "\\sin", "i", "e", " ",
    "\\text{cm}", "\\text{", "\\begin{pmatrix}", "\\end{pmatrix}", "&", "\\\\", "\\overline{3}", ".", "\\$", "°", "\\in",
    "\\over ", "\\begin{vmatrix}", "\\end{vmatrix}", "\\det", "\\cis", "\\text{N}", "\\Omega", "\\textbf{(B)} ", "n", "k",
    "\\in \\mathbb{Z}", "\\text{1, and 2}", " and ", " million", "\\left", "\\right", "(0)", "^{-1}", "kN", " m/s",
    "\\approx", "\\mathbb{R}", "\\boxed{", "…", "½", "²", "f(", "\\log_", "\\binom", "words", "\\setminus", "\\cap", "'",
]  # fmt: skip

texts = st.one_of(st.text(max_size=60), st.lists(st.sampled_from(PIECES), max_size=25).map("".join))


@given(texts, texts)
def test_any_two_texts_get_a_verdict_and_it_is_symmetric(left: str, right: str) -> None:
    """Whatever they hold."""
    assert equal(left, right) is equal(right, left)


@given(texts.filter(str.strip))
def test_a_text_is_itself(text: str) -> None:
    """Unless nothing is left of it without blanks and marks at its ends."""
    assert equal(text, text) or not text.strip(" .,;:$\\{}~\t\n") or not equal(text, "x")


@pytest.mark.parametrize(
    "text",
    [
        "10^{10^{10^{10^{10}}}}",
        "99999999999!",
        "((((2^{999})^{999})^{999})^{999})^{999}",
        "\\binom{10^{9}}{10^{8}}",
        "1e999999999",
        "9" * 5000,
        "(" * 1500 + "x" + ")" * 400,
        "x^" * 900 + "2",
        "x'" + "'" * 1000,
        "\\frac" * 300,
        "x" + "+x" * 900,
        "1" + "\\cup 2" * 300,
        ",".join(f"x_{{{number}}}" for number in range(200)),
        "\\{" * 200,
        "0.(" * 500,
        "\\pm" * 500 + "1",
        "0." + "12" * 900 + "...",
        "\\begin{vmatrix}1&2\\\\3&" * 25 + "4" + "\\end{vmatrix}" * 25,
        "\\det" * 300 + "2",
        "{1 \\over " * 29 + "2" + "}" * 29,
        "(A) " * 400 + "5",
    ],
)
def test_what_is_huge_or_deep_gets_a_verdict(text: str) -> None:
    """It is itself and not 5; recursion stays far from Python's limit."""
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(900)
    try:
        assert not equal(text, "5")
        assert equal(text, text)
        assert not equal(text, text + "+1") or text.startswith("1e9999")
    finally:
        sys.setrecursionlimit(limit)


def test_what_is_too_deep_is_compared_letter_by_letter() -> None:
    """The bound is that of levels, whatever opens them."""
    assert read("(" * 10 + "x" + ")" * 10)
    for text in ("(" * 31 + "x" + ")" * 31, "\\sqrt" * 40 + "2", "2^{" * 40 + "2" + "}" * 40):
        with pytest.raises(Unreadable):
            read(text)


def test_long_lists_without_order_are_bounded() -> None:
    """Fifty items in another order are found; two hundred that all have to be compared are not the same."""
    assert equal(
        ",".join(f"x+{number}" for number in range(50)), ",".join(f"{number}+x" for number in range(49, -1, -1))
    )
    many = ",".join(f"x+{number}" for number in range(200))
    assert equal(many, many)
    assert not equal(many, ",".join(f"{number}+x" for number in range(200)))
