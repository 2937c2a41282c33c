"""What a user's code task must show before anything is asked: its solution passes, what is no solution fails.

Published benchmarks are left out: their solutions are run by this project's own tests.
"""

import ast
import re
from collections.abc import Iterator
from typing import Any

import msgspec

from model_accuracy_eval.records import Attempt, MetricUse, Pipeline, PreparedDataset, Problem, TaskSpec
from model_accuracy_eval.records.code import CaseProgram, Execution, Program
from model_accuracy_eval.scoring.code.benchmark_suites import CODE_EXTRACTORS
from model_accuracy_eval.scoring.code.code_syntax import called_names, parse
from model_accuracy_eval.scoring.figures import judging
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.metrics.asked_metrics import ask_code_eval, ask_sandbox, ask_tests
from model_accuracy_eval.scoring.metrics.metric_table import metric, metric_uses, pipelines

NOT_CALLED = "The tests ended without a call of the program."
"""The sandbox's words for tests that pass whatever the program is."""

_CODE_FILTERS = {*CODE_EXTRACTORS, "strip_thoughts", "stripped", "noop", "remove_whitespace"} - {"expression"}
"""Filters by which a fenced block must be read; others may want another form of reply."""
_SYNTAX_CHECKS = {
    "bash": ("tests.sh", "bash -n tests.sh"),
    "javascript": ("tests.js", "node --check tests.js"),
    "perl": ("tests.pl", "perl -c tests.pl"),
}
"""Language → a file for the tests, and a command that reads it and does not run it."""
_LEAVE_OUT = "leave `filters` out, and it is read as its language needs"
_SHOWN = 300
"""Characters of what the sandbox says."""


class Trial(msgspec.Struct, frozen=True):
    """A program, how it must end, and what is wrong with the task where it ends otherwise."""

    program: Program
    passes: bool
    objection: str = "its solution does not pass"
    plain: Program | None = None
    """The solution itself, where `program` is what was read of a reply with it: tells which of the two is at fault."""

    def failure(self, execution: Execution) -> str:
        """Why the task cannot judge; empty if the trial went as it must."""
        if NOT_CALLED in execution.detail:
            return "its tests never call the program, so they say nothing about it"
        if execution.passed == self.passes:
            return ""
        if execution.passed is None:
            return f"it cannot be judged ({_shown(execution)})"
        return f"{self.objection} ({_shown(execution)})" if self.passes else self.objection


def _shown(execution: Execution) -> str:
    detail = "; ".join(execution.detail.split("\n"))
    return f"{execution.verdict}: {detail}"[:_SHOWN] if execution.passed is not None else detail[:_SHOWN]


def own_uses(task: TaskSpec) -> list[tuple[Pipeline, MetricUse]]:
    """The metrics whose programs the task's author put together; of several with the same program the first."""
    own = [
        (pipeline, use)
        for pipeline in pipelines(task)
        for use in pipeline.metrics
        if metric(use.name).asks in {ask_sandbox, ask_code_eval}
    ]
    programs = [(pipeline.filters, use.args) for pipeline, use in own]
    return [one for place, one in enumerate(own) if programs[place] not in programs[:place]]


def has_trials(prepared: PreparedDataset) -> bool:
    return any(own_uses(task) for task in prepared.tasks)


def trials(task: TaskSpec, problem: Problem) -> Iterator[Trial | str]:
    """The trials of one problem; a text is an objection that needs no trial."""
    for pipeline, use in own_uses(task):
        asks: Any = metric(use.name).asks
        nothing: Program = asks("", problem, **use.args)
        empty = msgspec.structs.replace(nothing, code="", reference="")
        must_fail = Trial(empty, passes=False, objection="its tests pass for an empty program")
        if not nothing.tests.strip():
            yield "it has no tests"
        elif "{answer}" not in f"{use.args.get('code', '{answer}')}{use.args.get('tests', '')}":
            yield "'code' has no {answer}, so that no reply would be run"
        elif nothing.reference:
            solution = msgspec.structs.replace(nothing, code=nothing.reference)
            yield _of_solution(task, problem, pipeline, use, solution)
            if nothing.language != "python" or isinstance(nothing, CaseProgram):  # else the sandbox breaks the solution
                yield must_fail
        else:
            yield must_fail
            if not isinstance(nothing, CaseProgram):
                yield from _of_tests(nothing)


def _of_solution(
    task: TaskSpec, problem: Problem, pipeline: Pipeline, use: MetricUse, solution: Program
) -> Trial | str:
    """It must pass, and be read out of a reply that is no more than its block."""
    names = ", ".join(step.name for step in pipeline.filters) or "no filter"
    if use.args.get("code", "{answer}") != "{answer}" or any(it.name not in _CODE_FILTERS for it in pipeline.filters):
        return Trial(solution, passes=True)
    tag = solution.language.removesuffix("_test")
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", solution.code)), default=0))  # that none within it ends
    reply = judging.constant_sample(problem, f"{fence}{tag}\n{solution.code}\n{fence}")
    alone = msgspec.structs.replace(pipeline, metrics=(use,))
    card = Scorecard(msgspec.structs.replace(task, parts=(), pipelines=(alone,), scorer=None), 1, (1,))
    asked = [ask for ask in card.asks(msgspec.structs.replace(problem, part=()), [reply]) if isinstance(ask, Program)]
    if not asked:
        return f"{names} sees no program in a reply that is its solution in a ```{tag} block; {_LEAVE_OUT}"
    if asked[0] == solution:
        return Trial(solution, passes=True)
    how = f"its solution passes, but not as {names} reads it out of a reply with a ```{tag} block; {_LEAVE_OUT}"
    return Trial(asked[0], passes=True, objection=how, plain=solution)


def _of_tests(nothing: Program) -> Iterator[Trial]:
    """Without a solution: they can be read, and what gives them nothing does not pass."""
    if nothing.language in _SYNTAX_CHECKS:
        file, command = _SYNTAX_CHECKS[nothing.language]
        check = Program(code="", tests=command, files={file: nothing.tests}, language="bash", limits=nothing.limits)
        yield Trial(check, passes=True, objection=f"its tests are no {nothing.language}")
    if nothing.language != "python":
        return
    if parse(nothing.tests) is None:
        # This program's Python cannot read them; that of the sandbox may be newer.
        code = f"def source():\n    return {nothing.tests!r}\n"
        check = Program(code=code, tests="compile(source(), 'tests', 'exec')", entry_points=("source",))
        yield Trial(check, passes=True, objection="its tests are no Python")
    if names := [name for name in nothing.entry_points if name.isidentifier()] or called_names(nothing.tests):
        stub = "".join(f"def {name}(*args, **kwargs):\n    return object()\n" for name in names)
        objection = f"its tests pass for {', '.join(names)} that only return object()"
        yield Trial(msgspec.structs.replace(nothing, code=stub), passes=False, objection=objection)


# Programs to run before anything is asked: a sandbox where even the reference solution fails can judge nothing.


_LIBRARIES = """
def missing():
    from importlib.util import find_spec
    return [name for name in {names!r} if find_spec(name) is None]
"""

_NOTHING = "```\npass\n```"
"""What stands for the solution of a benchmark that has none: every way of reading code finds it."""
_EMPTY = {
    "bash": ("bash", ""),
    "cpp": ("cpp", "int main() {}"),
    "go_test": ("go", "package main\nfunc main() {}"),
    "java_problem": (
        "java_problem", "import org.javatuples.*;\nclass Problem { public static void main(String[] words) {} }"
    ),
    "javascript": ("javascript", ""),
    "perl": ("perl", "use Test::Deep;"),
    "python": ("python", ""),
    "rust": ("rust", "fn main() {}"),
}  # fmt: skip
"""How a program is run → the same for one that prints nothing, and that program, with the libraries of its tests."""
_ONE_CASE = '{"cases": [[{"input": "", "output": ""}]], "checker": "exact"}'


def runs_programs(prepared: PreparedDataset) -> bool:
    """Whether judging the dataset needs a sandbox."""
    card = Scorecard(prepared.task, 1, (1,))
    return any(
        isinstance(ask, Program) for first in prepared.problems[:1] for ask in card.asks(first, [_reference(first)])
    )


def probes(prepared: PreparedDataset) -> list[Program]:
    """The first problem's reference solution with its tests, and a check for the libraries that the problems name.

    Only published benchmarks have probes: the right answer of a user's own task need not be a program. A benchmark
    without solutions has an empty program in its language, for which compilers must be there.
    """
    has_tests = any(metric(use.name).asks is ask_tests for use in metric_uses(prepared.task))
    if not has_tests or not prepared.problems:
        return []
    card, first = Scorecard(_tests_alone(prepared.task), 1, (1,)), prepared.problems[0]
    solved = [ask for ask in card.asks(first, [_reference(first)]) if isinstance(ask, Program)]
    if not first.references[0] and solved:
        language, code = _EMPTY[solved[0].language]
        solved = [CaseProgram(code=code, tests=_ONE_CASE, language=language, limits=solved[0].limits)]
    names = {name for problem in prepared.problems for name in _listed(problem.extras.get("libs", []))}
    tests = "assert missing() == [], 'the image lacks ' + ', '.join(missing())\n"
    libraries = Program(code=_LIBRARIES.format(names=sorted(names)), tests=tests, entry_points=("missing",))
    return [libraries, *solved] if names else solved


def _tests_alone(task: TaskSpec) -> TaskSpec:
    """The task without shown examples, which may be wrong: then even its own solution fails them."""
    pipelines = tuple(
        msgspec.structs.replace(
            pipeline, metrics=tuple(use for use in pipeline.metrics if metric(use.name).asks is ask_tests)
        )
        for pipeline in task.pipelines
    )
    return msgspec.structs.replace(task, pipelines=pipelines)


def _reference(first: Problem) -> Attempt:
    return judging.constant_sample(first, first.references[0] or _NOTHING)


def _listed(source: str | list[str]) -> list[str]:
    """The hub's copy of BigCodeBench stores the list as a text in Python's notation."""
    return [str(name) for name in (ast.literal_eval(source) if isinstance(source, str) else source)]
