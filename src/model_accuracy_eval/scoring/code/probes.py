"""What is run before anything is asked: a place where even the reference solution fails can judge no program."""

import ast

import msgspec

from model_accuracy_eval.records import Attempt, Exam, TaskSpec
from model_accuracy_eval.records.code import Program
from model_accuracy_eval.scoring.metrics import metric
from model_accuracy_eval.scoring.metrics.tested import ask_tests
from model_accuracy_eval.scoring.scorecard import Scorecard
from model_accuracy_eval.scoring.scorers import measures

_LIBRARIES = """
def missing():
    from importlib.util import find_spec
    return [name for name in {names!r} if find_spec(name) is None]
"""


def runs_programs(exam: Exam) -> bool:
    """Whether judging needs a place to run programs in."""
    card = Scorecard(exam.task, 1, (1,))
    return any(isinstance(ask, Program) for ask in card.asks(exam.problems[0], [_reference(exam)]))


def probes(exam: Exam) -> list[Program]:
    """The first problem's reference solution with its tests, and a look for the libraries that the problems name.

    Own tasks have none: what they call the right answer need not be a program.
    """
    if not any(metric(measure.name).asks is ask_tests for measure in measures(exam.task)):
        return []
    card = Scorecard(_tests_alone(exam.task), 1, (1,))
    solved = [ask for ask in card.asks(exam.problems[0], [_reference(exam)]) if isinstance(ask, Program)]
    return [*_libraries(exam), *solved]


def _tests_alone(task: TaskSpec) -> TaskSpec:
    """Examples that a question shows may be wrong, and then its own solution does not pass them."""
    pipelines = tuple(
        msgspec.structs.replace(
            pipeline, metrics=tuple(one for one in pipeline.metrics if metric(one.name).asks is ask_tests)
        )
        for pipeline in task.pipelines
    )
    return msgspec.structs.replace(task, pipelines=pipelines)


def _reference(exam: Exam) -> Attempt:
    first = exam.problems[0]
    return Attempt(problem=first.id, index=0, text=first.references[0] or "pass")


def _libraries(exam: Exam) -> list[Program]:
    named = {name for problem in exam.problems for name in _listed(problem.extras.get("libs", []))}
    tests = "assert missing() == [], 'the image lacks ' + ', '.join(missing())\n"
    code = _LIBRARIES.format(names=sorted(named))
    return [Program(code=code, tests=tests, entry_points=("missing",))] if named else []


def _listed(source: str | list[str]) -> list[str]:
    """The hub's copy of BigCodeBench writes the list as Python does, within a text."""
    return [str(name) for name in (ast.literal_eval(source) if isinstance(source, str) else source)]
