"""`name@format`: one dataset of options in four manners."""

from typing import Any

import pytest

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import DataFile, FewShot, GroupMean, PreparedDataset, Prompt, TaskGroup, TaskSpec
from model_accuracy_eval.scoring.filters import filters
from model_accuracy_eval.scoring.metrics.metric_table import pipelines
from model_accuracy_eval.tasks import addresses, preparation

ROWS = [{"q": "Sky?", "options": ["red", "blue"], "a": 1}, {"q": "Grass?", "options": ["green", "black"], "a": 0}]


def built(form: str, reference: str = "{{ a }}", **more: Any) -> PreparedDataset:
    task = TaskSpec(
        name="colours",
        about="Colours.",
        data=DataFile(name="rows.jsonl"),
        fields=(),
        prompt=Prompt(question="{{ q }}", **more),
        kind="choice",
        choices="{{ options | tojson }}",
        reference=reference,
    )
    return preparation.build(addresses.task_in_format(task, form), ROWS, [], None)


def test_l41_cloze_weighs_texts_and_mcqa_letters() -> None:
    """Behind the bare question, and behind one that lists the options."""
    first = built("cloze").problems[0]
    assert [(one.context, one.continuation) for one in first.candidates] == [("Sky?", " red"), ("Sky?", " blue")]
    found = built("mcqa")
    listed = "Sky?\nA. red\nB. blue\nAnswer:"
    assert [(one.context, one.continuation) for one in found.problems[0].candidates] == [(listed, " A"), (listed, " B")]
    assert [problem.gold for problem in found.problems] == [(1,), (0,)]
    assert found.problems[0].messages[0].content == listed
    assert found.task.name == "colours@mcqa"


@pytest.mark.parametrize("reference", ["{{ a }}", "{{ options[a] }}", "{{ 'AB'[a] }}", "[{{ a }}]"])
@pytest.mark.parametrize("form", ["generate", "cot"])
def test_l41_a_letter_is_generated_however_the_task_spells_what_is_right(form: str, reference: str) -> None:
    """The prompt says how the reply must end, and the last such ending is read."""
    found = built(form, reference)
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
    shown = built("generate", fewshot=FewShot(count=1, turns=False)).problems[0].messages[0].content
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
    plain = TaskSpec(
        name="sums", about="Sums.", data=DataFile(name="x"), fields=(), prompt=Prompt(question="?"), reference="1"
    )
    with pytest.raises(BadValue, match="sums has no options, so it cannot be asked as 'mcqa'"):
        addresses.task_in_format(plain, "mcqa")
