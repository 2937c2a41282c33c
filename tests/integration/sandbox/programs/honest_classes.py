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
    "asks for input": Pair(
        "def f():\n    name = input('Name? ')\n    return int(input()) + len(name)",
        "len(name)", "1",
        "import io, sys\nold = sys.stdin\nsys.stdin = io.StringIO('ab\\n5\\n')\ntry: assert f() == 7\nfinally: sys.stdin = old",
    ),
    "a match of a pattern": Pair(
        "import re\ndef f(t): return re.match(r'(?P<a>[a-z]+)-(?P<n>[0-9]+)', t)",
        "[0-9]+", "[0-9]",
        "m = f('ab-12')\nassert m and m.group('n') == '12' and m.groups() == ('ab', '12') and m.groupdict() == {'a': 'ab', 'n': '12'}\nassert m.span() == (0, 5) and m[0] == 'ab-12' and m['a'] == 'ab' and f('-') is None and m.start('n') == 3",
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
    "not a number of the library's": Pair(
        "import math\ndef f(v): return [v[0], math.nan]",
        "v[0]", "v[0] + 1",
        "import math\nassert f([1]) == [1, math.nan] and f([2])[1] is math.nan",
    ),
    "wrapped functions": Pair(
        "import functools\ndef f(g):\n    @functools.wraps(g)\n    def w(*a, **k):\n        w.calls += 1\n        return g(*a, **k)\n    w.calls = 0\n    return w",
        "w.calls += 1", "w.calls += 2",
        "@f\ndef add(a, b=2):\n    'adds'\n    return a + b\nassert add(1) == 3 and add(1, b=5) == 6 and add.calls == 2 and add.__name__ == 'add' and add.__doc__ == 'adds'",
    ),
    "is a type of Python": Pair(
        "f = frozenset",
        "frozenset", "list",
        "assert f([1, 2]) == {1, 2}",
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
