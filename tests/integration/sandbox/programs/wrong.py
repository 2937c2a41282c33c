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
    "swallows every exception": Sample(
        body("while True:\n    try:\n        while True: pass\n    except BaseException: pass"), ("timeout",)
    ),
    "disarms signals": Sample(
        "import signal\nfor n in (signal.SIGALRM, signal.SIGTERM, signal.SIGINT, signal.SIGXCPU): signal.signal(n, signal.SIG_IGN)\n"
        + body("while True: pass"),
        ("timeout",),
    ),
    "stops itself": Sample("import os, signal\n" + body("os.kill(os.getpid(), signal.SIGSTOP)"), ("timeout",)),
    "catastrophic regex": Sample("import re\n" + body("return re.match('(a+)+$', 'a' * 60 + 'b')"), ("timeout",)),
    "one huge allocation": Sample(body("return len(bytearray(8 << 30))"), ("out_of_memory",)),
    "slow growth": Sample(
        body("kept = []\nwhile True:\n    try: kept.append(bytearray(1 << 24))\n    except MemoryError: pass"),
        ("timeout", "out_of_memory", "crashed"),
    ),
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
    "raw output": Sample("import os\n" + body("while True: os.write(1, b'y' * (1 << 20))"), ("output_limit",)),
    "reads input": Sample(body("return int(input()) * x"), ("error",)),
    "aborts": Sample("import os\n" + body("os.abort()"), ("crashed",)),
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
    "opens a connection": Sample(
        "import socket\n" + body("socket.create_connection(('127.0.0.1', 80), 1)"), ("error",)
    ),
    "lifts its limits": Sample(
        "import resource\n"
        + body("resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY,) * 2)\nreturn x * x"),
        ("error",),
        not_in=("uid", "none"),
    ),
    "deep result": Sample(body("v = []\nfor _ in range(5000): v = [v]\nreturn v"), ("error", "failed")),
    "endless result": Sample(body("v = []\nv.append(v)\nreturn v"), ("failed",)),
    "huge result": Sample(body("return 'x' * (64 << 20)"), ("failed", "error", "out_of_memory")),
}
