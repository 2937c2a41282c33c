"""Programs that are honest but odd, wrong in every way, or out to cheat, with the verdicts that are right for them."""

from typing import NamedTuple

SQUARES = "assert f(2) == 4\nassert f(3) == 9\nassert f(-5) == 25\n"
RIGHT = "def f(x):\n    return x * x\n"

NO_PASS = ("failed", "error", "exited", "crashed", "timeout", "out_of_memory", "output_limit", "tampered")
ENDED = ("error", "exited", "crashed", "timeout", "out_of_memory")


class Sample(NamedTuple):
    """`wants`: every verdict that is right; `not_in`: kinds of isolation that leave this open."""

    code: str
    wants: tuple[str, ...]
    tests: str = SQUARES
    not_in: tuple[str, ...] = ()


def _body(lines: str) -> str:
    """A function `f` of these lines."""
    return "def f(x):\n" + "".join(f"    {line}\n" for line in lines.splitlines())


PASSED = ("passed",)

HONEST = {
    "plain": Sample(RIGHT, PASSED),
    "prints a lot": Sample(_body("for n in range(2000): print('line', n)\nreturn x * x"), PASSED),
    "uses threads": Sample(
        "from concurrent.futures import ThreadPoolExecutor\n"
        + _body(
            "with ThreadPoolExecutor(8) as pool: return sum(pool.map(lambda n: x, range(abs(x)))) * (1 if x > 0 else -1)"
        ),
        PASSED,
    ),
    "recurses deep": Sample(
        "import sys\nsys.setrecursionlimit(10000)\n"
        + _body("def down(n): return 0 if n == 0 else down(n - 1)\nreturn x * x + down(3000)"),
        PASSED,
    ),
    "runs a subprocess": Sample(
        "import subprocess, sys\n"
        + _body("return int(subprocess.check_output([sys.executable, '-S', '-c', f'print({x}*{x})']))"),
        PASSED,
    ),
    "uses a temporary file": Sample(
        "import tempfile\n"
        + _body(
            "with tempfile.TemporaryFile('w+') as file:\n    file.write(str(x * x)); file.seek(0); return int(file.read())"
        ),
        PASSED,
    ),
    "changes its argument": Sample(
        _body("x.append(len(x)); x.sort(reverse=True)"), PASSED, "v = [5, 7]\nf(v)\nassert v == [7, 5, 2]"
    ),
    "another number type": Sample(_body("return float(x * x)"), PASSED),
    "a busy daemon thread": Sample(
        "import threading\n"
        + _body("def spin():\n    while True: pass\nthreading.Thread(target=spin, daemon=True).start()\nreturn x * x"),
        PASSED,
    ),
    "a thread that stays": Sample(
        "import threading, time\n" + _body("threading.Thread(target=time.sleep, args=(600,)).start()\nreturn x * x"),
        PASSED,
    ),
    "a double-forked daemon": Sample(
        "import os, time\n"
        + _body(
            "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(600)\n    os._exit(0)\nos.wait()\nreturn x * x"
        ),
        PASSED,
    ),
    "a dataclass with late annotations": Sample(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: int\n"
        + _body("return P(x, x).x * P(x, x).y"),
        PASSED,
    ),
    "named after a builtin": Sample("def sum(a, b): return a * b\n", PASSED, "assert sum(4, 5) == 20"),
    "named after a module": Sample("def bisect(a): return a + 1\n", PASSED, "assert bisect(4) == 5"),
    "tests use its import": Sample("import math\n" + RIGHT, PASSED, "assert math.isclose(f(2), 4.0)"),
    "tests use its helper": Sample("def twice(x): return 2 * x\n" + RIGHT, PASSED, "assert f(twice(1)) == 4"),
    "tests want an exception": Sample(
        _body("if x < 0: raise ValueError('negative')\nreturn x * x"),
        PASSED,
        "try:\n    f(-1)\nexcept ValueError as e:\n    assert 'negative' in str(e)\nelse:\n    assert False\nassert f(2) == 4",
    ),
    "an iterator": Sample(
        _body("return (n * n for n in range(x))"), PASSED, "assert list(f(3)) == [0, 1, 4]\nassert tuple(f(1)) == (0,)"
    ),
    "a truthy match": Sample(
        "import re\n" + _body("return re.match('a', x)"), PASSED, "assert f('ab')\nassert not f('b')"
    ),
    "objects with attributes": Sample(
        "class Node:\n    def __init__(self, v): self.v = v; self.next = None\n"
        + _body("return x.v + (f(x.next) if x.next else 0)"),
        PASSED,
        "a = Node(1)\na.next = Node(2)\nassert f(a) == 3\nassert a.next.v == 2",
    ),
    "huge numbers": Sample(_body("return 7 ** x"), PASSED, "assert f(20000) == 7 ** 20000\nassert f(2) == 49"),
    "not a number": Sample(
        _body("return [float('nan'), float('inf'), -0.0][x]"),
        PASSED,
        "assert f(0) != f(0)\nassert f(1) > 1e308\nassert str(f(2)) == '-0.0'",
    ),
    "many types": Sample(
        _body("return x"),
        PASSED,
        "from decimal import Decimal\nfrom fractions import Fraction\nfrom collections import Counter, deque\nimport datetime\n"
        "for v in [(1, 'é', b'x'), {1: [2], (3,): {4}}, frozenset([1]), 1j, range(3), Decimal('1.5'), Fraction(1, 3),\n"
        "          deque([1]), Counter('aab'), datetime.date(2020, 1, 2), datetime.timedelta(1), bytearray(b'a'), '\\ud800', int, None]:\n"
        "    assert f(v) == v, v",
    ),
    "its main block": Sample(RIGHT + "if __name__ == '__main__':\n    raise SystemExit('not meant to run')\n", PASSED),
}

WRONG = {
    "wrong answer": Sample(_body("return x + x"), ("failed",)),
    "syntax error": Sample("def f(x:\n", ("error",)),
    "no such function": Sample("def g(x): return x\n", ("error",)),
    "tests use a module that nobody imports": Sample(RIGHT, ("error",), "assert math.isclose(f(2), 4.0)"),
    "nothing at all": Sample("", ("error",)),
    "an exception": Sample(_body("return x / 0"), ("error",)),
    "its own AssertionError": Sample(
        _body("raise AssertionError"), ("error",), "try:\n    f(1)\nexcept AssertionError:\n    pass"
    ),
    "a null byte": Sample("def f(x): return x * x\n\0", ("error",)),
    "busy loop": Sample(_body("while True: pass"), ("timeout",)),
    "sleep": Sample("import time\n" + _body("time.sleep(600)"), ("timeout",)),
    "swallows every exception": Sample(
        _body("while True:\n    try:\n        while True: pass\n    except BaseException: pass"), ("timeout",)
    ),
    "disarms signals": Sample(
        "import signal\nfor n in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT, signal.SIGXCPU): signal.signal(n, signal.SIG_IGN)\n"
        + _body("while True: pass"),
        ("timeout",),
    ),
    "stops itself": Sample("import os, signal\n" + _body("os.kill(os.getpid(), signal.SIGSTOP)"), ("timeout",)),
    "catastrophic regex": Sample("import re\n" + _body("return re.match('(a+)+$', 'a' * 60 + 'b')"), ("timeout",)),
    "loops at import": Sample("while True: pass\n", ("timeout",)),
    "one huge allocation": Sample(_body("return len(bytearray(8 << 30))"), ("out_of_memory",)),
    "slow growth": Sample(
        _body("kept = []\nwhile True:\n    try: kept.append(bytearray(1 << 24))\n    except MemoryError: pass"),
        ("timeout", "out_of_memory", "crashed"),
    ),
    "children that take memory": Sample(
        "import os, time\n"
        + _body(
            "for _ in range(10):\n    if os.fork() == 0:\n        kept = b'x' * (200 << 20); time.sleep(600)\nwhile True: os.wait()"
        ),
        ENDED,
        not_in=("namespace", "uid", "none"),
    ),
    "fork bomb": Sample("import os\n" + _body("while True: os.fork()"), ENDED, not_in=("none",)),
    "thread bomb": Sample(
        "import threading, time\n" + _body("while True: threading.Thread(target=time.sleep, args=(600,)).start()"),
        ENDED,
    ),
    "endless output": Sample(_body("while True: print('y' * 1000)"), ("output_limit",)),
    "raw output": Sample("import os\n" + _body("while True: os.write(1, b'y' * (1 << 20))"), ("output_limit",)),
    "output at import": Sample("while True: print('y' * 1000)\n", ("output_limit",)),
    "reads input": Sample(_body("return int(input()) * x"), ("error",)),
    "kills itself": Sample("import os\n" + _body("os.kill(os.getpid(), 9)"), ("crashed",)),
    "aborts": Sample("import os\n" + _body("os.abort()"), ("crashed",)),
    "segmentation fault": Sample("import ctypes\n" + _body("return ctypes.string_at(0)"), ("crashed",)),
    "overflows the C stack": Sample(
        "import sys\nsys.setrecursionlimit(10 ** 9)\n"
        + _body("class A: pass\na = A()\nA.__call__ = A()\nreturn A.__call__()\n"),
        NO_PASS,
    ),
    "fills the disk": Sample(
        _body("for n in range(10 ** 6):\n    with open(f'file{n}', 'wb') as file: file.write(b'x' * (1 << 20))"),
        ("error", "crashed", "timeout"),
        not_in=("uid", "none"),
    ),
    "one large file": Sample(_body("open('file', 'wb').write(b'x' * (64 << 20))"), ("error", "crashed")),
    "opens a connection": Sample(
        "import socket\n" + _body("socket.create_connection(('127.0.0.1', 80), 1)"), ("error",)
    ),
    "opens a raw socket": Sample(
        "import socket\n" + _body("socket.socket(socket.AF_INET, socket.SOCK_RAW)"), ("error",)
    ),
    "lifts its limits": Sample(
        "import resource\n"
        + _body("resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)\nreturn x * x"),
        ("error",),
        not_in=("uid", "none"),
    ),
    "deep result": Sample(_body("v = []\nfor _ in range(5000): v = [v]\nreturn v"), ("error",)),
    "endless result": Sample(_body("v = []\nv.append(v)\nreturn v"), ("error",)),
    "huge result": Sample(_body("return 'x' * (64 << 20)"), ("error", "out_of_memory")),
}

CHEATS = {
    "leaves at import": Sample("import sys\nsys.exit(0)\n" + RIGHT, NO_PASS),
    "leaves hard at import": Sample("import os\nos._exit(0)\n", NO_PASS),
    "leaves in the call": Sample(_body("raise SystemExit(0)"), NO_PASS),
    "becomes /bin/true": Sample("import os\n" + _body("os.execv('/bin/true', ['true'])"), NO_PASS),
    "atexit forces 0": Sample("import atexit, os\natexit.register(os._exit, 0)\n" + _body("raise ValueError"), NO_PASS),
    "excepthook forces 0": Sample(
        "import sys, os\nsys.excepthook = lambda *_: os._exit(0)\n" + _body("raise ValueError"), NO_PASS
    ),
    "fork; the parent leaves": Sample("import os\n" + _body("if os.fork(): os._exit(0)\nreturn None"), NO_PASS),
    "prints success": Sample(
        "import os\n" + _body('os.write(1, b\'passed\\nOK\\n{"verdict":"passed"}\'); os._exit(0)'), NO_PASS
    ),
    "equals everything": Sample(
        "class All:\n    def __eq__(self, other): return True\n    def __ne__(self, other): return False\n    __hash__ = None\n"
        + _body("return All()"),
        NO_PASS,
    ),
    "a number that equals everything": Sample(
        "class All(int):\n    def __eq__(self, other): return True\n    __hash__ = int.__hash__\n"
        + _body("return All(0)"),
        NO_PASS,
    ),
    "a text that equals everything": Sample(
        "class All(str):\n    def __eq__(self, other): return True\n    __hash__ = str.__hash__\n"
        + _body("return All()"),
        NO_PASS,
        "assert f(1) == 'one'\nassert f(2) == 'two'",
    ),
    "a mock": Sample(
        "from unittest.mock import MagicMock\n" + _body("it = MagicMock()\nit.__eq__ = lambda *_: True\nreturn it"),
        NO_PASS,
    ),
    "traces the caller": Sample(
        "import sys\n"
        + _body(
            "frame = sys._getframe()\nwhile frame:\n    frame.f_trace = lambda *_: None\n    frame = frame.f_back\nsys.settrace(lambda *_: None)\nreturn 0"
        ),
        NO_PASS,
    ),
    "reads constants of its callers": Sample(
        "import sys\n"
        + _body(
            "frame = sys._getframe(1)\nwhile frame:\n    if frame.f_code.co_filename == '<tests>':\n        class All(int):\n            def __eq__(s, o): return True\n"
            "        return All()\n    frame = frame.f_back\nreturn 0"
        ),
        NO_PASS,
    ),
    "forges the report through frames": Sample(
        "import sys, os, json, struct\n"
        + _body(
            "data = json.dumps(['passed', '']).encode()\nfor fd in range(3, 300):\n    try: os.write(fd, struct.pack('>I', len(data)) + data)\n"
            "    except OSError: pass\nos._exit(0)"
        ),
        NO_PASS,
    ),
    "answers in place of the harness": Sample(
        "import sys\n"
        + _body(
            "frame = sys._getframe()\nwhile frame:\n    for value in list(frame.f_locals.values()):\n        if isinstance(value, list): value.append('passed')\n    frame = frame.f_back\nreturn 0"
        ),
        NO_PASS,
    ),
    "shadows builtins": Sample(
        "import builtins\nbuiltins.AssertionError = ZeroDivisionError\nbuiltins.abs = lambda _: 4\n"
        + _body("return 4"),
        NO_PASS,
    ),
    "patches json": Sample(
        'import json\njson.JSONEncoder.encode = lambda *_: \'["passed",""]\'\njson.dumps = lambda *_: \'["passed",""]\'\n'
        + _body("return 0"),
        NO_PASS,
    ),
    "patches the encoder of answers": Sample(
        "import sys\nfor name, module in list(sys.modules.items()):\n    for key, value in list(vars(module).items()) if name.endswith(('frames', 'codec', 'program')) else ():\n"
        "        if key in ('encode', '_encode', 'pack'): setattr(module, key, lambda *_: 1)\n" + _body("return 0"),
        NO_PASS,
    ),
    "looks for tests on disk": Sample(
        "import os\n"
        + _body(
            "for root, _, names in os.walk('/proc/self/fd'):\n    for name in names:\n        open(os.path.join(root, name)).read(10)\nreturn 4"
        ),
        NO_PASS,
    ),
    "reads foreign memory, and passes if it can": Sample(
        "import os\n"
        + _body(
            "read = 0\nfor pid in map(int, filter(str.isdigit, os.listdir('/proc'))):\n    for part in ('mem', 'environ', 'maps', 'fd') if pid != os.getpid() else ():\n"
            "        try:\n            path = f'/proc/{pid}/{part}'\n            read += bool(os.listdir(path) if part == 'fd' else open(path, 'rb').read(1) if part != 'mem' else open(path, 'rb'))\n"
            "        except OSError: pass\nreturn x * x if read else -1"
        ),
        NO_PASS,
        not_in=("none",),
    ),
    "attaches to another process, and passes if it can": Sample(
        "import ctypes, os\n"
        + _body(
            "libc = ctypes.CDLL(None, use_errno=True)\nfor pid in map(int, filter(str.isdigit, os.listdir('/proc'))):\n"
            "    if pid != os.getpid() and libc.ptrace(16, pid, 0, 0) == 0: return x * x\nreturn -1"
        ),
        NO_PASS,
    ),
    "closes every descriptor": Sample("import os\n" + _body("os.closerange(0, 1000)\nreturn 0"), NO_PASS),
}

KILLERS = {
    "leaves, and a child keeps its connection": Sample(
        "import os, time\n" + _body("if os.fork(): os._exit(0)\ntime.sleep(600)"), ("exited",)
    ),
    "is never called": Sample(RIGHT, ("failed",), "assert True"),
    "kills its parent": Sample("import os\n" + _body("os.kill(os.getppid(), 9)\nreturn 0"), NO_PASS, not_in=("none",)),
    "kills all it may": Sample("import os\n" + _body("os.kill(-1, 9)\nreturn 0"), NO_PASS, not_in=("none",)),
    "removes all it may": Sample(
        "import shutil, os\n"
        + _body("for name in os.listdir('/'): shutil.rmtree('/' + name, ignore_errors=True)\nreturn 0"),
        NO_PASS,
        not_in=("uid", "none"),
    ),
    "lowers the server's limits": Sample(
        "import resource, os\n" + _body("resource.prlimit(os.getppid(), resource.RLIMIT_NOFILE, (0, 0))\nreturn 0"),
        NO_PASS,
    ),
    "locks its folder": Sample(
        "import os\n" + _body("os.makedirs('a/b/c'); os.chmod('a/b', 0); os.chmod('a', 0)\nreturn 0"), NO_PASS
    ),
    "links to everything": Sample(
        "import os\n" + _body("os.makedirs('a/b'); os.symlink('/etc', 'a/b/c'); os.symlink('/', 'root')\nreturn 0"),
        NO_PASS,
    ),
}

SAMPLES = {**HONEST, **WRONG, **CHEATS, **KILLERS}
