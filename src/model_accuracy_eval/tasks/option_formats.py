"""`name@format`: a dataset of options in another format, which is made from its own question and options."""

from collections.abc import Callable

from msgspec.structs import replace

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import GroupMean, MetricUse, Pipeline, Prompt, Step, TaskGroup, TaskSpec

_OPTION_LIST = (
    "{{ _question }}\n"
    "{% for choice in _choices | options %}{{ 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[loop.index0] }}. {{ choice }}\n{% endfor %}"
)
_OPTION_LETTERS = "{{ ((_right | trim) | letters(_choices | options)) | tojson }}"
_POSITIONS = "{{ (_right | trim) | places(_choices | options) }}"
_SOLUTION = "The best answer is {{ ((_right | trim) | letters(_choices | options))[0] }}."
_ENDING = 'End your reply with "The best answer is [letter].", where [letter] is the letter of the right option.'
_PIPELINE = Pipeline(
    filters=(
        Step(name="strip_thoughts"),
        Step(name="regex", args={"regex_pattern": r"(?i:best answer is)[:\s*(\[]*([A-Z])\b", "group_select": -1}),
    ),
    metrics=(MetricUse(name="exact_match"),),
)


def task_in_format(task: TaskSpec, form: str) -> TaskSpec:
    if task.kind != "choice" or task.choices is None:
        raise BadValue(f"{task.name} has no options, so it cannot be asked as '{form}'.")
    return replace(FORMATS[form](task), name=f"{task.name}@{form}")


def group_in_format(group: TaskGroup, form: str) -> TaskGroup:
    """The group with its members in that format. Formats that generate have another metric."""
    means = group.means
    if form in ("generate", "cot"):
        weightings = tuple(dict.fromkeys(mean.weight_by_size for mean in means))
        means = tuple(GroupMean(metric="exact_match", weight_by_size=by_size) for by_size in weightings)
    members = tuple(f"{member}@{form}" for member in group.members)
    return replace(group, name=f"{group.name}@{form}", members=members, means=means)


def _with(task: TaskSpec, template: str) -> str:
    """A template that may use the task's question, options and right answer as variables."""
    variables = {"_question": task.prompt.question, "_choices": task.choices or "[]", "_right": task.reference}
    return "".join(f"{{% set {name} %}}{source}{{% endset %}}" for name, source in variables.items()) + template


def _prompt(task: TaskSpec, ending: str, answer: str = "") -> Prompt:
    """The prompt with the options listed; solved examples are asked in the same way."""
    fewshot = task.prompt.fewshot
    return replace(
        task.prompt,
        question=_with(task, _OPTION_LIST + ending),
        answer=answer and _with(task, answer),
        lettered="",
        fewshot=fewshot and replace(fewshot, question=None),
    )


def _mcqa(task: TaskSpec) -> TaskSpec:
    """The likelihoods of the letters are compared, after a question that lists the options."""
    prompt = _prompt(task, "Answer:")
    choices = _with(task, "{{ 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[:_choices | options | length] | list | tojson }}")
    return replace(
        task, prompt=replace(prompt, lettered=prompt.question), choices=choices, reference=_with(task, _POSITIONS)
    )


def _generated(task: TaskSpec, ending: str, max_tokens: int) -> TaskSpec:
    return replace(
        task,
        kind="generate",
        prompt=_prompt(task, ending, _SOLUTION),
        references=_with(task, _OPTION_LETTERS),
        choices=_with(task, "{{ _choices | options | tojson }}"),
        scorer=None,
        pipelines=(_PIPELINE,),
        temperature=0.0,
        max_tokens=max_tokens,
        stop=(),
    )


FORMATS: dict[str, Callable[[TaskSpec], TaskSpec]] = {
    "cloze": lambda task: task,
    "mcqa": _mcqa,
    "generate": lambda task: _generated(task, _ENDING, 256),
    "cot": lambda task: _generated(task, f"Think step by step. {_ENDING}", 2048),
}
"""cloze compares the likelihoods of the options' texts, mcqa of their letters; generate asks for a letter as a reply,
cot for a letter after step-by-step reasoning."""
