"""`postprocess` and `metric` → a pipeline, and the columns that it needs of a row."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from model_accuracy_eval.records import JSONObject, Measure, Pipeline, Step
from model_accuracy_eval.scoring.ultraeval import POSTPROCESS
from model_accuracy_eval.tasks.lm_eval.findings import Findings, told
from model_accuracy_eval.tasks.ultraeval.configs import Fields, Judged

_SIZES = (1, 2, 10, 25, 50, 100)
"""The k of UltraEval's `pass_k`, as far as there are so many samples."""
_PER = {"": "answer", "general_torch_ppl": "answer", "general_torch_ppl_norm": "token"}
"""What a log-likelihood is divided by."""
_SECONDS = 3.0
"""How long a program may run."""


class _Row(NamedTuple):
    """What stands for one of UltraEval's metrics here."""

    name: str
    args: Mapping[str, Any] = {}
    columns: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    """Arguments that a task may give."""
    weighs: bool = False


_METRICS: dict[str, _Row] = {
    "prefix_match": _Row("prefix_match"),
    "exact_match": _Row("exact_match", {"ignore_spaces": True}),
    "in_match": _Row("in_match"),
    "qa_match": _Row("qa_match", columns=("question", "target_scores")),
    "gaokaobench_match": _Row("gaokaobench_match"),
    "f1_score": _Row("f1_score"),
    "bleu": _Row("sentence_bleu", takes=("tokenizer",)),
    "chrf": _Row("sentence_chrf"),
    "rouge": _Row("rouge", takes=("tokenizer", "index", "n_gram")),
    "function_execution": _Row(
        "code",
        {"code": "{program_head}{answer}", "tests": "{program_tests}", "seconds": _SECONDS},
        ("program_head", "program_tests"),
    ),
    "gpt4_eval": _Row("judge"),
    "log_prob": _Row("log_prob", columns=("target_scores",), weighs=True),
    "log_prob_mc2": _Row("log_prob_mc2", columns=("target_scores",), weighs=True),
}
_TOKENIZERS = {"13a": "word", "char": "char", "zh": "char"}
"""How words are told apart for ROUGE."""


def pipeline(fields: Fields, repeats: int | None, findings: Findings) -> Pipeline:
    weighed = fields.generate.method == "loglikelihood"
    filters = () if weighed else _filters(fields.postprocess, findings)
    per = _per(fields.postprocess, findings) if weighed else None
    if not fields.metric:
        findings.refuse("it has no metric")
    return Pipeline(
        filters=filters,
        metrics=tuple(_measure(label, one, repeats, per, findings) for label, one in fields.metric.items()),
    )


def columns(fields: Fields) -> tuple[str, ...]:
    """Columns that the metrics look at."""
    rows = [_METRICS.get(_name(one)) for one in fields.metric.values()]
    return tuple(dict.fromkeys(column for row in rows if row for column in row.columns))


def runs_programs(fields: Fields) -> bool:
    return any(_name(one) == "function_execution" for one in fields.metric.values())


def reads_letters(fields: Fields) -> bool:
    return any(_name(one) == "gaokaobench_match" for one in fields.metric.values())


def _name(given: Judged) -> str:
    return str(given.evaluation.get("type")).lower()


def _filters(name: str, findings: Findings) -> tuple[Step, ...]:
    if name in {"", "general_torch"}:
        return ()
    if name not in POSTPROCESS:
        findings.refuse(f"its postprocess '{name}' reads no replies")
    return (Step(name=name),)


def _per(name: str, findings: Findings) -> str:
    if name not in _PER:
        findings.refuse(f"its postprocess '{name}' weighs no options")
    return _PER.get(name, "answer")


def _measure(label: str, given: Judged, repeats: int | None, per: str | None, findings: Findings) -> Measure:
    name = _name(given)
    row = _METRICS.get(name)
    if row is None:
        findings.refuse(f"its metric '{name}' is not known here")
        return Measure(name=name)
    if row.weighs != (per is not None):
        findings.refuse(
            f"its metric '{name}' looks at {'options' if row.weighs else 'replies'}, but its method does not"
        )
    args = {key: value for key, value in given.evaluation.items() if key != "type"}
    if strange := sorted(args.keys() - set(row.takes)):
        findings.refuse(f"its metric '{name}' takes no argument {told(strange)}")
    reduction, sizes = _reduction(name, given.aggregation, repeats, findings)
    return Measure(
        name=row.name,
        label=label,
        args={**row.args, **_spelt(name, args, findings), **({"per": per} if row.weighs else {})},
        reduction=reduction,
        k=sizes,
    )


def _spelt(name: str, args: dict[str, Any], findings: Findings) -> JSONObject:
    """ROUGE's arguments in our spelling."""
    if name != "rouge":
        return args
    tokenizer = str(args.get("tokenizer", "13a"))
    if tokenizer not in _TOKENIZERS:
        findings.refuse(f"its rouge cuts texts by '{tokenizer}'; here are {told(_TOKENIZERS)}")
    return {
        "tokenizer": _TOKENIZERS.get(tokenizer, "word"),
        "index": str(args.get("index", "f1")),
        "n_gram": str(args.get("n_gram", "1"))[:1].lower(),
    }


def _reduction(
    name: str, given: dict[str, Any] | None, repeats: int | None, findings: Findings
) -> tuple[str | None, tuple[int, ...]]:
    """Of several samples UltraEval's metrics see the first; programs are run for all of them."""
    kind = str(given.get("type")).lower() if given else None
    if kind not in {None, "mean", "pass_k"}:
        findings.refuse(f"its aggregation '{kind}' is not known here")
    if given and (strange := sorted(given.keys() - {"type"})):
        findings.refuse(f"its aggregation '{kind}' takes no argument {told(strange)}")
    if kind == "pass_k":
        return "pass@k", tuple(k for k in _SIZES if repeats and k <= repeats)
    if repeats is None or repeats == 1:
        return None, ()
    return ("mean" if kind or name == "function_execution" else "take_first"), ()
