"""Contracts of `math_equal`: one for each topic of the table of pairs, asked in both directions."""

from dataclasses import dataclass

from model_accuracy_eval.scoring.contracts.contract import Case, Contract, contract
from model_accuracy_eval.scoring.metrics.metric_table import metric

# Which answers are the same mathematics and which are not: what `math_equal` promises, as one table.
#
# A pair is a right answer and an answer of a model, with a tilde between.


AnswerPairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class PairTopic:
    name: str
    rule: str
    same: AnswerPairs
    different: AnswerPairs


def _topic(name: str, rule: str, same: str, different: str) -> PairTopic:
    return PairTopic(name=name, rule=rule, same=_pairs(same), different=_pairs(different))


def _pairs(lines: str) -> AnswerPairs:
    pairs = [line.strip().partition(" ~ ") for line in lines.strip().splitlines()]
    return tuple((right, answer) for right, _, answer in pairs)


TOPICS = (
    _topic(
        "numbers",
        "Numbers have their exact value: 0.50 is 0.5, and no digit is lost.",
        r"""
        0.5 ~ 0.50
        .5 ~ 0.5
        42 ~ 42.
        42 ~ +42
        -3 ~ −3
        10000000000000000000001 ~ 10000000000000000000001.0
        7 ~ 007
        1500 ~ 1.5e3
        0.00012 ~ 1.2E-4
        """,
        r"""
        10000000000000000000001 ~ 10000000000000000000000
        0.3 ~ 0.30000000000000004
        3 ~ -3
        12 ~ 1.2
        34 ~ 3 4
        100 ~ 1000
        """,
    ),
    _topic(
        "thousands",
        "Commas and blanks between groups of three digits are left out; inside brackets a comma separates.",
        r"""
        10000 ~ 10,000
        10000 ~ 10{,}000
        10,\!000 ~ 10000
        10000 ~ 10\,000
        10000 ~ 10 000
        11,\! 111,\! 100 ~ 11111100
        1234567.5 ~ 1,234,567.5
        (1000,2) ~ (1,000, 2)
        """,
        r"""
        10000 ~ 1,0000
        100200 ~ (100,200)
        12 ~ 1,2
        1000 ~ 1,00
        1.22 ~ 1,22
        """,
    ),
    _topic(
        "fractions",
        "Fractions are equal to what they reduce to, in every way of writing them.",
        r"""
        \frac{1}{2} ~ 0.5
        \frac{1}{2} ~ 1/2
        \frac12 ~ \dfrac{2}{4}
        -\frac{3}{4} ~ \frac{-3}{4}
        \frac{3}{-4} ~ -0.75
        \tfrac1{72} ~ 1 / 72
        \frac 3 4 ~ 3 \div 4
        ½ ~ 0.5
        \frac{\frac{1}{2}}{3} ~ \frac16
        """,
        r"""
        \frac{1}{23} ~ \frac{12}{3}
        \frac12 ~ \frac21
        \frac12 ~ -\frac12
        \frac{3}{4} ~ 34
        \frac{1}{0} ~ \frac{2}{0}
        """,
    ),
    _topic(
        "mixed numbers",
        "A whole number beside a proper fraction of digits is their sum.",
        r"""
        \frac{3}{2} ~ 1\frac{1}{2}
        1 1/2 ~ \frac32
        2\frac58 ~ 2.625
        -1\frac{1}{2} ~ -1.5
        1½ ~ 1.5
        """,
        r"""
        1\frac{1}{2} ~ \frac{1}{2}
        3\frac{1}{7} ~ \frac{3}{7}
        2\frac{\sqrt{3}}{3} ~ 2+\frac{\sqrt{3}}{3}
        """,
    ),
    _topic(
        "rounded numbers",
        "A decimal is itself, unless it has six places or more: then it is every exact number that rounds to it.",
        r"""
        \frac{1}{3} ~ 0.333333
        \pi ~ 3.14159265
        2.5\pi ~ 7.853982
        \sqrt{2} ~ 1.41421356237
        \frac{1}{432} ~ 2.314814814815 \times 10^{-3}
        \frac13 ~ \frac13 \approx 0.33
        0.33 ~ \frac13 \approx 0.33
        """,
        r"""
        \frac13 ~ 0.33
        \frac13 ~ 0.3333
        \frac23 ~ 0.666666
        \pi ~ 3.14
        \pi ~ \frac{22}{7}
        e ~ 2.718
        \sqrt{3} ~ 1.414214
        0.333333 ~ 0.3333333
        3 ~ 5 \approx 3
        """,
    ),
    _topic(
        "repeating decimals",
        "A bar, or three dots behind a period, repeats it without end.",
        r"""
        \frac13 ~ 0.\overline{3}
        0.1\overline{6} ~ \frac16
        \frac{1}{7} ~ 0.\overline{142857}
        \frac13 ~ 0.333...
        \frac{4}{33} ~ 0.1212\ldots
        0.\overline{9} ~ 1
        """,
        r"""
        0.\overline{3} ~ 0.3
        0.\overline{12} ~ 0.1\overline{2}
        \frac12 ~ 0.5...
        """,
    ),
    _topic(
        "powers and products",
        "Numbers may stay unmultiplied, and their size costs nothing.",
        r"""
        72 ~ 2^3 \cdot 3^2
        2^3 3^2 ~ 72
        2^{10} ~ 1024
        2^10 ~ 1024
        1.5 \times 10^3 ~ 1500
        5! ~ 120
        \binom{5}{2} ~ 10
        10^{100} ~ 10^{99} \cdot 10
        7^{10^{100}} ~ 7 \cdot 7^{10^{100}-1}
        9^{9^9} ~ 9^{387420489}
        9^{9^{9^{9}}} ~ 9^{9^{9^{9}}}
        """,
        r"""
        5 ~ 9^{9^{9^{9}}}
        10^{10^{10}} ~ 10^{10^{10}}+1
        2^{3^2} ~ (2^3)^2
        99999999! ~ 5
        5 ~ 10^{10^{10^{10}}}
        72 ~ 2^3 + 3^2
        120 ~ 4!
        """,
    ),
    _topic(
        "order of terms",
        "Sums and products have no order.",
        r"""
        x^3+x^2 ~ x^2+x^3
        x^2+2x+1 ~ 1+2x+x^2
        xy ~ yx
        a-b ~ -b+a
        2ab ~ 2 \cdot b \cdot a
        x^{10}-1 ~ -1+x^10
        """,
        r"""
        x^3+x^2 ~ x^3-x^2
        a-b ~ b-a
        x ~ -x
        x^2 ~ 2x
        x^5-x^4 ~ x^4-x^5
        """,
    ),
    _topic(
        "factored and expanded",
        "An expression is what it is worth at every value of its symbols.",
        r"""
        a^2-b^2 ~ (a-b)(a+b)
        (x+1)^2 ~ x^2+2x+1
        x(x+1) ~ x^2+x
        \frac{x^2-1}{x-1} ~ x+1
        \frac{a}{b}+\frac{c}{d} ~ \frac{ad+bc}{bd}
        (2x-1)(2x+1)(2x+3) ~ 8x^3+12x^2-2x-3
        \frac{8-7x}{6} ~ 4/3-7x/6
        (x+1)^{50}(x-1)^{50} ~ (x^2-1)^{50}
        """,
        r"""
        a^2+b^2 ~ (a+b)^2
        x^2-1 ~ (x-1)^2
        (x+1)^{50} ~ x^{50}+1
        a^2-b^2 ~ (a-b)(a-b)
        x+1 ~ X+1
        2n ~ 2m
        """,
    ),
    _topic(
        "roots",
        "Roots are compared by value; a root of a square is not its base, which may be negative.",
        r"""
        \sqrt{8} ~ 2\sqrt{2}
        \frac{1}{\sqrt{2}} ~ \frac{\sqrt2}{2}
        \sqrt3 ~ 3^{1/2}
        \sqrt[3]{-8} ~ -2
        \sqrt{7+4\sqrt{3}} ~ 2+\sqrt{3}
        \sqrt{2}+\sqrt{5} ~ \sqrt5+\sqrt2
        \sqrt{x^2} ~ |x|
        \sqrt{xy} ~ \sqrt{x}\sqrt{y}
        x^{1/3} ~ \sqrt[3]{x}
        √2 ~ \sqrt{2}
        """,
        r"""
        \sqrt{x^2} ~ x
        \sqrt{2} ~ \sqrt{3}
        \sqrt{2} ~ \sqrt{2}+10^{-12}
        \sqrt{2}+\sqrt{3} ~ \sqrt{5}
        10^{10} ~ \sqrt{10^{20}+1}
        10^{17}+\sqrt{2} ~ 10^{17}+\sqrt{3}
        \sqrt[3]{2} ~ 3\sqrt{2}
        2\sqrt{2} ~ 2^2
        """,
    ),
    _topic(
        "logarithms and functions",
        r"\log is the natural logarithm unless its base is written; angles are radians unless they have a degree sign.",
        r"""
        3 ~ \log_2 8
        \ln 8 ~ 3\ln 2
        \log_{4}{x} ~ \frac{\ln x}{\ln 4}
        \sin 2x ~ 2\sin x\cos x
        \sin^2 x+\cos^2 x ~ 1
        \frac12 ~ \sin 30^\circ
        \arctan 1 ~ \frac{\pi}{4}
        \sin^{-1} x ~ \arcsin x
        2 \sin b \cos a ~ 2\cos(a)\sin(b)
        e^{x+1} ~ e \cdot e^x
        2^{n+1} ~ 2 \cdot 2^n
        \lfloor 3.7 \rfloor ~ 3
        """,
        r"""
        \sin x ~ \cos x
        \ln(x+y) ~ \ln x+\ln y
        \log_2 8 ~ \log_8 2
        \tan\frac{\pi}{2} ~ 0
        e^{2x} ~ e^{x^2}
        2^n ~ n^2
        """,
    ),
    _topic(
        "complex numbers",
        "i is the imaginary unit.",
        r"""
        3+4i ~ 4i+3
        13 ~ (2+3i)(2-3i)
        -1 ~ e^{i\pi}
        2i ~ \sqrt{-4}
        \frac{1}{i} ~ -i
        \cos\frac{\pi}{3}+i\sin\frac{\pi}{3} ~ \frac12+\frac{\sqrt3}{2}i
        """,
        r"""
        3+4i ~ 3-4i
        3+4i ~ 4+3i
        i ~ 1
        """,
    ),
    _topic(
        "names of values",
        "x = 5 is 5; of two named values the names count too.",
        r"""
        5 ~ x=5
        x=5 ~ 5
        5 ~ 5 = x
        x^2 ~ f(x)=x^2
        y=2x+1 ~ 2x+1
        y=2x+1 ~ f(x)=2x+1
        12 ~ x = 3 \cdot 4 = 12
        [0,1] ~ x \in [0,1]
        30 ~ \angle ABC = 30^\circ
        (1,2) ~ (x,y)=(1,2)
        12 ~ \text{Area} = 12 \text{ cm}^2
        x = 2, 3 ~ x_1 = 2, x_2 = 3
        5 ~ = 5
        \frac13 ~ \text{P(even)} = \frac{1}{3}
        7 ~ Total cost = 3 + 4 = 7
        \frac{1}{2} ~ \frac{AB}{CD} = \frac{1}{2}
        """,
        r"""
        x=5 ~ y=5
        x_1=5 ~ x_2=5
        5 ~ 2x=5
        12 ~ \text{Area} = 13
        7 ~ \text{Total} = 7 = 8
        11 ~ x = 7 = 11
        x=5 ~ x=-5
        5 ~ x \ne 5
        """,
    ),
    _topic(
        "equations and inequalities",
        "Both sides may be multiplied and terms may change sides.",
        r"""
        2x+4y=6 ~ x+2y=3
        y=2x+1 ~ 2x-y+1=0
        x^2+y^2=1 ~ 1=y^2+x^2
        2x>6 ~ 3<x
        x \le 5 ~ 5 \geq x
        x >= 5 ~ x \geqslant 5
        x != 3 ~ x \neq 3
        x-y<0 ~ y>x
        """,
        r"""
        2x+4y=6 ~ x+2y=6
        x>3 ~ x<3
        x>3 ~ x \ge 3
        -x>3 ~ x>-3
        x=3 ~ x \ne 3
        7=11a+c ~ 11a+c
        """,
    ),
    _topic(
        "intervals",
        "Which ends belong to it counts; inequalities of one symbol are intervals.",
        r"""
        (0,1] ~ 0<x\le 1
        (5,\infty) ~ x>5
        [1/2, \infty) ~ [0.5, +\infty)
        (-\infty,3)\cup(3,\infty) ~ x \ne 3
        [0,1]\cup[2,3] ~ [2,3] \cup [0,1]
        [0,2] ~ [0,1]\cup[1,2]
        (-\infty,1)\cup(2,\infty) ~ x<1 \text{ or } x>2
        \{x \mid x>2\} ~ (2,\infty)
        \{-1\}\cup[0,7) ~ [0,7)\cup\{-1\}
        ]0,1[ ~ (0,1)
        \mathbb{R}\setminus\{3\} ~ (-\infty,3)\cup(3,\infty)
        (1,2) ~ x>1 \text{ and } x<2
        """,
        r"""
        [0,1] ~ (0,1)
        [0,1) ~ (0,1]
        [0,1] ~ \{0,1\}
        (0,1) ~ (1,0)
        (-\infty,3) ~ (3,\infty)
        [0,1]\cup[2,3] ~ [0,3]
        x>5 ~ [5,\infty)
        (1,2) ~ 1<x<3
        """,
    ),
    _topic(
        "points",
        "Points and lists in brackets have an order.",
        r"""
        (1,2) ~ \left( 1, 2.0 \right)
        (\frac12, -3) ~ (0.5,-3)
        (3,\frac{\pi}{2}) ~ \left(3,\tfrac{\pi}{2}\right)
        (1,2) ~ x=1, y=2
        [1,2,3] ~ [1, 2, 3.0]
        (1,2),(3,4) ~ (3,4), (1,2)
        """,
        r"""
        (1,2) ~ (2,1)
        (1,2) ~ \{1,2\}
        (1,2) ~ (1,2,3)
        (1,2) ~ [1,2]
        (1,2) ~ 12
        (1,2),(3,4) ~ (1,4),(3,2)
        [1,2,3] ~ [3,2,1]
        """,
    ),
    _topic(
        "sets and lists",
        "Sets, and lists without brackets, have no order; an item that is twice in such a list counts twice.",
        r"""
        \{1,2\} ~ \{2, 1\}
        1,2 ~ 2, 1
        1,2 ~ \{1,2\}
        1,2 ~ 2 \text{ and } 1
        1,2,3 ~ 3, 2, and 1
        x=1,x=2 ~ 1, 2
        x=2 \text{ or } x=3 ~ 3,2
        \{1,1,2\} ~ \{1,2\}
        {1,2} ~ \{2,1\}
        \{\sqrt{4}, 0.5\} ~ \{\frac12, 2\}
        \emptyset ~ \{\}
        5 ~ \{5\}
        """,
        r"""
        \{1,2\} ~ \{1,2,3\}
        1,2 ~ 1
        1,2 ~ 1,3
        1,1,2 ~ 1,2
        \emptyset ~ 0
        \{1,2\} ~ 3
        x=1,y=2 ~ x=2,y=1
        """,
    ),
    _topic(
        "plus or minus",
        "± stands for both values.",
        r"""
        1 \pm \sqrt{19} ~ 1+\sqrt{19}, 1-\sqrt{19}
        x = \pm 2 ~ 2, -2
        \pm 2 ~ -2, 2
        \{1\pm\sqrt{5},-2\} ~ -2, 1-\sqrt5, 1+\sqrt5
        \frac{-1\pm\sqrt{5}}{2} ~ -\frac12\pm\frac{\sqrt5}{2}
        """,
        r"""
        \pm 2 ~ 2
        1 \pm \sqrt{19} ~ 1+\sqrt{19}
        \pm 2 ~ \pm 3
        """,
    ),
    _topic(
        "matrices",
        "Matrices and vectors are compared entry by entry, whatever their brackets.",
        r"""
        \begin{pmatrix}1\\2\end{pmatrix} ~ \begin{bmatrix} 1 \\ 2.0 \end{bmatrix}
        \begin{pmatrix}1&1/2\\3&4\end{pmatrix} ~ \begin{pmatrix}1&0.5\\3&4\\\end{pmatrix}
        \begin{pmatrix}1\\2\end{pmatrix} ~ \frac12\begin{pmatrix}2\\4\end{pmatrix}
        \begin{array}{cc}1&2\end{array} ~ \begin{matrix}1&2\end{matrix}
        """,
        r"""
        \begin{pmatrix}1\\2\end{pmatrix} ~ \begin{pmatrix}1&2\end{pmatrix}
        \begin{pmatrix}1&2\\3&4\end{pmatrix} ~ \begin{pmatrix}1&3\\2&4\end{pmatrix}
        \begin{pmatrix}1\\2\end{pmatrix} ~ 2\begin{pmatrix}1\\2\end{pmatrix}
        """,
    ),
    _topic(
        "per cent",
        "50 % is 50, since right answers often lack the sign, and 0.5.",
        r"""
        50\% ~ 50
        50 ~ 50\%
        0.5 ~ 50\%
        50\% ~ 50 percent
        50\% ~ \frac12
        12.5\% ~ 12.50\%
        """,
        r"""
        50\% ~ 0.5\%
        50 ~ 0.5
        50\% ~ 5
        """,
    ),
    _topic(
        "units",
        "A unit may be missing; known units that are both there must agree. 90° is 90 and π/2.",
        r"""
        15\text{ cm}^2 ~ 15
        15\mbox{ cm}^2 ~ 15 \text{ square centimeters}
        125\text{ miles} ~ 125
        5 ~ 5\text{ apples}
        12 ~ 12 cm
        12 ~ 12 m
        12\text{ m} ~ 12 m
        50 \text{ mph} ~ 50 miles per hour
        20^\circ\text{C} ~ 20
        3 \text{ hours} ~ 3 hours
        \$36 ~ 36
        36 ~ \$36
        \$36 ~ 36 \text{ dollars}
        \$18.90 ~ 18.9
        90^\circ ~ 90
        90^{\circ} ~ 90 \text{ degrees}
        90° ~ \frac{\pi}{2}
        20 \text{ m/s} ~ 20 \text{ meters per second}
        """,
        r"""
        15\text{ cm} ~ 15\text{ m}
        36\text{ cents} ~ \$36
        15\text{ cm}^2 ~ 15\text{ cm}^3
        5 ~ 6\text{ apples}
        90^\circ ~ \pi
        12\text{ cm} ~ 12 m
        12m ~ 12n
        """,
    ),
    _topic(
        "bases and ratios",
        "Numbers with a base equal only those in it, digit for digit; ratios are compared term by term, or as "
        "quotients with a number.",
        r"""
        204_5 ~ 204_{5}
        1011_2 ~ 1011_{\text{two}}
        3:2 ~ 3 : 2
        3:2 ~ \frac{3}{2}
        \frac12:1 ~ 0.5:1
        """,
        r"""
        204_5 ~ 204
        204_5 ~ 204_6
        101_2 ~ 5
        3:2 ~ 2:3
        """,
    ),
    _topic(
        "words",
        "What is no mathematics is compared letter by letter, without case and blanks.",
        r"""
        \text{Evelyn} ~ Evelyn
        \text{even} ~ Even
        (A) ~ A
        no ~ \text{No}
        Yes ~ yes
        \text{(A)} ~ \textbf{A}
        \text{New York} ~ new york
        \text{no solution} ~ No solution.
        \sum_{k=1}^n k ~ \sum_{k=1}^{n} k
        """,
        r"""
        \text{Evelyn} ~ Eve
        (A) ~ (B)
        no ~ on
        a ~ A
        \text{odd} ~ even
        \text{stressed} ~ desserts
        5 ~ five
        """,
    ),
    _topic(
        "looks",
        r"Dollars, sizes, blanks, wrappers and a box around the answer mean nothing.",
        r"""
        \frac{1}{2} ~ $\frac{1}{2}$
        3 ~ $\boxed{x=3}$
        \frac{1}{2} ~ \left(\displaystyle\frac{1}{2}\right)
        x+1 ~ \( x + 1 \)
        5 ~ \mathbf{5}
        2\sqrt{3} ~ 2 \, \sqrt { 3 }
        \boxed{\frac{1}{2}} ~ So it is \boxed{0.5}.
        x^2 ~ x²
        3 \cdot x ~ 3×x
        \\frac{1}{2} ~ 0.5
        """,
        r"""
        3 ~ \boxed{4} \text{ or } 3
        5 ~ \boxed{}
        x^2 ~ x2
        """,
    ),
)


def _case(pairs: AnswerPairs, *, same: bool) -> Case:
    """The pairs with the other verdict, of which there must be none."""

    def run() -> tuple[str, ...]:
        score = metric("math_equal").score
        return tuple(
            f"{answer} for {right}"
            for pair in pairs
            for answer, right in (pair, reversed(pair))
            if score(answer, (right,)) != float(same)
        )

    return Case(input=f"{len(pairs)} pairs that are {'' if same else 'not '}the same", run=run, expected=())


def _contract(topic: PairTopic) -> Contract:
    return contract(
        f"maths: {topic.name}",
        topic.rule,
        _case(topic.same, same=True),
        _case(topic.different, same=False),
        "Right answers count as wrong, or wrong ones as right.",
    )


CONTRACTS = tuple(map(_contract, TOPICS))
