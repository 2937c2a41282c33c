"""Contracts of metrics that depend on something else: a library, a judge, a sandbox.

Metrics of a library that is not installed have no contract: their figures cannot be asked for either.
"""

from collections.abc import Sequence
from typing import Any

from model_accuracy_eval import extras
from model_accuracy_eval.records import Opinion
from model_accuracy_eval.records.code import CaseResult, Execution, ExecutionVerdict
from model_accuracy_eval.scoring.aggregations import aggregation
from model_accuracy_eval.scoring.asks import AskResult
from model_accuracy_eval.scoring.contracts.contract import Case, CaseValues, Contract, contract, problem
from model_accuracy_eval.scoring.contracts.text_contracts import text_contract
from model_accuracy_eval.scoring.ifeval import instruction
from model_accuracy_eval.scoring.metrics import metric

Sentences = Sequence[tuple[str, str]]
"""Pairs of an answer and its right answer."""

_DIFFERENT = (
    ("the cat is on the mat", "the cat sat on the mat"),
    ("a dog is in the park", "there is a dog in the park"),
)
_EQUAL = (("the cat sat on the mat", "the cat sat on the mat"),)
_INSTRUCTIONS = problem(
    "no comma, a title",
    instructions=[instruction("punctuation:no_comma", {}), instruction("detectable_format:title", {})],
)


def _corpus_case(name: str, sentences: Sentences, expected: float) -> Case:
    def run() -> float | None:
        row = metric(name)
        return aggregation(row.aggregation).over_runs([(row.score(answer, (right,)),) for answer, right in sentences])

    return Case(input=f"{len(sentences)} sentences", run=run, expected=expected)


def _instruction_case(name: str, answer: str, expected: Any, loose: bool = False) -> Case:
    text = f"{answer!r} for {_INSTRUCTIONS.references[0]}"
    return Case(input=text, run=lambda: metric(name).score(answer, _INSTRUCTIONS, loose=loose), expected=expected)


def _result_case(name: str, result: AskResult | tuple[AskResult, ...], expected: Any) -> Case:
    results = result if isinstance(result, tuple) else (result,)

    def run() -> Any:
        return metric(name).score(*results, problem=problem("right"))

    text = ", ".join(found.text if isinstance(found, Opinion) else found.verdict for found in results)
    return Case(input=f"the finding {text!r}", run=run, expected=expected)


def _ended(verdict: ExecutionVerdict, *cases: ExecutionVerdict, all_cases: int = 0) -> Execution:
    results = tuple(CaseResult(verdict=case) for case in cases)
    return Execution(verdict=verdict, isolation="none", integrity="split", cases=results, all_cases=all_cases)


_CORPUS = "The library's figures differ from those that papers print."
_IFEVAL = "Figures differ from IFEval's for the same replies."
_ASKED = "Failures of the judge, or of the sandbox, count as failures of the model."


def _corpus(name: str, rule: str, example: CaseValues, falsification: CaseValues) -> Contract:
    return contract(f"metric {name}", rule, _corpus_case(name, *example), _corpus_case(name, *falsification), _CORPUS)


def _instructions(name: str, rule: str, example: CaseValues, falsification: CaseValues) -> Contract:
    return contract(
        f"metric {name}", rule, _instruction_case(name, *example), _instruction_case(name, *falsification), _IFEVAL
    )


def asked(name: str, rule: str, example: CaseValues, falsification: CaseValues) -> Contract:
    return contract(f"metric {name}", rule, _result_case(name, *example), _result_case(name, *falsification), _ASKED)


# fmt: off
_OF_SACREBLEU = (
    _corpus("bleu", "sacrebleu's, 13a tokeniser", (_DIFFERENT, 30.101571), (_EQUAL, 100.0)),
    _corpus("chrf", "chrF2, no word order", (_DIFFERENT, 58.091281), (_EQUAL, 100.0)),
    _corpus("chrf++", "with word pairs", (_DIFFERENT, 61.280027), (_EQUAL, 100.0)),
    _corpus("ter", "edits per word; 0 is best", (_DIFFERENT, 23.076923), (_EQUAL, 0.0)),
    text_contract("sentence_bleu", "of one sentence alone, as a share",
                  (*_EQUAL[0], 1.0), ("", "the cat", 0.0), _CORPUS),
    text_contract("sentence_chrf", "of one sentence alone, as a share",
                  (*_EQUAL[0], 1.0), ("", "the cat", 0.0), _CORPUS),
)
_OF_IFEVAL = (
    _instructions(
        "every_instruction", "all instructions are followed; loose: without the first line, the last line or asterisks",
        ("Sure, here it is:\n<<a>> b", 1.0, True), ("Sure, here it is:\n<<a>> b", 0.0)),
    _instructions(
        "each_instruction", "share of the instructions of all prompts together that are followed",
        ("<<a>>, b", (1, 2)), (" \n", (0, 2))),
)
_OF_JUDGES = (
    asked("judge", "yes is right, no is wrong, anything else is unknown",
          (Opinion(text="Yes."), 1.0), (Opinion(text="I cannot say; nobody knows."), None)),
    asked("judge_pair", "1 if the answer is preferred in both orders, 0 if in none, a half where the orders disagree",
          ((Opinion(text="first"), Opinion(text="second")), 1.0), ((Opinion(text="first"),) * 2, 0.5)),
    asked("judge_score", "a number from 0 to the best, as a share; any other number is unknown",
          (Opinion(text="Score: 7"), 0.7), (Opinion(text="70"), None)),
    asked("code", "the program passes; a sandbox that fails leaves it unknown",
          (_ended("passed"), 1.0), (_ended("harness_error"), None)),
    asked("code_eval", "the program passes the tests that are its right answer, in three seconds",
          (_ended("passed"), 1.0), (_ended("harness_error"), None)),
    asked("tests", "the program passes its row's tests; a timeout does not",
          (_ended("timeout"), 0.0), (_ended("harness_error"), None)),
    asked("code_cases", "the share of the cases that passed; those that did not run count as failed",
          (_ended("failed", "passed", "failed", all_cases=4), 0.25), (_ended("harness_error"), None)),
    asked("tests_cases", "the same for the cases of a published benchmark",
          (_ended("passed", "passed", "passed", all_cases=2), 1.0), (_ended("error"), 0.0)),
    asked("tests_majority", "without inputs a sample agrees with no other one: 2, and 1 more if the tests pass",
          (_ended("passed"), 3.0), (_ended("harness_error"), None)),
    asked("code_majority", "the same for an own task",
          (_ended("failed"), 2.0), (_ended("harness_error"), None)),
    asked("best_of_n", "without examples to choose by, it is what the tests say",
          (_ended("passed"), 1.0), (_ended("harness_error"), None)),
)
# fmt: on

CONTRACTS = (
    *(_OF_SACREBLEU if extras.installed("sacrebleu") else ()),
    *(_OF_IFEVAL if all(map(extras.installed, ("langdetect", "nltk", "punkt"))) else ()),
    *_OF_JUDGES,
)
