"""Right answers are judged right by their own pipelines, or it is said why not."""

import pytest
from tests import dataset_fixtures
from tests.one_of_each import one_of_each

from model_accuracy_eval.benchmarks.dataset_table import TASKS, find
from model_accuracy_eval.records import PreparedDataset
from model_accuracy_eval.scoring.figures.right_answers import RightAnswers
from model_accuracy_eval.tasks import preparation
from model_accuracy_eval.tasks.task_file import from_fields

SERVED = [name for name in TASKS if dataset_fixtures.place(TASKS[name].data).is_file()]


def objections(prepared: PreparedDataset) -> dict[int, str]:
    answers = RightAnswers(prepared)
    return {one.id + 1: said for one in prepared.problems if (said := answers.objection(one))}


def own(answers: list[str], *filters: object, metric: object = "exact_match", **fields: object) -> PreparedDataset:
    spec = from_fields("own.yaml", {
        "name": "own", "data": "own.jsonl", "prompt": {"question": "?"}, "reference": "{{ a }}",
        "pipelines": [{"filters": list(filters), "metrics": [metric]}], **fields,
    })  # fmt: skip
    return preparation.build(spec, [{"a": answer, "options": ["x", "y", "x"]} for answer in answers], [], None)


@pytest.mark.parametrize("name", one_of_each(SERVED))
def test_right_answers_of_known_datasets_are_right(name: str) -> None:
    """Whatever form of reply they ask for, log-likelihoods, function calls and grids included: no false alarm."""
    assert objections(dataset_fixtures.prepared(find(name))) == {}


@pytest.mark.parametrize(
    "pattern", [r"= (\d+)", r"^\[\[(\w+)\]\]$", r"(?i)Final:\s*\**([A-D0-9]+)", r"\{(.+?)\}", r"(\d)"]
)
def test_a_pattern_shows_the_form_that_it_looks_for(pattern: str) -> None:
    """Only where the plain text around its group is known, an answer that it cannot read is wrong."""
    regex = {"name": "regex", "args": {"regex_pattern": pattern}}
    assert objections(own(["7"], regex)) == {}


def test_what_is_wrong_with_it_is_said() -> None:
    """Answers that no filter reads, that are read as something else, or that are empty."""
    regex = {"name": "regex", "args": {"regex_pattern": r"= (\d+)"}}
    assert objections(own(["7", "seven"], regex)) == {2: "nothing is read of a reply '= seven'"}
    assert objections(own(["7", "3.5 kg"], "last_number")) == {
        2: "a reply '3.5 kg' is read as '3.5', and right is '3.5 kg'"
    }
    assert objections(own(["7", " "], "stripped")) == {2: "it is empty, and an empty reply is none"}


def test_an_unknown_form_is_no_fault() -> None:
    """What is behind a pattern that only its author can fill is compared without it."""
    regex = {"name": "regex", "args": {"regex_pattern": r"<(?:a|b)><c+>(\w+)"}}
    assert objections(own(["yes"], regex)) == {}
    assert objections(own(["Yes"], regex, metric="in_match")) == {1: "nothing is read of a reply 'Yes'"}


def test_a_solution_may_stand_for_its_answer() -> None:
    """As in lm-eval's gsm8k: the metric looks at the end of the right answer, and the filter at a sentence of replies."""
    regex = {"name": "regex", "args": {"regex_pattern": r"The answer is (\-?[0-9\.\,]+)."}}
    metric = {"name": "exact_match", "args": {"regexes_to_ignore": [",", r"(?s).*#### ", r"\.$"]}}
    solved = own(["4 + 4 = <<4+4=8>>8, and 8 + 1,000 is\n#### 1,008"], regex, metric=metric)
    assert objections(solved) == {}


def test_two_options_of_one_text_are_one() -> None:
    """The likeliest is the first of them, so the other can never be chosen."""
    choice = {"kind": "choice", "choices": "{{ options | tojson }}", "metric": "acc"}
    assert objections(own(["0", "1", "2"], **choice)) == {
        3: "the option 'x' is not judged right where it is the likeliest, but 'x' is"
    }


def test_each_turn_has_its_own_right_answer() -> None:
    """Of conversations, the turn that is judged."""
    spec = from_fields("own.yaml", {
        "name": "own", "data": "own.jsonl",
        "prompt": {"question": "?", "follow_ups": "{{ ['and?'] | tojson }}"},
        "reference": "", "turn_references": "{{ ['3', b] | tojson }}",
        "pipelines": [{"turn": turn, "filters": ["last_number"], "metrics": ["number"]} for turn in (1, 2)],
    })  # fmt: skip
    assert objections(preparation.build(spec, [{"b": "4"}, {"b": "four"}], [], None)) == {
        2: "nothing is read of a reply 'four'"
    }
