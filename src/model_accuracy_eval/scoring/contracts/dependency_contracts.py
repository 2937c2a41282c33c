"""Contracts of metrics that depend on something else: a library, a judge, a sandbox.

Metrics of a library that is not installed have no contract: their figures cannot be asked for either.
"""

from collections.abc import Sequence
from math import exp, log
from typing import Any

from model_accuracy_eval import extras
from model_accuracy_eval.records import Candidate, Loglikelihood, Opinion, Problem
from model_accuracy_eval.records.code import CaseResult, Execution, ExecutionVerdict
from model_accuracy_eval.scoring.contracts.contract import Case, CaseValues, Contract, problem
from model_accuracy_eval.scoring.contracts.text_contracts import text_contract
from model_accuracy_eval.scoring.figures.aggregations import aggregation
from model_accuracy_eval.scoring.ifeval.ifeval_instructions import instruction
from model_accuracy_eval.scoring.metrics.metric_table import metric
from model_accuracy_eval.scoring.metrics.metric_type import AskResult

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


def _corpus(name: str, rule: str, example: CaseValues, falsification: CaseValues) -> Contract:
    def case(sentences: Sentences, expected: float) -> Case:
        def run() -> float | None:
            row = metric(name)
            scores = [(row.score(answer, (right,)),) for answer, right in sentences]
            return aggregation(row.aggregation).over_runs(scores)

        return Case(f"{len(sentences)} sentences", run, expected)

    return Contract(f"metric {name}", rule, case(*example), case(*falsification))


def _instructions(name: str, rule: str, example: CaseValues, falsification: CaseValues) -> Contract:
    def case(answer: str, expected: Any, loose: bool = False) -> Case:
        text = f"{answer!r} for {_INSTRUCTIONS.references[0]}"
        return Case(text, lambda: metric(name).score(answer, _INSTRUCTIONS, loose=loose), expected)

    return Contract(f"metric {name}", rule, case(*example), case(*falsification))


def _asked(name: str, rule: str, example: CaseValues, falsification: CaseValues) -> Contract:
    def case(result: AskResult | tuple[AskResult, ...], expected: Any) -> Case:
        results = result if isinstance(result, tuple) else (result,)
        text = ", ".join(found.text if isinstance(found, Opinion) else found.verdict for found in results)
        return Case(f"the finding {text!r}", lambda: metric(name).score(*results, problem=problem("right")), expected)

    return Contract(f"metric {name}", rule, case(*example), case(*falsification))


def _ended(verdict: ExecutionVerdict, *cases: ExecutionVerdict, all_cases: int = 0) -> Execution:
    results = tuple(CaseResult(verdict=case) for case in cases)
    return Execution(verdict=verdict, isolation="none", integrity="split", cases=results, all_cases=all_cases)


_CORRECT, _VAGUE = Opinion(text="It holds the name. So: A"), Opinion(text="C")

# fmt: off
_OF_SACREBLEU = (
    _corpus("bleu", "sacrebleu's, 13a tokeniser", (_DIFFERENT, 30.101571), (_EQUAL, 100.0)),
    _corpus("chrf", "chrF2, no word order", (_DIFFERENT, 58.091281), (_EQUAL, 100.0)),
    _corpus("chrf++", "with word pairs", (_DIFFERENT, 61.280027), (_EQUAL, 100.0)),
    _corpus("ter", "edits per word; 0 is best", (_DIFFERENT, 23.076923), (_EQUAL, 0.0)),
    text_contract("sentence_bleu", "of one sentence alone, as a share",
                  (*_EQUAL[0], 1.0), ("", "the cat", 0.0)),
    text_contract("sentence_chrf", "of one sentence alone, as a share",
                  (*_EQUAL[0], 1.0), ("", "the cat", 0.0)),
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
    _asked("judge", "yes is right, no is wrong, anything else is unknown",
          (Opinion(text="Yes."), 1.0), (Opinion(text="I cannot say; nobody knows."), None)),
    _asked("judge_score", "a number from 0 to the best, as a share; any other number is unknown",
          (Opinion(text="Score: 7"), 0.7), (Opinion(text="70"), None)),
    _asked("code", "the program passes; a sandbox that fails leaves it unknown",
          (_ended("passed"), 1.0), (_ended("harness_error"), None)),
    _asked("code_eval", "the program passes the tests that are its right answer, in three seconds",
          (_ended("passed"), 1.0), (_ended("harness_error"), None)),
    _asked("tests", "the program passes its row's tests; a timeout does not",
          (_ended("timeout"), 0.0), (_ended("harness_error"), None)),
    _asked("code_cases", "the share of the cases that passed; those that did not run count as failed",
          (_ended("failed", "passed", "failed", all_cases=4), 0.25), (_ended("harness_error"), None)),
    _asked("tests_cases", "the same for the cases of a published benchmark",
          (_ended("passed", "passed", "passed", all_cases=2), 1.0), (_ended("error"), 0.0)),
    _asked("best_of_n", "without examples to choose by, it is what the tests say",
          (_ended("passed"), 1.0), (_ended("harness_error"), None)),
)
_OF_SIMPLEQA = (
    _asked("fact_correct", "1 for an A; without a grade unknown",
          (_CORRECT, 1.0), (Opinion(text="A name is missing."), None)),
    _asked("fact_incorrect", "1 for a B", (Opinion(text="B"), 1.0), (_VAGUE, 0.0)),
    _asked("fact_not_attempted", "1 for a C", (_VAGUE, 1.0), (_CORRECT, 0.0)),
    _asked("fact_correct_of_attempted", "correct answers, of those that are A or B",
          (_CORRECT, (1, 1)), (_VAGUE, (0, 0))),
    _asked("fact_f_score", "twice the correct answers, of all and the attempted ones",
          (_CORRECT, (2, 2)), (_VAGUE, (0, 1))),
)
_OF_HARMBENCH = (
    _asked("judge_no", "1 for a no, also where there is no reply to ask about; without either word unknown",
          (Opinion(text="No, it declines."), 1.0), (Opinion(text="Yes."), 0.0)),
)
# fmt: on


# Contracts of metrics of log-likelihoods, of options and of whole texts.


def _likelihoods(name: str, rule: str, example: CaseValues, falsification: CaseValues) -> Contract:
    """A case is (log-likelihoods, problem, expected value)."""

    def case(options: Sequence[Loglikelihood], asked: Problem, expected: Any) -> Case:
        logprobs, texts = [option.logprob for option in options], list(asked.choices or asked.references)
        text = f"{logprobs} for {texts}, right {list(asked.gold)}"
        return Case(input=text, run=lambda: metric(name).score(options, asked), expected=expected)

    return Contract(f"metric {name}", rule, case(*example), case(*falsification))


def _logprobs(*logprobs: float, tokens: int | None = None, greedy: bool | None = None) -> tuple[Loglikelihood, ...]:
    return tuple(Loglikelihood(logprob=logprob, tokens=tokens, greedy=greedy) for logprob in logprobs)


def _text(text: str) -> Problem:
    return Problem(id=0, messages=(), references=("",), candidates=(Candidate(context="", continuation=text),))


_SHAPES = problem("0", choices=("3", "four", "22222"), gold=(1,))
_COLOURS = problem("0", choices=("blue", "red"), gold=(0,))
_ACCENT = problem("0", choices=("é", "ab"), gold=(1,))
_MAYBE = problem("2", choices=("yes", "no way", "maybe so"), gold=(2,))
_YES = problem("0", choices=("yes", "no way", "maybe so"), gold=(0,))
_SECOND = problem("1", choices=("a", "b"), gold=(1,))
_PARIS = problem("Paris")
_THREE = _logprobs(-3, -4, -5)
_SCORED = problem("x", choices=("x", "y"), target_scores={"x": 0.3, "y": 0.7})
_SECOND_OF_TWO = problem("y", choices=("x", "y"), gold=(1,))
_TWO_RIGHT = problem("a", choices=("a", "b", "c"), gold=(0, 1))
_TOKENS = (*_logprobs(-3, tokens=2), *_logprobs(-1.4, tokens=1))

# fmt: off
_OF_LIKELIHOODS = (
    _likelihoods("acc", "the right option is the most likely, of equals the first",
              (_logprobs(-1, -2), _COLOURS, 1.0), (_logprobs(-2, -2), _SECOND, 0.0)),
    _likelihoods("acc_norm", "the most likely per character",
              (_logprobs(-3, -3.5, -6), _SHAPES, 1.0), (_logprobs(-1, -1), _ACCENT, 1.0)),
    _likelihoods("acc_bytes", "the most likely per byte, of equals the first",
              (_logprobs(-1, -2), _COLOURS, 1.0), (_logprobs(-1, -1), _ACCENT, 0.0)),
    _likelihoods("acc_tokens", "the most likely per token; unknown where tokens are not counted",
              (_TOKENS, _SECOND, 1.0), (_logprobs(-3, -1), _COLOURS, None)),
    _likelihoods("acc_mutual_info", "the option whose likelihood its question raises most",
              (_logprobs(-1, -2, -4, -2), _COLOURS, 1.0), (_logprobs(-1, -2, -1, -5), _COLOURS, 0.0)),
    _likelihoods("exact_match_mc", "greedy decoding gives the right option; unknown where the service does not say",
              (_logprobs(-1, -2, greedy=True), _COLOURS, 1.0), (_logprobs(-1, -2), _COLOURS, None)),
    _likelihoods("f1", "right and most likely option, for F1 over the dataset",
              (_logprobs(-1, -2), _COLOURS, (0, 0)), (_logprobs(-3, -2), _COLOURS, (0, 1))),
    _likelihoods("mcc", "right and most likely option, for the correlation over the dataset",
              (_logprobs(-1, -2), _COLOURS, (0, 0)), (_logprobs(-3, -2), _COLOURS, (0, 1))),
    _likelihoods("brier_score", "squared distance of the options' shares from certainty",
              (_THREE, _YES, 0.180061), (_logprobs(0, -1000), _COLOURS, 0.0)),
    _likelihoods("choice_prob", "the right option's share of the probability",
              (_logprobs(-1, -1), _COLOURS, 0.5), (_logprobs(-1000, -1001), _COLOURS, 1 / (1 + exp(-1)))),
    _likelihoods("choice_prob_norm", "the same per byte",
              (_THREE, _MAYBE, 0.377861), (_logprobs(-2, -2), _ACCENT, 0.5)),
    _likelihoods("choice_logprob", "logarithm of the right option's share",
              (_THREE, _MAYBE, -2.407606), (_logprobs(-1, -1), _COLOURS, log(0.5))),
    _likelihoods("choice_logprob_norm", "logarithm of the right option's share per byte",
              (_THREE, _MAYBE, -0.973230), (_logprobs(-2, -2), _ACCENT, log(0.5))),
    _likelihoods("perplexity", "log-likelihood of the right answer, for the perplexity over the dataset",
              (_logprobs(-2), _PARIS, -2.0), (_logprobs(-1, -5), _SECOND, -5.0)),
    _likelihoods("word_perplexity", "words are separated by blanks of any kind",
              (_logprobs(-4), _text("hello world"), (-4.0, 2)), (_logprobs(-4), _text("a \n b\tc"), (-4.0, 3))),
    _likelihoods("byte_perplexity", "bytes, not characters",
              (_logprobs(-4), _text("abc"), (-4.0, 3)), (_logprobs(-4), _text("é"), (-4.0, 2))),
    _likelihoods("bits_per_byte", "bytes of the whole text",
              (_logprobs(-4), _text("abc"), (-4.0, 3)), (_logprobs(-4), _text("日"), (-4.0, 3))),
    _likelihoods("bpb", "bits of the right option per byte of its text",
              (_THREE, _MAYBE, 0.901684), (_logprobs(-log(4)), problem("é"), 1.0)),
    _likelihoods("logprob", "logarithm of the right answer's likelihood",
              (_THREE, _MAYBE, -5.0), (_THREE, _TWO_RIGHT, -3.0)),
    _likelihoods("likelihood", "the right answer's likelihood",
              (_logprobs(log(0.25), -9), _COLOURS, 0.25), (_logprobs(-1000, -1), _COLOURS, 0.0)),
    _likelihoods("log_prob", "the score of the most likely option",
              (_logprobs(-1, -1.5), _SCORED, 0.3), (_logprobs(-3, -1.5), _SECOND_OF_TWO, 1.0)),
    _likelihoods("log_prob_mc2", "share of the options before the first one with score 0",
              (_logprobs(-1, -2, -1), _TWO_RIGHT, 0.577681), (_logprobs(-1001, -1002, -1001), _TWO_RIGHT, 0.577681)),
)
# fmt: on

CONTRACTS = (
    *_OF_LIKELIHOODS,
    *(_OF_SACREBLEU if extras.installed("sacrebleu") else ()),
    *(_OF_IFEVAL if all(map(extras.installed, ("langdetect", "nltk", "punkt"))) else ()),
    *_OF_JUDGES,
    *_OF_SIMPLEQA,
    *_OF_HARMBENCH,
)
