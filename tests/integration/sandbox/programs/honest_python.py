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
    "has a global state": honest("""
        calls = 0
        def f(x):
            global calls
            calls += 1
            return x * x
    """, "assert [f(n) for n in range(50)] == [n * n for n in range(50)]"),
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
    "has names of other alphabets": honest("""
        def квадрат(число): return число * число
        f = квадрат
    """),
    "begins with marks of its encoding": honest("# -*- coding: utf-8 -*-\ndef f(x): return x * x  # \u00e9\u4e2d"),
    "has the line ends of Windows": honest("def f(x):\r\n    return x * x\r\n"),
    "compares what is equal but not the same": honest(
        "def f(x): return [float(x), complex(x), True]", "assert f(2) == [2, 2, 1]"
    ),
    "gives texts of all kinds": honest(
        "def f(x): return x[::-1]", "assert f('a\\0b') == 'b\\0a'\nassert f('\\U0001f600x') == 'x\\U0001f600'\nassert f('') == ''"
    ),
    "raises as it should": honest(
        "def f(x):\n    if x == 0: raise ZeroDivisionError('none')\n    return x * x",
        """
        try: f(0)
        except ZeroDivisionError: pass
        else: assert False
        assert f(2) == 4
        """,
    ),
    "is tested within a tolerance": honest("def f(x): return x * 1.0000000001", "assert abs(f(3) - 3) < 1e-6"),
}  # fmt: skip
