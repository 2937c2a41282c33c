"""Programs that are right, however odd they are."""

from tests.integration.sandbox.programs.sample import PASSED, RIGHT, Sample, body

HONEST = {
    "plain": Sample(RIGHT, PASSED),
    "prints a lot": Sample(body("for n in range(2000): print('line', n)\nreturn x * x"), PASSED),
    "runs a subprocess": Sample(
        "import subprocess, sys\n"
        + body("return int(subprocess.check_output([sys.executable, '-S', '-c', f'print({x}*{x})']))"),
        PASSED,
    ),
    "uses a temporary file": Sample(
        "import tempfile\n"
        + body(
            "with tempfile.TemporaryFile('w+') as file:\n    file.write(str(x * x)); file.seek(0); return int(file.read())"
        ),
        PASSED,
    ),
    "changes its argument": Sample(
        body("x.append(len(x)); x.sort(reverse=True)"), PASSED, "v = [5, 7]\nf(v)\nassert v == [7, 5, 2]"
    ),
    "a busy daemon thread": Sample(
        "import threading\n"
        + body("def spin():\n    while True: pass\nthreading.Thread(target=spin, daemon=True).start()\nreturn x * x"),
        PASSED,
    ),
    "a double-forked daemon": Sample(
        "import os, time\n"
        + body(
            "if os.fork() == 0:\n    os.setsid()\n    if os.fork() == 0: time.sleep(600)\n    os._exit(0)\nos.wait()\nreturn x * x"
        ),
        PASSED,
    ),
    "a dataclass with late annotations": Sample(
        "from __future__ import annotations\nfrom dataclasses import dataclass\n@dataclass\nclass P:\n    x: int\n    y: int\n"
        + body("return P(x, x).x * P(x, x).y"),
        PASSED,
    ),
    "named after a builtin": Sample("def sum(a, b): return a * b\n", PASSED, "assert sum(4, 5) == 20"),
    "named after a module": Sample("def bisect(a): return a + 1\n", PASSED, "assert bisect(4) == 5"),
    "tests use its import": Sample("import math\n" + RIGHT, PASSED, "assert math.isclose(f(2), 4.0)"),
    "tests use its helper": Sample("def twice(x): return 2 * x\n" + RIGHT, PASSED, "assert f(twice(1)) == 4"),
    "a truthy match": Sample(
        "import re\n" + body("return re.match('a', x)"), PASSED, "assert f('ab')\nassert not f('b')"
    ),
    "objects with attributes": Sample(
        "class Node:\n    def __init__(self, v): self.v = v; self.next = None\n"
        + body("return x.v + (f(x.next) if x.next else 0)"),
        PASSED,
        "a = Node(1)\na.next = Node(2)\nassert f(a) == 3\nassert a.next.v == 2",
    ),
    "huge numbers": Sample(body("return 7 ** x"), PASSED, "assert f(20000) == 7 ** 20000\nassert f(2) == 49"),
    "not a number": Sample(
        body("return [float('nan'), float('inf'), -0.0][x]"),
        PASSED,
        "assert f(0) != f(0)\nassert f(1) > 1e308\nassert str(f(2)) == '-0.0'",
    ),
    "many types": Sample(
        body("return x"),
        PASSED,
        "from decimal import Decimal\nfrom fractions import Fraction\nfrom collections import Counter, deque\nimport datetime\n"
        "for v in [(1, 'é', b'x'), {1: [2], (3,): {4}}, frozenset([1]), 1j, range(3), Decimal('1.5'), Fraction(1, 3),\n"
        "          deque([1]), Counter('aab'), datetime.date(2020, 1, 2), datetime.timedelta(1), bytearray(b'a'), '\\ud800', int, None]:\n"
        "    assert f(v) == v, v",
    ),
    "its main block": Sample(RIGHT + "if __name__ == '__main__':\n    raise SystemExit('not meant to run')\n", PASSED),
}
