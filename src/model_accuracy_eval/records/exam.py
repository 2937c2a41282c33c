"""A task with its rows."""

from model_accuracy_eval.records.base import Record
from model_accuracy_eval.records.problem import Problem
from model_accuracy_eval.records.task import TaskSpec


class Exam(Record, frozen=True, kw_only=True):
    """One dataset ready to be asked: its task, its problems, and what identifies the two."""

    task: TaskSpec
    problems: tuple[Problem, ...]
    version: str
    """Six hex digits over data, prompt and scoring: same version, same question."""
    questions: str
    """Hash over what is sent alone, so that better scoring can be run over old replies."""
