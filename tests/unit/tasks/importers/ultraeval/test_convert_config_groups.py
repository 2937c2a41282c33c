"""Task files, lists of tasks and folders of UltraEval as datasets."""

from typing import Any

import msgspec
import pytest
from tests.fake_ports import MemoryTaskFiles
from tests.unit.tasks.importers.ultraeval.test_config_files import FIELDS

from model_accuracy_eval.errors import Unsupported
from model_accuracy_eval.records import GroupMean, TaskGroup
from model_accuracy_eval.tasks.importers import ultraeval_tasks
from model_accuracy_eval.tasks.importers.lm_eval_tasks import ImportedTask
from model_accuracy_eval.tasks.library import Library

ACCURACY = {"accuracy": {"evaluation": {"type": "exact_match"}}}
MEAN = (GroupMean(metric="accuracy", weight_by_size=False),)


def config(task: str, **change: Any) -> dict[str, Any]:
    return (
        FIELDS
        | {"task_name": task, "path": f"datasets/law/data/{task}.jsonl", "transform": "t.py", "metric": ACCURACY}
        | change
    )


WEIGHED = {
    "generate": {"method": "loglikelihood"},
    "postprocess": "",
    "metric": {"acc": {"evaluation": {"type": "log_prob"}}},
}
LIST = msgspec.json.encode([config("law_a_gen"), config("law_b_gen"), config("sea_c_gen")])
FILES = MemoryTaskFiles(
    {
        "u/t.py": b"",
        "u/run.json": LIST,
        "u/datasets/Law/config/a_gen.json": msgspec.json.encode(config("a")),
        "u/datasets/Law/config/b_c_gen.json": msgspec.json.encode(config("b_c")),
        "u/datasets/Law/config/a_ppl.json": msgspec.json.encode(config("a", **WEIGHED)),
        "u/datasets/Law/data/a.json": b"rows",
    }
)
LIBRARY = Library(FILES.read, FILES, ("u",), trusted=True)


def names(tasks: list[ImportedTask]) -> list[str]:
    return [one.task.name for one in tasks]


def test_u2_a_list_is_a_run_with_a_mean_for_every_dataset_of_several_tasks() -> None:
    """Each task weighs the same in it, however many rows it has."""
    found = ultraeval_tasks.from_file(FILES, "u/run.json", LIST, trusted=True)
    assert names(found.tasks) == ["law_a_gen", "law_b_gen", "sea_c_gen"]
    assert found.groups == [TaskGroup(name="law", members=("law_a_gen", "law_b_gen"), means=MEAN)]


def test_u19_the_mean_of_pass_k_is_of_every_k() -> None:
    """By the names that the report has for them."""
    metric = {"pass_k": {"evaluation": {"type": "function_execution"}, "aggregation": {"type": "pass_k"}}}
    both = [
        config(name, metric=metric, generate={"method": "generate", "params": {"sampling_num": 2}})
        for name in ("a", "b")
    ]
    (group,) = ultraeval_tasks.from_file(FILES, "u/run.json", msgspec.json.encode(both), trusted=True).groups
    assert [mean.metric for mean in group.means] == ["pass@1(pass_k)", "pass@2(pass_k)"]


def test_one_bad_task_of_a_list_hides_no_other() -> None:
    """All refusals stand in one sentence, each with its task."""
    data = msgspec.json.encode([config("a", fewshot=-1), config("b"), config("c", postprocess="own")])
    with pytest.raises(Unsupported) as raised:
        ultraeval_tasks.from_file(FILES, "u/run.json", data, trusted=True)
    assert "The task 'run' cannot be imported" in raised.value.sentence
    assert [reason.split("'")[1] for reason in raised.value.reasons] == ["law_a_gen", "law_c_gen"]


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("law_a_gen", ["law_a_gen"]),
        ("law_b-c_gen", ["law_b-c_gen"]),
        ("law_a_ppl", ["law_a_ppl"]),
        ("law", ["law_a_gen", "law_b-c_gen"]),
        ("law_gen", ["law_a_gen", "law_b-c_gen"]),
        ("law_ppl", ["law_a_ppl"]),
    ],
)
def test_u2_tasks_and_datasets_of_a_folder_have_names(name: str, found: list[str]) -> None:
    """A dataset's name alone means its generating tasks, as in UltraEval."""
    collection = ultraeval_tasks.from_name(FILES, ("u",), name, trusted=True)
    assert collection is not None
    assert names(collection.tasks) == found


def test_a_name_that_no_folder_knows_is_left_to_others() -> None:
    """Nothing is found, and nothing but the dataset's own folder was read."""
    assert ultraeval_tasks.from_name(FILES, ("u",), "sea_c_gen") is None
    assert ultraeval_tasks.from_name(FILES, ("u",), "law_z_gen") is None


def test_a_library_knows_files_names_and_groups() -> None:
    """Task files are told from data files by what is in them."""
    assert [task.name for task in LIBRARY.find("u/run.json").tasks] == ["law_a_gen", "law_b_gen", "sea_c_gen"]
    whole = LIBRARY.find_all(["law", "law_ppl"])
    assert [task.name for task in whole.tasks] == ["law_a_gen", "law_b-c_gen", "law_a_ppl"]
    assert [group.name for group in whole.groups] == ["law"]
