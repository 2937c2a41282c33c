"""What task files of lm-eval 0.5 say and those of 0.4 cannot."""

from typing import Any

import pytest
import yaml
from tests.fake_ports import MemoryTaskFiles

from model_accuracy_eval.errors import Unsupported
from model_accuracy_eval.records import PreparedDataset
from model_accuracy_eval.scoring.metrics.metric_table import pipelines
from model_accuracy_eval.tasks import preparation
from model_accuracy_eval.tasks.importers.lm_eval_tasks import convert
from model_accuracy_eval.tasks.library import Library
from model_accuracy_eval.tasks.prompts import answer_key_to_index

FIELDS: dict[str, Any] = {"task": "own", "dataset_path": "own/rows", "test_split": "test"}
ROW = {"q": "What floats?", "options": ["a stone", "a cork"], "key": "B", "name": "Ann"}


def built(shots: list[dict[str, Any]] | None = None, **fields: Any) -> PreparedDataset:
    return preparation.build(convert({**FIELDS, **fields}).task, [ROW], shots or [], None)


def test_multiple_inputs_weigh_one_ending_after_several_contexts() -> None:
    """doc_to_text lists the contexts, doc_to_choice the ending, doc_to_target the place of the right one."""
    (problem,) = built(
        output_type="multiple_choice", multiple_inputs=True, doc_to_text="options", doc_to_choice=["{{name}} said so."],
        doc_to_target="{{key | answer_key_to_index}}", metric_list=[{"metric": "acc"}],
    ).problems  # fmt: skip
    assert [(one.context, one.continuation) for one in problem.candidates] == [
        ("a stone", " Ann said so."),
        ("a cork", " Ann said so."),
    ]
    assert problem.gold == (1,)


@pytest.mark.parametrize(("told", "references"), [({}, ("A", "B")), ({"multiple_targets": False}, ("['A', 'B']",))])
def test_a_list_is_one_text_where_the_file_says_so(told: dict[str, Any], references: tuple[str, ...]) -> None:
    """Without a word about it, a text that reads as a list is several right answers, as in 0.4."""
    (problem,) = built(doc_to_text="q", doc_to_target="{{['A', 'B']}}", **told).problems
    assert problem.references == references


def test_entries_of_a_list_may_be_templates() -> None:
    """Options and right answers that are written down one by one."""
    (problem,) = built(doc_to_text="q", doc_to_target=["{{name}}", "{{options[1]}}", 'so "plain"']).problems
    assert problem.references == ("Ann", "a cork", 'so "plain"')


def test_templates_list_options_behind_letters() -> None:
    """With the parting and the style that the template wants."""
    (problem,) = built(doc_to_text="{{options | letter_choices(sep=' ', style=') ')}}", doc_to_target="key").problems
    assert problem.messages[0].content == "A) a stone B) a cork"


@pytest.mark.parametrize(
    ("key", "labels", "place"), [(" B ", None, 1), ("b", None, 1), ("3", None, 2), (3, ["1", "3"], 1)]
)
def test_the_place_of_an_answer_s_key(key: str | int, labels: list[str] | None, place: int) -> None:
    """Among its labels; without these a letter counts from A, and a number from 1."""
    assert answer_key_to_index(key, labels) == place


def test_an_example_whose_answer_is_empty_shows_none() -> None:
    """An empty doc_to_target of the examples' own: their question tells the answer already, and ends as it ends."""
    shown = {"split": "dev", "sampler": "first_n", "doc_to_text": "{{q}} {{key}}.\n\n", "doc_to_target": ""}
    fields = {"doc_to_text": "q", "doc_to_target": "key", "num_fewshot": 1, "fewshot_config": shown}
    (problem,) = built([{**ROW, "q": "What sinks?", "key": "A"}], **fields).problems
    assert problem.messages[0].content == "What sinks? A.\n\nWhat floats?"


CHOICE = {"output_type": "multiple_choice", "doc_to_text": "q", "doc_to_choice": "options", "doc_to_target": 1}


@pytest.mark.parametrize("told", ["generate", {"type": "generate"}, {"generate": None, "mcqa": {}}])
def test_a_file_says_in_which_format_it_is_asked(told: Any) -> None:
    """By a name, by an entry's type, or by the first of several; `name@format` chooses another one."""
    files = MemoryTaskFiles({"t.yaml": yaml.safe_dump({**FIELDS, **CHOICE, "formats": told}).encode()})
    library = Library(lambda path: b"", files)
    (task,) = library.find("t.yaml").tasks
    assert (task.name, task.kind) == ("own", "generate")
    (other,) = library.find("t.yaml@mcqa").tasks
    assert (other.name, other.kind) == ("own@mcqa", "choice")


@pytest.mark.parametrize(
    ("told", "reason"),
    [
        ({"formats": "poem"}, "its format 'poem' is none of cloze, mcqa, generate, cot"),
        (
            {"formats": {"type": "mcqa", "instruction": "Choose."}},
            "its format 'mcqa' has words of its own (instruction)",
        ),
        ({"scorer": "ChoiceMatchScorer"}, "its scorer is ChoiceMatchScorer, which is called 'choice_match' here"),
        ({"metric_list": [{"metric": "wer"}]}, "if the evaluate library has it, write hf_evaluate: true beside it"),
    ],
)
def test_what_is_called_otherwise_is_answered_with_its_name(told: dict[str, Any], reason: str) -> None:
    """Scorers by lm-eval's classes, metrics that only another library has, formats with words of their own."""
    with pytest.raises(Unsupported) as error:
        convert({**FIELDS, "doc_to_text": "q", "doc_to_target": "key", **told})
    assert reason in error.value.sentence


def test_examples_are_turns_where_the_file_says_so() -> None:
    """The description becomes the system message, as in lm-eval's chats."""
    shots = {"num_fewshot": 1, "fewshot_split": "dev", "description": "Be brief.", "fewshot_as_multiturn": True}
    (problem,) = built([{**ROW, "q": "What sinks?"}], doc_to_text="q", doc_to_target="key", **shots).problems
    assert [(turn.role, turn.content) for turn in problem.messages] == [
        ("system", "Be brief."),
        ("user", "What sinks?"),
        ("assistant", "B"),
        ("user", "What floats?"),
    ]


def test_texts_whose_likelihood_is_asked_have_a_perplexity() -> None:
    """Beside those of words and bytes."""
    task = convert({**FIELDS, "output_type": "loglikelihood_rolling", "doc_to_text": "", "doc_to_target": "q"}).task
    assert [use.name for use in pipelines(task)[0].metrics][-1] == "perplexity"
