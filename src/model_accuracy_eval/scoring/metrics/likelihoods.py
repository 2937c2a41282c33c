"""(log-likelihoods of a problem's candidates, problem) → which option is most likely, and how likely the right text is.

Of equally likely options the first counts. The options' log-likelihoods may be followed by those of the same endings
without their question.
"""

import re
from collections.abc import Callable, Sequence
from functools import partial
from math import exp, fsum, inf, log
from typing import Any, Literal

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Loglikelihood, Problem
from model_accuracy_eval.scoring.metrics import metric_type
from model_accuracy_eval.scoring.metrics.metric_type import Metric, ValueLimits

OptionLikelihoods = Sequence[Loglikelihood]
"""Of the options, or of the only text."""
OptionUnit = Literal["answer", "character", "byte", "sent byte", "token", "question"]
"""By what log-likelihoods of options are divided; of their question, that of the option without it is taken away."""


def logprobs(options: OptionLikelihoods, problem: Problem) -> list[float]:
    """One for every option; for a problem without options, all there are."""
    return [option.logprob for option in options[: len(problem.choices) or None]]


def argmax(values: Sequence[float]) -> int:
    """The place of the greatest value, of equal ones the first."""
    return max(range(len(values)), key=values.__getitem__)


def _values(unit: OptionUnit, options: OptionLikelihoods, problem: Problem) -> list[float] | None:
    """The options' log-likelihoods per unit; None if the service does not count tokens."""
    values = logprobs(options, problem)
    if unit == "answer":
        return values
    if unit == "question":
        alone = options[len(problem.choices) :]
        if len(alone) != len(problem.choices):
            raise BadData(
                f"acc_mutual_info needs two log-likelihoods of every option, but problem {problem.id} has "
                f"{len(problem.choices)} options and {len(options)} log-likelihoods."
            )
        return [value - bare.logprob for value, bare in zip(values, alone, strict=True)]
    if unit == "token":
        counts = [option.tokens or 0 for option in options[: len(values)]]
        return [value / count for value, count in zip(values, counts, strict=True)] if all(counts) else None
    sizes = [_size(unit, problem, place) for place in range(len(problem.choices))]
    # An option without text is the least likely.
    return [value / size if size else -inf for value, size in zip(values, sizes, strict=True)]


def _size(unit: OptionUnit, problem: Problem, place: int) -> int:
    """Of an option's text; in sent bytes with the blank in front of it, where that is known."""
    text = (problem.choices or problem.references)[place]
    if unit == "sent byte" and problem.candidates:
        text = problem.candidates[place].continuation or text
    return len(text) if unit == "character" else len(text.encode())


def _chosen(unit: OptionUnit, options: OptionLikelihoods, problem: Problem) -> float | None:
    values = _values(unit, options, problem)
    return None if values is None or not problem.choices else float(argmax(values) in problem.gold)


def acc(options: OptionLikelihoods, problem: Problem) -> float | None:
    """1 if a right option is the most likely; without options, if greedy decoding would give the right answer."""
    if problem.choices:
        return _chosen("answer", options, problem)
    greedy = options[0].greedy
    return None if greedy is None else float(greedy)


def exact_match_mc(options: OptionLikelihoods, problem: Problem) -> float | None:
    """1 if greedy decoding would give a right option; None if the service does not say."""
    greedy = [options[place].greedy for place in problem.gold if place < len(problem.choices)]
    if True in greedy:
        return 1.0
    return None if None in greedy else 0.0


def gold_and_chosen(options: OptionLikelihoods, problem: Problem) -> tuple[int, int]:
    """The right and the most likely option, for figures over the whole dataset."""
    return problem.gold[0], argmax(logprobs(options, problem))


def _shares(values: Sequence[float]) -> list[float]:
    """Softmax: each option's share of the probability."""
    top = max(values)
    if top == -inf:
        return [1 / len(values)] * len(values)
    weights = [exp(value - top) for value in values]
    total = fsum(weights)
    return [weight / total for weight in weights]


def brier_score(options: OptionLikelihoods, problem: Problem) -> float:
    """Squared distance between the options' probabilities and certainty about the right one."""
    shares = _shares(logprobs(options, problem))
    return fsum((share - (place in problem.gold)) ** 2 for place, share in enumerate(shares))


def _gold_share(unit: OptionUnit, options: OptionLikelihoods, problem: Problem) -> float:
    shares = _shares(_values(unit, options, problem) or [])
    return fsum(shares[place] for place in problem.gold if 0 <= place < len(shares))


def _log_of_gold_share(unit: OptionUnit, options: OptionLikelihoods, problem: Problem) -> float | None:
    share = _gold_share(unit, options, problem)
    return log(share) if share > 0 else None


def _gold(texts: OptionLikelihoods, problem: Problem) -> int:
    """The most likely of the right options; without options, the only text."""
    places = [place for place in problem.gold if 0 <= place < len(texts)]
    return max(places, key=lambda place: texts[place].logprob, default=0)


def logprob(texts: OptionLikelihoods, problem: Problem) -> float:
    """Natural logarithm of the right answer's likelihood."""
    return texts[_gold(texts, problem)].logprob


def likelihood(texts: OptionLikelihoods, problem: Problem) -> float:
    """The right answer's likelihood."""
    return exp(logprob(texts, problem))


def bits_of_gold(texts: OptionLikelihoods, problem: Problem) -> float | None:
    """Bits of the right option per byte of its text as it was sent."""
    place = _gold(texts, problem)
    size = _size("sent byte", problem, place)
    return -texts[place].logprob / (size * log(2)) if size else None


def _option_scores(problem: Problem) -> list[float]:
    """The score of each option: as the row says, else 1 for the right ones."""
    scores = problem.extras.get("target_scores")
    if isinstance(scores, dict):
        return [float(value) for value in scores.values()]
    return [float(place in problem.gold) for place in range(len(problem.choices))]


def _values_per(per: str, texts: OptionLikelihoods, problem: Problem) -> list[float]:
    values = _values("token" if per == "token" else "answer", texts, problem)
    if values is None or per not in {"answer", "token"}:
        raise BadData(f"log_prob compares per answer or per token, and the service must count tokens; not per '{per}'.")
    return values


def log_prob(texts: OptionLikelihoods, problem: Problem, *, per: str = "answer") -> float:
    """The score of the most likely option."""
    values = _values_per(per, texts, problem)
    return _option_scores(problem)[argmax(values)] if max(values) > -inf else 0.0


def log_prob_mc2(texts: OptionLikelihoods, problem: Problem, *, per: str = "answer") -> float:
    """Share of the probability that the options before the first one with score 0 have."""
    values = _values_per(per, texts, problem)
    scores = _option_scores(problem)
    right = scores.index(0.0) if 0.0 in scores else len(scores)
    top = max(values)
    weights = [exp(value - top) if top > -inf else 0.0 for value in values]
    return fsum(weights[:right]) / fsum(weights) if any(weights) else 0.0


def _bits_limits(problem: Problem) -> tuple[float, float] | None:
    """None for an empty text: its bits per byte are nothing."""
    places = problem.gold or (0,)
    return metric_type.from_zero(problem) if all(_size("sent byte", problem, place) for place in places) else None


def _score_limits(problem: Problem) -> tuple[float, float]:
    scores = _option_scores(problem)
    return min(scores, default=0.0), max(scores, default=1.0)


def _metric(score: Callable[..., object], about: str = "", **more: Any) -> Metric:
    return Metric(score=score, about=about, reads="likelihoods", **more)


def _best_option(about: str, unit: OptionUnit) -> Metric:
    return _metric(partial(_chosen, unit), f"1 if a right option is the most likely {about}", yes_or_no=True)


def _of_size(unit: Literal["words", "bytes"], aggregation: str) -> Metric:
    def size(problem: Problem) -> int:
        text = problem.candidates[0].continuation if problem.candidates else problem.text
        return len(re.split(r"\s+", text)) if unit == "words" else len(text.encode())

    def score(texts: OptionLikelihoods, problem: Problem) -> tuple[float, int]:
        return texts[0].logprob, size(problem)

    def limits(problem: Problem) -> ValueLimits:
        return (-inf, size(problem)), (0.0, size(problem))

    about = f"Log-likelihood of the whole text, and how many {unit} it has"
    return _metric(score, about, limits=limits, share=False, higher_is_better=False, aggregation=aggregation)


_OF_LOGARITHMS: dict[str, Any] = {"limits": lambda problem: (-inf, 0.0), "share": False}
_OF_ERRORS: dict[str, Any] = {"share": False, "higher_is_better": False}

LIKELIHOOD_METRICS = {
    "acc": _metric(acc, yes_or_no=True),
    "acc_norm": _best_option("per character of its text", "character"),
    "acc_bytes": _best_option("per byte of its text", "byte"),
    "acc_tokens": _best_option("per token; None if the service does not count tokens", "token"),
    "acc_mutual_info": _best_option("compared with what it is without its question", "question"),
    "exact_match_mc": _metric(exact_match_mc, yes_or_no=True),
    "f1": _metric(gold_and_chosen, aggregation="f1"),
    "mcc": _metric(gold_and_chosen, share=False, aggregation="matthews_corrcoef"),
    # Its distance is the greatest if a wrong option has all the probability.
    "brier_score": _metric(brier_score, limits=lambda problem: (0.0, 1.0 + len(problem.gold)), **_OF_ERRORS),
    "choice_prob": _metric(partial(_gold_share, "answer"), "The right option's share of the probability of all"),
    "choice_prob_norm": _metric(partial(_gold_share, "sent byte"), "The same, per byte of the option as it was sent"),
    "choice_logprob": _metric(
        partial(_log_of_gold_share, "answer"), "Logarithm of the right option's share", **_OF_LOGARITHMS
    ),
    "choice_logprob_norm": _metric(
        partial(_log_of_gold_share, "sent byte"), "Logarithm of the right option's share per byte", **_OF_LOGARITHMS
    ),
    "perplexity": _metric(logprob, higher_is_better=False, aggregation="perplexity", **_OF_LOGARITHMS),
    "word_perplexity": _of_size("words", "weighted_perplexity"),
    "byte_perplexity": _of_size("bytes", "weighted_perplexity"),
    "bits_per_byte": _of_size("bytes", "bits_per_byte"),
    "bpb": _metric(bits_of_gold, limits=_bits_limits, **_OF_ERRORS),
    "logprob": _metric(logprob, **_OF_LOGARITHMS),
    "likelihood": _metric(likelihood),
    "log_prob": _metric(log_prob, limits=_score_limits),
    "log_prob_mc2": _metric(log_prob_mc2),
}
