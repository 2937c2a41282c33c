"""`doctor --metrics`: every row of every table has a contract, all hold, and a broken metric is found."""

from dataclasses import replace

import pytest
from click.testing import CliRunner

from model_accuracy_eval.cli import main
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.scoring.contracts import CONTRACTS
from model_accuracy_eval.scoring.contracts.contract import Case, Contract, breaches, listing, same
from model_accuracy_eval.scoring.figures.aggregations import AGGREGATIONS
from model_accuracy_eval.scoring.metrics.metric_table import METRICS

PLAIN = {"sum", "max", "min"}
"""Aggregations that are Python's own functions."""
TWINS = {"brier_score", "bleu", "chrf", "chrf++", "ter"}
"""Aggregations that a metric's contract speaks about."""


def test_a2_every_metric_and_aggregation_has_its_contract() -> None:
    """A new row of a table needs one."""
    told = {contract.id for contract in CONTRACTS}
    assert {f"metric {name}" for name in METRICS} <= told
    assert {f"aggregation {name}" for name in AGGREGATIONS.keys() - PLAIN - TWINS} <= told
    assert {"estimator pass@k", "estimator cons@k", "estimator avg@n"} <= told
    assert len(told) == len(CONTRACTS)


def test_a2_the_contracts_hold() -> None:
    """All of them, and the command says so."""
    assert breaches(CONTRACTS) == []
    done = CliRunner().invoke(main, ["doctor", "--metrics"])
    assert done.exit_code == 0, done.output
    assert done.output.endswith(f"{len(CONTRACTS)} of {len(CONTRACTS)} contracts hold.\n")


WRONG = {
    "exact_match": lambda answer, references, **_args: float(answer[0] in references[0]),
    "acc_norm": METRICS["acc"].score,
    "in_match": METRICS["exact"].score,
    "squad_f1": METRICS["token_f1"].score,
    "rougeL": METRICS["rouge1"].score,
    "byte_perplexity": METRICS["word_perplexity"].score,
    "judge": lambda opinion, _problem, **_args: float("yes" in opinion.text.lower()),
    "code": lambda execution, _problem, **_args: float(execution.verdict == "passed"),
}


@pytest.mark.parametrize("name", WRONG)
def test_a2_a_broken_metric_is_found(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A likely mistake breaks the contract, and the exit code says so."""
    monkeypatch.setitem(METRICS, name, replace(METRICS[name], score=WRONG[name]))
    done = CliRunner().invoke(main, ["doctor", "--metrics"])
    assert done.exit_code == 1
    assert f"BROKEN  metric {name} " in done.output


def test_a2_an_estimator_that_answers_beyond_its_domain_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The short formula of pass@k says 1.0 for k > n."""
    contract = next(one for one in CONTRACTS if one.id == "estimator pass@k")
    short = Case(input="n = 3, c = 0, k = 5", run=lambda: 1.0, expected=BadValue)
    (found,) = breaches([replace(contract, falsification=short)])
    assert "n = 3, c = 0, k = 5 gives 1.0, not a refusal (BadValue)." in listing([found], CONTRACTS)


def test_a_metric_that_raises_breaks_its_contract() -> None:
    """Whatever it raises, the others are still looked at."""
    bad = Case(input="anything", run=lambda: 1 / 0, expected=1.0)
    good = Case(input="anything", run=lambda: 1.0, expected=1.0)
    contract = Contract(id="metric mine", rule="is 1", example=good, falsification=bad)
    (found,) = breaches([contract])
    assert found.result == "ZeroDivisionError: division by zero"


def test_values_are_the_same_to_six_places() -> None:
    """Numbers, tuples and mappings of them; unknown is only unknown."""
    assert same({"a": (1.0, 2)}, {"a": (1.0000001, 2.0)})
    assert not same({"a": 1.0}, {"a": 1.001})
    assert not same(None, 0.0)
    assert not same((1.0,), (1.0, 2.0))
