"""`postprocess` and `metric` → a pipeline, and the columns that it needs."""

import re
from collections.abc import Mapping, Sequence
from pathlib import PurePath
from typing import Any, NamedTuple

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import JSONObject, MetricUse, Pipeline, Step
from model_accuracy_eval.scoring.answers.ultraeval_answers import POSTPROCESS
from model_accuracy_eval.tasks import task_file
from model_accuracy_eval.tasks.addresses import name_of_files
from model_accuracy_eval.tasks.importers.lm_eval_files import ImportFindings, quoted

# A JSON file → the tasks in it, under the names that UltraEval's `make_config.py` gives them.


_COMPLETE_NAME = re.compile(r"([^_]+)_[^_]+_(?:gen|ppl)")
"""A complete name: dataset, task, method."""


class Generate(msgspec.Struct, forbid_unknown_fields=True):
    """How the model is asked; `params` holds the parameters, or names a file of them."""

    method: str
    params: str | dict[str, Any] = ""


class MetricEntry(msgspec.Struct, forbid_unknown_fields=True):
    """One metric: how a reply is evaluated, and how the values of a problem's replies are aggregated."""

    evaluation: dict[str, Any]
    aggregation: dict[str, Any] | None = None


class ConfigFields(msgspec.Struct, forbid_unknown_fields=True):
    """The fields of a task in UltraEval's documentation."""

    task_name: str
    path: str
    transform: str
    generate: Generate
    metric: dict[str, MetricEntry]
    description: str = ""
    fewshot: int = 0
    postprocess: str = ""
    cluster: str = ""
    """Not UltraEval's: what rows share that are not independent, as in a task file of our own."""


class Config(msgspec.Struct, frozen=True):
    """One task: its name, its dataset, its fields, and its file."""

    name: str
    dataset: str
    fields: ConfigFields
    file: str


def is_config(data: bytes) -> bool:
    """Whether a JSON file holds UltraEval's tasks, and not rows."""
    try:
        entries = _entries(msgspec.json.decode(data))
    except msgspec.DecodeError:
        return False
    return bool(entries) and all(
        isinstance(entry, dict) and {"task_name", "metric"} <= entry.keys() for entry in entries
    )


def parse(file: str, data: bytes) -> list[Config]:
    try:
        entries = _entries(msgspec.json.decode(data))
    except msgspec.DecodeError as error:
        raise BadData(f"{file} is no JSON that could be read: {error}.") from error
    return [_config(file, number, entry) for number, entry in enumerate(entries, start=1)]


def _entries(content: Any) -> list[Any]:
    return content if isinstance(content, list) else [content]


def _config(file: str, number: int, entry: Any) -> Config:
    try:
        fields = msgspec.convert(entry, ConfigFields)
    except msgspec.ValidationError as error:

        def known(place: str) -> Sequence[str]:
            kind = Generate if "generate" in place else MetricEntry if "metric" in place else ConfigFields
            return kind.__struct_fields__

        raise task_file.usage_error(f"{file}, task {number}", error, known) from error
    complete = _COMPLETE_NAME.fullmatch(fields.task_name)
    dataset = complete[1] if complete else _dataset(file, fields)
    method = "ppl" if fields.generate.method == "loglikelihood" else "gen"
    name = fields.task_name if complete else f"{dataset}_{fields.task_name.replace('_', '-')}_{method}"
    return Config(name_of_files(name), dataset, fields, file)


def _dataset(file: str, fields: ConfigFields) -> str:
    """The folder that holds `config/` or `data/`, in lower case; without one, the task is its whole dataset."""
    for path, folder in ((file, "config"), (fields.path, "data")):
        *_, dataset, inner = ("", "", *PurePath(path).parent.parts)
        if inner == folder and dataset not in {"", "..", "/"}:
            return dataset.lower()
    return fields.task_name.replace("_", "-")


_SIZES = (1, 2, 10, 25, 50, 100)
"""The k of UltraEval's `pass_k`, as far as there are so many samples."""
_PER = {"": "answer", "general_torch_ppl": "answer", "general_torch_ppl_norm": "token"}
"""What a log-likelihood is divided by."""
_SECONDS = 3.0
"""How long a program may run."""


class _MetricRow(NamedTuple):
    """Our metric for one of UltraEval's."""

    name: str
    args: Mapping[str, Any] = {}
    columns: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    """Arguments that a task may set."""
    of_options: bool = False


_METRICS: dict[str, _MetricRow] = {
    "prefix_match": _MetricRow("prefix_match"),
    "exact_match": _MetricRow("exact_match", {"ignore_spaces": True}),
    "in_match": _MetricRow("in_match"),
    "qa_match": _MetricRow("qa_match", columns=("question", "target_scores")),
    "gaokaobench_match": _MetricRow("gaokaobench_match"),
    "f1_score": _MetricRow("f1_score"),
    "bleu": _MetricRow("sentence_bleu", takes=("tokenizer",)),
    "chrf": _MetricRow("sentence_chrf"),
    "rouge": _MetricRow("rouge", takes=("tokenizer", "index", "n_gram")),
    "function_execution": _MetricRow(
        "code",
        {"code": "{program_head}{answer}", "tests": "{program_tests}", "seconds": _SECONDS},
        ("program_head", "program_tests"),
    ),
    "gpt4_eval": _MetricRow("judge"),
    "log_prob": _MetricRow("log_prob", columns=("target_scores",), of_options=True),
    "log_prob_mc2": _MetricRow("log_prob_mc2", columns=("target_scores",), of_options=True),
}
_TOKENIZERS = {"13a": "word", "char": "char", "zh": "char"}
"""How texts are split for ROUGE."""


def pipeline(fields: ConfigFields, repeats: int | None, findings: ImportFindings) -> Pipeline:
    name, per = fields.postprocess, None
    filters: tuple[Step, ...] = ()
    if fields.generate.method == "loglikelihood":
        per = _PER.get(name, "answer")
        if name not in _PER:
            findings.refuse(f"its postprocess '{name}' reads no likelihoods of options")
    elif name not in {"", "general_torch"}:
        filters = (Step(name=name),)
        if name not in POSTPROCESS:
            findings.refuse(f"its postprocess '{name}' reads no replies")
    if not fields.metric:
        findings.refuse("it has no metric")
    return Pipeline(
        filters=filters,
        metrics=tuple(_metric_use(label, entry, repeats, per, findings) for label, entry in fields.metric.items()),
    )


def columns(fields: ConfigFields) -> tuple[str, ...]:
    """Columns that the metrics look at."""
    rows = [_METRICS.get(_name(entry)) for entry in fields.metric.values()]
    return tuple(dict.fromkeys(column for row in rows if row for column in row.columns))


def runs_programs(fields: ConfigFields) -> bool:
    return any(_name(entry) == "function_execution" for entry in fields.metric.values())


def reads_letters(fields: ConfigFields) -> bool:
    return any(_name(entry) == "gaokaobench_match" for entry in fields.metric.values())


def _name(entry: MetricEntry) -> str:
    return str(entry.evaluation.get("type")).lower()


def _metric_use(
    label: str, entry: MetricEntry, repeats: int | None, per: str | None, findings: ImportFindings
) -> MetricUse:
    name = _name(entry)
    row = _METRICS.get(name)
    if row is None:
        findings.refuse(f"its metric '{name}' is not known here")
        return MetricUse(name=name)
    if row.of_options != (per is not None):
        findings.refuse(
            f"its metric '{name}' looks at {'options' if row.of_options else 'replies'}, but its method does not"
        )
    args = {key: value for key, value in entry.evaluation.items() if key != "type"}
    if unknown := sorted(args.keys() - set(row.takes)):
        findings.refuse(f"its metric '{name}' takes no argument {quoted(unknown)}")
    reduction, sizes = _reduction(name, entry.aggregation, repeats, findings)
    return MetricUse(
        name=row.name,
        label=label,
        args={**row.args, **_rouge_args(name, args, findings), **({"per": per} if row.of_options else {})},
        reduction=reduction,
        k=sizes,
    )


def _rouge_args(name: str, args: dict[str, Any], findings: ImportFindings) -> JSONObject:
    """ROUGE's arguments under our names; those of other metrics unchanged."""
    if name != "rouge":
        return args
    tokenizer = str(args.get("tokenizer", "13a"))
    if tokenizer not in _TOKENIZERS:
        findings.refuse(f"its rouge cuts texts by '{tokenizer}'; here are {quoted(_TOKENIZERS)}")
    return {
        "tokenizer": _TOKENIZERS.get(tokenizer, "word"),
        "index": str(args.get("index", "f1")),
        "n_gram": str(args.get("n_gram", "1"))[:1].lower(),
    }


def _reduction(
    name: str, aggregation: dict[str, Any] | None, repeats: int | None, findings: ImportFindings
) -> tuple[str | None, tuple[int, ...]]:
    """UltraEval's metrics look at the first of several samples only; programs are run for all of them."""
    kind = str(aggregation.get("type")).lower() if aggregation else None
    if kind not in {None, "mean", "pass_k"}:
        findings.refuse(f"its aggregation '{kind}' is not known here")
    if aggregation and (unknown := sorted(aggregation.keys() - {"type"})):
        findings.refuse(f"its aggregation '{kind}' takes no argument {quoted(unknown)}")
    if kind == "pass_k":
        return "pass@k", tuple(k for k in _SIZES if repeats and k <= repeats)
    if repeats is None or repeats == 1:
        return None, ()
    return ("mean" if kind or name == "function_execution" else "take_first"), ()
