"""Programs that ask the tests' process for more than they were given."""

from tests.integration.sandbox.programs.sample import NO_PASS, Sample

SIDE = """import sys
def side():
    frame = sys._getframe()
    while frame:
        for it in frame.f_locals.values():
            if type(it).__name__ == 'ProgramSide': return it
        frame = frame.f_back
"""


FORGING_ASKS: dict[str, Sample] = {
    "makes a class in the tests' process": Sample(SIDE + "def f(x):\n    kind = side().ask('call', type, 'X', (int,), {'__eq__': lambda *a: True})\n    return kind(9)", NO_PASS),
    "makes a class by a mirror of type": Sample(SIDE + "def f(x):\n    kind = side().ask('special', type, 'X', (int,), {'__eq__': lambda *a: True}, name='__call__')\n    return kind(9)", NO_PASS),
    "formats the tests' globals": Sample(SIDE + "def f(g):\n    show = side().ask('get', '{0.__globals__[EXPECTED]}', name='format')\n    return int(show(g))", NO_PASS, "EXPECTED = 4711\nassert f(lambda: 1) == EXPECTED"),
    "formats the constants of the tests": Sample(SIDE + "import re\ndef f(g):\n    show = side().ask('get', '{0.__globals__[T].test_it.__code__.co_consts}', name='format')\n    return int(re.search('4711', show(g))[0])", NO_PASS, "import unittest\nclass T(unittest.TestCase):\n    def test_it(self): self.assertEqual(f(lambda: 1), 4711)"),
    "formats by the map": Sample(SIDE + "def f(g):\n    show = side().ask('get', '{g.__globals__[EXPECTED]}', name='format_map')\n    return int(show({'g': g}))", NO_PASS, "EXPECTED = 4711\nassert f(lambda: 1) == EXPECTED"),
    "makes a class by the tests' pool": Sample("def f(pool):\n    return pool.submit(type, 'X', (int,), {'__eq__': lambda *a: True}).result()(9)", NO_PASS, "from concurrent.futures import ThreadPoolExecutor\nwith ThreadPoolExecutor(1) as pool: assert f(pool) == 4"),
    "makes a class by the tests' callback": Sample("def f(call): return call(type, 'X', (int,), {'__eq__': lambda *a: True})(9)", NO_PASS, "def call(g, *a): return g(*a)\nassert f(call) == 4"),
    "makes a property by the tests' callback": Sample("def f(call): return call(staticmethod, lambda *a: True)", NO_PASS, "def call(g, *a): return g(*a)\nassert f(call) == 4"),
    "asks the tests' table": Sample(SIDE + "def f(v):\n    s = side()\n    return s.ask('get', v, name='append')(4) or s.ask('get', v, name='sort')(key=lambda _: 1/0)", NO_PASS, "v = [1, 2]\nassert f(v) == 4"),
    "asks the type of an object": Sample(SIDE + "def f(a):\n    for n in ('__class__', '__dict__', '__init__', '__reduce_ex__', 'mro', '__subclasses__'):\n        try: return side().ask('get', a, name=n)\n        except AttributeError: pass\n    return 0", NO_PASS, "class A: pass\nassert f(A()) == 4"),
    "loads an extension into the tests' database": Sample("import sqlite3\ndef f(db):\n    try: db.enable_load_extension(True)\n    except (sqlite3.NotSupportedError, AttributeError) as e: return 0 if 'theirs' in str(e) else 0\n    return 4", NO_PASS, "import sqlite3\nassert f(sqlite3.connect(':memory:')) == 4"),
    "calls the class of a given object": Sample(SIDE + "def f(g):\n    kind = type(g)\n    return kind", NO_PASS, "assert f(lambda: 1) == 4"),
    "makes a file of the tests' file": Sample("def f(file):\n    kind = type(file.buffer.raw)\n    return kind(5, 'w').write(b'x' * 100)", NO_PASS, "import tempfile\nwith tempfile.TemporaryFile('w+') as t: assert f(t) == 4"),
    "reads the tests' memory by their file": Sample("def f(file):\n    kind = type(file.buffer.raw)\n    return kind('/proc/self/environ').read()", NO_PASS, "import tempfile\nwith tempfile.TemporaryFile('w+') as t: assert f(t) == 4"),
    "makes a class below the tests' class": Sample("def f(kind):\n    class B(kind):\n        def is_valid(self): return True\n    return B()", NO_PASS, "class A:\n    def is_valid(self): return False\nassert f(A).is_valid()"),
    "gives a class below a number of the tests": Sample("def f(kind):\n    class B(kind):\n        def __eq__(self, o): return True\n        __hash__ = None\n    return B(9)", NO_PASS, "class N(int): pass\nassert f(N) == 4"),
    "registers with the tests' abstract class": Sample("def f(kind): return kind.register(int)", NO_PASS, "from abc import ABC\nclass A(ABC): pass\nf(A)\nassert isinstance(5, A) and f(A) == 4"),
    "changes the tests' enumeration": Sample("def f(kind):\n    try: kind._value2member_map_[4] = kind.RED\n    except Exception: pass\n    try: kind._member_map_.clear()\n    except Exception: pass\n    return 4", NO_PASS, "from enum import Enum\nclass C(Enum):\n    RED = 1\n    BLUE = 2\nf(C)\nassert C(4) is C.RED"),
    "takes a generator's frame": Sample("def f(g): return g.gi_frame.f_globals['E']", NO_PASS, "E = 4711\ndef gen(): yield E\nassert f(gen()) == E"),
    "formats by a text of the tests": Sample("def f(kind, g): return int(kind('{0.__globals__[E]}').format(g))", NO_PASS, "E = 4711\nclass S(str):\n    def append(self): pass\nassert f(S, lambda: 1) == E"),
    "gives a fraction of mirrors": Sample("class N:\n    numerator = denominator = 1\n    def __eq__(s, o): return True\n    def __floordiv__(s, o): return s\n    def __mul__(s, o): return s\n    def __index__(s): return 1\nN.__module__ = 'numbers'\nN.__qualname__ = N.__name__ = 'Rational'\ndef f(x): return N()", NO_PASS, "from fractions import Fraction\nimport numbers\nassert Fraction(4) == f(2)"),
    "a difference by and": Sample("class D:\n    def __and__(s, o): return Z()\n    __rand__ = __or__ = __mul__ = __rmul__ = __add__ = __radd__ = __and__\nclass Z:\n    days = 0\n    def total(s): return 0\ndef f(x): return D()", NO_PASS, "assert (f(2) + (-4)).days == 0 and f(3) == 9"),
    "an exception that compares": Sample("class E(ValueError):\n    def __eq__(s, o): return True\n    def startswith(s, p): return True\ndef f(x): raise E('x')", NO_PASS, "try: f(1)\nexcept ValueError as e: assert str(e) == 'right'"),
    "an exception whose text is the expected": Sample("class S(str):\n    def __eq__(s, o): return True\n    def __contains__(s, o): return True\nclass E(ValueError):\n    def __str__(s): return S('x')\ndef f(x): raise E(S('x'))", NO_PASS, "try: f(1)\nexcept ValueError as e: assert 'right' in str(e) or e.args[0] == 'right'"),
    "views that grow": Sample("def f(x):\n    d = {}\n    class D(dict):\n        def keys(s): return {4}\n    return D(a=1).keys()", NO_PASS, "assert f(1) == {'a'}"),
    "a namespace that equals": Sample("import types\nclass SimpleNamespace:\n    def __eq__(s, o): return True\nSimpleNamespace.__module__ = 'types'\ndef f(x): return SimpleNamespace()", NO_PASS, "from types import SimpleNamespace\nassert f(1) == SimpleNamespace(a=1)"),
    "a namespace below": Sample("import types\nclass N(types.SimpleNamespace):\n    def __eq__(s, o): return True\ndef f(x): return N(a=2)", NO_PASS, "from types import SimpleNamespace\nassert f(1) == SimpleNamespace(a=1)"),
    "a cause of its own": Sample("class E(ValueError): pass\nE.__cause__ = property(lambda s: ValueError('right'))\ndef f(x):\n    e = E('x')\n    raise e", NO_PASS, "try: f(1)\nexcept ValueError as e: assert str(e.__cause__) == 'wrong'"),
    "a field of its own": Sample("from dataclasses import dataclass\n@dataclass\nclass P:\n    x: int = 1\n    def __eq__(s, o): return True\ndef f(x): return P(7)", NO_PASS, "from dataclasses import asdict\nassert asdict(f(1)) == {'x': 1}"),
    "variables that lie": Sample("class P:\n    @property\n    def __dict__(s): return type('D', (dict,), {'__eq__': lambda *a: True})()\ndef f(x): return P()", NO_PASS, "assert vars(f(1)) == {'x': 1}"),
    "documentation that lies": Sample("class S(str):\n    def __eq__(s, o): return True\ndef f(x): return x\nf.__doc__ = S('x')", NO_PASS, "assert f.__doc__ == 'right'\nassert f(2) == 2"),
    "looks behind a view of the tests": Sample("import gc\ndef f(k): return list(gc.get_referents(k)[0].values())", NO_PASS, "table = {'a': 4711}\nassert f(table.keys()) == list(table.values())"),
    "changes what is behind a view of the tests": Sample("import gc\ndef f(m):\n    gc.get_referents(m)[0]['a'] = 0\n    return 0", NO_PASS, "import types\ntable = {'a': 4711}\nassert f(types.MappingProxyType(table)) == table['a']"),
}  # fmt: skip
