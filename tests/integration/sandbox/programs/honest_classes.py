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
    "int flags": Pair(
        "from enum import IntFlag\nclass P(IntFlag):\n    R = 4; W = 2; X = 1\ndef f(t): return P.R | P.W if t == 'rw' else P.X",
        "P.R | P.W", "P.R | P.X",
        "assert f('rw') == 6 and f('x') == 1\nassert f('rw') & 4 and not f('x') & 4\nassert isinstance(f('x'), int)",
    ),
    "a typed named tuple": Pair(
        "from typing import NamedTuple\nclass Pt(NamedTuple):\n    x: int\n    y: int = 0\n    def dist(self): return abs(self.x) + abs(self.y)\ndef f(x, y=0): return Pt(x, y)",
        "abs(self.y)", "self.y",
        "p = f(3, -4)\nassert p == (3, -4) and p.dist() == 7 and p._asdict() == {'x': 3, 'y': -4}\na, b = p\nassert a == 3 and p._replace(x=1).x == 1 and p._fields == ('x', 'y')",
    ),
    "a protocol": Pair(
        "from typing import Protocol, runtime_checkable\n@runtime_checkable\nclass Shape(Protocol):\n    def area(self): ...\nclass Sq:\n    def __init__(self, n): self.n = n\n    def area(self): return self.n ** 2\ndef f(n): return Sq(n)\ndef total(shapes): return sum(s.area() for s in shapes if isinstance(s, Shape))",
        "** 2", "* 2",
        "assert f(3).area() == 9 and total([f(1), f(2)]) == 5\nclass Own:\n    def area(self): return 10\nassert total([Own(), f(2), 7]) == 14",
    ),
    "single dispatch with methods": Pair(
        "from functools import singledispatchmethod\nclass f:\n    @singledispatchmethod\n    def show(self, v): return 'obj'\n    @show.register\n    def _(self, v: int): return 'int'\n    @show.register(list)\n    def _(self, v): return 'list'",
        "'int'", "'obj'",
        "a = f()\nassert [a.show(1), a.show([]), a.show('x')] == ['int', 'list', 'obj']",
    ),
    "a cache that is inspected": Pair(
        "from functools import lru_cache\n@lru_cache(maxsize=2)\ndef f(n): return n * n",
        "maxsize=2", "maxsize=3",
        "f(1); f(1); f(2); f(3)\nassert f.cache_info().hits == 1 and f.cache_info().misses == 3 and f.cache_info().currsize == 2\nf.cache_clear()\nassert f.cache_info().hits == 0\nassert f.cache_parameters()['maxsize'] == 2 and f(5) == 25",
    ),
    "contexts in a stack": Pair(
        "from contextlib import contextmanager, ExitStack\nlog = []\n@contextmanager\ndef f(name):\n    log.append('+' + name)\n    try: yield name\n    finally: log.append('-' + name)\ndef seen(): return log",
        "finally: log", "except KeyError: log",
        "from contextlib import ExitStack\nwith ExitStack() as s:\n    assert s.enter_context(f('a')) == 'a'\n    assert s.enter_context(f('b')) == 'b'\nassert seen() == ['+a', '+b', '-b', '-a']",
    ),
    "a context that suppresses what it is told to": Pair(
        "class f:\n    def __init__(self, *kinds): self.kinds = kinds\n    def __enter__(self): return self\n    def __exit__(self, kind, error, trace):\n        self.error = error\n        return kind is not None and issubclass(kind, self.kinds)",
        "issubclass(kind, self.kinds)", "kind is ValueError",
        "with f(ValueError, KeyError) as s: raise KeyError('x')\nassert isinstance(s.error, KeyError)\ntry:\n    with f(ValueError): raise TypeError('y')\n    assert False\nexcept TypeError as e: assert str(e) == 'y'\nwith f(Exception): raise AssertionError('on purpose')",
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
    "iteration by items alone": Pair(
        "class f:\n    def __init__(self, n): self.n = n\n    def __getitem__(self, i):\n        if i >= self.n: raise IndexError(i)\n        return i * 10",
        "i * 10", "i * 11",
        "assert list(f(3)) == [0, 10, 20] and 20 in f(3) and 30 not in f(3)\nassert [a for a in reversed([*f(2)])] == [10, 0]",
    ),
    "heapq on own classes": Pair(
        "import heapq\nclass Job:\n    def __init__(self, p, name): self.p, self.name = p, name\n    def __lt__(self, o): return self.p < o.p\ndef f(pairs):\n    h = []\n    for p, n in pairs: heapq.heappush(h, Job(p, n))\n    return [heapq.heappop(h) for _ in range(len(h))]",
        "self.p < o.p", "self.p > o.p",
        "assert [j.name for j in f([(3, 'c'), (1, 'a'), (2, 'b')])] == ['a', 'b', 'c']\nimport heapq\nh = []\nfor p in (3, 1, 2): heapq.heappush(h, (p, p))\nassert h[0] == (1, 1)",
    ),
    "integers of 5,000 digits": Pair(
        "def f(n): return 10 ** n + 7",
        "+ 7", "+ 8",
        "assert f(5000) == 10 ** 5000 + 7\nimport sys\nsys.set_int_max_str_digits(0)\nassert str(f(5000))[-1] == '7' and len(str(f(5000))) == 5001",
    ),
    "logs that the tests handle": Pair(
        "import logging\ndef f(x, logger):\n    logger.warning('x is %s', x)\n    logger.debug('hidden')\n    return x",
        "x is %s", "y is %s",
        "import io, logging\ns = io.StringIO()\nl = logging.getLogger('t')\nh = logging.StreamHandler(s)\nl.addHandler(h)\nassert f(3, l) == 3 and s.getvalue() == 'x is 3\\n'",
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
    "the tests' generator of lots": Pair(
        "def f(n, rng): return [rng.randint(0, 9) for _ in range(n)] + [rng.choice('abc')]",
        "randint(0, 9)", "randint(0, 8)",
        "import random\nr = random.Random(3)\nwanted = [r.randint(0, 9) for _ in range(5)] + [r.choice('abc')]\nassert f(5, random.Random(3)) == wanted",
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
    "a generator that delegates and returns": Pair(
        "def inner():\n    x = yield 1\n    return x * 2\ndef f():\n    r = yield from inner()\n    return r",
        "x * 2", "x * 3",
        "g = f()\nnext(g)\ntry: g.send(21)\nexcept StopIteration as e: assert e.value == 42\nelse: raise AssertionError",
    ),
    "exceptions with causes, notes and attributes": Pair(
        "class E(ValueError):\n    def __init__(self, msg, code=0):\n        super().__init__(msg)\n        self.code = code\ndef f(t):\n    try: return int(t)\n    except ValueError as e:\n        raise E('bad ' + t, code=7) from e",
        "code=7", "code=8",
        "try: f('x')\nexcept ValueError as e:\n    assert e.code == 7 and str(e) == 'bad x' and isinstance(e.__cause__, ValueError) and type(e).__name__ == 'E' and 'invalid literal' in str(e.__cause__)\nelse: raise AssertionError\nassert f('4') == 4",
    ),
    "hooks of copying": Pair(
        "import copy\nclass f:\n    def __init__(self, v): self.v, self.copies = v, 0\n    def __copy__(self):\n        n = f(self.v); n.copies = self.copies + 1; return n\n    def __deepcopy__(self, memo):\n        n = f(copy.deepcopy(self.v, memo)); n.copies = 100; return n",
        "self.copies + 1", "self.copies + 2",
        "import copy\na = f([1])\nb, c = copy.copy(a), copy.deepcopy(a)\nassert b.copies == 1 and b.v is a.v and c.copies == 100 and c.v == [1] and c.v is not a.v",
    ),
    "a metaclass that registers": Pair(
        "class M(type):\n    kinds = {}\n    def __new__(m, name, bases, ns, **kw):\n        c = super().__new__(m, name, bases, ns)\n        c.kw = kw\n        m.kinds[name] = c\n        return c\n    def __init__(c, *a, **k): type.__init__(c, *a)\n    def __call__(c, *a):\n        o = super().__call__(*a); o.made = True; return o\nclass Base(metaclass=M): pass\nclass f(Base, size=3):\n    def __init__(self, v): self.v = v",
        "o.made = True", "o.made = False",
        "a = f(2)\nassert a.v == 2 and a.made and f.kw == {'size': 3} and sorted(M.kinds) == ['Base', 'f']",
    ),
    "an abstract class": Pair(
        "from abc import ABC, abstractmethod\nclass Shape(ABC):\n    @abstractmethod\n    def area(self): ...\n    @property\n    @abstractmethod\n    def name(self): ...\nclass Sq(Shape):\n    def __init__(self, n): self.n = n\n    def area(self): return self.n ** 2\n    name = 'sq'\ndef f(n): return Sq(n)",
        "** 2", "* 2",
        "assert f(3).area() == 9 and isinstance(f(1), Shape)\ntry: Shape()\nexcept TypeError: pass\nelse: raise AssertionError\nclass C(Shape):\n    def area(self): return 1\n    name = 'c'\nassert C().area() == 1 and C().name == 'c'",
    ),
    "descriptors that check": Pair(
        "class Positive:\n    def __set_name__(self, owner, name): self.name = '_' + name\n    def __get__(self, o, t=None): return self if o is None else getattr(o, self.name)\n    def __set__(self, o, v):\n        if v < 0: raise ValueError(v)\n        setattr(o, self.name, v)\n    def __delete__(self, o): raise AttributeError('no')\nclass f:\n    n = Positive()\n    def __init__(self, n): self.n = n",
        "v < 0", "v < -1",
        "a = f(3)\na.n = 5\nassert a.n == 5\nfor bad in (-1, -2):\n    try: a.n = bad\n    except ValueError as e: assert e.args == (bad,)\n    else: raise AssertionError\ntry: del a.n\nexcept AttributeError: pass\nelse: raise AssertionError",
    ),
    "hooks of subclasses": Pair(
        "class Plugin:\n    found = []\n    def __init_subclass__(cls, /, tag='x', **kw):\n        super().__init_subclass__(**kw)\n        cls.tag = tag\n        Plugin.found.append(cls.__name__)\nclass A(Plugin, tag='a'): pass\nclass B(Plugin): pass\ndef f(): return Plugin.found",
        "tag='x'", "tag='y'",
        "assert f() == ['A', 'B'] and A.tag == 'a' and B.tag == 'x'\nclass C(Plugin): pass\nassert f() == ['A', 'B', 'C'] and C.tag == 'x'",
    ),
    "a class that is indexed": Pair(
        "class f:\n    def __class_getitem__(cls, k): return (cls.__name__, k)\n    def g(self): return 1",
        "cls.__name__", "'g'",
        "assert f[int] == ('f', int) and f['a', 2] == ('f', ('a', 2)) and f().g() == 1",
    ),
    "a generic stack": Pair(
        "from typing import Generic, TypeVar\nT = TypeVar('T')\nclass f(Generic[T]):\n    def __init__(self): self.items = []\n    def push(self, v: T): self.items.append(v); return self\n    def pop(self) -> T: return self.items.pop()\n    def __len__(self): return len(self.items)\n    def __bool__(self): return bool(self.items)",
        "return self.items.pop()", "return self.items.pop(0)",
        "s = f[int]()\nassert not s\ns.push(1).push(2)\nassert s and len(s) == 2 and s.pop() == 2",
    ),
    "matches of every kind": Pair(
        "from dataclasses import dataclass\n@dataclass\nclass Pt:\n    x: int; y: int\ndef f(v):\n    match v:\n        case {'k': [a, *rest], **more}: return a, rest, more\n        case Pt(x=0, y=y) | Pt(x=y, y=0): return y\n        case (1 | 2 as n, _) if n: return n\n        case str() as s: return s[::-1]\n        case None: return 'none'\n    return -1\ndef p(x, y): return Pt(x, y)",
        "s[::-1]", "s",
        "assert f({'k': [1, 2, 3], 'z': 0}) == (1, [2, 3], {'z': 0}) and f(p(0, 5)) == 5 and f(p(6, 0)) == 6\nassert f((2, 9)) == 2 and f('ab') == 'ba' and f(None) == 'none' and f(3.5) == -1",
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
    "counters that close over": Pair(
        "def f(start=0):\n    n = start\n    def inc(by=1):\n        nonlocal n\n        n += by\n        return n\n    def reset():\n        nonlocal n\n        n = start\n    inc.reset = reset\n    return inc",
        "n += by", "n += 1",
        "a, b = f(), f(10)\nassert [a(), a(), b(5)] == [1, 2, 15]\na.reset()\nassert a() == 1 and b() == 16",
    ),
    "total ordering": Pair(
        "from functools import total_ordering\n@total_ordering\nclass Card:\n    def __init__(self, r): self.r = r\n    def __eq__(self, o): return self.r == o.r\n    def __lt__(self, o): return self.r < o.r",
        "self.r < o.r", "self.r > o.r",
        "assert Card(2) >= Card(2) and Card(3) > Card(2) and max([Card(1), Card(5)], key=lambda c: c.r).r == 5 and max(Card(1), Card(4)).r == 4",
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
    "a list of a factory": Pair(
        "class L:\n    def __init__(s, v): s.v = list(v)\n    def index(s, x): return s.v.index(x)\n    def count(s, x): return s.v.count(x)\n    def compare(s, a, b): return a - b\ndef f(v): return L(v)",
        "s.v.count(x)", "s.v.count(x) + 1",
        "l = f([3, 1, 3])\nassert l.index(1) == 1 and l.count(3) == 2 and l.compare(3, 1) == 2",
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
    "an attribute named side": Pair(
        "class f:\n    def __init__(self, side): self.side = side\n    def area(self): return self.side ** 2",
        "self.side ** 2", "self.side * 2",
        "assert f(3).side == 3 and f(3).area() == 9\na = f(1)\na.side = 5\nassert a.area() == 25",
    ),
    "class attributes of all names": Pair(
        "class f:\n    side = 'left'\n    steps = 3\n    name = kind = values = number = module = 'n'\n    def close(self): return 'c'\n    def send(self, v): return v + 1\n    def throw(self, v): return v - 1",
        "v + 1", "v",
        "assert f.side == 'left' and f().side == 'left' and f().steps == 3 and f().name == f.kind == 'n' and f().close() == 'c' and f().send(1) == 2 and f().throw(5) == 4 and f().module == 'n'",
    ),
    "the tests' attribute named side": Pair(
        "def f(s): return s.side * 4",
        "* 4", "* 3",
        "class S:\n    def __init__(self, n): self.side = n\nassert f(S(3)) == 12",
    ),
    "keywords named self and cls": Pair(
        "def f(cls, *, self=1, **more): return cls, self, more",
        "self, more", "self + 1, more",
        "assert f(cls=2, self=3, name=4, action=5, kwargs=6, args=7) == (2, 3, dict(name=4, action=5, kwargs=6, args=7))",
    ),
    "a class with keywords named cls": Pair(
        "class f:\n    def __init__(self, cls=0, self_=1, name=None, bases=None): self.v = (cls, name, bases)",
        "(cls, name", "(name, cls",
        "assert f(cls=2, name='n', bases=()).v == (2, 'n', ())",
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
    "a set of one's own": Pair(
        "class Own:\n    def __init__(self, v=()): self.v = sorted(set(v))\n    def __contains__(self, x): return x in self.v\n    def __or__(self, o): return Own([*self.v, *o.v])\n    def __le__(self, o): return all(x in o for x in self.v)\n    def __eq__(self, o): return isinstance(o, Own) and self.v == o.v\n    def __iter__(self): return iter(self.v)\n    def __len__(self): return len(self.v)\n    def __bool__(self): return len(self.v) > 0\n    def issubset(self, o): return self <= o\n    def union(self, o): return self | Own(o)\n    def difference(self, o): return Own(x for x in self.v if x not in o)",
        "x not in o", "x in o",
        "a, b = Own([1, 2]), Own([2, 3])\nassert list(a | b) == [1, 2, 3] and Own([1]) <= a and not (b <= a) and Own([1]).issubset(a) and list(a.union([9])) == [1, 2, 9] and list(a.difference({2})) == [1] and a == Own([2, 1]) and not Own()",
    ),
    "a polynomial": Pair(
        "class Own:\n    def __init__(self, *c): self.c = c\n    def __call__(self, x): return sum(a * x ** i for i, a in enumerate(self.c))\n    def __add__(self, o):\n        if isinstance(o, (int, float)): o = Own(o)\n        n = max(len(self.c), len(o.c))\n        p = lambda v: v + (0,) * (n - len(v))\n        return Own(*(a + b for a, b in zip(p(self.c), p(o.c))))\n    __radd__ = __add__\n    def __sub__(self, o): return self + -o\n    def __neg__(self): return Own(*(-a for a in self.c))\n    def __str__(self): return ' + '.join(str(a) for a in self.c)",
        "a * x ** i", "a * x",
        "p = Own(1, 2)\nassert p(3) == 7 and (p + 1)(0) == 2 and (1 + p).c == (2, 2) and str(p - Own(1)) == '0 + 2' and (-p).c == (-1, -2) and (p - 1).c == (0, 2) and (p - 1)(2) == 4 and str(p - 1) == '0 + 2'",
    ),
    "a vector of a factory": Pair(
        "from dataclasses import dataclass\n@dataclass\nclass V:\n    x: float\n    y: float\n    def __mul__(self, k): return V(self.x * k, self.y * k)\n    def __add__(self, o): return V(self.x + o.x, self.y + o.y)\n    def __abs__(self): return (self.x ** 2 + self.y ** 2) ** 0.5\ndef f(x, y): return V(x, y)",
        "self.y * k", "self.y",
        "a = f(3, 4)\nassert abs(a) == 5 and (a * 2).x == 6 and (a + a) == a * 2 and (a * 2 == f(6, 8))",
    ),
    "events with handlers": Pair(
        "class f:\n    def __init__(self): self.h = {}\n    def on(self, e, g=None):\n        if g is None: return lambda g: self.on(e, g) or g\n        self.h.setdefault(e, []).append(g)\n    def emit(self, e, *a, **k): return [g(*a, **k) for g in self.h.get(e, [])]",
        "g(*a, **k)", "g(*a, **k) or 0",
        "b = f()\nseen = []\nb.on('x', seen.append)\n@b.on('x')\ndef g(v): return v * 2\nassert b.emit('x', 3) == [None, 6] and seen == [3] and b.emit('y') == []",
    ),
    "a state machine": Pair(
        "class E(Exception): pass\nclass f:\n    moves = {('idle', 'start'): 'run', ('run', 'stop'): 'idle'}\n    def __init__(self): self.state, self.log = 'idle', []\n    def go(self, e):\n        try: self.state = self.moves[self.state, e]\n        except KeyError: raise E(f'{e} in {self.state}') from None\n        self.log.append(e)\n        return self",
        "self.log.append(e)", "self.log = [e]",
        "m = f().go('start')\nassert m.state == 'run' and m.go('stop').log == ['start', 'stop']\ntry: m.go('stop')\nexcept Exception as e: assert str(e) == 'stop in idle' and e.__cause__ is None and e.__class__.__name__ == 'E'\nelse: assert False",
    ),
    "mapping below a dictionary": Pair(
        "from collections import UserDict\nclass Own(UserDict):\n    def __setitem__(self, k, v): super().__setitem__(k.lower(), v)\n    def __getitem__(self, k): return super().__getitem__(k.lower())\n    def __contains__(self, k): return k.lower() in self.data",
        "k.lower(), v", "k, v",
        "d = Own({'A': 1})\nd['B'] = 2\nassert d['a'] == 1 and 'b' in d and 'B' in d and len(d) == 2 and sorted(d) == ['a', 'b'] and d.get('C', 9) == 9 and dict(d) == {'a': 1, 'b': 2} and d.pop('a') == 1 and list(d.items()) == [('b', 2)]",
    ),
    "an int below with units": Pair(
        "class f(int):\n    def __new__(cls, v, unit='m'):\n        o = super().__new__(cls, v)\n        o.unit = unit\n        return o\n    def __add__(self, o): return f(int(self) + int(o), self.unit)\n    def __repr__(self): return f'{int(self)}{self.unit}'",
        "self.unit)", "'m')",
        "assert f(3) == 3 and f(3).unit == 'm' and repr(f(2, 'km')) == '2km' and (f(1, 'cm') + f(2)).unit == 'cm'",
    ),
    "an error below with fields": Pair(
        "class f(Exception):\n    def __init__(self, field, value):\n        super().__init__(f'{field}={value}')\n        self.field, self.value = field, value\n    def __str__(self): return f'<{self.field}>'",
        "<{self.field}>", "<{self.value}>",
        "e = f('a', [1])\nassert str(e) == '<a>' and e.field == 'a' and e.value == [1] and e.args == ('a=[1]',) and isinstance(e, Exception)\ntry: raise e\nexcept f as g: assert g is e",
    ),
    "an event loop's queue": Pair(
        "import asyncio\nasync def f(n):\n    q, out = asyncio.Queue(), []\n    async def work():\n        while (v := await q.get()) is not None: out.append(v * 2)\n    t = asyncio.create_task(work())\n    for v in range(n): await q.put(v)\n    await q.put(None)\n    await t\n    return out",
        "v * 2", "v * 3",
        "import asyncio, unittest\nclass T(unittest.IsolatedAsyncioTestCase):\n    async def test(self): self.assertEqual(await f(3), [0, 2, 4])\n    async def test_b(self): self.assertEqual(await asyncio.wait_for(f(1), 5), [0])",
    ),
    "the tests' tree in place": Pair(
        "def f(n):\n    if n: n.left, n.right = f(n.right), f(n.left)\n    return n",
        "f(n.right), f(n.left)", "f(n.left), f(n.right)",
        "class N:\n    def __init__(self, val, left=None, right=None): self.val, self.left, self.right = val, left, right\nt = N(1, N(2), N(3, N(4)))\nassert f(t) is t and t.left.val == 3 and t.right.val == 2 and t.left.right.val == 4",
    ),
    "sets the tests' handler": Pair(
        "def f(o): o.on_done = lambda v: v + 1; o.name = 'x'",
        "v + 1", "v",
        "class O:\n    on_done = None\n    name = ''\no = O()\nf(o)\nassert o.on_done(1) == 2 and o.name == 'x'",
    ),
    "a context made of a class of the library": Pair(
        "from contextlib import ContextDecorator\nclass f(ContextDecorator):\n    log = []\n    def __enter__(self): self.log.append('in'); return self\n    def __exit__(self, *e): self.log.append('out'); return False",
        "append('out')", "append('end')",
        "@f()\ndef g(v): return v + 1\nassert g(1) == 2 and f.log == ['in', 'out']\nwith f(): pass\nassert f.log == ['in', 'out'] * 2\ntry:\n    with f(): assert False\nexcept AssertionError: pass\nassert f.log[-1] == 'out'",
    ),
    "a transaction that rolls back": Pair(
        "from contextlib import contextmanager\n@contextmanager\ndef f(d):\n    old = dict(d)\n    try: yield d\n    except Exception:\n        d.clear(); d.update(old)\n        raise",
        "d.update(old)", "pass",
        "d = {'a': 1}\ntry:\n    with f(d): d['a'] = 2; raise ValueError('x')\nexcept ValueError: pass\nassert d == {'a': 1}\nwith f(d): d['b'] = 3\nassert d == {'a': 1, 'b': 3}\ntry:\n    with f(d):\n        d['c'] = 1\n        assert d == {}\nexcept AssertionError: pass\nassert 'c' not in d",
    ),
    "fields named as methods of tuples": Pair(
        "from typing import NamedTuple\nclass Word(NamedTuple):\n    text: str\n    count: int\n    index: int = 0\ndef f(t): return Word(t, 2, 5)",
        "Word(t, 2, 5)", "Word(t, 3, 5)",
        "w = f('a')\nassert w.count == 2 and w.index == 5 and w == ('a', 2, 5) and w._asdict() == {'text': 'a', 'count': 2, 'index': 5} and w._replace(count=3).count == 3",
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
