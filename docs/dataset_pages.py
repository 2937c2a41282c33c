"""The page about datasets: what can be named, and what answers and figures are made of."""

from collections.abc import Iterator
from inspect import cleandoc

from model_accuracy_eval import tasks
from model_accuracy_eval.records import TaskSpec
from model_accuracy_eval.scoring.contracts import CONTRACTS
from model_accuracy_eval.scoring.extract import EXTRACTORS
from model_accuracy_eval.scoring.metrics import METRICS

_ABOUT_DATASETS = """\
Letter case, `-`, `_` and `@` make no difference in names: `MMLU-Pro` is `mmlu_pro`, and `mmlu@choice` is `mmlu_choice`.
`name@prompt` asks a dataset in other words; the column `prompt` says whose they are. The column `guessing` is what
blind choice reaches; a dataset may ask a part of its file's rows, and may have further files. `tasks show NAME` prints
a dataset's whole definition, the scores that others published, and its first problem as it is sent."""


def datasets(note: str) -> str:
    steps = [f"| `{name}` | {_first_paragraph(step)} |" for name, step in EXTRACTORS.items()]
    rules = {contract.id: contract.rule.replace("|", "\\|") for contract in CONTRACTS}
    metrics = [f"| `{name}` | {rules[f'metric {name}']} |" for name in METRICS]
    parts = [
        "# Datasets, extraction steps and metrics",
        note,
        _ABOUT_DATASETS,
        *_sections(),
        "Your own `.jsonl`, `.json` or `.csv` file is [a dataset too](../how-to/own-questions.md).",
        "## Extraction steps",
        "\n".join(["| step | does |", "|---|---|", *steps]),
        "## Metrics",
        "\n".join(["| metric | is |", "|---|---|", *metrics]),
    ]
    return "\n\n".join(parts) + "\n"


def _sections() -> Iterator[str]:
    for heading, section in tasks.SECTIONS.items():
        yield f"## {heading}"
        rows = [
            f"| `{spec.name}` | {spec.about} | {_also_called(spec)} | {spec.prompt_of or 'own'} | {_row_count(spec)} "
            f"| {_guessing(spec)} | `{spec.data.bundled or spec.data.name}` | {_origin(spec)} | {spec.licence} "
            f"| {spec.home} |"
            for spec in section
        ]
        heads = (
            "| dataset | about | also called | prompt | rows of the file | guessing | file | fetched from | licence "
            "| home |"
        )
        yield "\n".join([heads, "|---" * 10 + "|", *(row.replace("  |", " |") for row in rows)])
    yield "## Groups"
    members = [
        f"| `{name}` | {', '.join(f'`{one}`' for one in group.members)} |" for name, group in tasks.GROUPS.items()
    ]
    yield "\n".join(["| group | datasets |", "|---|---|", *members])


def _also_called(spec: TaskSpec) -> str:
    return ", ".join(f"`{alias}`" for alias in spec.aliases)


def _row_count(spec: TaskSpec) -> str:
    split, pin = spec.data.split, spec.data.rows
    count = pin.count if pin else split.count if split else None
    return f"{count:,}" if count else ""


def _guessing(spec: TaskSpec) -> str:
    return "" if spec.baseline is None else f"{100 * spec.baseline:.4g} %"


def _origin(spec: TaskSpec) -> str:
    """The repository that `run` fetches the rows from."""
    file = spec.data if spec.data.hub else spec.data.instead or spec.data
    if file.bundled:
        return "comes along"
    if file.hub:
        return f"`{file.hub.partition('@')[0]}`"
    if file.split:
        hubs = {"hf": file.split.hf, "ms": file.split.ms}
        part = "".join(f":{name}" for name in (file.split.config, file.split.split) if name)
        return " or ".join(f"`{hub}:{name}{part}`" for hub, name in hubs.items() if name)
    return "nowhere: `--data-dir`"


def _first_paragraph(thing: object) -> str:
    paragraph = cleandoc(thing.__doc__ or "").split("\n\n")[0]
    return paragraph.replace("\n", " ").replace("|", "\\|")
