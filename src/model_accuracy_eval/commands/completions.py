"""What a shell is told that can be typed: datasets, figures, gates and files."""

import json
from collections.abc import Iterable
from pathlib import Path

import click
from click.shell_completion import CompletionItem

from model_accuracy_eval.benchmarks import dataset_table
from model_accuracy_eval.records import Sampling, Settings
from model_accuracy_eval.scoring.figures import scorecard
from model_accuracy_eval.scoring.verdicts import gate_lines


def complete_datasets(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Names of datasets and groups after the last comma, and files of the shell's own finding."""
    done, comma, begun = typed.rpartition(",")
    names = sorted(name for name in (*dataset_table.TASKS, *dataset_table.GROUPS) if name.startswith(begun))
    files = [] if comma else [CompletionItem(typed, type="file")]
    return [*(CompletionItem(f"{done}{comma}{name}") for name in names), *files]


def complete_files(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Files and folders, as the shell finds them."""
    return [CompletionItem(typed, type="file")]


def complete_figures(context: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """The figures that the datasets which stand before will have; without any, those that most have.

    A name with a blank would be two words for the shell.
    """
    done, comma, begun = typed.rpartition(",")
    names = {name for dataset in _datasets(context) for name in _figures(context, dataset)}
    return [
        CompletionItem(f"{done}{comma}{name}") for name in sorted(names) if name.startswith(begun) and " " not in name
    ]


def complete_gates(context: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """`DATASET: ` and, behind it, its figures; between quotes, for there is a blank in it."""
    dataset, colon, begun = typed.partition(":")
    if not colon:
        return [CompletionItem(f"{name}:") for name in (*_datasets(context), "*", "scenario") if name.startswith(typed)]
    if dataset == "scenario":
        names: Iterable[str] = gate_lines.SCENARIOS
        return [CompletionItem(f"{dataset}: {name}") for name in names if name.startswith(begun.lstrip())]
    figures = [name for name in _figures(context, dataset) if name.startswith(begun.lstrip())]
    return [CompletionItem(f"{dataset}: {name} >=") for name in figures]


def complete_figures_of_runs(_context: click.Context, _parameter: click.Parameter, typed: str) -> list[CompletionItem]:
    """Those of the newest run."""
    try:
        run = json.loads(Path(Settings().out, "latest", "run.json").read_bytes())
        names = {name for dataset in run["datasets"].values() for name in dataset["metrics"]}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return []
    return [CompletionItem(name) for name in sorted(names) if name.startswith(typed)]


def _datasets(context: click.Context) -> list[str]:
    """Those that stand before, as far as they are known."""
    typed = (context.params.get("datasets") or "").split(",")
    return [name for name in typed if name in dataset_table.TASKS] or ["demo_gsm8k"]


def _figures(context: click.Context, dataset: str) -> list[str]:
    """The names of its figures."""
    task = dataset_table.TASKS.get(dataset, dataset_table.TASKS["demo_gsm8k"])
    given = context.params.get("num_return_sequences")
    samples = int(given) if given and given.isdecimal() else Settings().num_return_sequences
    samples = Sampling(n=samples).of(task).n
    return scorecard.metric_names(task, samples, (samples,))
