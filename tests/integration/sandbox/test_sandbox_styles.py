"""Right answers in other styles than the task's own solution: judged as plain Python would, wherever that takes place."""

from itertools import islice

import msgspec
import pytest
from tests.integration.sandbox.benchmarks import human_eval, mbpp, plainly
from tests.integration.sandbox.conftest import RunAll
from tests.sandboxed import run_all

from model_accuracy_eval.records.code import Program

_RESTYLED = """
{code}

_right = {name}
{style}
"""
STYLES = {
    "a generator": "def {name}(*a, **k): yield from _right(*a, **k)",
    "what maps": "def {name}(*a, **k): return map(lambda it: it, _right(*a, **k))",
    "an object below the type": (
        "def {name}(*a, **k):\n    it = _right(*a, **k)\n"
        "    return type('Own', (type(it),), {{}})(it) if type(it) is not bool else it"
    ),
    "an object that stands for it": (
        "import operator\nclass Answer:\n    def __init__(self, it): self.it = it\n"
        "    def __eq__(self, other): return self.it == (other.it if isinstance(other, Answer) else other)\n"
        "    def __hash__(self): return hash(self.it)\n    def __getattr__(self, name): return getattr(self.it, name)\n"
        "for _n in ('len', 'iter', 'getitem', 'bool', 'abs', 'lt', 'le', 'gt', 'ge', 'sub', 'add', 'contains', 'round',\n"
        "           'int', 'float', 'index', 'str', 'repr', 'reversed', 'mul', 'truediv', 'mod', 'rsub', 'radd'):\n"
        "    def _of(name):\n"
        "        if name == '__bool__': return lambda self: bool(self.it)\n"
        "        if name == '__iter__': return lambda self: iter(self.it)\n"
        "        return lambda self, *a: getattr(self.it, name)(*a)\n"
        "    setattr(Answer, f'__{{_n}}__', _of(f'__{{_n}}__'))\n"
        "def {name}(*a, **k): return Answer(_right(*a, **k))"
    ),
    "a collection of the user": (
        "from collections import UserDict, UserList, UserString\n_OF = {{list: UserList, dict: UserDict, str: UserString}}\n"
        "def {name}(*a, **k):\n    it = _right(*a, **k)\n    return _OF.get(type(it), type(it))(it)"
    ),
    "a named tuple": (
        "from collections import namedtuple\ndef {name}(*a, **k):\n    it = _right(*a, **k)\n"
        "    return namedtuple('Of', [f'n{{n}}' for n in range(len(it))])(*it) if type(it) is tuple else it"
    ),
    "a class that is called": "class {name}:\n    def __new__(cls, *a, **k): return _right(*a, **k)",
    "an object that is called": (
        "class Solver:\n    def __call__(self, *a, **k): return _right(*a, **k)\n{name} = Solver()"
    ),
}
RARE, EACH, TASKS = 2, 5, 40
"""How many of the styles fit few tests."""


def restyled(task: Program) -> dict[str, Program]:
    """Those styles in which plain Python finds it right."""
    (name,) = task.entry_points
    found = {}
    for style, lines in STYLES.items():
        code = _RESTYLED.format(code=task.code, name=name, style=lines.format(name=name))
        program = msgspec.structs.replace(task, code=code, reference=task.code)
        if plainly(program):
            found[style] = program
    return found


def rewrites() -> dict[str, Program]:
    """Five of each task: the rare styles, and of the others each in turn."""
    found: dict[str, Program] = {}
    for tasks in (list(human_eval().items())[30:], list(mbpp().items())):
        fitting = ((name, them) for name, them in ((name, restyled(task)) for name, task in tasks) if len(them) >= EACH)
        for number, (name, them) in enumerate(islice(fitting, TASKS // 2)):
            rare, others = [*STYLES][:RARE], [*STYLES][RARE:]
            turn = number % len(others)
            styles = [style for style in [*rare, *others[turn:], *others[:turn]] if style in them]
            found |= {f"{name}, {style}": them[style] for style in styles[:EACH]}
    return found


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_no_right_answer_fails_for_its_style() -> None:
    """Two hundred: data crosses, and what is none is judged beside the tests and says so."""
    programs = rewrites()
    assert len(programs) == TASKS * EACH
    done = dict(zip(programs, run_all("bwrap", programs.values()), strict=True))
    assert {name: (one.verdict, one.detail) for name, one in done.items() if one.verdict != "passed"} == {}
    told = {one.integrity: "judged in one process with its tests" in one.detail for one in done.values()}
    assert told == {"split": False, "split+names": False, "shared+control": True}


LIST = Program(
    code="", tests="assert sum(f(3)) == 3\nassert list(f(2)) == [0, 1]", entry_points=("f",),
    reference="def f(n): return list(range(n))",
)  # fmt: skip
ANSWERS = {
    "a list": ("def f(n): return [*range(n)]", "split"),
    "a generator": ("def f(n): yield from range(n)", "shared+control"),
    "a list of its own": ("class L(list): pass\ndef f(n): return L(range(n))", "shared+control"),
    "a class": (
        "class f:\n    def __init__(s, n): s.n = n\n    def __iter__(s): return iter(range(s.n))",
        "shared+control",
    ),
}


@pytest.mark.parametrize("answer", ANSWERS)
def test_an_answer_that_is_no_data_is_judged_beside_its_tests(answer: str, run_any: RunAll) -> None:
    """A right one passes, a wrong one fails, and both say where they were judged and why."""
    code, integrity = ANSWERS[answer]
    wrong = code.replace("range(", "range(1 + ")
    right, other = run_any([msgspec.structs.replace(LIST, code=it) for it in (code, wrong)])
    assert (right.verdict, right.integrity, other.verdict) == ("passed", integrity, "failed"), (right, other)
    assert [("because of" in one.detail) for one in (right, other)] == [integrity != "split"] * 2
