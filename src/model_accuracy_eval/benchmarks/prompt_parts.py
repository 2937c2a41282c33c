"""What several benchmarks ask in the same words: for a number, for the letter of an option, or for a program.

A program can be asked for by four strategies:
standard   the task, and code alone as the reply
scot       first inputs and outputs, edge cases, the algorithm and its steps; then the code
few-shot   three small solved functions first
cgo        with helper functions, one for each step
"""

import ast
import re
from collections.abc import Iterable, Sequence
from typing import Any

import msgspec

from model_accuracy_eval.records import GroupMean, Media, MetricUse, Pipeline, Prompt, Step, TaskGroup, TaskSpec

NUMBER_ENDING = "Work it out step by step. On the last line write #### followed by the answer as a plain number."

BOXED_ENDING = "Please reason step by step, and put your final answer within \\boxed{}."
"""The words that the cards of Qwen2.5-Math and DeepSeek-R1 recommend, and that EvalScope asks with."""

MATHS_PIPELINES = (
    Pipeline(
        filters=(Step(name="maths_answer"),),
        metrics=(MetricUse(name="math_equal", label="accuracy"),),
    ),
)

SPAN_PIPELINES = (
    Pipeline(
        filters=(Step(name="short_answer"),),
        metrics=(MetricUse(name="squad_em", label="exact_match"), MetricUse(name="squad_f1", label="f1")),
    ),
)
WORDS_OF_THE_PASSAGE = "Answer with words of the passage, as few as hold the answer, and with nothing else."

LETTER_ENDING = "Think it through if you need to, then end with: ANSWER: X (the letter of the right option)."
CHINESE_LETTER_ENDING = "如有需要请先思考，最后一行写：答案：X（X 是正确选项的字母）。"
SHORT_ENDING = "Answer with a single word or phrase."
ONLY_THE_LETTER = "Respond only with the letter of the correct answer."


def other_reading(name: str, *filters: Step, metric: MetricUse) -> Pipeline:
    """A second way to read the replies: one row in the summary, and a note that says how often it differs."""
    return Pipeline(
        name=name,
        filters=(Step(name="strip_thoughts"), *filters),
        metrics=(msgspec.structs.replace(metric, reduction="mean"),),
    )


_NUMBER = MetricUse(name="number", label="accuracy")
NUMBER_PIPELINE = Pipeline(filters=(Step(name="number_answer"),), metrics=(_NUMBER,))
NUMBER_PIPELINES = (
    NUMBER_PIPELINE,
    other_reading("strict-match", Step(name="number_answer", args={"flexible": False}), metric=_NUMBER),
)
"""Also without the last number of a reply that states none."""
_ACCURACY = MetricUse(name="exact", label="accuracy")
LETTER_PIPELINE = Pipeline(
    filters=(Step(name="choice_letter"),),
    metrics=(_ACCURACY,),
)
LETTER_PIPELINES = (
    LETTER_PIPELINE,
    other_reading("flexible-extract", Step(name="choice_letter", args={"by_wording": True}), metric=_ACCURACY),
)

SHORT_FILTERS = (Step(name="strip_thoughts"), Step(name="stripped"))
"""For replies that are the answer and nothing else."""


def kind_pipelines(**args: str) -> tuple[Pipeline, ...]:
    """For datasets of which some rows have options and others do not; a row's `kind` says which."""
    metric = MetricUse(name="equal_in_kind", label="accuracy", args={"contains": True, **args})
    return (Pipeline(filters=(Step(name="answer_in_kind"),), metrics=(metric,)),)


def lettered(options: str, mark: str = ". ") -> str:
    """The template of a list of options, each on a line after its letter; `options` is an expression over the row."""
    letter = "{{ 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[loop.index0] }}"
    return f"{{% for option in {options} %}}\n{letter}{mark}{{{{ option }}}}{{% endfor %}}"


def letter_at(place: str) -> str:
    """The template of the letter at a position; `place` is an expression over the row."""
    return f"{{{{ 'ABCDEFGHIJKLMNOPQRSTUVWXYZ'[{place}] }}}}"


def nanochat_choice(question: str, letters: str, options: str) -> str:
    """The template of nanochat, in which the letter follows its option, because small models do better so."""
    line = "- {{ option }}={{ letters[loop.index0] }}\n"
    return (
        f"{{% set letters = {letters} %}}Multiple Choice question: {{{{ {question} }}}}\n"
        f"{{% for option in {options} %}}{line}{{% endfor %}}\n{ONLY_THE_LETTER}"
    )


_CODE_ONLY = "Reply with one ```python block and nothing else."

_THOUGHT = """Before you write code, think in this order:
1. What goes in and what comes out, with their types.
2. Which inputs are unusual: empty, negative, repeated, very large.
3. Which algorithm fits, and why.
4. Its steps, one short line each.

{task}

{shown}

End with the code in one ```python block."""

_SOLVED = """Here are three tasks and their solutions.

Task: return the largest number of a non-empty list.
```python
def largest(numbers):
    best = numbers[0]
    for number in numbers[1:]:
        if number > best:
            best = number
    return best
```

Task: count the vowels of a text, whatever their case.
```python
def vowels(text):
    return sum(letter in "aeiou" for letter in text.lower())
```

Task: join a list of lists into one list.
```python
def joined(lists):
    return [item for one in lists for item in one]
```

Now this one. {task}

{shown}

{code_only}"""

_STEPS = """{task} Split the work into small helper functions, one for each step, and let the function call them.

{shown}

{code_only}"""

STRATEGIES = {
    "standard": "{task} {code_only}\n\n{shown}",
    "scot": _THOUGHT,
    "few-shot": _SOLVED,
    "cgo": _STEPS,
}


def code_prompt(task: str, shown: str) -> Prompt:
    """`task` says what to do and `shown` what there is to go by: Jinja templates over a row."""
    filled = {
        name: template.replace("{task}", task).replace("{code_only}", _CODE_ONLY).replace("{shown}", shown)
        for name, template in STRATEGIES.items()
    }
    return Prompt(question=filled["standard"], strategies=filled)


def plain_mean(name: str, tasks: Iterable[TaskSpec], metric: str = "accuracy") -> TaskGroup:
    """The group of these tasks, in whose figure each of them weighs the same."""
    members = tuple(task.name for task in tasks)
    return TaskGroup(name=name, members=members, means=(GroupMean(metric=metric, weight_by_size=False),))


# Words of templates.


def answers(source: Any) -> list[str]:
    """Right answers: the entries of a list or of the literal of a list; else the value itself, as a text."""
    if isinstance(source, str) and source[:1] + source[-1:] == "[]":
        value = as_python(source)
        source = source if value is None else value
    return list(map(str, source)) if isinstance(source, list) else [str(source)]


def as_python(source: str) -> Any:
    """The value of a Python literal, or None if the text is not one."""
    try:
        return ast.literal_eval(source)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None


def without_calculator(text: str) -> str:
    """GSM8K's solutions without their calculator notes: "3*4=<<3*4=12>>12" becomes "3*4=12"."""
    return re.sub(r"<<[^<>]*>>", "", text)


_PLACEHOLDER = re.compile(r"<(?:image|audio|video) (\d+)>")
"""Where a text of MMMU and its like wants its first, second, … picture."""


def placed(text: str, media: Sequence[Media | None]) -> str:
    """The text with marks where `<image 1>` and its like stand; those that it does not name stand before it."""
    named = {int(number) for number in _PLACEHOLDER.findall(text)}
    missing = [number for number in sorted(named) if not 1 <= number <= len(media) or media[number - 1] is None]
    if missing:
        raise ValueError(f"the text names the picture {missing[0]}, but the row has none of that number")
    before = [str(one) for number, one in enumerate(media, start=1) if one is not None and number not in named]
    filled = _PLACEHOLDER.sub(lambda name: str(media[int(name[1]) - 1]), text)
    return "\n".join([*before, filled])
