"""Right programs that use Python in ways that a harness may stumble over."""

from tests.integration.sandbox.programs.sample import Sample, honest

HONEST_PYTHON: dict[str, Sample] = {
    "is an object that can be called": honest("""
        class Square:
            def __call__(self, x): return x * x
        f = Square()
    """),
    "is remembered": honest("""
        from functools import lru_cache
        @lru_cache(None)
        def f(x): return x * x
    """),
    "is made by exec": honest("exec('def f(x): return x * x')"),
    "is made by type": honest("f = type('F', (), {'__call__': lambda self, x: x * x})()"),
    "is asynchronous within": honest("""
        import asyncio
        async def square(x):
            await asyncio.sleep(0)
            return x * x
        def f(x): return asyncio.run(square(x))
    """),
    "has a global state": honest("""
        calls = 0
        def f(x):
            global calls
            calls += 1
            return x * x
    """, "assert [f(n) for n in range(50)] == [n * n for n in range(50)]"),
    "draws lots": honest("""
        import random
        def f(x): return x * x if 0 <= random.random() < 1 else None
    """),
    "warns": honest("""
        import warnings
        def f(x):
            warnings.warn("soon gone", DeprecationWarning)
            return x * x
    """),
    "logs": honest("""
        import logging
        logging.basicConfig(level=logging.DEBUG)
        def f(x):
            logging.debug("called with %s", x)
            return x * x
    """),
    "prints to standard error": honest("""
        import sys
        def f(x):
            print("called", file=sys.stderr)
            return x * x
    """),
    "captures its output": honest("""
        import contextlib, io
        def f(x):
            with contextlib.redirect_stdout(io.StringIO()) as text: print(x * x)
            return int(text.getvalue())
    """),
    "replaces its output": honest("""
        import io, sys
        def f(x):
            kept, sys.stdout = sys.stdout, io.StringIO()
            print(x * x)
            text, sys.stdout = sys.stdout.getvalue(), kept
            return int(text)
    """),
    "reads no input": honest("""
        import sys
        def f(x): return x * x if sys.stdin.read() == "" else None
    """),
    "looks at its arguments": honest("""
        import sys
        def f(x): return x * x if isinstance(sys.argv, list) else None
    """),
    "collects garbage": honest("""
        import gc
        def f(x):
            gc.collect()
            return x * x
    """),
    "has names of other alphabets": honest("""
        def квадрат(число): return число * число
        f = квадрат
    """),
    "begins with marks of its encoding": honest("# -*- coding: utf-8 -*-\ndef f(x): return x * x  # \u00e9\u4e2d"),
    "has the line ends of Windows": honest("def f(x):\r\n    return x * x\r\n"),
    "is explained at length": honest("def f(x):\n    '''" + "It squares. " * 5000 + "'''\n    return x * x"),
    "is a long table": honest("TABLE = {" + ", ".join(f"{n}: {n * n}" for n in range(-2000, 2000)) + "}\nf = TABLE.get"),
    "compares what is equal but not the same": honest(
        "def f(x): return [float(x), complex(x), True]", "assert f(2) == [2, 2, 1]"
    ),
    "gives texts of all kinds": honest(
        "def f(x): return x[::-1]", "assert f('a\\0b') == 'b\\0a'\nassert f('\\U0001f600x') == 'x\\U0001f600'\nassert f('') == ''"
    ),
    "gives nothing": honest("def f(x): pass", "assert f(1) is None"),
    "takes any arguments": honest(
        "def f(*a, **k): return len(a) + len(k)", "assert f() == 0\nassert f(1, 2) == 2\nassert f(1, b=2) == 2"
    ),
    "takes arguments by name alone": honest("def f(*, x): return x * x", "assert f(x=3) == 9"),
    "has defaults": honest("def f(x=3, y=[]): return x * x + len(y)", "assert f() == 9\nassert f(2) == 4"),
    "raises as it should": honest(
        "def f(x):\n    if x == 0: raise ZeroDivisionError('none')\n    return x * x",
        """
        try: f(0)
        except ZeroDivisionError: pass
        else: assert False
        assert f(2) == 4
        """,
    ),
    "is tested in a function": honest(
        "def f(x): return x * x", "def check(candidate):\n    assert candidate(2) == 4\n    assert candidate(3) == 9\ncheck(f)"
    ),
    "is tested in a loop": honest("def f(x): return x * x", "for n in range(100): assert f(n) == n ** 2"),
    "is tested within a tolerance": honest("def f(x): return x * 1.0000000001", "assert abs(f(3) - 3) < 1e-6"),
}  # fmt: skip
