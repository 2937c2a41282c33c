"""The LaTeX commands that are read, and what each is."""

RELATIONS = frozenset(("=", "<", ">", r"\le", r"\ge", r"\ne", r"\approx", r"\in"))
SET_OPERATIONS = {r"\cup": "union", r"\cap": "intersection", r"\setminus": "without"}
FUNCTIONS = {
    "\\" + name: name
    for name in [
        "sin",
        "cos",
        "tan",
        "cot",
        "sec",
        "csc",
        "arcsin",
        "arccos",
        "arctan",
        "sinh",
        "cosh",
        "tanh",
        "ln",
        "log",
        "lg",
        "exp",
    ]
}
INVERSE_FUNCTIONS = {"sin": "arcsin", "cos": "arccos", "tan": "arctan"}
"""What the exponent -1 makes of a function."""
ACCENTS = frozenset((r"\overline", r"\vec", r"\hat", r"\widehat", r"\bar", r"\tilde", r"\overrightarrow", r"\dot"))
PREFIXES = frozenset((r"\angle", r"\triangle"))
NAMES = frozenset(
    "\\" + name
    for name in [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "epsilon",
        "varepsilon",
        "zeta",
        "eta",
        "theta",
        "vartheta",
        "iota",
        "kappa",
        "lambda",
        "mu",
        "nu",
        "xi",
        "rho",
        "sigma",
        "tau",
        "upsilon",
        "phi",
        "varphi",
        "chi",
        "psi",
        "omega",
        "Gamma",
        "Delta",
        "Theta",
        "Lambda",
        "Xi",
        "Pi",
        "Sigma",
        "Phi",
        "Psi",
        "Omega",
        "pi",
        "infty",
        "ell",
        "emptyset",
    ]
)
FUNCTION_LETTERS = frozenset("fghFGHPQ")
"""f(2) is the value of a function; where it is no relation's left side it is read as a product, as h(a + b) may be."""
BASES = {
    word: base
    for base, word in enumerate(
        [
            "two",
            "three",
            "four",
            "five",
            "six",
            "seven",
            "eight",
            "nine",
            "ten",
            "eleven",
            "twelve",
            "thirteen",
            "fourteen",
            "fifteen",
            "sixteen",
        ],
        2,
    )
}
MATRICES = frozenset(("matrix", "pmatrix", "bmatrix", "Bmatrix", "smallmatrix", "array"))
BEGIN_FACTORS = frozenset(
    ("(", "{", r"\frac", r"\sqrt", r"\binom", r"\lfloor", r"\lceil", r"\begin", *FUNCTIONS, *NAMES, *ACCENTS, *PREFIXES)
)
"""Signs and commands that continue a product without a sign between."""
