"""(answer, problem) → whether it is right, and the group of rows that counts only as a whole."""

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Problem
from model_accuracy_eval.scoring.metrics.exact import exact
from model_accuracy_eval.scoring.metrics.metric_type import Metric
from model_accuracy_eval.scoring.whole_groups import GroupedValue


def whole_group(answer: str, problem: Problem, *, group: str = "group") -> GroupedValue:
    """1 if the answer is one of the references. `group`: the column that says which rows belong together, and how many
    they are, as `tasks.row_groups` writes it."""
    found = problem.extras.get(group)
    if not isinstance(found, dict):
        raise BadData(f"whole_group needs the group of every row, but problem {problem.id} has none in '{group}'.")
    return GroupedValue(exact(answer, problem.references), str(found["name"]), int(found["rows"]))


GROUPED_METRICS = {
    "whole_group": Metric(score=whole_group, reads="answers in their problem", aggregation="whole_groups")
}
