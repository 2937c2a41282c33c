"""Whatever `--datasets` may name → tasks, and tasks in our own spelling."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.fake_ports import MemoryTaskFiles
from tests.small_task import small_task

from model_accuracy_eval.benchmarks import dataset_table as tasks
from model_accuracy_eval.errors import BadValue, EvalError, UnknownDataset, UnknownName
from model_accuracy_eval.records import FewShot, GroupMean, PreparedDataset, Prompt, TaskGroup, TaskSpec
from model_accuracy_eval.scoring.filters import filters
from model_accuracy_eval.scoring.metrics.metric_table import pipelines
from model_accuracy_eval.tasks import addresses, preparation, task_file
from model_accuracy_eval.tasks.library import Library
from model_accuracy_eval.tasks.task_file import from_fields

LM_EVAL = b"""
task: gsm8k
dataset_path: own/sums
test_split: test
doc_to_text: "{{q}}"
doc_to_target: "{{a}}"
should_decontaminate: true
"""
OURS = b"""
name: own_sums
data: sums.jsonl
prompt: {question: "{{ q }}"}
reference: "{{ a }}"
pipelines:
  - filters: [strip_thoughts, {name: regex, args: {regex_pattern: x}}]
    metrics: [exact_match]
"""
ROWS = {"own.jsonl": b'{"question": "1+1", "answer": "2"}\n'}
FILES = MemoryTaskFiles({"lm/gsm8k.yaml": LM_EVAL, "own.yaml": OURS, "two/own.yaml": OURS.replace(b"sums.", b"more.")})
LIBRARY = Library(ROWS.__getitem__, FILES, ("lm",))


def test_names_files_and_folders_are_told_apart() -> None:
    """A task of the user's folders comes before one of the table that has its name."""
    found = LIBRARY.find_all(["gsm8k", "own.yaml", "own.jsonl", "demo_gsm8k", "own.yaml"]).tasks
    assert [task.name for task in found] == ["gsm8k", "own_sums", "own", "demo_gsm8k"]
    assert found[0].data.name == "own/sums/test"
    assert LIBRARY.find("lm/gsm8k.yaml").ignored == ("gsm8k: should_decontaminate",)
    assert Library(ROWS.__getitem__, FILES).find("gsm8k").tasks == (tasks.find("gsm8k"),)


def test_two_tasks_of_one_name_are_refused() -> None:
    """Their reports would be one file."""
    with pytest.raises(BadValue, match="Two of the datasets are called 'own_sums'"):
        LIBRARY.find_all(["own.yaml", "two/own.yaml"])


def test_what_nobody_knows_is_answered_with_the_nearest() -> None:
    """After the folders the table has been asked."""
    with pytest.raises(UnknownDataset, match="no dataset called 'gsm9k'"):
        LIBRARY.find("gsm9k")


def test_names_alone_are_enough_where_there_are_no_arguments() -> None:
    """Files, filters and metrics."""
    (task,) = LIBRARY.find("own.yaml").tasks
    (pipeline,) = task.pipelines
    assert (task.data.name, [step.name for step in pipeline.filters]) == ("sums.jsonl", ["strip_thoughts", "regex"])
    assert pipeline.filters[1].args == {"regex_pattern": "x"}


@given(st.sampled_from(sorted(tasks.TASKS)))
def test_every_task_of_the_table_can_be_written_as_yaml(name: str) -> None:
    """What `tasks show` prints is a task file."""
    task = tasks.find(name)
    written = task_file.shown(task)
    assert written.startswith("name: ")
    assert from_fields("x.yaml", yaml.safe_load(written)) == task


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"refrence": "x"}, "There is no field called 'refrence' in x.yaml; did you mean reference"),
        ({"prompt": {"qestion": "x"}}, "There is no field called 'qestion' in x.yaml, prompt; did you mean question"),
        (
            {"prompt": {"question": "x", "fewshot": {"count": 1, "sample": "first"}}},
            "called 'sample' in x.yaml, prompt.fewshot; did you mean sampler",
        ),
        ({"pipelines": [{"filter": []}]}, "called 'filter' in x.yaml, pipelines[0]; did you mean filters"),
        ({"max_tokens": "many"}, "x.yaml: expected 'int', got 'str', in max_tokens."),
        ({"kind": "guess"}, "x.yaml: invalid enum value 'guess', in kind."),
        ({"reference": None}, "x.yaml: expected 'str', got 'null', in reference."),
    ],
)
def test_a_field_that_is_wrong_is_told_with_its_place(changed: dict[str, Any], sentence: str) -> None:
    """File, place, and the nearest field that there is."""
    fields = {"name": "x", "data": "x.jsonl", "prompt": {"question": "x"}, "reference": "x", **changed}
    with pytest.raises((BadValue, UnknownName)) as error:
        from_fields("x.yaml", fields)
    assert sentence in error.value.sentence


def test_a_field_that_is_missing_is_told() -> None:
    """Only `about` and `fields` may be left out of those without a default."""
    with pytest.raises(BadValue, match="x.yaml: object missing required field 'prompt'"):
        from_fields("x.yaml", {"name": "x", "data": "x.jsonl", "reference": "x"})
    assert isinstance(
        from_fields("x", {"name": "x", "data": "d", "reference": "", "prompt": {"question": ""}}), TaskSpec
    )


def test_a_prompt_of_the_table_comes_before_a_format() -> None:
    """`mmlu@cot` is the dataset in other words; a task in the user's own folder is asked in lm-eval's format."""
    assert LIBRARY.find("MMLU@cot").tasks == (tasks.find("mmlu@cot"),)
    assert LIBRARY.find("mmlu@simple-evals").tasks[0].prompt_of == "simple-evals"
    own = FILES.files | {"lm/mmlu.yaml": CHOICE}
    (found,) = Library(ROWS.__getitem__, MemoryTaskFiles(own), ("lm",)).find("mmlu@cot").tasks
    assert found.data.name == "own/choices/test"
    with pytest.raises(UnknownDataset, match="The dataset 'mmlu' has no prompt called 'xyz'; there are: mmlu@cot, "):
        LIBRARY.find("mmlu@xyz")


CHOICE = b"""
task: mmlu
dataset_path: own/choices
test_split: test
output_type: multiple_choice
doc_to_text: "{{q}}"
doc_to_choice: ["a", "b"]
doc_to_target: "{{a}}"
"""


def test_functions_are_looked_for_beside_their_task_file() -> None:
    """First there, else in the current folder; the report names them as the file does."""
    source = OURS.replace(b"[exact_match]", b"['own.py:one', {name: pairs, aggregation: 'there.py:all'}]")
    source = source.replace(b"strip_thoughts,", b"'own.py:read',")
    files = MemoryTaskFiles({"two/own.yaml": source, "two/own.py": b""})
    ((pipeline,),) = (one.pipelines for one in Library(ROWS.__getitem__, files, ()).find("two/own.yaml").tasks)
    assert pipeline.filters[0].name == "two/own.py:read"
    assert [(use.name, use.label, use.aggregation) for use in pipeline.metrics] == [
        ("two/own.py:one", "own.py:one", None),
        ("pairs", "", "there.py:all"),
    ]


# `name@format`: one dataset of options in four manners.


OPTIONS = [{"q": "Sky?", "options": ["red", "blue"], "a": 1}, {"q": "Grass?", "options": ["green", "black"], "a": 0}]


def in_format(form: str, reference: str = "{{ a }}", **more: Any) -> PreparedDataset:
    task = small_task(
        "colours",
        reference=reference,
        prompt=Prompt(question="{{ q }}", **more),
        kind="choice",
        choices="{{ options | tojson }}",
    )
    return preparation.build(addresses.task_in_format(task, form), OPTIONS, [], None)


def test_l41_cloze_weighs_texts_and_mcqa_letters() -> None:
    """Behind the bare question, and behind one that lists the options."""
    first = in_format("cloze").problems[0]
    assert [(one.context, one.continuation) for one in first.candidates] == [("Sky?", " red"), ("Sky?", " blue")]
    found = in_format("mcqa")
    listed = "Sky?\nA. red\nB. blue\nAnswer:"
    assert [(one.context, one.continuation) for one in found.problems[0].candidates] == [(listed, " A"), (listed, " B")]
    assert [problem.gold for problem in found.problems] == [(1,), (0,)]
    assert found.problems[0].messages[0].content == listed
    assert found.task.name == "colours@mcqa"


@pytest.mark.parametrize("reference", ["{{ a }}", "{{ options[a] }}", "{{ 'AB'[a] }}", "[{{ a }}]"])
@pytest.mark.parametrize("form", ["generate", "cot"])
def test_l41_a_letter_is_generated_however_the_task_spells_what_is_right(form: str, reference: str) -> None:
    """The prompt says how the reply must end, and the last such ending is read."""
    found = in_format(form, reference)
    problem = found.problems[0]
    asked = problem.messages[0].content
    assert asked.startswith("Sky?\nA. red\nB. blue\n")
    assert "The best answer is [letter]" in asked
    assert ("Think step by step." in asked) == (form == "cot")
    assert [one.references for one in found.problems] == [("B",), ("A",)]
    (pipeline,) = pipelines(found.task)
    replies: filters.FilteredAnswers = [
        "The best answer is A? No. The best answer is **B**.",
        "the best answer is: (B)",
        "B",
    ]
    assert filters.run(pipeline.filters, replies, problem) == ["B", "B", None]


def test_l41_examples_are_shown_in_the_same_manner() -> None:
    """Options listed, and the reply as it is wanted."""
    shown = in_format("generate", fewshot=FewShot(count=1, turns=False)).problems[0].messages[0].content
    assert shown.startswith("Grass?\nA. green\nB. black\n")
    assert "The best answer is A." in shown


def test_l41_groups_follow_their_members() -> None:
    """Under names of the format, with the figure that the format has."""
    group = TaskGroup(name="all", members=("x", "y"), means=(GroupMean(metric="acc", weight_by_size=False),))
    assert addresses.group_in_format(group, "mcqa").means == group.means
    made = addresses.group_in_format(group, "cot")
    assert (made.name, made.members) == ("all@cot", ("x@cot", "y@cot"))
    assert made.means == (GroupMean(metric="exact_match", weight_by_size=False),)


def test_a_task_without_options_has_no_formats() -> None:
    """The sentence names both."""
    plain = small_task("sums", reference="1")
    with pytest.raises(BadValue, match="sums has no options, so it cannot be asked as 'mcqa'"):
        addresses.task_in_format(plain, "mcqa")


# The published schema of task files and their reader: what the one takes, the other takes, too.


SCHEMA = json.loads((Path(__file__).parents[3] / "docs/reference/task.schema.json").read_bytes())
TASK = {
    "name": "sums",
    "about": "Sums.",
    "data": {"name": "sums.jsonl"},
    "fields": ["question"],
    "prompt": {"question": "{{ question }}"},
    "reference": "{{ solution }}",
}
EXEC = {
    "tests": "{checks}",
    "solution": "{solution}",
    "entry_points": ["total"],
    "files": {"data/cities.csv": "name,people\n"},
    "mode": "shared",
    "seconds": 3.5,
    "filters": [{"name": "python_code"}],
}


def fits(task: dict[str, Any]) -> bool:
    return jsonschema.Draft202012Validator(SCHEMA).is_valid(task)


def reads(task: dict[str, Any]) -> bool:
    try:
        task_file.from_fields("sums.yaml", task)
    except EvalError:
        return False
    return True


@pytest.mark.parametrize(
    ("more", "taken"),
    [
        ({}, True),
        ({"exec": EXEC}, True),
        ({"exec": {}}, True),
        ({"pipelines": [{"metrics": [{"name": "code"}]}]}, True),
        ({"exec": EXEC, "pipelines": []}, False),
        ({"exec": {**EXEC, "test": "x"}}, False),
        ({"exec": "assert f()"}, False),
        ({"exce": EXEC}, False),
    ],
)
def test_the_schema_takes_what_the_reader_takes(more: dict[str, Any], taken: bool) -> None:
    """`exec` replaces pipelines, with the fields of a program and no other."""
    assert (fits({**TASK, **more}), reads({**TASK, **more})) == (taken, taken)


# `name@tiny`: a sample of a dataset beside whole ones.


def prepared(name: str, limit: int | None = None, count: int = 300) -> PreparedDataset:
    rows = [{"q": f"{number}?", "a": str(number), "field": "law" if number % 3 else "art"} for number in range(count)]
    library = Library(
        lambda _: json.dumps(rows).encode(),
        MemoryTaskFiles({"own.yaml": OURS.replace(b"reference", b"category: field\nreference")}),
    )
    (task,) = library.find(name).tasks
    return preparation.assemble(task, lambda _file, _fields: rows, limit)


def test_tiny_is_the_sample_of_a_hundred() -> None:
    """The problems that `--limit 100` asks, with each part's share, under a name of their own; fewer with a limit."""
    tiny, sample = prepared("own.yaml@tiny"), prepared("own.yaml", limit=100)
    assert (tiny.task.name, tiny.draw, tiny.problems) == ("own_sums@tiny", sample.draw, sample.problems)
    assert sorted(Counter(problem.category for problem in tiny.problems).values()) == [33, 67]
    assert prepared("own.yaml@tiny", limit=20).problems == prepared("own.yaml", limit=20).problems


def test_tiny_of_a_tiny_dataset_is_refused() -> None:
    """It would be called a sample, and be everything."""
    assert len(prepared("own.yaml@tiny", count=100).problems) == 100
    with pytest.raises(
        BadValue, match="own_sums@tiny is a sample of 100 problems, but there are only 99: ask them all"
    ):
        prepared("own.yaml@tiny", count=99)


def test_groups_and_formats_have_samples_too() -> None:
    """The group's mean is that of its members' samples."""
    found = LIBRARY.find("arc@tiny")
    assert [task.name for task in found.tasks] == ["arc_easy@tiny", "arc_challenge@tiny"]
    assert found.groups == (
        replace(tasks.GROUPS["arc"], name="arc@tiny", members=("arc_easy@tiny", "arc_challenge@tiny")),
    )
    (lettered,) = LIBRARY.find("arc_easy_choice@mcqa@tiny").tasks
    assert (lettered.name, lettered.slice.sample) == ("arc_easy_choice@mcqa@tiny", 100)
