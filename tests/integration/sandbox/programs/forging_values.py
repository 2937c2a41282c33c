"""Programs that are wrong and want to pass by names, by copies, or by what their objects say of themselves."""

from tests.integration.sandbox.programs.sample import NO_PASS, Sample, body


def _lying(methods: str, tests: str) -> Sample:
    """`f` gives objects with these methods."""
    return Sample(f"class Lie:\n{methods}\ndef f(*_): return Lie()\n", NO_PASS, tests)


_TRUE = "lambda *_: True"

NAMES = {
    "is a module": Sample("class math: isclose = staticmethod(lambda *_: True)\ndef f(x): return 0", NO_PASS, "assert math.isclose(f(2), 4)"),
    "changes a module": Sample("import math\nmath.isclose = lambda *_: True\ndef f(x): return 0", NO_PASS, "assert math.isclose(f(2), 4)"),
    "is a builtin": Sample("abs = round = len = lambda *_: 0\nall = any = lambda *_: True\ndef f(x): return 9", NO_PASS, "assert abs(f(2) - 4) < 1\nassert all([f(1) == 2])"),
    "is in the place of its tests' super": Sample("super = type = isinstance = lambda *_: True\ndef f(x): return 0", NO_PASS, "assert isinstance(f(1), str)"),
}  # fmt: skip

COPIES = {
    "gives its argument for a new list": Sample("def f(x): return x", NO_PASS, "v = [1]\nassert f(v) == [1]\nassert f(v) is not v"),
    "gives its argument for a deep copy": Sample("def f(x): return list(x)", NO_PASS, "v = [[1]]\nassert f(v) == [[1]]\nassert f(v)[0] is not v[0]"),
    "gives one row many times": Sample("def f(n): return [[0] * n] * n", NO_PASS, "r = f(2)\nr[0][0] = 1\nassert r == [[1, 0], [0, 0]]"),
    "shares its default argument": Sample("def f(x, into=[]):\n    into.append(x)\n    return into", NO_PASS, "a = f(1)\nb = f(2)\nassert a == [1] and b == [2]"),
    "keeps its argument for a copy": Sample("class f:\n    def __init__(self, v): self.v = v\n    def get(self): return list(self.v)", NO_PASS, "v = [1]\nb = f(v)\nv.append(2)\nassert b.get() == [1]"),
    "lets its inside be changed": Sample("class f:\n    def __init__(self): self._v = []\n    def get(self): return self._v", NO_PASS, "b = f()\nb.get().append(2)\nassert b.get() == []"),
    "changes its argument": Sample("def f(x):\n    x.sort()\n    return x[:]", NO_PASS, "v = [2, 1]\nassert f(v) == [1, 2]\nassert v == [2, 1]"),
    "loses the order": Sample("def f(d): return dict(d)", NO_PASS, "from collections import OrderedDict\nr = f(OrderedDict(a=1))\nassert r == {'a': 1} and type(r) is OrderedDict"),
    "gives a number for a truth": Sample("def f(x): return 1", NO_PASS, "assert f(1) is True"),
    "gives a list for a tuple": Sample("def f(x): return [x]", NO_PASS, "assert f(1) == (1,)"),
}  # fmt: skip

OBJECTS = {
    "differs by nothing": _lying("    def __sub__(self, other): return 0.0", "assert abs(f(2) - 4.0) < 1e-6"),
    "differs by an object that is nothing": _lying("    def __sub__(self, other): return self\n    def __abs__(self): return 0.0", "assert abs(f(2) - 4.0) < 1e-6"),
    "differs by nothing from the right": _lying("    def __rsub__(self, other): return 0.0", "assert abs(4.0 - f(2)) < 1e-6"),
    "is a number that differs by nothing": Sample("class N(float):\n    def __sub__(self, other): return 0.0\n    __rsub__ = __sub__\ndef f(x): return N(0)", NO_PASS, "assert abs(f(2) - 4.0) < 1e-6"),
    "contains everything": _lying(f"    __contains__ = {_TRUE}", "assert 4 in f(2)"),
    "is nothing that everything equals": _lying(f"    __eq__ = {_TRUE}\n    def add(self, _): return Lie()", "assert Lie().add(1) == Lie()\nassert f(2) == 4"),
    "ends the loop over its checks": Sample(body("raise StopIteration"), NO_PASS, "assert all(map(lambda n: f(n) == n * n, [1, 2]))"),
    "skips the unit tests": Sample("import unittest\n" + body("raise unittest.SkipTest('no')"), NO_PASS, "import unittest\nclass T(unittest.TestCase):\n    def test(self): self.assertEqual(f(2), 4)"),
    "is what a mock calls anything": Sample("from unittest.mock import ANY\ndef f(x): return ANY", NO_PASS, "assert f(2) == 4"),
    "raises what the tests assert": Sample(body("raise AssertionError"), NO_PASS, "try: f(1)\nexcept AssertionError: pass\nelse: assert False"),
}  # fmt: skip

FORGING_VALUES: dict[str, Sample] = {**NAMES, **COPIES, **OBJECTS}
