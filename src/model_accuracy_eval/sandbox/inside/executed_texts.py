"""What the tests' process executes is watched: nothing of a program is ever run there.

Python itself tells of whatever it compiles, unpickles, loads or starts, and whoever listens may refuse it and cannot be
sent away. Refused is what neither the tests have written nor trusted folders hold, however it got here.
"""

import ast
import sys
from collections.abc import Iterator
from functools import cached_property
from os.path import normpath
from types import CodeType, FrameType
from typing import Any

_TRUSTED = tuple(f"{normpath(place)}/" for place in sys.path if place)
"""Where Python and its libraries are. What one of these modules executes while it is imported is its own."""
_MACHINERY = ("<frozen importlib._bootstrap>", "<frozen importlib._bootstrap_external>")
_LIBRARIES = ("/site-packages/", "/dist-packages/")
_WRITERS = frozenset({"collections", "dataclasses", "unittest.mock"})
"""Modules of Python that write functions themselves, with nothing from elsewhere but names that they have checked."""
_LOADING = {"import": 1, "ctypes.dlopen": 0}
"""Event → which of its arguments is the file: none for what is in the process already, and for a module of Python,
which is compiled after that."""
_WATCHED = frozenset(
    {"compile", "code.__new__", "marshal.loads", "marshal.load", "pickle.find_class", *_LOADING}
    | {"subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.spawn", "pty.spawn"}
    | {"cpython.PyInterpreterState_New"}
)
"""Without these, `exec` and functions have nothing to run that was not there before."""


class Executes(BaseException):
    """Tests were about to execute what they had not written. Tests that catch all errors do not catch this."""


class ExecutedTexts:
    """Watches one process; `tests` is the source whose own texts may be executed."""

    def __init__(self, tests: str = "") -> None:
        self._tests = tests
        self.refused = ""
        """What was refused first, whatever the tests made of that."""

    def watch(self) -> None:
        """From now on, and until this process ends. The tests themselves have been compiled."""
        sys.addaudithook(self._look)

    def _look(self, event: str, args: tuple[Any, ...]) -> None:
        if event not in _WATCHED:
            return
        frame = sys._getframe(1)  # noqa: SLF001 - whoever does it
        if not self._may(event, args, frame):
            self.refused = self.refused or f"{event} in {frame.f_globals.get('__name__')}"
            raise Executes(self.refused)

    def _may(self, event: str, args: tuple[Any, ...], frame: FrameType) -> bool:
        if event in _LOADING and (args[_LOADING[event]] is None or _is_trusted(args[_LOADING[event]])):
            return True
        if event == "import":
            return False
        if frame.f_code.co_filename in _MACHINERY:
            is_read_there = any(it.co_name == "get_code" and it.co_filename in _MACHINERY for it in _calls(frame))
            return is_read_there and _is_trusted(args[1] if event == "compile" else frame.f_locals.get("bytecode_path"))
        return (event == "compile" and self._may_compile(args[0], frame)) or _is_importing(frame)

    def _may_compile(self, source: object, frame: FrameType) -> bool:
        """Reading a text as data is not executing it, unless a library reads it, which may have an interpreter."""
        if frame.f_code.co_filename == ast.__file__:
            calls = list(_calls(frame))
            reader = next((it for it in calls if it.co_filename != ast.__file__), frame.f_code).co_filename
            return "literal_eval" in (it.co_name for it in calls) or not any(it in reader for it in _LIBRARIES)
        return frame.f_globals.get("__name__") in _WRITERS or source in self._own_texts or _is_harmless(source)

    @cached_property
    def _own_texts(self) -> frozenset[object]:
        """Every text that the tests write out, and their annotations, which Python may keep as texts."""
        try:
            nodes = list(ast.walk(ast.parse(self._tests)))
        except (SyntaxError, ValueError, RecursionError):
            return frozenset()
        texts = [it.value for it in nodes if isinstance(it, ast.Constant) and isinstance(it.value, str)]
        annotations = [getattr(node, "annotation", None) or getattr(node, "returns", None) for node in nodes]
        texts += [ast.unparse(it) for it in annotations if it]
        return frozenset([*texts, *(it.encode("utf-8", "replace") for it in texts)])


def _is_harmless(source: Any) -> bool:
    """An expression of values alone, such as a sum: it cannot even name anything."""
    try:
        nodes = ast.walk(ast.parse(source.strip(), mode="eval"))
    except (AttributeError, SyntaxError, ValueError, MemoryError, RecursionError):
        return False
    return not any(isinstance(it, (ast.Name, ast.Attribute, ast.Call)) for it in nodes)


def _is_trusted(path: object) -> bool:
    text = path.decode("utf-8", "replace") if isinstance(path, bytes) else str(path)
    return normpath(text).startswith(_TRUSTED)


def _is_importing(frame: FrameType) -> bool:
    """Whether a module is being executed, which was trusted when it was read."""
    return any(it.co_filename in _MACHINERY and it.co_name == "exec_module" for it in _calls(frame))


def _calls(frame: FrameType | None) -> Iterator[CodeType]:
    """From the inside out."""
    while frame:
        yield frame.f_code
        frame = frame.f_back
