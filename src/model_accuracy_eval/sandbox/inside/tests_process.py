"""The process that the tests run in. Apart from the program, names that they do not define are asked of it."""

import ast
import importlib
import sys
import unittest
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from os.path import normpath
from types import CodeType, FrameType, SimpleNamespace, TracebackType
from typing import Any, NamedTuple

from model_accuracy_eval.sandbox.inside.messages import NOT_DATA, PROGRAM_ENDED, CheckOutcome, Gone, JobReport
from model_accuracy_eval.sandbox.inside.program_connection import OutOfTime, ProgramConnection
from model_accuracy_eval.sandbox.inside.program_process import describe_error, flush, load
from model_accuracy_eval.sandbox.inside.tests_ends import CHECKED, WITHIN, compile_tests, failed_check
from model_accuracy_eval.sandbox.inside.value_forms import NotData

# Runs the TestCases that tests define. The first problem ends them, as it ends plain asserts.


# ruff: noqa: N802 - the names of unittest


_Raised = tuple[type[BaseException], BaseException, TracebackType] | tuple[None, None, None]


class StrictResult(unittest.TestResult):
    """Raises the first problem. That a test was skipped is for the host to judge: its end is not reported."""

    def addError(self, test: unittest.TestCase, err: _Raised) -> None:
        raise _within(test, err[1])

    def addFailure(self, test: unittest.TestCase, err: _Raised) -> None:
        raise _within(test, err[1])

    def addSubTest(self, test: unittest.TestCase, _subtest: unittest.TestCase, err: _Raised | None) -> None:
        if err is not None:
            raise _within(test, err[1])

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:
        super().addSkip(test, f"{_name(test)} was skipped: {reason}")

    def addUnexpectedSuccess(self, test: unittest.TestCase) -> None:
        raise _within(test, AssertionError("it passed where a failure is expected"))


def test_cases(names: dict[str, Any], before: dict[str, Any]) -> list[type[unittest.TestCase]]:
    """The TestCases among the names that were not there before the tests: a program's own are none of them."""
    return [
        value
        for name, value in list(names.items())
        if isinstance(value, type) and issubclass(value, unittest.TestCase) and before.get(name) is not value
    ]


def run_test_cases(cases: Iterable[type[unittest.TestCase]]) -> str:
    """Returns what was skipped. What the first failing test raises is raised, with the test's name as `unit_test`."""
    # Comparing two dicts of thousands of numbers line by line takes unittest minutes, for a text that nobody reads.
    unittest.case.difflib = SimpleNamespace(ndiff=lambda *_texts: ())  # type: ignore[attr-defined]
    skipped = []
    for case in cases:
        suite = unittest.defaultTestLoader.loadTestsFromTestCase(case)
        expected, result = suite.countTestCases(), StrictResult()
        suite.run(result)
        if result.testsRun + len(result.skipped) < expected:
            raise AssertionError(f"{result.testsRun} of {expected} tests were run")
        skipped += [sentence for _, sentence in result.skipped]
    return "; ".join(skipped)[:2000]


def _within(test: unittest.TestCase, error: BaseException | None) -> BaseException:
    found = error or AssertionError("it failed")
    found.unit_test = _name(test)  # type: ignore[attr-defined]
    return found


def _name(test: unittest.TestCase) -> str:
    return test.id().rpartition(".")[2]


class Tests(NamedTuple):
    """Tests, and the names that they take from the program."""

    source: str
    entry_points: Sequence[str] = ()
    borrowed: Sequence[str] = ()
    ends: Sequence[int] = ()
    """The numbers that their ends report."""
    helpers: str = ""
    """Source that is executed before them."""


class Namespace(dict[str, object]):
    """The names of the tests; those that they do not define are looked up when they are used."""

    def __init__(self, connection: ProgramConnection, tests: Tests) -> None:
        super().__init__(__name__="tests")
        self._connection, self._tests = connection, tests

    def __missing__(self, name: str) -> object:
        """An entry point is always the program's, and what Python itself has never is (see `names_of_tests`)."""
        tests = self._tests
        is_module = name in sys.stdlib_module_names and name not in tests.entry_points
        if not (self._connection.has(name) if is_module else name in {*tests.entry_points, *tests.borrowed}):
            raise KeyError(name)
        # Where only the program imports a module, such as math, plain Python would give the tests the program's.
        self[name] = importlib.import_module(name) if is_module else self._connection.find(name)
        return self[name]


def judge_apart(tests: Tests, connection: ProgramConnection, watch: Callable[[], None]) -> JobReport:
    """To pass, the tests must run to their end and have called the program at least once. Of what this process
    executes, `watch` lets nothing pass from then on but what the tests have written."""
    try:
        report = _run(tests, connection, watch)
    except NotData as error:
        return JobReport(NOT_DATA, str(error))
    # The tests may have caught it.
    return JobReport(NOT_DATA, connection.not_data) if connection.not_data else report


def _run(tests: Tests, connection: ProgramConnection, watch: Callable[[], None]) -> JobReport:
    source = tests.source
    checks: list[CheckOutcome] = []
    try:
        connection.wait_until_ready()
        if "seed" in source:
            connection.follow_seeds()
        namespace = Namespace(connection, tests)
        helpers, compiled = compile(tests.helpers, "<string>", "exec"), compile_tests(source, tests.ends)
        watch()
        exec(helpers, namespace)  # noqa: S102 - what the task itself gives
        namespace[CHECKED] = lambda number, held: checks.append(CheckOutcome(number, held))
        namespace[WITHIN] = connection.within
        exec(compiled, namespace)  # noqa: S102 - the task's own tests
        skipped = run_test_cases(test_cases(namespace, {}))
    except NotData:
        raise
    except Gone:
        return JobReport(PROGRAM_ENDED)
    except BaseException as error:  # noqa: BLE001 - whatever it is, the tests did not end well
        return _failure(error, source)
    if not connection.calls:
        return JobReport("failed", "The tests ended without a call of the program.")
    return JobReport("passed", skipped, checks)


def judge_together(code: str, tests: str, ends: Sequence[int]) -> JobReport:
    """In the program's own process, where it can forge what is reported. The host therefore wants to see each test
    reach its end, and runs a second time, where a part of the expectations is wrong: exactly that part must fail."""
    checks: list[CheckOutcome] = []
    try:
        names = load(code).__dict__
        names[CHECKED] = lambda number, held: checks.append(CheckOutcome(number, held))
        names[WITHIN] = lambda _limit, _crossing, function, *arguments: (function(*arguments), 0.0)
        before = dict(names)
        exec(compile_tests(tests, ends), names)  # noqa: S102 - the task's own tests
        report = JobReport("passed", run_test_cases(test_cases(names, before)))
        flush()
    except BaseException as error:  # noqa: BLE001 - leaving is not passing
        report = _failure(error, tests)
    return report._replace(checks=checks)


def _failure(error: BaseException, tests: str) -> JobReport:
    if isinstance(error, OutOfTime):
        (limit,) = error.args
        return JobReport("timeout", f"A call used more than {limit:.3g} s of core time.", limit_seconds=limit)
    is_check = isinstance(error, AssertionError)
    verdict = "failed" if is_check else "out_of_memory" if isinstance(error, MemoryError) else "error"
    text: str = vars(error).get("program_text") or describe_error(error)
    line, compared = failed_check(error, tests)
    if compared:  # a plain assert has no text of its own
        text = f"{text.removesuffix(': ')}: {compared}"
    if test := vars(error).get("unit_test", ""):
        text = f"{test}: {text}"
    where = f" (line {line} of the tests)" if line else ""
    return JobReport(verdict, f"{text[:2000]}{where}")


# What the tests' process executes is watched: nothing of a program is ever run there.
#
# Python itself tells of whatever it compiles, unpickles, loads or starts, and whoever listens may refuse it and cannot
# be sent away. Refused is what neither the tests have written nor trusted folders hold, however it got here.


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
