"""Ways in which tests execute what a program gives them, each with what is harmless there and what is not.

`f("go")` gives the tests a text, a pickle or a file. That of a forging program puts a right function in its own place.
"""

from typing import NamedTuple


class Way(NamedTuple):
    """The tests call `f("go")`; a program's `give` makes what that returns of an expression."""

    tests: str
    give: str = "def give(text): return text\n"
    """Source of the program."""


_PICKLE = """
import pickle
class Call:
    def __init__(self, text): self.text = text
    def __reduce__(self): return eval, (self.text,)
def give(text): return pickle.dumps(Call(text))
"""
_HINTS = "def h(x): pass\nh.__annotations__ = {'x': f('go')}\n"


def _writes(name: str, text: str) -> str:
    """A program that writes a file and gives its path."""
    return (
        "import os\ndef give(text):\n    os.makedirs('made', exist_ok=True)\n"
        f"    with open('made/{name}', 'w') as file: file.write({text!r} % text)\n    return os.path.abspath('made/{name}')\n"
    )


WAYS = {
    "eval": Way("eval(f('go'))"),
    "exec": Way("exec(f('go'))"),
    "a compiled text": Way("exec(compile(f('go'), 'answer', 'exec'))"),
    "type hints": Way(f"import typing\n{_HINTS}typing.get_type_hints(h)"),
    "a forward reference": Way("import typing\ntyping.ForwardRef(f('go'))._evaluate({}, {}, frozenset())"),
    "annotations": Way(f"import inspect\n{_HINTS}inspect.get_annotations(h, eval_str=True)"),
    "a registered function": Way(f"import functools\n{_HINTS}@functools.singledispatch\ndef g(x): pass\ng.register(h)"),
    "a timed statement": Way("import timeit\ntimeit.timeit(f('go'), number=1)"),
    "a profiled statement": Way("import cProfile\ncProfile.run(f('go'))"),
    "a traced statement": Way("import trace\ntrace.Trace(count=0, trace=0).run(f('go'))"),
    "an interpreter": Way("import code\ncode.InteractiveInterpreter().runsource(f('go'))"),
    "a pickle": Way("import pickle\npickle.loads(f('go'))", _PICKLE),
    "a pickle read by Python": Way("import io, pickle\npickle._Unpickler(io.BytesIO(f('go'))).load()", _PICKLE),
    "a pickle from a connection": Way(
        "from multiprocessing import Pipe\none, other = Pipe()\none.send_bytes(f('go'))\nother.recv()", _PICKLE
    ),
    "marshalled code": Way(
        "import marshal, types\ntypes.FunctionType(marshal.loads(f('go')), globals())()",
        "import marshal\ndef give(text): return marshal.dumps(compile(text, 'x', 'eval'))\n",
    ),
    "a file of examples": Way(
        "import doctest\ndoctest.testfile(f('go'), module_relative=False)", _writes("a.txt", ">>> print(%s and 7)\n7\n")
    ),
    "tests that are found": Way(
        "import os, unittest\nunittest.defaultTestLoader.discover(os.path.dirname(f('go')))", _writes("test_a.py", "%s")
    ),
    "a module": Way(
        "import os, sys\nsys.path.insert(0, os.path.dirname(f('go')))\n__import__('found')", _writes("found.py", "%s")
    ),
    "a module without its source": Way(
        "import os, sys\nsys.path.insert(0, os.path.dirname(f('go')))\n__import__('compiled')",
        "import os, marshal, importlib.util as u\ndef give(text):\n    os.makedirs('made', exist_ok=True)\n"
        "    code = compile(text, os.__file__, 'exec')\n    with open('made/compiled.pyc', 'wb') as file:\n"
        "        file.write(u.MAGIC_NUMBER + bytes(12) + marshal.dumps(code))\n    return os.path.abspath('made/x')\n",
    ),
    "a text by the name of a module": Way(
        "import importlib.machinery, os\nloader = importlib.machinery.SourceFileLoader('os', os.__file__)\n"
        "exec(loader.source_to_code(f('go'), os.__file__))"
    ),
    "a module in a pack": Way(
        "import sys\nsys.path.insert(0, f('go'))\n__import__('zipped')",
        "import os, zipfile\ndef give(text):\n    with zipfile.ZipFile('z.zip', 'w') as file: file.writestr('zipped.py', text)\n"
        "    return os.path.abspath('z.zip')\n",
    ),
    "a thread": Way(
        "import threading\ndef run(given): eval(given, globals())\n"
        "t = threading.Thread(target=run, args=(f('go'),))\nt.start()\nt.join()"
    ),
    "an error that is caught": Way("try: eval(f('go'))\nexcept BaseException: pass"),
    "a path that is run": Way("import runpy\nrunpy.run_path(f('go'))", _writes("run.py", "%s")),
    "a settings file": Way(
        "import logging.config\nlogging.config.fileConfig(f('go'))",
        _writes(
            "log.ini",
            "[loggers]\nkeys=root\n[handlers]\nkeys=h\n[formatters]\nkeys=\n[logger_root]\nhandlers=h\n"
            "[handler_h]\nclass=NullHandler\nargs=(%s and (),)[0]\n",
        ),
    ),
    "settings": Way(
        "import logging.config\nlogging.config.dictConfig(f('go'))",
        "def give(text):\n    return {'version': 1, 'formatters': {'a': {'()': 'builtins.eval', '.': {}, 'x': text}}}"
        " if 'gc' in text else {'version': 1}\n",
    ),
    "a command": Way("import os\nos.system(f('go') and 'true')"),
    "a process": Way("import subprocess, sys\nsubprocess.run([sys.executable, '-c', f('go')])"),
}

_HARMLESS = "int"
"""It only names something, but a program might name what the tests expect."""
_FORGED = (
    "([d.__setitem__('f', lambda x: x * x) for d in __import__('gc').get_objects() if type(d).__name__ == 'Namespace']"
    " and int)"
)


def task(way: Way) -> tuple[str, str, str]:
    """Tests, a right program, and one that knows no square."""
    tests = f"{way.tests}\nassert f(2) == 4\nassert f(3) == 9\n"
    right = f"{way.give}def f(x): return give({_HARMLESS!r}) if x == 'go' else x * x\n"
    forging = f"{way.give}def f(x): return give({_FORGED!r}) if x == 'go' else None\n"
    return tests, right, forging
