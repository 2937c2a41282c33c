"""Names that say more than a dataset's own: an address on a hub or the web, the time of its rows, a format."""

import re
from collections.abc import Callable
from datetime import date
from urllib.parse import unquote, urlsplit

from msgspec.structs import replace

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import (
    DataFile,
    DataSource,
    GroupMean,
    MetricUse,
    Pipeline,
    Prompt,
    Step,
    TaskGroup,
    TaskSpec,
)

# Datasets that are named by their address: `hf:org/name[@revision][:configuration[:split]]`, `ms:…`, or a URL.


_NAME = re.compile(
    r"(?P<hub>hf|ms):(?P<name>[\w.-]+/[\w.-]+)(?:@(?P<revision>[\w./-]+))?(?::(?P<config>[^:]*))?(?::(?P<split>[^:]+))?"
)
_SECRET = re.compile(r"(?:^|[&_-])(?:sig|signature|token|secret|password|key|auth|credential)=", re.IGNORECASE)
_BLOB = re.compile(r"https://github\.com/(?P<repository>[^/]+/[^/]+)/blob/(?P<path>.+)")


def is_address(name: str) -> bool:
    return name.startswith(("hf:", "ms:", "http://", "https://"))


def data_file(name: str) -> tuple[str, DataFile]:
    """What the dataset of that address is called, and where its rows are."""
    return _of_url(name) if "://" in name else _of_hub(name)


def _of_hub(name: str) -> tuple[str, DataFile]:
    parts = _NAME.fullmatch(name)
    if parts is None:
        raise BadValue(
            f"'{name}' is no dataset of a hub: write hf:org/name or ms:org/name, and where there are several, "
            ":configuration and :split behind it, such as hf:openai/gsm8k:main:test."
        )
    source = DataSource(
        hf=parts["name"] if parts["hub"] == "hf" else "",
        ms=parts["name"] if parts["hub"] == "ms" else "",
        config=parts["config"] or "",
        split=parts["split"] or "",
        revision=parts["revision"] or "",
    )
    called = "_".join(filter(None, (parts["name"].partition("/")[2], source.config, source.split)))
    return name_of_files(called), DataFile(
        name="/".join(filter(None, (parts["name"], source.config, source.split))), source=source
    )


def _of_url(name: str) -> tuple[str, DataFile]:
    if blob := _BLOB.fullmatch(name):  # the page that shows the file
        name = f"https://raw.githubusercontent.com/{blob['repository']}/{blob['path']}"
    parts = urlsplit(name)
    file = unquote(parts.path).rpartition("/")[2]
    if parts.username or parts.password or _SECRET.search(parts.query):
        raise BadValue(
            f"The address of a data file must hold no password or signature, as reports show it ({parts.hostname}): "
            "fetch the file, and name that."
        )
    if not parts.hostname or "." not in file:
        raise BadValue(f"'{name}' is no address of a data file: it must end in a name such as test.jsonl.")
    return name_of_files(file.removesuffix(".gz").rpartition(".")[0]), DataFile(name=file, source=DataSource(url=name))


def name_of_files(name: str) -> str:
    """A name that files and gates can have. `+` and `#` stay: they tell datasets apart."""
    return re.sub(r"[^\w.+#-]+", "_", name)


# Some of a dataset's rows. `name@2024-08-01..2025-01-31`: those of a time, for benchmarks whose problems are newer than
# a model's data. `name@tiny`: a sample.


_WINDOW = re.compile(r"(\d{4}-\d\d-\d\d)?\.\.(\d{4}-\d\d-\d\d)?")


def some_rows(text: str) -> Callable[[TaskSpec], TaskSpec] | None:
    """A task → the same with the rows of the time from..to, both days included, or with the sample that is called tiny:
    so few problems that they are soon asked. None for a text of another form."""
    if text == "tiny":
        return lambda task: replace(task, name=f"{task.name}@tiny", slice=replace(task.slice, sample=100))
    if "-" not in text or not (match := _WINDOW.fullmatch(text)):
        return None
    first, last = match[1] or "", match[2] or ""
    try:
        for day in filter(None, (first, last)):
            date.fromisoformat(day)
    except ValueError as error:
        raise BadValue(f"The time {text} has a day that the calendar lacks: {error}.") from error
    if last and first > last:
        raise BadValue(f"The time {text} ends before it begins.")

    def of_that_time(task: TaskSpec) -> TaskSpec:
        if not task.dated:
            raise BadValue(f"The rows of {task.name} have no date, so none can be chosen by it.")
        step = Step(name="dated", args={"field": task.dated, "first": first, "last": last})
        return replace(task, name=f"{task.name}@{first}..{last}", views=(*task.views, step))

    return of_that_time


# `name@format`: a dataset of options in another format, which is made from its own question and options.


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
