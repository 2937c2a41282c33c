"""A row → the conversation that is sent."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.small_task import small_task

from model_accuracy_eval.benchmarks.prompt_parts import without_calculator
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import DataFile, FewShot, Prompt
from model_accuracy_eval.tasks import preparation, prompts


@given(st.text(st.characters(codec="utf-8")))
def test_a_field_is_sent_as_it_is(text: str) -> None:
    """No escaping, no lost newline at the end."""
    assert prompts.render("{{ field }}", {"field": text}, "here") == text


@given(st.text(), st.text())
def test_after_takes_what_stands_behind_the_last_marker(before: str, answer: str) -> None:
    """Without blanks around it; without a marker it is the whole text."""
    assert prompts.after(f"{before}#### {answer}", "####") == answer.rpartition("####")[2].strip()
    assert prompts.after(" 7 ", "####") == "7"


def test_calculator_notes_are_removed() -> None:
    """All of them, and nothing else: comparisons stay."""
    assert without_calculator("3*4=<<3*4=12>>12 and 2<3, 12/3=<<12/3=4.0>>4") == "3*4=12 and 2<3, 12/3=4"


def test_a_template_without_its_field_is_an_error() -> None:
    """Not an empty prompt; the sentence names row, template and field."""
    with pytest.raises(
        BadData, match=r"a\.jsonl, row 2: the template '\{\{ qestion \}\}' cannot be filled: 'qestion' is"
    ):
        prompts.render("{{ qestion }}", {"question": "?"}, "a.jsonl, row 2")


@pytest.mark.parametrize(
    "template",
    [
        "{{ ''.__class__.__mro__ }}",
        "{{ ''.__class__.__mro__[1].__subclasses__() }}",
        "{{ field.__init__.__globals__ }}",
        "{{ ''['__class__'].__base__ }}",
        "{{ ''|attr('__class__') }}",
        "{{ '{0.__class__.__mro__}'.format(field) }}",
        "{% import 'os' as os %}",
        "{% include '/etc/passwd' %}",
        "{{ field | no_such_filter }}",
        "{{ field",
        "{{ number | after('#') }}",
    ],
)
def test_templates_cannot_reach_out(template: str) -> None:
    """Attributes of Python objects, imports and unknown filters are refused, each with a sentence."""
    with pytest.raises(BadData, match="cannot be filled"):
        prompts.render(template, {"field": "x", "number": 7}, "here")


@pytest.mark.parametrize("template", ["{{ A }}", '{"a": 1}', "[1]", ""])
def test_choices_that_are_no_list_of_texts_are_refused(template: str) -> None:
    """The sentence names the row and the template."""
    with pytest.raises(BadData, match="here: the template .* must give a JSON list of texts"):
        prompts.listed(template, {"A": "x"}, "here")


def test_a_conversation_has_its_turns_in_order() -> None:
    """System message if any, each example as question and answer, then the question."""
    fewshot = FewShot(data=DataFile(name="train.jsonl"), count=2)
    prompt = Prompt(question="{{ q }}?", answer="{{ a }}!", system="Be brief about {{ q }}.", fewshot=fewshot)
    shots = [prompts.shot(prompt, {"q": str(number), "a": str(-number)}, "there") for number in (1, 2)]
    sent = prompts.conversation(prompt, "9?", {"q": "9", "a": "-9"}, shots, "here")
    assert [(turn.role, turn.content) for turn in sent] == [
        ("system", "Be brief about 9."),
        ("user", "1?"),
        ("assistant", "-1!"),
        ("user", "2?"),
        ("assistant", "-2!"),
        ("user", "9?"),
    ]


def test_a_bad_example_is_told_from_a_bad_row() -> None:
    """The sentence names the file of examples and which of them."""
    prompt = Prompt(question="{{ q }}", answer="{{ a }}", fewshot=FewShot(data=DataFile(name="train.jsonl"), count=2))
    task = small_task("sums", prompt=prompt, reference="{{ a }}", fields=("q",))
    with pytest.raises(BadData, match=r"train\.jsonl, example 2: .*'a' is undefined"):
        preparation.build(task, [{"q": "3", "a": "3"}], [{"q": "1", "a": "1"}, {"q": "2"}], None)
