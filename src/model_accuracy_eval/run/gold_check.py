"""Right answers go through their own pipelines before a service is asked: what no reply can answer right is told with
its rows, and a dataset of such rows alone is refused."""

import shlex
from collections.abc import Sequence

from msgspec.structs import replace

from model_accuracy_eval.errors import EvalError, Refused, Stopped
from model_accuracy_eval.ports import Ports
from model_accuracy_eval.records import PreparedDataset, Problem, RunPlan
from model_accuracy_eval.scoring.figures.right_answers import RightAnswers
from model_accuracy_eval.scoring.metrics.metric_table import user_function_paths

_SHOWN = 3


def checked(prepared: PreparedDataset, plan: RunPlan, ports: Ports) -> PreparedDataset:
    """The dataset with what is wrong with its right answers; raises `Refused` where none is judged right."""
    answers, faults = RightAnswers(prepared), dict[int, str]()
    for problem in prepared.problems:
        ports.clock.check()
        if fault := _fault(answers, problem):
            faults[row_number(problem)] = fault
    if not faults:
        return prepared
    (first, example), count = next(iter(faults.items())), len(prepared.problems)
    number, where = f"{len(faults):,} of {count:,}", f" ({listed([*faults])})"
    if len(faults) == count:
        number, where = f"all {count:,}", ""
    told = (
        f"{prepared.task.name}: {number} right answers would themselves be judged wrong{where}, so that no reply to "
        f"{'it' if len(faults) == 1 else 'them'} can be right: in row {first} {example}."
    )
    # What a user's own function says of a bare right answer may be what it is for.
    if len(faults) == count and plan.settings.mode != "eval" and not any(map(user_function_paths, prepared.tasks)):
        raise Refused(f"{told} Mend the answers, or what reads and compares them.", next_step=by_hand(plan))
    ports.progress.say(told)
    return replace(prepared, gold_fault=told)


def _fault(answers: RightAnswers, problem: Problem) -> str:
    try:
        return answers.objection(problem)
    except Stopped:
        raise
    except EvalError as error:
        return error.sentence.rstrip(".")


def row_number(problem: Problem) -> int:
    """As people count the rows of its file."""
    return (problem.id if problem.row is None else problem.row) + 1


def listed(rows: Sequence[int]) -> str:
    more = f" and {len(rows) - _SHOWN:,} more" if len(rows) > _SHOWN else ""
    return f"{'row' if len(rows) == 1 else 'rows'} {', '.join(map(str, rows[:_SHOWN]))}{more}"


def by_hand(plan: RunPlan) -> str:
    """The command that checks the same without a service."""
    folder = ("--data-dir", plan.settings.data_dir) if plan.settings.data_dir else ()
    return f"model-accuracy-eval tasks check {shlex.join((*(plan.settings.datasets or ('TASK_FILE',)), *folder))}"
