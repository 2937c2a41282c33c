"""Programs that turn to the tests beside them: unit tests, modules, the collector, the report."""

from tests.integration.sandbox.programs.sample import NO_PASS, Sample

UT = "import unittest\nclass T(unittest.TestCase):\n    def test_a(self): self.assertEqual(f(2), 4)\n    def test_b(self): self.assertTrue(f(3) == 9)\n"
FORGING_TESTS: dict[str, Sample] = {
    "a false TestCase": Sample("import unittest\nclass Fake(unittest.TestCase):\n    def assertEqual(self, *a): pass\n    def assertTrue(self, *a): pass\nunittest.TestCase = Fake\ndef f(x): return 0", NO_PASS, UT),
    "a false module of unit tests": Sample("import sys, types\nm = types.ModuleType('unittest')\nclass TestCase:\n    def __init__(self, *a): pass\nm.TestCase = TestCase\nsys.modules['unittest'] = m\ndef f(x): return 0", NO_PASS, UT),
    "equal by a metaclass": Sample("class M(type):\n    def __eq__(c, o): return True\n    def __hash__(c): return 1\n    def __bool__(c): return True\nclass Z(metaclass=M): pass\ndef f(x): return Z", NO_PASS, UT),
    "a monitor that ends the test": Sample("import sys\ndef f(x):\n    fr = sys._getframe(1)\n    fr.f_trace_opcodes = True\n    def t(frame, ev, arg): return t\n    fr.f_trace = t\n    sys.settrace(t)\n    raise StopIteration", NO_PASS, UT),
    "an assertion that is another": Sample("import builtins, unittest\nclass A(Exception): pass\nbuiltins.AssertionError = A\nunittest.TestCase.failureException = A\ndef f(x): return 0", NO_PASS, UT),
    "leaves with a report": Sample("import os, json, struct\ndef f(x):\n    d = json.dumps(['passed', '', [], [], 0, None, False, '']).encode()\n    os.write(3, struct.pack('>I', len(d)) + d)\n    os._exit(0)", NO_PASS, UT),
    "floods the report": Sample("import os, struct\ndef f(x):\n    os.write(3, struct.pack('>I', 1 << 30))\n    while True: os.write(3, b'x' * 65536)", NO_PASS, UT),
    "a report without end": Sample("import os, time\ndef f(x):\n    while True:\n        os.write(3, b'\\0\\0\\0\\x02[]')", NO_PASS, UT),
    "ends in a thread of the report": Sample("import threading, os, time\ndef go():\n    time.sleep(0.3)\n    os._exit(0)\nthreading.Thread(target=go, daemon=True).start()\ndef f(x): time.sleep(1); return x", NO_PASS, UT),
    "fails when it ends": Sample("import os, atexit\nclass D:\n    def __del__(self): os._exit(7)\nkept = D()\ndef f(x): return 0", NO_PASS, UT),
    "a class that is callable by all": Sample("class f(int):\n    def __new__(c, x): return int.__new__(c, 0)\n    def __eq__(s, o): return True\n    def __ne__(s, o): return False\n    __hash__ = int.__hash__", NO_PASS, UT),
    "false numbers of a library": Sample("import math, cmath\nmath.isclose = lambda *a, **k: True\nabs = lambda x: 0\nround = lambda *a: 4\ndef f(x): return 0", NO_PASS, "import math\nassert math.isclose(f(2), 4) and round(f(2)) == 4"),
    "teaches a set": Sample("class E:\n    def __eq__(s, o): return True\n    def __hash__(s): return hash(4)\ndef f(x): return E()", NO_PASS, "assert f(2) in {4} and f(3) == 9"),
    "waits in a lock of the import": Sample("import importlib._bootstrap as b, threading\ndef f(x):\n    import _imp\n    _imp.acquire_lock()\n    return 0", NO_PASS, UT),
    "clears the modules": Sample("import sys\ndef f(x):\n    sys.modules.clear()\n    sys.meta_path.clear()\n    sys.path.clear()\n    return 0", NO_PASS, UT),
    "breaks the collector": Sample("import gc\ngc.callbacks.append(lambda *a: 1 / 0)\ngc.set_threshold(1)\ndef f(x): return 0", NO_PASS, UT),
    "collects what never ends": Sample("import gc\ndef cb(*a):\n    while True: pass\ngc.callbacks.append(cb)\ndef f(x):\n    gc.collect()\n    return 0", NO_PASS, UT),
    "skips by its class": Sample("import unittest\nclass S(unittest.SkipTest): pass\ndef f(x): raise S", NO_PASS, UT),
    "makes the loader find nothing": Sample("import unittest\nunittest.defaultTestLoader.testMethodPrefix = 'zzz'\ndef f(x): return 0", NO_PASS, UT),
    "expects the failure": Sample("import unittest\nunittest.TestCase.__unittest_expecting_failure__ = True\ndef f(x): return 0", NO_PASS, UT),
}  # fmt: skip
