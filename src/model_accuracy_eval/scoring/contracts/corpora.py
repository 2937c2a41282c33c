"""Figures of a whole dataset that a library computes; they hold as long as the library says what it said."""

from collections.abc import Sequence
from importlib.util import find_spec
from typing import Any

from model_accuracy_eval.scoring.aggregations import aggregation
from model_accuracy_eval.scoring.contracts.contract import Case, Contract
from model_accuracy_eval.scoring.contracts.texts import case
from model_accuracy_eval.scoring.metrics import metric

_PAIRS = (
    ("the cat is on the mat", "the cat sat on the mat"),
    ("a dog is in the park", "there is a dog in the park"),
)
_SAME = (("the cat sat on the mat", "the cat sat on the mat"),)


def _case(name: str, pairs: Sequence[tuple[str, str]], expected: Any) -> Case:
    def run() -> float | None:
        row = metric(name)
        return aggregation(row.aggregation).over_runs([(row.score(said, (right,)),) for said, right in pairs])

    return Case(given=f"{len(pairs)} sentences", run=run, expected=expected)


def _contract(name: str, rule: str, example: Case, falsification: Case) -> Contract:
    wrong = "The library's figures are others than those that papers print."
    return Contract(id=f"metric {name}", rule=rule, example=example, falsification=falsification, if_fails=wrong)


_ALL = (
    _contract("bleu", "sacrebleu's, 13a tokeniser", _case("bleu", _PAIRS, 30.101571), _case("bleu", _SAME, 100.0)),
    _contract("chrf", "chrF2, no word order", _case("chrf", _PAIRS, 58.091281), _case("chrf", _SAME, 100.0)),
    _contract("chrf++", "with word pairs", _case("chrf++", _PAIRS, 61.280027), _case("chrf++", _SAME, 100.0)),
    _contract("ter", "edits per word; 0 is best", _case("ter", _PAIRS, 23.076923), _case("ter", _SAME, 0.0)),
    _contract(
        "sentence_bleu",
        "of one sentence alone, as a share",
        case("sentence_bleu", *_SAME[0], 1.0),
        case("sentence_bleu", "", "the cat", 0.0),
    ),
    _contract(
        "sentence_chrf",
        "of one sentence alone, as a share",
        case("sentence_chrf", *_SAME[0], 1.0),
        case("sentence_chrf", "", "the cat", 0.0),
    ),
)

CONTRACTS = _ALL if find_spec("sacrebleu") else ()
"""None where the library is not installed: then no figure of it can be asked for either."""
