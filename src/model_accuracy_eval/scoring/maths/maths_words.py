"""The LaTeX commands that are read, and what each is."""

RELATIONS = frozenset(("=", "<", ">", r"\le", r"\ge", r"\ne", r"\approx", r"\in"))
SET_OPERATIONS = {r"\cup": "union", r"\cap": "intersection", r"\setminus": "without"}
_FUNCTION_NAMES = (
    "sin", "cos", "tan", "cot", "sec", "csc", "arcsin", "arccos", "arctan", "sinh", "cosh", "tanh", "ln", "log",
    "lg", "exp",
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
MATRICES = frozenset(("matrix", "pmatrix", "bmatrix", "Bmatrix", "smallmatrix", "array"))
BEGIN_FACTORS = frozenset(
    ("(", "{", r"\frac", r"\sqrt", r"\binom", r"\lfloor", r"\lceil", r"\begin", *FUNCTIONS, *NAMES, *ACCENTS, *PREFIXES)
)
"""Signs and commands that continue a product without a sign between."""
