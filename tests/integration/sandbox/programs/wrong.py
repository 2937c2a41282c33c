"""Programs that are wrong, by their answer or by what they use."""

from tests.integration.sandbox.programs.sample import ENDED, NO_PASS, RIGHT, Sample, body

WRONG = {
    "is never called": Sample(RIGHT, ("failed",), "assert True"),
    "wrong answer": Sample(body("return x + x"), ("failed",)),
    "syntax error": Sample("def f(x:\n", ("error",)),
    "tests use a module that nobody imports": Sample(RIGHT, ("error",), "assert math.isclose(f(2), 4.0)"),
    "nothing at all": Sample("", ("error",)),
    "an exception": Sample(body("return x / 0"), ("error",)),
    "its own AssertionError": Sample(
        body("raise AssertionError"), ("error",), "try:\n    f(1)\nexcept AssertionError:\n    pass"
    ),
    "a null byte": Sample("def f(x): return x * x\n\0", ("error",)),
    "busy loop": Sample(body("while True: pass"), ("timeout",)),
    "stops itself": Sample("import os, signal\n" + body("os.kill(os.getpid(), signal.SIGSTOP)"), ("timeout",)),
    "one huge allocation": Sample(body("return len(bytearray(8 << 30))"), ("out_of_memory",)),
    "children that take memory": Sample(
        "import os, time\n"
        + body(
            "for _ in range(10):\n    if os.fork() == 0:\n        kept = b'x' * (200 << 20); time.sleep(600)\nwhile True: os.wait()"
        ),
        ENDED,
        not_in=("namespace", "uid", "none"),
    ),
    "fork bomb": Sample("import os\n" + body("while True: os.fork()"), ENDED, not_in=("none",)),
    "thread bomb": Sample(
        "import threading, time\n" + body("while True: threading.Thread(target=time.sleep, args=(600,)).start()"),
        ENDED,
    ),
    "endless output": Sample(body("while True: print('y' * 1000)"), ("output_limit",)),
    "reads input": Sample(body("return int(input()) * x"), ("error",)),
    "segmentation fault": Sample("import ctypes\n" + body("return ctypes.string_at(0)"), ("crashed",)),
    "overflows the C stack": Sample(
        "import sys\nsys.setrecursionlimit(10 ** 9)\n"
        + body("class A: pass\na = A()\nA.__call__ = A()\nreturn A.__call__()\n"),
        NO_PASS,
    ),
    "fills the disk": Sample(
        body("for n in range(10 ** 6):\n    with open(f'file{n}', 'wb') as file: file.write(b'x' * (1 << 20))"),
        ("error", "crashed", "timeout"),
        not_in=("uid", "none"),
    ),
    "one large file": Sample(body("open('file', 'wb').write(b'x' * (64 << 20))"), ("error", "crashed")),
    "deep result": Sample(body("v = []\nfor _ in range(5000): v = [v]\nreturn v"), ("error", "failed")),
    "endless result": Sample(body("v = []\nv.append(v)\nreturn v"), ("failed",)),
    "huge result": Sample(body("return 'x' * (64 << 20)"), ("failed", "error", "out_of_memory")),
}
