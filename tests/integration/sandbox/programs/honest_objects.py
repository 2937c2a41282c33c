"""Right programs whose tests use more of them than values: iterators, callbacks, operators, classes, coroutines, output."""

from tests.integration.sandbox.programs.sample import Sample, honest

ITERATORS = {
    "yields": honest("def f(n):\n    for i in range(n): yield i", "g = f(3)\nassert next(g) == 0\nassert list(g) == [1, 2]\nassert next(g, 'end') == 'end'"),
    "takes what is sent": honest("def f():\n    total = 0\n    while True: total += yield total", "g = f()\nnext(g)\nassert g.send(5) == 5\nassert g.send(2) == 7\ng.close()"),
    "has an iterator of its own": honest(
        "class f:\n    def __init__(self, n): self.n = n\n    def __iter__(self): return self\n    def __next__(self):\n        if self.n == 0: raise StopIteration\n        self.n -= 1\n        return self.n",
        "assert list(f(3)) == [2, 1, 0]\nassert [x for x in f(2)] == [1, 0]\nit = iter(f(1))\nnext(it)\ntry: next(it)\nexcept StopIteration: pass\nelse: assert False",
    ),
    "gives a dictionary's items": honest("def f(d): return d.items()", "assert sorted(f({1: 2})) == [(1, 2)]\nassert len(f({})) == 0\nassert dict(f({3: 4})) == {3: 4}"),
}  # fmt: skip

CALLBACKS = {
    "calls a function": honest("def f(g, x): return g(x) + 1", "assert f(lambda v: v * 2, 3) == 7\nassert f(abs, -3) == 4\nassert f(len, 'ab') == 3"),
    "decorates": honest("import functools\ndef f(g):\n    @functools.wraps(g)\n    def h(*a, **k): return g(*a, **k) + 1\n    return h", "@f\ndef g(x, y=2): return x * y\nassert g(3) == 7\nassert g(3, y=1) == 4\nassert g.__name__ == 'g'"),
    "calls from its threads": honest("from concurrent.futures import ThreadPoolExecutor\ndef f(g, xs):\n    with ThreadPoolExecutor(4) as pool: return list(pool.map(g, xs))", "assert f(lambda x: x * x, [1, 2, 3]) == [1, 4, 9]"),
    "sorts objects of the tests": honest("def f(x): return sorted(x)", "class A:\n    def __init__(self, v): self.v = v\n    def __lt__(self, o): return self.v < o.v\na, b = A(2), A(1)\nassert f([a, b])[0] is b"),
    "writes to a stream": honest("def f(out):\n    out.write('abc')\n    print('x', file=out)", "import io\nout = io.StringIO()\nf(out)\nassert out.getvalue() == 'abcx\\n'"),
}  # fmt: skip

OPERATORS = {
    "adds": honest("class f:\n    def __init__(self, x, y): self.x, self.y = x, y\n    def __add__(self, o): return f(self.x + o.x, self.y + o.y)\n    def __neg__(self): return f(-self.x, -self.y)", "v = f(1, 2) + f(3, 4)\nassert (v.x, v.y) == (4, 6)\nassert (-v).x == -4"),
    "is a context": honest("class f:\n    def __enter__(self): self.open = True; return self\n    def __exit__(self, kind, error, trace): self.open = False; return kind is ValueError", "c = f()\nwith c as it:\n    assert it is c and c.open\nassert not c.open\nwith f(): raise ValueError\ntry:\n    with f(): raise KeyError\nexcept KeyError: pass\nelse: assert False"),
    "has parts": honest("class f:\n    def __init__(self, *a): self.a = a\n    def __iter__(self): return iter(self.a)\n    def __len__(self): return len(self.a)\n    def __contains__(self, x): return x in self.a", "b = f(1, 2)\nassert 2 in b\nassert 5 not in b\nassert set(b) == {1, 2}\na, c = b"),
    "is frozen and hashed": honest("from dataclasses import dataclass\n@dataclass(frozen=True)\nclass P:\n    x: int\ndef f(x): return P(x)", "assert {f(1), f(1), f(2)} == {P(1), P(2)}\nassert {f(1): 'a'}[P(1)] == 'a'\ntry: f(1).x = 2\nexcept AttributeError: pass\nelse: assert False"),
    "is one of an enumeration": honest("from enum import Enum, auto\nclass Color(Enum):\n    RED = 1\n    GREEN = auto()\ndef f(x): return Color(x)", "assert f(1) is Color.RED and f(1) == Color.RED and f(1) != Color.GREEN\nassert f(2).name == 'GREEN' and f(2).value == 2\nassert [c.name for c in Color] == ['RED', 'GREEN']\nassert {Color.RED: 'r'}[f(1)] == 'r'\nassert Color['RED'] is f(1) and len(Color) == 2"),
}  # fmt: skip

CLASSES = {
    "raises its own exception": honest("class TooBig(ValueError):\n    def __init__(self, text, code):\n        super().__init__(text)\n        self.code = code\ndef f(x): raise TooBig('big', x)", "try: f(3)\nexcept TooBig as e: assert e.code == 3 and str(e) == 'big' and isinstance(e, ValueError)\nelse: assert False\ntry: f(1)\nexcept ValueError as e: assert type(e) is TooBig\nelse: assert False"),
    "raises what unit tests expect": honest("class Empty(Exception): pass\ndef f(x):\n    if not x: raise Empty('nothing')\n    return x[0]", "import unittest\nclass T(unittest.TestCase):\n    def test_empty(self):\n        with self.assertRaises(Empty) as caught: f([])\n        self.assertEqual(str(caught.exception), 'nothing')\n        with self.assertRaisesRegex(Empty, 'noth'): f('')\n    def test_full(self): self.assertEqual(f([4]), 4)"),
    "leaves as it should": honest("import sys\ndef f(x):\n    if x: sys.exit(x)\n    return 'stays'", "assert f(0) == 'stays'\ntry: f(3)\nexcept SystemExit as e: assert e.code == 3\nelse: assert False"),
    "has a family": honest("class Animal:\n    def __init__(self, name): self.name = name\n    def speak(self): return '...'\nclass Dog(Animal):\n    def speak(self): return 'Wuff'\ndef f(x): return Dog(x)", "d = f('Rex')\nassert isinstance(d, Animal) and issubclass(Dog, Animal)\nassert d.speak() == 'Wuff' and d.name == 'Rex'\nassert not isinstance(Animal('x'), Dog)"),
    "is a base of the tests' class": honest("class Shape:\n    def __init__(self, n): self.n = n\n    def area(self): return 1\n    def show(self): return f'{self.n}:{self.area()}'\ndef f(shape): return shape.area() * 2", "class Square(Shape):\n    def __init__(self, a):\n        super().__init__('square')\n        self.a = a\n    def area(self): return self.a ** 2 + super().area()\ns = Square(3)\nassert s.show() == 'square:10'\nassert f(s) == 20 and isinstance(s, Shape)"),
    "links nodes": honest("class Node:\n    def __init__(self, v, next=None): self.v, self.next = v, next\ndef f(head):\n    prev = None\n    while head: head.next, prev, head = prev, head, head.next\n    return prev", "a = Node(1, Node(2, Node(3)))\nr = f(a)\nassert [r.v, r.next.v, r.next.next.v] == [3, 2, 1]\nassert r.next.next is a and a.next is None"),
    "is copied by the tests": honest("class f:\n    def __init__(self, v): self.v = v", "import copy\na = f([1])\nb, c = copy.deepcopy(a), copy.copy(a)\nb.v.append(2)\nassert a.v == [1] and b.v == [1, 2] and c.v is a.v and type(b) is f"),
}  # fmt: skip

STREAMS = {
    "prints for the tests": honest("def f(x): print('hi', x)", "import io, contextlib, sys\nout = io.StringIO()\nwith contextlib.redirect_stdout(out): f(3)\nassert out.getvalue() == 'hi 3\\n'\nkept, sys.stdout = sys.stdout, io.StringIO()\nf(4)\ntext, sys.stdout = sys.stdout.getvalue(), kept\nassert text == 'hi 4\\n'"),
    "prints between calls of the tests": honest("def f(g):\n    print('a')\n    g()\n    print('b')", "import io, contextlib\nout = io.StringIO()\nwith contextlib.redirect_stdout(out): f(lambda: print('middle'))\nassert out.getvalue() == 'a\\nmiddle\\nb\\n'"),
    "reads what the tests type": honest("def f(): return int(input()) + int(input())", "import io, sys\nkept, sys.stdin = sys.stdin, io.StringIO('1\\n2\\n3\\n4\\n')\nassert f() == 3\nassert f() == 7\nsys.stdin = kept"),
    "is a coroutine": honest("import asyncio\nasync def f(x):\n    await asyncio.sleep(0.001)\n    return x * 2", "import asyncio, inspect\nassert asyncio.run(f(2)) == 4\nc = f(1)\nassert inspect.iscoroutine(c)\nc.close()"),
    "yields in coroutines": honest("async def f(n):\n    for i in range(n): yield i", "import asyncio\nasync def main(): return [x async for x in f(3)]\nassert asyncio.run(main()) == [0, 1, 2]"),
    "knows its file": honest("import os\ndef f(): return os.path.isfile(__file__)", "assert f() is True"),
    "shows its source": honest("import inspect\nclass A:\n    x = 1\ndef f(): return inspect.getsource(A), inspect.getsource(f)", "a, b = f()\nassert 'x = 1' in a and b.startswith('def f')"),
    "spawns processes": honest("import multiprocessing\ndef square(n): return n * n\ndef f(xs):\n    with multiprocessing.get_context('spawn').Pool(1) as pool: return pool.map(square, xs)", "assert f([1, 2]) == [1, 4]"),
    "runs its doctests": honest("import doctest\ndef f(x):\n    '''\n    >>> f(2)\n    4\n    '''\n    return x * 2\ndef bisect(): return doctest.testmod(__import__('program')).failed", "assert bisect() == 0 and f(2) == 4"),
}  # fmt: skip

HONEST_OBJECTS: dict[str, Sample] = {**ITERATORS, **CALLBACKS, **OPERATORS, **CLASSES, **STREAMS}
