"""What a user's code task must show before anything is asked: its solution passes, what is no solution fails.

Published benchmarks are left out: their solutions are run by this project's own tests.
"""

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from model_accuracy_eval.records import MetricUse, Pipeline, PreparedDataset, Problem, TaskSpec
from model_accuracy_eval.records.code import CaseProgram, Execution, Program
from model_accuracy_eval.scoring import conversation_turns
from model_accuracy_eval.scoring.code.code_extractors import CODE_EXTRACTORS
from model_accuracy_eval.scoring.code.syntax import called_names, parse
from model_accuracy_eval.scoring.metrics import metric
from model_accuracy_eval.scoring.metrics.program_metrics import ask_code_eval, ask_sandbox
from model_accuracy_eval.scoring.scorecard import Scorecard
from model_accuracy_eval.scoring.scorers import pipelines

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
_STUB = "def {name}(*args, **kwargs):\n    return object()\n"
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
        nothing = _program(use, problem, "")
        if not nothing.tests.strip():
            yield "it has no tests"
        elif nothing.reference:
            yield from _with_solution(task, problem, pipeline, use, nothing)
        else:
            yield from _without_solution(nothing)


def _program(use: MetricUse, problem: Problem, answer: str) -> Program:
    asks: Any = metric(use.name).asks
    program: Program = asks(answer, problem, **use.args)
    return program


def _with_solution(
    task: TaskSpec, problem: Problem, pipeline: Pipeline, use: MetricUse, nothing: Program
) -> Iterator[Trial | str]:
    """In Python, the sandbox also runs a broken solution, which must fail, before it judges anything."""
    solution = msgspec.structs.replace(nothing, code=nothing.reference)
    takes_all = use.args.get("code", "{answer}") == "{answer}" and all(
        step.name in _CODE_FILTERS for step in pipeline.filters
    )
    if not takes_all:
        yield Trial(solution, passes=True)
    else:
        tag = nothing.language.removesuffix("_test")
        names = ", ".join(step.name for step in pipeline.filters) or "no filter"
        how = f"its solution passes, but not as {names} reads it out of a reply with a ```{tag} block; {_LEAVE_OUT}"
        read = _read(task, problem, pipeline, use, _fenced(nothing.reference, tag))
        if read is None:
            yield f"{names} sees no program in a reply that is its solution in a ```{tag} block; {_LEAVE_OUT}"
        else:
            changed = read != solution
            yield Trial(read, passes=True, objection=how, plain=solution) if changed else Trial(solution, passes=True)
    if nothing.language != "python" or isinstance(nothing, CaseProgram):
        yield _empty(nothing)


def _fenced(code: str, tag: str) -> str:
    """A block that no fence within the code ends."""
    fence = "`" * max(3, 1 + max(map(len, re.findall("`+", code)), default=0))
    return f"{fence}{tag}\n{code}\n{fence}"


def _read(task: TaskSpec, problem: Problem, pipeline: Pipeline, use: MetricUse, reply: str) -> Program | None:
    """The program that a reply becomes."""
    alone = msgspec.structs.replace(
        task, parts=(), pipelines=(msgspec.structs.replace(pipeline, metrics=(use,)),), scorer=None
    )
    asks = Scorecard(alone, 1, (1,)).asks(
        msgspec.structs.replace(problem, part=()), [conversation_turns.constant_sample(problem, reply)]
    )
    return next((ask for ask in asks if isinstance(ask, Program)), None)


def _without_solution(nothing: Program) -> Iterator[Trial]:
    yield _empty(nothing)
    if isinstance(nothing, CaseProgram):
        return
    if nothing.language == "python":
        yield from _of_python_tests(nothing)
    elif nothing.language in _SYNTAX_CHECKS:
        file, command = _SYNTAX_CHECKS[nothing.language]
        check = Program(code="", tests=command, files={file: nothing.tests}, language="bash", limits=nothing.limits)
        yield Trial(check, passes=True, objection=f"its tests are no {nothing.language}")


def _of_python_tests(nothing: Program) -> Iterator[Trial]:
    if parse(nothing.tests) is None:
        # This program's Python cannot read them; that of the sandbox may be newer.
        code = f"def source():\n    return {nothing.tests!r}\n"
        check = Program(code=code, tests="compile(source(), 'tests', 'exec')", entry_points=("source",))
        yield Trial(check, passes=True, objection="its tests are no Python")
    names = [name for name in nothing.entry_points if name.isidentifier()] or called_names(nothing.tests)
    if names:
        stub = "".join(_STUB.format(name=name) for name in names)
        objection = f"its tests pass for {', '.join(names)} that only return object()"
        yield Trial(msgspec.structs.replace(nothing, code=stub), passes=False, objection=objection)


def _empty(nothing: Program) -> Trial:
    program = msgspec.structs.replace(nothing, code="", reference="")
    return Trial(program, passes=False, objection="its tests pass for an empty program")
