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
    "an async pipeline": Pair(
        "import asyncio\nasync def source(n):\n    for v in range(n):\n        await asyncio.sleep(0)\n        yield v\nasync def f(n): return [v * v async for v in source(n)]",
        "v * v", "v + v",
        "import asyncio\nassert asyncio.run(f(4)) == [0, 1, 4, 9]\nasync def t():\n    r = [v async for v in source(3)]\n    assert r == [0, 1, 2]\n    assert await asyncio.gather(f(1), f(2)) == [[0], [0, 1]]\nasyncio.run(t())",
    ),
    "asks for input": Pair(
        "def f():\n    name = input('Name? ')\n    return int(input()) + len(name)",
        "len(name)", "1",
        "import io, sys\nold = sys.stdin\nsys.stdin = io.StringIO('ab\\n5\\n')\ntry: assert f() == 7\nfinally: sys.stdin = old",
    ),
    "generators with send, throw and close": Pair(
        "def f():\n    total, log = 0, []\n    try:\n        while True:\n            try:\n                v = yield total\n                if v is not None: total += v\n            except ValueError: total = 0\n    finally: closed.append(True)\nclosed = []",
        "total = 0\n", "total = 1\n",
        "g = f()\nassert next(g) == 0 and g.send(5) == 5 and g.send(2) == 7 and g.throw(ValueError()) == 0 and g.send(1) == 1\ng.close()\nassert closed == [True]\ntry: next(g)\nexcept StopIteration: pass\nelse: raise AssertionError",
    ),
    "wrapped functions": Pair(
        "import functools\ndef f(g):\n    @functools.wraps(g)\n    def w(*a, **k):\n        w.calls += 1\n        return g(*a, **k)\n    w.calls = 0\n    return w",
        "w.calls += 1", "w.calls += 2",
        "@f\ndef add(a, b=2):\n    'adds'\n    return a + b\nassert add(1) == 3 and add(1, b=5) == 6 and add.calls == 2 and add.__name__ == 'add' and add.__doc__ == 'adds'",
    ),
}  # fmt: skip

BESIDE: dict[str, Pair] = {
    "input by a mock": Pair(
        "def f(): return [int(v) for v in input().split()]",
        "int(v)", "int(v) + 1",
        "import unittest\nfrom unittest import mock\nclass T(unittest.TestCase):\n    @mock.patch('builtins.input', return_value='1 2')\n    def test(self, m):\n        self.assertEqual(f(), [1, 2])\n        m.assert_called_once()",
    ),
    "a patched request": Pair(
        "import urllib.request, json\ndef f(u):\n    with urllib.request.urlopen(u) as r: return json.load(r)['a']",
        "['a']", "['a'] + 1",
        "import unittest, io\nfrom unittest.mock import patch\nclass T(unittest.TestCase):\n    @patch('urllib.request.urlopen')\n    def test(self, m):\n        m.return_value.__enter__.return_value = io.StringIO('{\"a\": 4}')\n        self.assertEqual(f('http://x'), 4)\n        m.assert_called_with('http://x')",
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
}  # fmt: skip
"""Those whose mode is found with their solution alone: they are patched, pickled, or nothing but data."""

HONEST_CLASSES = {name: Sample(pair.code, PASSED, pair.tests) for name, pair in PAIRS.items()}
BROKEN_CLASSES = {
    name: Sample(pair.code.replace(pair.right, pair.wrong, 1), NO_PASS, pair.tests) for name, pair in PAIRS.items()
}
