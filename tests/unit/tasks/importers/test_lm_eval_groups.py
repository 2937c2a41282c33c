"""Files that include files, folders that hold tasks, groups and tags that stand for several."""

import pytest
from tests.fake_ports import MemoryTaskFiles

from model_accuracy_eval.errors import BadData, UnknownName, Unsupported
from model_accuracy_eval.records import GroupMean
from model_accuracy_eval.tasks.importers import lm_eval_tasks
from model_accuracy_eval.tasks.importers.lm_eval_files import PythonReference, load
from model_accuracy_eval.tasks.importers.lm_eval_tasks import TaskIndex

BASE = b"""
dataset_path: own/sums
test_split: test
doc_to_text: "{{q}}"
doc_to_target: "{{a}}"
metric_list: [{metric: exact_match}]
"""
FILES = MemoryTaskFiles(
    {
        "t/_base_yaml": BASE + b"tag: sums\n",
        "t/one.yaml": b"include: _base_yaml\ntask: one\ndescription: First.\n",
        "t/two.yaml": b'include: _base_yaml\n"task": "two"\nnum_fewshot: 0\n',
        "t/all.yaml": b"""
group: all
task: [one, {task: two, description: Second., gen_prefix: So it is, num_fewshot: 2}, {group: inner, task: [one]}]
gen_prefix: It is
aggregate_metric_list: [{metric: exact_match, weight_by_size: false, filter_list: none}]
""",
        "t/bad.yaml": b"group: bad\ntask: [one, judged, {task: seen, doc_to_audio: x}]\n",
        "t/judged.yaml": b"include: _base_yaml\ntask: judged\nprocess_results: !function utils.judge\ntag: []\n",
        "t/seen.yaml": b"include: _base_yaml\ntask: seen\ntag: []\n",
        "t/lost.yaml": b"group: lost\ntask: [oen]\n",
        "t/round.yaml": b"include: round.yaml\ntask: round\n",
        "t/list.yaml": b"- 1\n",
        "t/broken.yaml": b"task: [\n",
        "t/strange.yaml": b"task: !python/object/apply:os.system [touch /tmp/never]\n",
    }
)
INDEX = TaskIndex(FILES, ("t",))


def test_l42_included_fields_stand_unless_they_are_said_again() -> None:
    """The including file wins, and a function belongs to the folder of the file that names it."""
    fields = load(FILES, "t/two.yaml")
    assert (fields["task"], fields["num_fewshot"], fields["dataset_path"], fields["tag"]) == (
        "two",
        0,
        "own/sums",
        "sums",
    )
    assert load(FILES, "t/judged.yaml")["process_results"] == PythonReference("utils.judge", "t")


@pytest.mark.parametrize(
    ("path", "sentence"),
    [
        ("t/round.yaml", "the file includes itself"),
        ("t/list.yaml", "a task file is a mapping of fields to values, but this one is a list"),
        ("t/broken.yaml", "is no YAML that could be read"),
        ("t/strange.yaml", "is no YAML that could be read: could not determine a constructor"),
        ("t/none.yaml", "There is no task file 't/none.yaml'"),
    ],
)
def test_files_that_cannot_be_used_are_told_by_name(path: str, sentence: str) -> None:
    """No tag of YAML makes anything run."""
    with pytest.raises(BadData, match=sentence):
        load(FILES, path)


def test_l42_tasks_are_found_by_name_and_by_tag() -> None:
    """A tag may be included; what it stands for is sorted by name, and is no group with figures."""
    found = lm_eval_tasks.from_name(INDEX, "two")
    assert found is not None
    assert [one.task.name for one in found.tasks] == ["two"]
    tagged = lm_eval_tasks.from_name(INDEX, "sums")
    assert tagged is not None
    assert ([one.task.name for one in tagged.tasks], tagged.groups) == (["one", "two"], [])
    assert lm_eval_tasks.from_name(INDEX, "three") is None


def test_l35_a_group_overrides_its_members_and_says_how_they_are_averaged() -> None:
    """Fields beside the members hold for all of them, those of a member for it alone."""
    found = lm_eval_tasks.from_file(FILES, "t/all.yaml")
    one, two = (imported.task for imported in found.tasks)
    assert (one.prompt.prefix, one.prompt.description) == ("It is", "First.")
    assert (two.prompt.prefix, two.prompt.description) == ("So it is", "Second.")
    assert two.prompt.fewshot is not None
    assert two.prompt.fewshot.count == 2
    inner, whole = found.groups
    assert (inner.name, inner.members) == ("all::inner", ("one",))
    assert (whole.name, whole.members) == ("all", ("one", "two", "all::inner"))
    assert whole.means == (GroupMean(metric="exact_match", pipelines=("none",), weight_by_size=False),)


def test_every_member_that_cannot_be_imported_is_told() -> None:
    """With its name and its reasons, all in one error."""
    with pytest.raises(Unsupported) as error:
        lm_eval_tasks.from_file(FILES, "t/bad.yaml")
    assert len(error.value.reasons) == 2
    assert "'judged' cannot be imported: process_results is Python" in error.value.reasons[0]
    assert "'seen' cannot be imported: it plays sounds" in error.value.reasons[1]


def test_a_member_that_is_not_there_is_answered_with_the_nearest() -> None:
    """The sentence names the group too."""
    with pytest.raises(UnknownName, match=r"no task, group or tag called 'oen' for the group 'lost'; did you mean one"):
        lm_eval_tasks.from_file(FILES, "t/lost.yaml")
