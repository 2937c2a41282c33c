"""`name@format`: a dataset of options, asked in another manner that is made out of its own question and options."""

from collections.abc import Callable

from msgspec.structs import replace

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import GroupMean, Measure, Pipeline, Prompt, Step, TaskGroup, TaskSpec

_LISTED = (
    "{{ _question }}\n"
    "{% for choice in _choices | options %}{{ 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[loop.index0] }}. {{ choice }}\n{% endfor %}"
)
_LETTERS = "{{ ((_right | trim) | letters(_choices | options)) | tojson }}"
_PLACES = "{{ (_right | trim) | places(_choices | options) }}"
_SAID = "The best answer is {{ ((_right | trim) | letters(_choices | options))[0] }}."
_REPLY = 'End your reply with "The best answer is [letter].", where [letter] is the letter of the right option.'
_READ = Pipeline(
    filters=(
        Step(name="strip_thoughts"),
        Step(name="regex", args={"regex_pattern": r"(?i:best answer is)[:\s*(\[]*([A-Z])\b", "group_select": -1}),
    ),
    metrics=(Measure(name="exact_match"),),
)


def asked(task: TaskSpec, form: str) -> TaskSpec:
    """The task in that manner."""
    if task.kind != "choice" or task.choices is None:
        raise BadValue(f"{task.name} has no options to choose among, so that it cannot be asked as '{form}'.")
    return replace(FORMATS[form](task), name=f"{task.name}@{form}")


def grouped(group: TaskGroup, form: str) -> TaskGroup:
    """The group of the tasks in that manner; a format that generates has a figure of its own."""
    means = group.means
    if form in ("generate", "cot"):
        sized = tuple(dict.fromkeys(mean.weight_by_size for mean in means))
        means = tuple(GroupMean(metric="exact_match", weight_by_size=one) for one in sized)
    members = tuple(f"{member}@{form}" for member in group.members)
    return replace(group, name=f"{group.name}@{form}", members=members, means=means)


def _with(task: TaskSpec, template: str) -> str:
    """A template that may speak of the task's question, options and right answer."""
    told = {"_question": task.prompt.question, "_choices": task.choices or "[]", "_right": task.reference}
    return "".join(f"{{% set {name} %}}{source}{{% endset %}}" for name, source in told.items()) + template


def _prompt(task: TaskSpec, ending: str, answer: str = "") -> Prompt:
    """Examples are asked as the question is."""
    shown = task.prompt.fewshot
    return replace(
        task.prompt,
        question=_with(task, _LISTED + ending),
        answer=answer and _with(task, answer),
        lettered="",
        fewshot=shown and replace(shown, question=None),
    )


def _mcqa(task: TaskSpec) -> TaskSpec:
    """Letters are weighed behind a question that lists the options."""
    prompt = _prompt(task, "Answer:")
    choices = _with(task, "{{ 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[:_choices | options | length] | list | tojson }}")
    return replace(
        task, prompt=replace(prompt, lettered=prompt.question), choices=choices, reference=_with(task, _PLACES)
    )


def _generated(task: TaskSpec, ending: str, max_tokens: int) -> TaskSpec:
    return replace(
        task,
        kind="generate",
        prompt=_prompt(task, ending, _SAID),
        references=_with(task, _LETTERS),
        choices=_with(task, "{{ _choices | options | tojson }}"),
        scorer=None,
        pipelines=(_READ,),
        temperature=0.0,
        max_tokens=max_tokens,
        stop=(),
    )


FORMATS: dict[str, Callable[[TaskSpec], TaskSpec]] = {
    "cloze": lambda task: task,
    "mcqa": _mcqa,
    "generate": lambda task: _generated(task, _REPLY, 256),
    "cot": lambda task: _generated(task, f"Think step by step. {_REPLY}", 2048),
}
"""Options' own texts are weighed; their letters are; a letter is said; a letter is said after thinking."""
