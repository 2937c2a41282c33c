"""Honest programs of classes, generators and contexts, as tasks ask for them, and of each one that is slightly broken."""

from typing import NamedTuple

from tests.integration.sandbox.programs.sample import NO_PASS, PASSED, Sample


class Pair(NamedTuple):
    """`wrong` stands in the place of `right` in the broken one."""

    code: str
    right: str
    wrong: str
    tests: str


PAIRS: dict[str, Pair] = {
    "slots and order": Pair(
        "from dataclasses import dataclass, field\n@dataclass(slots=True, order=True, frozen=True)\nclass V:\n    major: int\n    minor: int = 0\n    tags: list = field(default_factory=list, compare=False)\ndef f(t): return V(*map(int, t.split('.')))",
        "t.split('.')", "t.split('.')[::-1]",
        "assert f('1.2') < f('1.10') and f('2.0') == f('2.0')\nassert max(f('1.2'), f('3.0'), f('2.9')).major == 3\nassert sorted([f('2.0'), f('1.0')])[0].minor == 0\nassert hash(f('1.1').major) == hash(1)",
    ),
    "flags": Pair(
        "from enum import Flag, auto\nclass P(Flag):\n    R = auto(); W = auto(); X = auto()\ndef f(t): \n    r = P(0)\n    for c in t: r |= P[c]\n    return r",
        "P[c]", "P.R",
        "p = f('RW')\nassert p.value == 3 and bool(p) and not bool(f(''))\nassert (f('R') | f('W')) == p\nassert f('R') in p and f('X') not in p\nassert (p & f('R')).name == 'R'\nassert (~p).value == 4",
    ),
    "a typed named tuple": Pair(
        "from typing import NamedTuple\nclass Pt(NamedTuple):\n    x: int\n    y: int = 0\n    def dist(self): return abs(self.x) + abs(self.y)\ndef f(x, y=0): return Pt(x, y)",
        "abs(self.y)", "self.y",
        "p = f(3, -4)\nassert p == (3, -4) and p.dist() == 7 and p._asdict() == {'x': 3, 'y': -4}\na, b = p\nassert a == 3 and p._replace(x=1).x == 1 and p._fields == ('x', 'y')",
    ),
    "a cache that is inspected": Pair(
        "from functools import lru_cache\n@lru_cache(maxsize=2)\ndef f(n): return n * n",
        "maxsize=2", "maxsize=3",
        "f(1); f(1); f(2); f(3)\nassert f.cache_info().hits == 1 and f.cache_info().misses == 3 and f.cache_info().currsize == 2\nf.cache_clear()\nassert f.cache_info().hits == 0\nassert f.cache_parameters()['maxsize'] == 2 and f(5) == 25",
    ),
    "an async pipeline": Pair(
        "import asyncio\nasync def source(n):\n    for v in range(n):\n        await asyncio.sleep(0)\n        yield v\nasync def f(n): return [v * v async for v in source(n)]",
        "v * v", "v + v",
        "import asyncio\nassert asyncio.run(f(4)) == [0, 1, 4, 9]\nasync def t():\n    r = [v async for v in source(3)]\n    assert r == [0, 1, 2]\n    assert await asyncio.gather(f(1), f(2)) == [[0], [0, 1]]\nasyncio.run(t())",
    ),
    "a matrix with all operators": Pair(
        "class f:\n    def __init__(self, rows): self.rows = [list(r) for r in rows]\n    def __add__(self, o):\n        if not isinstance(o, f): return NotImplemented\n        return f([[a + b for a, b in zip(r, s)] for r, s in zip(self.rows, o.rows)])\n    def __mul__(self, k):\n        if isinstance(k, (int, float)): return f([[a * k for a in r] for r in self.rows])\n        return NotImplemented\n    __rmul__ = __mul__\n    def __matmul__(self, o): return f([[sum(a * b for a, b in zip(r, c)) for c in zip(*o.rows)] for r in self.rows])\n    def __neg__(self): return self * -1\n    def __eq__(self, o): return isinstance(o, f) and self.rows == o.rows\n    def __getitem__(self, ij): return self.rows[ij[0]][ij[1]]\n    def __setitem__(self, ij, v): self.rows[ij[0]][ij[1]] = v\n    def __iter__(self): return iter(self.rows)\n    def __len__(self): return len(self.rows)\n    def __pow__(self, n):\n        r = self\n        for _ in range(n - 1): r = r @ self\n        return r\n    @property\n    def T(self): return f(zip(*self.rows))\n    def __repr__(self): return 'f(' + str(self.rows) + ')'",
        "for r, s in zip(self.rows, o.rows)", "for r, s in zip(self.rows, self.rows[::-1])",
        "a = f([[1, 2], [3, 4]])\nassert (a + a).rows == [[2, 4], [6, 8]] and (2 * a)[1, 1] == 8 and (a @ a).rows == [[7, 10], [15, 22]]\nassert (-a)[0, 0] == -1 and a.T.rows == [[1, 3], [2, 4]] and (a ** 2).rows == (a @ a).rows\na[0, 0] = 9\nassert list(a) == [[9, 2], [3, 4]] and len(a) == 2 and repr(f([[1]])) == 'f([[1]])'\ntry: a + 1\nexcept TypeError: pass\nelse: raise AssertionError",
    ),
    "integers of 5,000 digits": Pair(
        "def f(n): return 10 ** n + 7",
        "+ 7", "+ 8",
        "assert f(5000) == 10 ** 5000 + 7\nimport sys\nsys.set_int_max_str_digits(0)\nassert str(f(5000))[-1] == '7' and len(str(f(5000))) == 5001",
    ),
    "prints with sep and file": Pair(
        "import io\ndef f(*v):\n    s = io.StringIO()\n    print(*v, sep='-', end='!', file=s)\n    print('seen')\n    return s.getvalue()",
        "print('seen')", "print('seen', end='')",
        "import io\nfrom contextlib import redirect_stdout\nb = io.StringIO()\nwith redirect_stdout(b): assert f(1, 2) == '1-2!'\nassert b.getvalue() == 'seen\\n'",
    ),
    "asks for input": Pair(
        "def f():\n    name = input('Name? ')\n    return int(input()) + len(name)",
        "len(name)", "1",
        "import io, sys\nold = sys.stdin\nsys.stdin = io.StringIO('ab\\n5\\n')\ntry: assert f() == 7\nfinally: sys.stdin = old",
    ),
    "decimals in a context": Pair(
        "from decimal import Decimal, localcontext, ROUND_HALF_UP\ndef f(v):\n    with localcontext() as c:\n        c.prec = 6\n        return (Decimal(v) / 7).quantize(Decimal('0.001'), ROUND_HALF_UP)",
        "/ 7", "/ 8",
        "from decimal import Decimal\nassert f('10') == Decimal('1.429') and str(f('1')) == '0.143' and f('1').as_tuple().exponent == -3",
    ),
    "global lots after a seed": Pair(
        "import random\ndef f(v):\n    v = list(v)\n    random.shuffle(v)\n    return v",
        "return v", "return v[::-1]",
        "import random\nrandom.seed(5)\nw = list(range(9)); random.shuffle(w)\nrandom.seed(5)\nassert f(range(9)) == w",
    ),
    "a match of a pattern": Pair(
        "import re\ndef f(t): return re.match(r'(?P<a>[a-z]+)-(?P<n>[0-9]+)', t)",
        "[0-9]+", "[0-9]",
        "m = f('ab-12')\nassert m and m.group('n') == '12' and m.groups() == ('ab', '12') and m.groupdict() == {'a': 'ab', 'n': '12'}\nassert m.span() == (0, 5) and m[0] == 'ab-12' and m['a'] == 'ab' and f('-') is None and m.start('n') == 3",
    ),
    "views, zips and ranges": Pair(
        "def f(d): return zip(d.keys(), d.values()), map(str, d), filter(None, d.values()), range(len(d)), d.items(), enumerate(d), reversed(list(d))",
        "map(str, d)", "map(float, d)",
        "z, m, l, r, i, e, v = f({1: 0, 2: 5})\nassert list(z) == [(1, 0), (2, 5)] and list(m) == ['1', '2'] and list(l) == [5] and r == range(2)\nassert list(i) == [(1, 0), (2, 5)] and list(e) == [(0, 1), (1, 2)] and next(v) == 2",
    ),
    "objects of itertools": Pair(
        "import itertools as it\ndef f(v): return it.chain(v, v), it.count(3, 2), it.groupby(sorted(v, key=len), key=len), it.tee(v), it.islice(it.cycle(v), 5)",
        "count(3, 2)", "count(3, 1)",
        "c, n, g, t, y = f(['a', 'bb', 'c'])\nassert list(c) == ['a', 'bb', 'c'] * 2 and [next(n) for _ in range(3)] == [3, 5, 7]\nassert {k: list(x) for k, x in g} == {1: ['a', 'c'], 2: ['bb']}\nassert list(t[0]) == list(t[1]) and ''.join(y) == 'abbcabb'",
    ),
    "generators with send, throw and close": Pair(
        "def f():\n    total, log = 0, []\n    try:\n        while True:\n            try:\n                v = yield total\n                if v is not None: total += v\n            except ValueError: total = 0\n    finally: closed.append(True)\nclosed = []",
        "total = 0\n", "total = 1\n",
        "g = f()\nassert next(g) == 0 and g.send(5) == 5 and g.send(2) == 7 and g.throw(ValueError()) == 0 and g.send(1) == 1\ng.close()\nassert closed == [True]\ntry: next(g)\nexcept StopIteration: pass\nelse: raise AssertionError",
    ),
    "exceptions with causes, notes and attributes": Pair(
        "class E(ValueError):\n    def __init__(self, msg, code=0):\n        super().__init__(msg)\n        self.code = code\ndef f(t):\n    try: return int(t)\n    except ValueError as e:\n        raise E('bad ' + t, code=7) from e",
        "code=7", "code=8",
        "try: f('x')\nexcept ValueError as e:\n    assert e.code == 7 and str(e) == 'bad x' and isinstance(e.__cause__, ValueError) and type(e).__name__ == 'E' and 'invalid literal' in str(e.__cause__)\nelse: raise AssertionError\nassert f('4') == 4",
    ),
    "an abstract class": Pair(
        "from abc import ABC, abstractmethod\nclass Shape(ABC):\n    @abstractmethod\n    def area(self): ...\n    @property\n    @abstractmethod\n    def name(self): ...\nclass Sq(Shape):\n    def __init__(self, n): self.n = n\n    def area(self): return self.n ** 2\n    name = 'sq'\ndef f(n): return Sq(n)",
        "** 2", "* 2",
        "assert f(3).area() == 9 and isinstance(f(1), Shape)\ntry: Shape()\nexcept TypeError: pass\nelse: raise AssertionError\nclass C(Shape):\n    def area(self): return 1\n    name = 'c'\nassert C().area() == 1 and C().name == 'c'",
    ),
    "arguments of every kind": Pair(
        "def f(a, /, b, *c, d, e=5, **g): return a, b, c, d, e, g",
        "e=5", "e=6",
        "assert f(1, 2, 3, d=4) == (1, 2, (3,), 4, 5, {}) and f(1, b=2, d=0, e=1, z=9) == (1, 2, (), 0, 1, {'z': 9})\nfor bad in (lambda: f(a=1, b=2, d=3), lambda: f(1, 2)):\n    try: bad()\n    except TypeError: pass\n    else: raise AssertionError",
    ),
    "a default that stays": Pair(
        "def f(v, seen=[]):\n    seen.append(v)\n    return seen",
        "seen.append(v)", "seen = [*seen, v]",
        "assert f(1) == [1] and f(2) == [1, 2] and f(1) is f(2) and f(0, []) == [0]",
    ),
    "a deque of a length": Pair(
        "from collections import deque\ndef f(v, n):\n    d = deque(maxlen=n)\n    d.extend(v)\n    d.rotate(1)\n    return d",
        "rotate(1)", "rotate(2)",
        "from collections import deque\nr = f(range(5), 3)\nassert r == deque([4, 2, 3]) and r.maxlen == 3\nr.append(7)\nassert list(r) == [2, 3, 7]",
    ),
    "not a number in a list": Pair(
        "import math\ndef f(v): return [x for x in v if x is not None]",
        "is not None", "is None",
        "import math\nassert f([1, math.nan, None]) == [1, math.nan]\nn = float('nan')\nassert f([n, None]) == [n]\nassert math.isnan(f([n])[0])",
    ),
    "not a number of the library's": Pair(
        "import math\ndef f(v): return [v[0], math.nan]",
        "v[0]", "v[0] + 1",
        "import math\nassert f([1]) == [1, math.nan] and f([2])[1] is math.nan",
    ),
    "halves of letters": Pair(
        "def f(t): return [c for c in t]",
        "for c in t", "for c in t[1:]",
        "assert f('\\ud83d\\ude00') == ['\\ud83d', '\\ude00'] and f('\\U0001f600') == ['\\U0001f600'] and f('e\\u0301') == ['e', '\\u0301']",
    ),
    "wrapped functions": Pair(
        "import functools\ndef f(g):\n    @functools.wraps(g)\n    def w(*a, **k):\n        w.calls += 1\n        return g(*a, **k)\n    w.calls = 0\n    return w",
        "w.calls += 1", "w.calls += 2",
        "@f\ndef add(a, b=2):\n    'adds'\n    return a + b\nassert add(1) == 3 and add(1, b=5) == 6 and add.calls == 2 and add.__name__ == 'add' and add.__doc__ == 'adds'",
    ),
    "retries": Pair(
        "def f(n, kinds=(Exception,)):\n    def deco(g):\n        def w(*a):\n            for i in range(n):\n                try: return g(*a)\n                except kinds:\n                    if i == n - 1: raise\n        return w\n    return deco",
        "i == n - 1", "i == 0",
        "calls = []\n@f(3, (ValueError,))\ndef g(x):\n    calls.append(x)\n    if len(calls) < 3: raise ValueError('again')\n    return x\nassert g(7) == 7 and calls == [7, 7, 7]\n@f(2)\ndef h(): raise KeyError('k')\ntry: h()\nexcept KeyError: pass\nelse: raise AssertionError",
    ),
    "keywords named self and cls": Pair(
        "def f(cls, *, self=1, **more): return cls, self, more",
        "self, more", "self + 1, more",
        "assert f(cls=2, self=3, name=4, action=5, kwargs=6, args=7) == (2, 3, dict(name=4, action=5, kwargs=6, args=7))",
    ),
    "is a type of Python": Pair(
        "f = frozenset",
        "frozenset", "list",
        "assert f([1, 2]) == {1, 2}",
    ),
    "is a fraction": Pair(
        "from fractions import Fraction as f",
        "fractions import Fraction", "decimal import Decimal",
        "from fractions import Fraction\nassert f(1, 2) == Fraction(1, 2)",
    ),
    "is a function of Python": Pair(
        "f = sorted",
        "sorted", "list",
        "assert f([3, 1]) == [1, 3]",
    ),
    "an LRU cache": Pair(
        "from collections import OrderedDict\nclass Own:\n    def __init__(self, n): self.n, self.d = n, OrderedDict()\n    def get(self, k):\n        if k not in self.d: return -1\n        self.d.move_to_end(k)\n        return self.d[k]\n    def put(self, k, v):\n        self.d[k] = v\n        self.d.move_to_end(k)\n        if len(self.d) > self.n: self.d.popitem(last=False)\n    def __contains__(self, k): return k in self.d\n    def __len__(self): return len(self.d)",
        "last=False", "last=True",
        "c = Own(2)\nc.put(1, 1); c.put(2, 2)\nassert c.get(1) == 1\nc.put(3, 3)\nassert c.get(2) == -1 and 3 in c and 2 not in c and len(c) == 2",
    ),
    "mapping below a dictionary": Pair(
        "from collections import UserDict\nclass Own(UserDict):\n    def __setitem__(self, k, v): super().__setitem__(k.lower(), v)\n    def __getitem__(self, k): return super().__getitem__(k.lower())\n    def __contains__(self, k): return k.lower() in self.data",
        "k.lower(), v", "k, v",
        "d = Own({'A': 1})\nd['B'] = 2\nassert d['a'] == 1 and 'b' in d and 'B' in d and len(d) == 2 and sorted(d) == ['a', 'b'] and d.get('C', 9) == 9 and dict(d) == {'a': 1, 'b': 2} and d.pop('a') == 1 and list(d.items()) == [('b', 2)]",
    ),
}  # fmt: skip

BESIDE: dict[str, Pair] = {
    "input by a mock": Pair(
        "def f(): return [int(v) for v in input().split()]",
        "int(v)", "int(v) + 1",
        "import unittest\nfrom unittest import mock\nclass T(unittest.TestCase):\n    @mock.patch('builtins.input', return_value='1 2')\n    def test(self, m):\n        self.assertEqual(f(), [1, 2])\n        m.assert_called_once()",
    ),
    "a patched clock": Pair(
        "import time\ndef f(): return int(time.time()) + 1",
        "+ 1", "+ 2",
        "import unittest\nfrom unittest.mock import patch\nclass T(unittest.TestCase):\n    @patch('time.time', return_value=41.5)\n    def test(self, m): self.assertEqual(f(), 42)",
    ),
    "a patched request": Pair(
        "import urllib.request, json\ndef f(u):\n    with urllib.request.urlopen(u) as r: return json.load(r)['a']",
        "['a']", "['a'] + 1",
        "import unittest, io\nfrom unittest.mock import patch\nclass T(unittest.TestCase):\n    @patch('urllib.request.urlopen')\n    def test(self, m):\n        m.return_value.__enter__.return_value = io.StringIO('{\"a\": 4}')\n        self.assertEqual(f('http://x'), 4)\n        m.assert_called_with('http://x')",
    ),
    "a patched file": Pair(
        "def f(p):\n    with open(p) as h: return h.read().upper()",
        ".upper()", "",
        "import unittest\nfrom unittest.mock import patch, mock_open\nclass T(unittest.TestCase):\n    def test(self):\n        with patch('builtins.open', mock_open(read_data='ab')) as m:\n            self.assertEqual(f('x.txt'), 'AB')\n        m.assert_called_once_with('x.txt')",
    ),
    "pickled by the tests": Pair(
        "class P:\n    def __init__(self, v): self.v = v\n    def __reduce__(self): return (P, (self.v + 1,))\ndef f(v): return P(v)",
        "self.v + 1", "self.v",
        "import pickle\nassert pickle.loads(pickle.dumps(f(3))).v == 4",
    ),
    "operators that are not implemented": Pair(
        "class Money:\n    def __init__(self, n): self.n = n\n    def __add__(self, o): return Money(self.n + o.n) if isinstance(o, Money) else NotImplemented\n    def __radd__(self, o): return self if o == 0 else NotImplemented\n    def __eq__(self, o): return self.n == o.n if isinstance(o, Money) else NotImplemented\n    def __lt__(self, o): return self.n < o.n if isinstance(o, Money) else NotImplemented\n    def __hash__(self): return hash(self.n)",
        "self.n < o.n", "self.n > o.n",
        "assert sum([Money(1), Money(2)]).n == 3 and Money(1) == Money(1) and Money(1) != Money(2) and Money(1) < Money(2)\nassert sorted([Money(3), Money(1)])[0].n == 1 and len({Money(1), Money(1)}) == 1\ntry: Money(1) + 'x'\nexcept TypeError: pass\nelse: raise AssertionError\nassert Money(1) != 1",
    ),
    "data alone": Pair(
        "from dataclasses import dataclass\n@dataclass\nclass Pair:\n    a: int\n    b: int = 2",
        "b: int = 2", "b: int = 3",
        "assert Pair(1).b == 2 and Pair(1, 5).b == 5",
    ),
    "an enumeration alone": Pair(
        "from enum import Enum\nclass Color(Enum):\n    RED = 1\n    BLUE = 2",
        "BLUE = 2", "BLUE = 3",
        "assert Color(2) is Color.BLUE and [c.name for c in Color] == ['RED', 'BLUE'] and Color['RED'].value == 1",
    ),
    "a named tuple alone": Pair(
        "from typing import NamedTuple\nclass Place(NamedTuple):\n    x: int\n    y: int = 0",
        "y: int = 0", "y: int = 1",
        "assert Place(1) == (1, 0) and Place(1, 2)._asdict() == {'x': 1, 'y': 2}",
    ),
}  # fmt: skip
"""Those whose mode is found with their solution alone: they are patched, pickled, or nothing but data."""

HONEST_CLASSES = {name: Sample(pair.code, PASSED, pair.tests) for name, pair in PAIRS.items()}
BROKEN_CLASSES = {
    name: Sample(pair.code.replace(pair.right, pair.wrong, 1), NO_PASS, pair.tests) for name, pair in PAIRS.items()
}
