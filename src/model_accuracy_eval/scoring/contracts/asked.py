"""Metrics that a judge or a sandbox decides: what a finding is worth, and that a silent one is worth nothing at all."""

from typing import Any

from model_accuracy_eval.records.code import Execution, Verdict
from model_accuracy_eval.records.judge import Opinion
from model_accuracy_eval.scoring.asks import Finding
from model_accuracy_eval.scoring.contracts.contract import Case, Contract, problem
from model_accuracy_eval.scoring.metrics import metric


def _case(name: str, finding: Finding, expected: Any, **args: Any) -> Case:
    def run() -> Any:
        return metric(name).score(finding, problem=problem("right"), **args)

    said = finding.text if isinstance(finding, Opinion) else finding.verdict
    return Case(given=f"the finding {said!r}", run=run, expected=expected)


def _ended(verdict: Verdict) -> Execution:
    return Execution(verdict=verdict, isolation="none", integrity="split")


def _contract(name: str, rule: str, example: Case, falsification: Case) -> Contract:
    wrong = "Failures of the judge, or of the sandbox, count as failures of the model."
    return Contract(id=f"metric {name}", rule=rule, example=example, falsification=falsification, if_fails=wrong)


CONTRACTS = (
    _contract(
        "judge",
        "yes is right, no is wrong, anything else says nothing",
        _case("judge", Opinion(text="Yes."), 1.0),
        _case("judge", Opinion(text="I cannot say; nobody knows."), None),
    ),
    _contract(
        "judge_score",
        "a number from 0 to the best, as a share; beyond that it says nothing",
        _case("judge_score", Opinion(text="Score: 7"), 0.7),
        _case("judge_score", Opinion(text="70"), None),
    ),
    _contract(
        "code",
        "the program passes; a sandbox that fails says nothing",
        _case("code", _ended("passed"), 1.0),
        _case("code", _ended("harness_error"), None),
    ),
    _contract(
        "code_eval",
        "the program passes the tests that are its right answer, in three seconds",
        _case("code_eval", _ended("passed"), 1.0),
        _case("code_eval", _ended("harness_error"), None),
    ),
    _contract(
        "tests",
        "the program passes its row's tests; a timeout does not",
        _case("tests", _ended("timeout"), 0.0, suite="humaneval"),
        _case("tests", _ended("harness_error"), None, suite="humaneval"),
    ),
    _contract(
        "best_of_n",
        "without examples to choose by, it is what the tests say",
        _case("best_of_n", _ended("passed"), 1.0, suite="humaneval"),
        _case("best_of_n", _ended("harness_error"), None, suite="humaneval"),
    ),
)
