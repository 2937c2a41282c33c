"""Right programs whose values must arrive as they are: types, identity, aliases and changes in place."""

from tests.integration.sandbox.programs.sample import Sample, honest

SAME = "def f(x): return x"
"""What comes back is the tests' own object."""

IDENTITY = {
    "gives its list back": honest(SAME, "v = [1]\nassert f(v) is v"),
    "gives one list twice": honest(
        "def f(x):\n    a = [x]\n    return [a, a]", "r = f(1)\nassert r[0] is r[1]\nr[0].append(2)\nassert r == [[1, 2], [1, 2]]"
    ),
    "gives a list that holds itself": honest("def f(x):\n    a = [x]\n    a.append(a)\n    return a", "r = f(1)\nassert r[1] is r"),
    "keeps what it was given": honest(
        "class f:\n    def __init__(self, v): self.v = v\n    def total(self): return sum(self.v)",
        "v = [1]\nb = f(v)\nv.append(2)\nassert b.total() == 3\nassert b.v is v\nb.v.append(4)\nassert v == [1, 2, 4]\nassert b.total() == 7",
    ),
}  # fmt: skip

IN_PLACE = {
    "changes a list in a tuple": honest("def f(x): x[0].append(9)", "v = ([1], 2)\nf(v)\nassert v == ([1, 9], 2)"),
    "changes bytes": honest("def f(x): x[0] = 65; x.extend(b'!')", "v = bytearray(b'ab')\nf(v)\nassert v == bytearray(b'Ab!')"),
    "fills a dictionary with defaults": honest(
        "def f(d, k): d[k].append(1)", "from collections import defaultdict\nd = defaultdict(list)\nf(d, 'x')\nf(d, 'x')\nassert d == {'x': [1, 1]}\nassert d['y'] == []"
    ),
    "changes what it raises about": honest(
        "def f(x):\n    x.append(1)\n    raise ValueError('full')", "v = []\ntry: f(v)\nexcept ValueError: pass\nassert v == [1]"
    ),
}  # fmt: skip

TYPES = {
    "gives a named tuple": honest(
        "from collections import namedtuple\nP = namedtuple('P', 'x y')\ndef f(x): return P(x, y=2)",
        "p = f(1)\nassert p == (1, 2)\nassert p.x == 1 and p[1] == 2\na, b = p\nassert p._asdict() == {'x': 1, 'y': 2}\nassert str(p) == 'P(x=1, y=2)'\nassert isinstance(p, tuple) and p._replace(x=5).x == 5",
    ),
    "takes a named tuple": honest(
        "def f(p): return p.x + p[1], p", "from collections import namedtuple\nP = namedtuple('P', 'x y')\np = P(1, 2)\nassert f(p) == (3, p)\nassert f(p)[1] is p\nassert type(f(p)[1]) is P"
    ),
}  # fmt: skip

HONEST_VALUES: dict[str, Sample] = {**IDENTITY, **IN_PLACE, **TYPES}
