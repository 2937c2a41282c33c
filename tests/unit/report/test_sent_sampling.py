"""What pages say of the sampling: what requests had, whoever set it."""

from msgspec.structs import replace
from tests.unit.report.test_page import MIXED, dataset_result, report

from model_accuracy_eval.report import remarks


def test_values_of_datasets_are_named_where_they_differ() -> None:
    """A value that holds for all stands alone; of many datasets three are named, the others counted."""
    plan = report(dataset_result(MIXED)).plan
    (task,) = plan.tasks
    assert remarks.sent(plan)["temperature"] == "1"
    cold = [replace(task, name=f"cold{number}", temperature=0.0) for number in range(5)]
    several = remarks.sent(replace(plan, tasks=(task, *cold)))
    assert several["temperature"] == f"1 ({task.name}); 0 (cold0, cold1, cold2 and 2 more)"
    assert several["top_p"] == "1"
    assert remarks.sent(replace(plan, tasks=()))["max_tokens"] == "not sent"
