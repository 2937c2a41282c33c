"""The process that the tests run in: names that they do not define are asked of the program, in another process."""

import builtins
import importlib
import marshal
import sys
from base64 import b64decode, b64encode
from collections.abc import Sequence
from types import CodeType
from typing import Any, NamedTuple

from model_accuracy_eval.sandbox.inside.codec import NotPlain
from model_accuracy_eval.sandbox.inside.failed_checks import broke_check, explained, failed_check
from model_accuracy_eval.sandbox.inside.figures import follow_figures
from model_accuracy_eval.sandbox.inside.messages import PROGRAM_ENDED, CheckOutcome, ComparedSides, Gone, JobReport
from model_accuracy_eval.sandbox.inside.mirrors import MirrorClass
from model_accuracy_eval.sandbox.inside.program_connection import ProgramConnection
from model_accuracy_eval.sandbox.inside.test_ends import CHECKED, compile_tests
from model_accuracy_eval.sandbox.inside.unit_tests import run_test_cases, test_cases

_LONGEST_CODE = 1 << 18


class ProgramNames(NamedTuple):
    """Names that the tests take from the program."""

    entry_points: list[str]
    borrowed: list[str]


def _super(*args: Any) -> Any:
    """In a class that the tests have put below one of the program, the program's process knows what is above it."""
    if args:
        return builtins.super(*args)
    frame = sys._getframe(1)  # noqa: SLF001 - what Python's own `super` looks at
    kind, value = frame.f_locals["__class__"], frame.f_locals[frame.f_code.co_varnames[0]]
    return _above(kind, value) if isinstance(kind, MirrorClass) else builtins.super(kind, value)


def _above(kind: MirrorClass, value: object) -> object:
    class Above:
        def __getattribute__(self, name: str) -> Any:
            return kind.__other_side__.ask("super", kind, value, name=name)

    return Above()


class Namespace(dict[str, object]):
    """The names of the tests; those that they do not define are looked up when they are used."""

    def __init__(self, connection: ProgramConnection, names: ProgramNames) -> None:
        super().__init__(__name__="tests", super=_super)
        self._connection, self._names = connection, names

    def __missing__(self, name: str) -> object:
        """An entry point is always the program's, and what Python itself has never is (see `names_of_tests`)."""
        is_module = name in sys.stdlib_module_names and name not in self._names.entry_points
        if not (is_module or name in self._names.entry_points or name in self._names.borrowed):
            raise KeyError(name)
        found = self._connection.find(name)
        # Where only the program imports a module, such as math, plain Python would give the tests the program's.
        self[name] = importlib.import_module(name) if is_module else found
        return self[name]


class Tests(NamedTuple):
    source: str
    ends: Sequence[int] = ()
    """The numbers that their ends report."""
    helpers: str = ""
    """Source that is executed before them."""
    compiled: bytes = b""
    """Their bytecode, as a pass before this one has reported it."""


def judge(tests: Tests, names: ProgramNames, connection: ProgramConnection) -> JobReport:  # noqa: PLR0911 - as many ends
    """To pass, the tests must run to their end and have called the program at least once."""
    source, ends = tests.source, tests.ends
    checks: list[CheckOutcome] = []
    try:
        connection.wait_until_ready()
        if "seed" in source:
            connection.follow_seeds()
        if "plt.c" in source:
            follow_figures(lambda name, figures: connection.ask("figures", *figures, name=name))
        connection.broke_check = lambda error: broke_check(error, source)
        namespace = Namespace(connection, names)
        exec(tests.helpers, namespace)  # noqa: S102 - what the task itself gives
        namespace[CHECKED] = lambda index, held: checks.append(CheckOutcome(ends[index], held))
        code = _code(tests)
        exec(code, namespace)  # noqa: S102 - the task's own tests
        skipped = run_test_cases(test_cases(namespace, {}))
    except Gone:
        return JobReport(PROGRAM_ENDED)
    except AssertionError as error:
        check = failed_check(error, source)
        return JobReport("failed", _sentence(error, check), failed_check=check)
    except MemoryError as error:
        return JobReport("out_of_memory", _sentence(error))
    except NotPlain as error:
        return JobReport("error", f"The tests pass on {error}, which cannot leave their process.")
    except BaseException as error:  # noqa: BLE001 - whatever it is, the tests did not end well
        return JobReport("error", _sentence(error), failed_check=failed_check(error, source))
    if objection := _objection(connection, source):
        return objection
    made = "" if tests.compiled else pack_code(code)
    return JobReport("passed", skipped, checks, compared_objects=connection.compared_objects, compiled=made)


def _objection(connection: ProgramConnection, source: str) -> JobReport | None:
    """Why tests that have ended well are not passed."""
    if not connection.calls:
        return JobReport("failed", "The tests ended without a call of the program.")
    for unmet in connection.kept_checks():
        check = failed_check(unmet, source)
        if not _is_raised_on_purpose(unmet, check):
            verdict = "failed" if isinstance(unmet, AssertionError) else "error"
            where = "The program was told of that, and kept it from the tests."
            return JobReport(verdict, f"{_sentence(unmet, check)}. {where}", failed_check=check)
    return None


def _is_raised_on_purpose(error: BaseException, check: ComparedSides | None) -> bool:
    """Whether tests have raised it by themselves, to see what the program makes of it."""
    if not isinstance(error, AssertionError):
        return False
    trace = error.__traceback__
    while trace and trace.tb_next:
        trace = trace.tb_next
    return not (check and check.check) and trace is not None and trace.tb_frame.f_code.co_filename == "<tests>"


def _code(tests: Tests) -> CodeType:
    """Ends are known by their places in it, so that it is the same for every program."""
    if tests.compiled:
        code: CodeType = marshal.loads(tests.compiled)  # noqa: S302 - our own
        return code
    return compile_tests(tests.source, range(len(tests.ends)))


def pack_code(code: CodeType) -> str:
    """Empty if it is too long for a message."""
    data = marshal.dumps(code)
    return b64encode(data).decode() if len(data) < _LONGEST_CODE else ""


def unpack_code(text: str) -> bytes:
    return b64decode(text)


def _sentence(error: BaseException, check: ComparedSides | None = None) -> str:
    text: str = vars(error).get("program_text") or f"{type(error).__name__}: {error}"
    text = explained(text, check)
    if test := vars(error).get("unit_test", ""):
        text = f"{test}: {text}"
    trace, line = error.__traceback__, 0
    while trace:
        line = trace.tb_lineno if trace.tb_frame.f_code.co_filename == "<tests>" else line
        trace = trace.tb_next
    return f"{text[:2000]} (line {line} of the tests)" if line else text[:2000]
