"""Python that task files of lm-eval name, as data: what is written down of it, and what is refused without trust."""

from typing import Any

import pytest
from tests.fake_ports import MemoryTaskFiles

from model_accuracy_eval.errors import BadData, UnknownName, Unsupported
from model_accuracy_eval.records import GroupMean, MetricUse, Recipe, Step, TaskSpec
from model_accuracy_eval.tasks.importers import lm_eval_tasks
from model_accuracy_eval.tasks.importers.lm_eval_files import PythonReference, load
from model_accuracy_eval.tasks.importers.lm_eval_tasks import TaskIndex, convert

FIELDS: dict[str, Any] = {
    "task": "names",
    "dataset_path": "own/names",
    "test_split": "test",
    "doc_to_text": "{{q}}",
    "doc_to_target": "{{a}}",
}


def task(**fields: Any) -> TaskSpec:
    return convert({**FIELDS, **fields}, trusted=True).task


def reasons(*, trusted: bool = True, **fields: Any) -> tuple[str, ...]:
    with pytest.raises(Unsupported) as error:
        convert({**FIELDS, **fields}, trusted=trusted)
    return error.value.reasons


def filtered(*steps: dict[str, Any]) -> dict[str, Any]:
    return {"metric_list": [{"metric": "exact_match"}], "filter_list": [{"name": "read", "filter": list(steps)}]}


@pytest.mark.parametrize("name", ["f1", "acc", "mcc"])
def test_names_of_weighed_options_hand_pairs_of_texts_to_an_aggregation_in_python(name: str) -> None:
    """Under their own names, and without the arguments that nobody looks at; an aggregation of ours has none for texts."""
    given = {"metric": name, "aggregation": PythonReference("utils.share", "/t"), "ignore_case": True}
    (measure,) = task(metric_list=[given]).pipelines[0].metrics
    assert measure == MetricUse(name="pairs", label=name, aggregation="/t/utils.py:share")
    assert reasons(metric_list=[{**given, "aggregation": "f1"}]) == (
        f"its metric '{name}' needs likelihoods of options, but its replies are texts",
    )
    (weighed,) = task(
        output_type="multiple_choice", doc_to_choice=["no", "yes"], doc_to_target=0, metric_list=[given]
    ).pipelines[0].metrics  # fmt: skip
    assert weighed.name == name


def test_pairs_of_tags_are_lists() -> None:
    """Where `regex_pos` reads them; the other pipelines of the task have texts."""
    given = [{"metric": "acc", "aggregation": PythonReference("utils.share", "/t")}]
    tagged = {"name": "tags", "filter": [{"function": "regex_pos"}]}
    plain = {"name": "plain", "filter": [{"function": "format_span"}]}
    first, second = task(metric_list=given, filter_list=[tagged, plain]).pipelines
    assert (first.metrics[0].args, second.metrics[0].args) == ({"listed": True}, {})


def test_a_filter_that_no_table_has_may_be_registered_by_the_tasks_one_module() -> None:
    """Only with trust, and not where several modules might know the name."""
    own = {
        **filtered({"function": "grammar", "clean": "plan"}),
        "process_docs": PythonReference("deep.utils.docs", "/t"),
    }
    (step,) = task(**own).pipelines[0].filters
    assert step == Step(name="custom", args={"clean": "plan", "filter_fn": "/t/deep/utils.py:grammar"})
    assert "its filter 'grammar' is not known here" in reasons(trusted=False, **own)
    assert reasons(**{**own, "doc_to_text": PythonReference("other.text", "/t")}) == (
        "its filter 'grammar' is not known here",
    )


@pytest.mark.parametrize(
    "step", [{"function": "/no/such/file.py:read"}, {"function": "custom", "filter_fn": "/no/such/file.py:read"}]
)
def test_a_filter_at_a_path_is_not_even_loaded(step: dict[str, Any]) -> None:
    """To load it would be to run it: with trust it is written down, without trust it is told."""
    assert task(**filtered(step)).pipelines[0].filters[0].args.get("filter_fn") in {None, "/no/such/file.py:read"}
    assert reasons(trusted=False, **filtered(step)) == (
        "its filter '/no/such/file.py:read' is Python, which is run only with --trust-python",
    )


def test_filters_without_a_function_are_told() -> None:
    """And Python among a filter's arguments, which no file could hold."""
    assert reasons(**filtered({"function": "custom"})) == ("its filter 'custom' is not known here",)
    step = {"function": "regex", "regex_pattern": PythonReference("utils.pattern", "/t")}
    assert "an argument of its filter is Python (!function utils.pattern)" in reasons(**filtered(step))


def test_l37_examples_may_be_written_down_by_python() -> None:
    """They are given, not read: process_docs, which is for rows of splits, leaves them alone."""
    shown: dict[str, Any] = {"num_fewshot": 2, "fewshot_config": {"samples": PythonReference("utils.samples", "/t")}}
    pool = task(**shown).prompt.fewshot
    assert pool
    assert pool.data
    assert (pool.data.name, pool.data.recipe) == ("utils.samples()", Recipe(folder="/t", loader="utils.samples"))
    worded = task(
        **shown, process_docs=PythonReference("utils.docs", "/t"), doc_to_text=PythonReference("utils.text", "/t")
    )
    columns = {"doc_to_text": "utils.text"}
    assert worded.data.recipe == Recipe(folder="/t", rows="utils.docs", columns=columns)
    assert worded.prompt.fewshot
    assert worded.prompt.fewshot.data
    assert worded.prompt.fewshot.data.recipe == Recipe(folder="/t", loader="utils.samples", columns=columns)


def test_custom_datasets_are_made_by_python() -> None:
    """Called with what the file says of the data; of its splits the asked one counts, and examples have theirs."""
    own: dict[str, Any] = {
        "dataset_path": None,
        "custom_dataset": PythonReference("utils.load", "/t"),
        "dataset_kwargs": {"length": 8},
        "metadata": {"version": 1},
        "process_docs": PythonReference("utils.docs", "/t"),
        "fewshot_split": "train",
        "num_fewshot": 1,
    }
    found = task(**own)
    given = {"version": 1, "length": 8}
    made = Recipe(folder="/t", loader="utils.load", loader_args=given, split="test", rows="utils.docs")
    assert (found.data.name, found.data.recipe) == ("utils.load()/test", made)
    assert found.prompt.fewshot
    assert found.prompt.fewshot.data
    assert found.prompt.fewshot.data.recipe == Recipe(
        folder="/t", loader="utils.load", loader_args=given, split="train", rows="utils.docs"
    )
    assert "custom_dataset is Python (!function utils.load), which is run only with --trust-python" in reasons(
        trusted=False, **own
    )


PROGRAMS = b"""
task: programs
dataset_path: own/programs
test_split: test
unsafe_code: true
doc_to_text: "{{q}}"
doc_to_target: "{{a}}"
"""
FILES = MemoryTaskFiles(
    {
        "t/base.yaml": PROGRAMS + b"metric_list: [{metric: !function utils.pass_at_k, k: [1, 2]}]\n",
        "t/one.yaml": b"include: base.yaml\nmetric_list: [{metric: !function utils.pass_at_1}]\n",
        "t/own.yaml": b"include: base.yaml\nmetric_list: [{metric: !function own.pass_at_k}]\n",
        "t/words.yaml": b"include: base.yaml\nmetric_list: [{metric: !function utils.lines}]\n",
        "t/rows.yaml": PROGRAMS + b"process_results: !function utils.judge\nmetric_list: [{metric: acc}]\n",
        "t/utils.py": b"import evaluate\nrun = evaluate.load('code_eval')\n",
        "t/own.py": b"def pass_at_k(references, predictions, k): exec(predictions[0][0])  # unlike code_eval\n",
    }
)


@pytest.mark.parametrize(("file", "k"), [("base", (1, 2)), ("one", (1,))])
def test_pass_at_k_of_code_eval_is_ours(file: str, k: tuple[int, ...]) -> None:
    """Nothing of the author's has to be trusted for it."""
    (measure,) = convert(load(FILES, f"t/{file}.yaml")).task.pipelines[0].metrics
    assert measure == MetricUse(name="code_eval", reduction="pass@k", k=k)


@pytest.mark.parametrize(
    ("file", "reason"),
    [
        ("own", "its replies are programs that its own Python runs (unsafe_code)"),
        ("rows", "its replies are programs that its own Python runs (unsafe_code)"),
        ("words", "its replies are programs, but its metric '!function utils.lines' is no pass_at_k"),
    ],
)
def test_programs_that_are_judged_in_another_way_are_refused(file: str, reason: str) -> None:
    """What runs them has to be `code_eval`, and what it says pass@k."""
    with pytest.raises(Unsupported) as error:
        convert(load(FILES, f"t/{file}.yaml"), trusted=True)
    assert reason in error.value.reasons


# Files that include files, folders that hold tasks, groups and tags that stand for several.


BASE = b"""
dataset_path: own/sums
test_split: test
doc_to_text: "{{q}}"
doc_to_target: "{{a}}"
metric_list: [{metric: exact_match}]
"""
GROUP_FILES = MemoryTaskFiles(
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
INDEX = TaskIndex(GROUP_FILES, ("t",))


def test_l42_included_fields_stand_unless_they_are_said_again() -> None:
    """The including file wins, and a function belongs to the folder of the file that names it."""
    fields = load(GROUP_FILES, "t/two.yaml")
    assert (fields["task"], fields["num_fewshot"], fields["dataset_path"], fields["tag"]) == (
        "two",
        0,
        "own/sums",
        "sums",
    )
    assert load(GROUP_FILES, "t/judged.yaml")["process_results"] == PythonReference("utils.judge", "t")


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
        load(GROUP_FILES, path)


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
    found = lm_eval_tasks.from_file(GROUP_FILES, "t/all.yaml")
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
        lm_eval_tasks.from_file(GROUP_FILES, "t/bad.yaml")
    assert len(error.value.reasons) == 2
    assert "'judged' cannot be imported: process_results is Python" in error.value.reasons[0]
    assert "'seen' cannot be imported: it plays sounds" in error.value.reasons[1]


def test_a_member_that_is_not_there_is_answered_with_the_nearest() -> None:
    """The sentence names the group too."""
    with pytest.raises(UnknownName, match=r"no task, group or tag called 'oen' for the group 'lost'; did you mean one"):
        lm_eval_tasks.from_file(GROUP_FILES, "t/lost.yaml")
