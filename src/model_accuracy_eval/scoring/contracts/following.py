"""Metrics of followed instructions; they hold as long as the libraries that split and detect are there."""

from importlib.util import find_spec
from typing import Any

from model_accuracy_eval.scoring.contracts.contract import Case, Contract, problem
from model_accuracy_eval.scoring.ifeval.following import instruction
from model_accuracy_eval.scoring.metrics import metric

_BOTH = problem(
    "no comma, a title",
    instructions=[instruction("punctuation:no_comma", {}), instruction("detectable_format:title", {})],
)


def _case(name: str, answer: str, expected: Any, **args: Any) -> Case:
    return Case(
        given=f"{answer!r} for {_BOTH.references[0]}",
        run=lambda: metric(name).score(answer, _BOTH, **args),
        expected=expected,
    )


def _contract(name: str, rule: str, example: Case, falsification: Case) -> Contract:
    wrong = "Figures differ from IFEval's for the same replies."
    return Contract(id=f"metric {name}", rule=rule, example=example, falsification=falsification, if_fails=wrong)


_ALL = (
    _contract(
        "every_instruction",
        "all instructions are followed; loose: maybe without the first line, the last line or the asterisks",
        _case("every_instruction", "Sure, here it is:\n<<a>> b", 1.0, loose=True),
        _case("every_instruction", "Sure, here it is:\n<<a>> b", 0.0),
    ),
    _contract(
        "each_instruction",
        "share of the instructions of all prompts together that are followed",
        _case("each_instruction", "<<a>>, b", (1, 2)),
        _case("each_instruction", " \n", (0, 2)),
    ),
)

CONTRACTS = _ALL if all(find_spec(module) for module in ("langdetect", "nltk", "punkt")) else ()
"""None where a library is not installed: then no figure of it can be asked for either."""
