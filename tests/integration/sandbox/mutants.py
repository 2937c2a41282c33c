"""Programs that nobody wrote: statements of the catalogue's hostile programs mixed with random calls of the system."""

import ast
import random
from collections.abc import Iterator
from functools import lru_cache

from tests.integration.sandbox.programs.catalogue import THEMES

UNPASSABLE = "value = f(2)\nassert value == 4\nassert value == 3"
_THEMES = (
    "wrong", "forging", "forging_answers", "forging_objects", "forging_tests", "hostile_worker", "hostile_neighbour", "hostile_kernel", "reaching",
)  # fmt: skip
_CALLS = 463
"""One more than the highest number of a system call that is known to us."""
_EXIT_CALLS = (60, 231)
_MOST_STATEMENTS = 6

_HEAD = """\
import ctypes, fcntl, glob, os, resource, signal, socket, stat, struct, subprocess, sys, threading, time
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
buffer = ctypes.create_string_buffer(65536)
def attempt(action, *arguments):
    try: return action(*arguments)
    except OSError: return None
"""
_ARGUMENTS = (
    "0", "1", "2", "3", "4", "5", "-1", "-2", "8", "16", "17", "4096", "65536", "0x7fffffff", "1 << 40", "os.getpid()",
    "os.getppid()", "buffer", "ctypes.byref(buffer, 4096)", "b'/tmp'", "b'f'", "b'/proc/1/mem'", "b'/dev/shm/f'", "None",
)  # fmt: skip


@lru_cache
def _statements() -> list[str]:
    """What the hostile programs are made of; the imports and helpers that all need are in the head."""
    found = set()
    for theme in _THEMES:
        for sample in THEMES[theme].values():
            try:
                tree = ast.parse(sample.code)
            except (SyntaxError, ValueError):
                continue
            for node in tree.body:
                inner = node.body if isinstance(node, ast.FunctionDef) and node.name == "f" else [node]
                found |= {ast.unparse(one) for one in inner if not isinstance(one, ast.Return)}
    return sorted(found)


def _call(chance: random.Random) -> str:
    number = chance.choice([one for one in range(_CALLS) if one not in _EXIT_CALLS])
    arguments = ", ".join(chance.choices(_ARGUMENTS, k=6))
    return f"libc.syscall({number}, {arguments})"


def _signal(chance: random.Random) -> str:
    whom = chance.choice(("1", "0", "-1", "os.getppid()", "os.getpid() + 1", "os.getpid() - 1", "-os.getppid()"))
    return f"os.kill({whom}, {chance.randrange(1, 65)})"


def _descriptor(chance: random.Random) -> str:
    number = chance.randrange(8)
    what = (
        f"os.write({number}, os.urandom({chance.choice((1, 4, 100, 70000))}))", f"os.close({number})",
        f"os.dup2({number}, {chance.randrange(8)})", f"os.set_blocking({number}, False)", f"os.read({number}, 100)",
        f"fcntl.fcntl({number}, {chance.randrange(1100)}, {chance.randrange(100)})",
        f"fcntl.ioctl({number}, {chance.choice((0x5411, 0x5421, 0x541B, 0x5401))}, buffer)",
    )  # fmt: skip
    return chance.choice(what)


def _statement(chance: random.Random) -> str:
    kind = chance.random()
    if kind < 0.5:
        return chance.choice(_statements())
    return chance.choice((_call, _call, _call, _signal, _descriptor))(chance)


def _mutant(chance: random.Random) -> str:
    lines = []
    for _ in range(chance.randint(1, _MOST_STATEMENTS)):
        statement = _statement(chance)
        if chance.random() < 0.1:
            statement = f"for _ in range({chance.choice((2, 100, 10000))}):\n" + _indented(statement)
        if chance.random() < 0.1:
            statement = "if os.fork() == 0:\n" + _indented(statement)
        lines.append("try:\n" + _indented(statement) + "\nexcept BaseException: pass")
    lines.append(chance.choice(("return x * x", "return 3", "return None", "os._exit(0)", "while True: pass")))
    return _HEAD + "def f(x):\n" + "\n".join(map(_indented, lines)) + "\n"


def _indented(lines: str) -> str:
    return "\n".join(f"    {line}" for line in lines.splitlines())


def mutants(seed: int) -> Iterator[str]:
    """Without end, and the same for the same seed; each one can be read as Python."""
    chance = random.Random(seed)
    while True:
        code = _mutant(chance)
        try:
            compile(code, "mutant", "exec")
        except (SyntaxError, ValueError):
            continue
        yield code
