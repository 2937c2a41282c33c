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
}  # fmt: skip
