"""Two pages: which datasets can be named, and what their answers and figures are made of."""

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from inspect import Parameter, cleandoc, signature, unwrap
from typing import Any

from model_accuracy_eval.benchmarks import dataset_table as tasks
from model_accuracy_eval.commands.tasks import origin, row_count
from model_accuracy_eval.records import TaskSpec
from model_accuracy_eval.scoring.filters.filters import EXTRACTORS
from model_accuracy_eval.scoring.metrics.metric_table import METRICS, Metric

_ABOUT_DATASETS = """\
Letter case, `-`, `_` and `@` make no difference in names: `MMLU-Pro` is `mmlu_pro`, and `mmlu@choice` is `mmlu_choice`.
`name@prompt` asks a dataset in other words; the column `prompt` says whose they are. `name@tiny` asks a sample of 100
of its problems, which leaves the figure of all open [by some nine points](samples.md) to either side. Rows are those of
the data files, of which a dataset may ask a part. The licence leads to the dataset's home.

`tasks show NAME` prints a dataset's whole definition: its files, its prompt, what guessing reaches, the scores that
others published, and its first problem as it is sent. Your own `.jsonl`, `.json` or `.csv` file is
[a dataset too](../how-to/own-questions.md)."""
_ABOUT_STEPS = """\
What a [pipeline](metrics.md#score-reduce-aggregate) of a task is made of. Arguments stand behind a name, in
parentheses; `tasks show NAME` prints which of them a dataset uses."""
_READ_BY = {
    "Metrics of answers": ("answers", "answers in their problem"),
    "Metrics of log-likelihoods": ("likelihoods",),
    "Metrics of a judge and of programs": ("findings",),
}
"""Heading → what the metrics below it read."""


def datasets(note: str) -> str:
    return "\n\n".join(["# Datasets", note, _ABOUT_DATASETS, *_sections()]) + "\n"


def steps_and_metrics(note: str) -> str:
    """The tables of extraction steps and metrics."""
    steps = [f"| {_signed(name, step)} | {_first_paragraph(step)} |" for name, step in EXTRACTORS.items()]
    parts = ["# Extraction steps and metrics", note, _ABOUT_STEPS, "## Extraction steps", _rows("step", "does", steps)]
    for heading, reads in _READ_BY.items():
        found = [
            f"| {_signed(name, row.asks or row.score)} | {_is(row)} |"
            for name, row in METRICS.items()
            if row.reads in reads
        ]
        parts += [f"## {heading}", _rows("metric", "is", found)]
    return "\n\n".join(parts) + "\n"


def _rows(first: str, second: str, rows: Iterable[str]) -> str:
    return "\n".join([f"| {first} | {second} |", "|---|---|", *rows])


def _signed(name: str, function: Callable[..., Any]) -> str:
    """The name, and the arguments that a task may give."""
    given = [one for one, spec in signature(function).parameters.items() if spec.kind is Parameter.KEYWORD_ONLY]
    return f"`{name}`" + (f" ({', '.join(f'`{one}`' for one in given)})" if given else "")


def _is(metric: Metric) -> str:
    """What the row or its function says; what this is called with, what follows from the values, and what it needs."""
    function: Any = unwrap(metric.score)
    fixed: dict[str, Any] = {}
    if isinstance(function, partial):
        function, fixed = function.func, function.keywords
    parts = [metric.about or _first_paragraph(function), *(f"`{name}`: {value}" for name, value in fixed.items())]
    if metric.aggregation != "mean":
        parts.append(f"aggregation: `{metric.aggregation}`")
    if metric.needs:
        parts.append(f"needs {', '.join(metric.needs)}")
    return "; ".join(part.rstrip(".") for part in parts)


def _sections() -> Iterator[str]:
    for heading, section in tasks.SECTIONS.items():
        rows = [
            f"| `{spec.name}` | {spec.about}{_also_called(spec)} | {spec.prompt_of or 'own'} | {row_count(spec)} "
            f"| {origin(spec, '`{}`'.format)} | {_licence(spec)} |".replace("  |", " |")
            for spec in section
        ]
        heads = "| dataset | about | prompt | rows | fetched from | licence |"
        yield f"## {heading}"
        yield "\n".join([heads, "|---" * 6 + "|", *rows])
    yield "## Groups"
    yield _rows(
        "group",
        "datasets",
        (f"| `{name}` | {', '.join(f'`{one}`' for one in group.members)} |" for name, group in tasks.GROUPS.items()),
    )


def _also_called(spec: TaskSpec) -> str:
    return f" Also {', '.join(f'`{alias}`' for alias in spec.aliases)}." if spec.aliases else ""


def _licence(spec: TaskSpec) -> str:
    return f"[{spec.licence}]({spec.home})" if spec.home else spec.licence


def _first_paragraph(thing: object) -> str:
    paragraph = cleandoc(thing.__doc__ or "").split("\n\n")[0]
    return paragraph.replace("\n", " ").replace("|", "\\|")
