"""The methods behind Python's operators, sorted by what they show and what they give back."""

_BINARY = ["add", "sub", "mul", "truediv", "floordiv", "mod", "divmod", "pow", "matmul", "and", "or", "xor"]
BINARY = frozenset(f"__{sign}{name}__" for name in [*_BINARY, "lshift", "rshift"] for sign in ("", "r", "i"))
"""They show the other operand to an object."""

EQUALITIES = frozenset({"equals", "equal", "eq", "identical", "almost_equals", "array_equal", "allclose", "isclose"})
"""Methods by which objects of libraries are compared: they are given what is expected, and answer with the verdict."""

QUESTIONS = frozenset(
    {"startswith", "endswith", "issubset", "issuperset", "isdisjoint", "is_relative_to", "is_integer"}
    | {name for name in dir(str) if name.startswith("is")}
)
"""What plain data is asked whether it is so."""

_TEXTS = {"find", "rfind", "index", "rindex", "count"}
_SETS = {"difference", "symmetric_difference", "intersection", "union"}
_NUMBERS = {"compare", "compare_signal", "compare_total", "compare_total_mag", "same_quantum"}
_TABLES = {"compare", "ne", "sub", "subtract", "isin"}
RELATIONS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(_TEXTS, (str, bytes)),
    **dict.fromkeys(_SETS, (set, frozenset, list, tuple, dict)),
    **dict.fromkeys(_NUMBERS | _TABLES, (object,)),
}
"""What plain data is asked how it relates to something of these types, which may be what is expected."""

DIFFERENCES = frozenset(
    f"__{sign}{name}__" for name in ("sub", "truediv", "floordiv", "mod", "divmod", "xor") for sign in ("", "r", "i")
)

ORDERING = frozenset({"__lt__", "__le__", "__gt__", "__ge__"})
COMPARING = ORDERING | {"__eq__", "__ne__", "__hash__"}
CONTAINS = "__contains__"
AWAIT = "__await__"

STEPS = frozenset({"send", "throw"})
"""Methods of generators that may end them."""

READING = frozenset(
    {"__bool__", "__len__", "__iter__", "__next__", "__int__", "__float__", "__complex__", "__index__", "__round__"}
    | {"__abs__", "__trunc__", "__floor__", "__ceil__", "__format__", "__reversed__", "__length_hint__"}
)
"""They make plain data of an object."""

UNARY = frozenset({"__neg__", "__pos__", "__invert__"})

TELLING = frozenset(
    {"__getitem__", "__missing__", "__str__", "__repr__", "__fspath__", "__bytes__", "__enter__", "__aenter__"}
    | {"__aiter__", "__anext__"}
)
"""Like attributes, they tell of an object what it holds."""

OTHER = UNARY | TELLING | frozenset({"__call__", "__setitem__", "__delitem__", "__exit__", "__aexit__", AWAIT})

CHANGING = frozenset(
    {"append", "extend", "insert", "remove", "pop", "clear", "sort", "reverse", "copy", "add", "discard", "update"}
    | {"appendleft", "extendleft", "popleft", "rotate", "setdefault", "popitem", "get", "keys", "values", "items"}
)
"""Methods of plain data that an object may have in a way of its own. What asks whether something is true of it, such as
`startswith` or `issubset`, is asked of the data."""

SPECIAL = BINARY | COMPARING | READING | OTHER | {CONTAINS}


def special_methods(kind: type, below: type) -> list[str]:
    """Those that the class and the classes above it define, apart from `below`, which plain data is made of."""
    own = [base for base in kind.__mro__ if base not in below.__mro__]
    return sorted(name for name in SPECIAL if any(vars(base).get(name) is not None for base in own))


def changed_methods(kind: type, below: type) -> list[str]:
    """Methods of plain data that can be changed which a class below it has of its own, such as its `append`; and names
    of plain data that are fields there."""
    own = [vars(base) for base in kind.__mro__ if base not in below.__mro__]
    found = {
        name: next(names[name] for names in own if name in names)
        for name in dir(below)
        if any(name in it for it in own)
    }
    return [name for name, value in found.items() if name in CHANGING or not (name.startswith("_") or callable(value))]


def use(value: object, name: str, args: list[object]) -> object:
    """What Python does for an operator: the method is looked up in the class alone."""
    if isinstance(value, type) and name == "__getitem__":
        return value[args[0]]  # type: ignore[index]  # which looks for one of the class, too
    found = [vars(base)[name] for base in type(value).__mro__ if name in vars(base)]
    if not found:
        raise TypeError(f"an object of type {type(value).__name__} has no {name}")
    method = found[0]
    bind = getattr(type(method), "__get__", None)  # which a mock has not
    return (bind(method, value, type(value)) if bind else method)(*args)
