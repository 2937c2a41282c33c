"""Programs that are judged by what they print for inputs, or by what a function of theirs returns."""

import json
from collections.abc import Callable

import pytest
from tests.integration.sandbox.conftest import RunAll, runner
from tests.integration.sandbox.programs.scripts import HONEST_SCRIPTS, HOSTILE_SCRIPTS

from model_accuracy_eval.ports import Sandbox
from model_accuracy_eval.records.code import CaseKind, CaseProgram, Execution, Limits

SUMS = [(f"{number} {number}\n", f"{2 * number}\n") for number in range(4)]
ADD = "a, b = map(int, input().split())\nprint(a + b)\n"
TIMED = """import sys, time
a, b = map(int, input().split())
print(a + b)
sys.stdout.flush()
"""

HONEST = {
    "a script": ADD,
    "a main function": f"def main():\n    {ADD.replace(chr(10), chr(10) + '    ')}\nif __name__ == '__main__':\n    main()",
    "one read of everything": "import sys\nprint(sum(map(int, sys.stdin.buffer.read().split())))",
    "the device of its input": "print(sum(map(int, open('/dev/stdin').read().split())))",
    "a deep recursion in a thread": "import sys, threading\nsys.setrecursionlimit(10**6)\nthreading.stack_size(64 << 20)\n"
    "def depth(n): return 0 if n == 0 else 1 + depth(n - 1)\n"
    "def main():\n    a, b = map(int, input().split())\n    depth(20000)\n    print(a + b)\n"
    "thread = threading.Thread(target=main)\nthread.start()\nthread.join()",
    "a thread that nobody waits for": "import threading\n"
    "threading.Thread(target=lambda: print(sum(map(int, input().split())))).start()",
    "printing at its end": "import atexit\natexit.register(lambda: print(sum(map(int, input().split()))))",
    "an object that prints when it goes": (
        "class A:\n    def __init__(self, text): self.text = text\n    def __del__(self): print(sum(map(int, self.text.split())))\n"
        "def main(): return A(input())\na = main()"
    ),
    "a file of its own that it never closes": "out = open(1, 'w', closefd=False)\nout.write(str(sum(map(int, input().split()))))",
    "a generator that was not run to its end": (
        "def g():\n    try: yield\n    finally: print(sum(map(int, input().split())))\nit = g()\nnext(it)"
    ),
    "other processes": "import subprocess, sys\nnumbers = input().split()\n"
    "print(subprocess.run(['echo', str(sum(map(int, numbers)))], capture_output=True, text=True).stdout)",
    "its own source": f"import inspect, sys\nassert 'inspect' in open(__file__).read()\n{ADD}",
    "a process that stays behind": f"import os, sys, time\n{ADD}sys.stdout.flush()\nif os.fork() == 0:\n    time.sleep(60)",
    **HONEST_SCRIPTS,
}

_LOOK = r"""
import glob, os, re
given = input()
wanted = re.compile(('"input": "' + given + r'\\n", "output": "(\d+)').encode())
def texts():
    for folder in glob.glob('/proc/[0-9]*'):
        try:
            areas = re.findall(r'^(\w+)-(\w+) rw', open(folder + '/maps').read(), re.M)
            memory = open(folder + '/mem', 'rb', 0)
        except OSError:
            continue
        for start, end in areas:
            try:
                memory.seek(int(start, 16))
                yield memory.read(int(end, 16) - int(start, 16))
            except OSError:
                continue
for text in texts():
    if found := wanted.search(text):
        print(found[1].decode())
        break
"""
"""Prints the right answer if any memory that it may read holds what is expected."""

_FORGE = """
import os
for number in range(3, 256):
    try:
        os.write(number, b'\\0\\0\\0\\x02[]')
    except OSError:
        pass
"""

HOSTILE = {
    "wrong": ("print(1)", "failed"),
    "nothing": ("", "failed"),
    "an exit before the answer": (f"import sys\nsys.exit(0)\n{ADD}", "failed"),
    "an exit of the process": ("import os\nos._exit(0)", "failed"),
    "an exit code beside the answer": (f"{ADD}raise SystemExit(3)", "error"),
    "an exception": ("1 / 0", "error"),
    "an exception after the answer": (f"{ADD}1 / 0", "error"),
    "output without end": ("while True: print('x' * 999)", "output_limit"),
    "errors without end": ("import sys\nwhile True: sys.stderr.write('x' * 999)", "output_limit"),
    "closed output": (f"import os\nos.close(1)\n{ADD}", "error"),
    "more memory than there is": ("x = bytearray(10**9)", "out_of_memory"),
    "an end by a signal": ("import os\nos.abort()", "crashed"),
    "looking for what is expected": (_LOOK, "failed"),
    "the connection of the process that feeds it": (_FORGE, "failed"),
    "reading the process that feeds it": ("print(open(f'/proc/{__import__(\"os\").getppid()}/mem', 'rb'))", "error"),
    "an end of the process that feeds it": ("import os, time\nos.kill(os.getppid(), 9)\ntime.sleep(9)", "crashed"),
    "an end of all": ("import os, time\nos.kill(-1, 9)\ntime.sleep(9)", "error"),
    **HOSTILE_SCRIPTS,
}

WAITING = {
    "sleep": "import time\ntime.sleep(60)",
    "hanging after a part of the answer": f"{TIMED}time.sleep(60)",
    "more input than there is": (
        "import time\nwhile True:\n    try:\n        input()\n    except EOFError:\n        time.sleep(1)"
    ),
    "stopping the process that feeds it": "import os, signal\nos.kill(os.getppid(), signal.SIGSTOP)\ninput()",
}


def program(
    code: str,
    cases: list[tuple[str, str]] = SUMS,
    *,
    kind: CaseKind = "stdin",
    all_cases: bool = False,
    language: str = "python",
    seconds: float = 10.0,
    **rules: object,
) -> CaseProgram:
    entries = [{"input": given, "output": expected} for given, expected in cases]
    return CaseProgram(
        code=code,
        tests=json.dumps({"cases": [entries], "checker": "tokens", **rules}),
        kind=kind,
        all_cases=all_cases,
        language=language,
        limits=Limits(wall_seconds=seconds, memory_mb=256),
    )


def verdicts(executions: list[Execution]) -> list[str]:
    return [execution.verdict for execution in executions]


def test_honest_programs_pass_every_case(run_all: RunAll) -> None:
    """Scripts of many manners, each in all cases."""
    done = run_all(map(program, HONEST.values()))
    told = {name: (one.verdict, one.detail) for name, one in zip(HONEST, done, strict=True)}
    assert told == dict.fromkeys(HONEST, ("passed", ""))
    assert {len(one.cases) for one in done} == {one.all_cases for one in done} == {len(SUMS)}


def test_hostile_programs_fail_as_they_deserve(run_all: RunAll, kind: str) -> None:
    """Nothing passes but the answer, and nothing is a fault of the sandbox. Where programs see this machine's
    processes, none is asked to end or to read them."""
    apart = kind in ("docker", "bwrap")
    chosen = {
        name: pair
        for name, pair in HOSTILE.items()
        if apart or not name.startswith(("an end of", "reading", "looking"))
    }
    done = run_all(program(code) for code, _ in chosen.values())
    told = {name: one.verdict for name, one in zip(chosen, done, strict=True)}
    assert told == {name: verdict for name, (_, verdict) in chosen.items()}


@pytest.mark.parametrize("isolation", [pytest.param("docker", marks=pytest.mark.slow), "bwrap"])
def test_programs_that_do_not_end_are_out_of_time(boxes: Callable[[str], Sandbox], isolation: str) -> None:
    """Whatever they wait for; those that run for ever are judged as in every mode."""
    done = runner(boxes(isolation))(program(code, seconds=0.3) for code in WAITING.values())
    assert dict(zip(WAITING, verdicts(done), strict=True)) == dict.fromkeys(WAITING, "timeout")
    assert {one.detail for one in done} == {"Case 1: It did not end within 0.3 s."}


def test_the_first_case_that_fails_is_the_last(run_any: RunAll) -> None:
    """The sentence has what was expected and what came."""
    (done,) = run_any([program("print(0)")])
    assert [case.verdict for case in done.cases] == ["passed", "failed"]
    assert done.detail == r"Case 2 of 4: expected '2\n', but it gave '0\n' for '1 1\n'."
    assert (done.integrity, done.all_cases) == ("split", 4)


def test_all_cases_are_run_where_they_are_wanted(run_any: RunAll) -> None:
    """A case that takes the processes of the program with it costs none of those after it."""
    code = """import os, time
a, b = map(int, input().split())
if a == 0: time.sleep(60)
if a == 1: os.kill(os.getppid(), 9)
if a == 2: 1 / 0
print(a + b)
"""
    (done,) = run_any([program(code, all_cases=True, seconds=0.3)])
    assert [case.verdict for case in done.cases] == ["timeout", "crashed", "error", "passed"]
    assert done.verdict == "timeout"


def test_each_case_has_its_own_time_and_memory(run_any: RunAll) -> None:
    """Many cases may take more time together than one may alone; none sees what another left in memory."""
    busy = f"import time\nend = time.process_time() + 0.2\nwhile time.process_time() < end: pass\n{ADD}"
    state = f"import sys\nassert not hasattr(sys, 'seen')\nsys.seen = True\n{ADD}"
    done = run_any([program(busy, seconds=0.5), program(state)])
    assert verdicts(done) == ["passed", "passed"]
    assert min(case.cpu_seconds for case in done[0].cases) >= 0.15


def test_large_inputs_are_given_whether_or_not_they_are_read(run_any: RunAll) -> None:
    """Pipes hold less than that."""
    text = "x" * 3_000_000
    done = run_any([program("import sys\nprint(len(sys.stdin.read()))", [(text, str(len(text)))]),
                      program("print(0)", [(text, "0")])])  # fmt: skip
    assert verdicts(done) == ["passed", "passed"]


def test_functions_are_called_with_what_the_lines_say(run_any: RunAll) -> None:
    """Methods of a class Solution, and functions; a tuple is as good as a list."""
    cases = [("1\n2", "[1, 2]"), ('[1]\n"x"', '[[1], "x"]')]

    def calls(code: str) -> CaseProgram:
        return program(code, cases, kind="calls", function="pair", checker="equal")

    done = run_any([
        calls("class Solution:\n    def pair(self, a, b): return [a, b]"),
        calls("def pair(a, b): return a, b"),
        calls("def pair(a, b): return [b, a]"),
        calls("def other(a, b): return [a, b]"),
        calls("class Equal:\n    def __eq__(self, other): return True\ndef pair(a, b): return Equal()"),
        calls("class Solution:\n    pass"),
    ])  # fmt: skip
    assert verdicts(done) == ["passed", "passed", "failed", "error", "failed", "error"]
    assert done[2].detail == "Case 1 of 2: expected [1, 2], but it gave [2, 1] for [1, 2]."


def test_a_checker_of_the_tasks_own_sees_input_and_output(run_any: RunAll) -> None:
    """It runs beside what is expected; an output that makes it raise is wrong, and a checker without sense is no verdict."""
    divides = "def check(given, expected, output):\n    return int(given) % int(output) == 0"
    cases = [("12", ""), ("35", "")]
    done = run_any([
        program("print(1)", cases, checker_source=divides),
        program("print(4)", cases, checker_source=divides),
        program("print('many')", cases, checker_source=divides),
        program("print(1)", cases, checker_source="def check(:"),
    ])  # fmt: skip
    assert verdicts(done) == ["passed", "failed", "failed", "harness_error"]


def test_a_checker_executes_nothing_of_an_output(run_any: RunAll) -> None:
    """It may be a sum; whatever names something is refused."""
    adds = "def check(given, expected, output):\n    return eval(output) == int(expected)"
    done = run_any([program(f"print({said!r})", [("", "3")], checker_source=adds) for said in ("1 + 2", "abs(3)")])
    assert verdicts(done) == ["passed", "error"]
    assert "would have executed" in done[1].detail


def test_cases_that_cannot_be_read_say_nothing_about_a_program(run_any: RunAll) -> None:
    """No case at all, and a function's arguments that are no JSON."""
    done = run_any([program(ADD, []), program("def f(x): return x", [("x", "1")], kind="calls", function="f")])
    assert verdicts(done) == ["harness_error", "harness_error"]


def test_compiled_programs_are_compiled_once_and_run_for_each_case(boxes: Callable[[str], Sandbox]) -> None:
    """In C, with the tools of this machine."""
    code = '#include <stdio.h>\nint main(void) { int a, b; scanf("%d %d", &a, &b); printf("%d\\n", a + b); return RETURNED; }'
    run_all = runner(boxes("bwrap"))
    done = run_all(
        program(text, language="c") for text in (code.replace("RETURNED", "0"), code.replace("RETURNED", "4"), "int")
    )
    assert verdicts(done) == ["passed", "error", "error"]
    assert done[1].detail.startswith("Case 1 of 4: it ended with exit code 4")
    assert "does not compile" in done[2].detail
