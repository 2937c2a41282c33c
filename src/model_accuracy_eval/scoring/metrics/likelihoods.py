"""(log-likelihoods of a problem's candidates, problem) → how well the model predicts a text."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from math import exp, fsum, inf, log
from typing import Any

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Loglikelihood, Problem
from model_accuracy_eval.scoring.metrics import metric_type
from model_accuracy_eval.scoring.metrics.metric_type import Metric, ValueLimits

# (log-likelihoods of a problem's candidates, problem) → the most likely option, and the probability of the right one.
#
# Of equally likely options the first counts. The options' log-likelihoods may be followed by those of the same endings
# without their question.


OptionLikelihoods = Sequence[Loglikelihood]
"""Of the options, or of the only text."""


def logprobs(options: OptionLikelihoods, problem: Problem) -> list[float]:
    """One for every option; for a problem without options, all there are."""
    return [option.logprob for option in options[: len(problem.choices) or None]]


def argmax(values: Sequence[float]) -> int:
    """The place of the greatest value, of equal ones the first."""
    return max(range(len(values)), key=values.__getitem__)


def _right(values: Sequence[float], problem: Problem) -> float:
    return float(argmax(values) in problem.gold)


def _per(sizes: Iterable[int], options: OptionLikelihoods, problem: Problem) -> list[float]:
    """Log-likelihoods divided by the sizes of the options; an option without text is the least likely."""
    return [value / size if size else -inf for value, size in zip(logprobs(options, problem), sizes, strict=True)]


def _bytes(text: str) -> int:
    return len(text.encode())


def continuation_bytes(problem: Problem, place: int) -> int:
    """Bytes of the option as it was sent, with the blank in front of it where that is known."""
    sent = problem.candidates[place].continuation if problem.candidates else ""
    return _bytes(sent or (problem.choices or problem.references)[place])


def acc(options: OptionLikelihoods, problem: Problem) -> float | None:
    """1 if a right option is the most likely; without options, if greedy decoding would give the right answer."""
    if not problem.choices:
        greedy = options[0].greedy
        return None if greedy is None else float(greedy)
    return _right(logprobs(options, problem), problem)


def acc_norm(options: OptionLikelihoods, problem: Problem) -> float:
    """1 if a right option is the most likely per character of its text."""
    return _right(_per(map(len, problem.choices), options, problem), problem)


def acc_bytes(options: OptionLikelihoods, problem: Problem) -> float:
    """1 if a right option is the most likely per byte of its text."""
    return _right(_per(map(_bytes, problem.choices), options, problem), problem)


def acc_tokens(options: OptionLikelihoods, problem: Problem) -> float | None:
    """1 if a right option is the most likely per token; None if the service does not count tokens."""
    choices = options[: len(problem.choices)]
    values = [option.logprob / option.tokens for option in choices if option.tokens]
    return _right(values, problem) if len(values) == len(choices) else None


def acc_mutual_info(options: OptionLikelihoods, problem: Problem) -> float:
    """1 if a right option is the one whose likelihood its question raises most."""
    alone = options[len(problem.choices) :]
    if len(alone) != len(problem.choices):
        raise BadData(
            f"acc_mutual_info needs two log-likelihoods of every option, but problem {problem.id} has "
            f"{len(problem.choices)} options and {len(options)} log-likelihoods."
        )
    pairs = zip(logprobs(options, problem), alone, strict=True)
    return _right([asked - bare.logprob for asked, bare in pairs], problem)


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


def _log(share: float) -> float | None:
    return log(share) if share > 0 else None


def _gold_share(shares: Sequence[float], problem: Problem) -> float:
    return fsum(shares[place] for place in problem.gold if 0 <= place < len(shares))


def brier_score(options: OptionLikelihoods, problem: Problem) -> float:
    """Squared distance between the options' probabilities and certainty about the right one."""
    shares = _shares(logprobs(options, problem))
    return fsum((share - (place in problem.gold)) ** 2 for place, share in enumerate(shares))


def choice_prob(options: OptionLikelihoods, problem: Problem) -> float:
    """The right option's share of the probability of all options."""
    return _gold_share(_shares(logprobs(options, problem)), problem)


def choice_prob_norm(options: OptionLikelihoods, problem: Problem) -> float:
    """The same, per byte of the option as it was sent."""
    sizes = [continuation_bytes(problem, place) for place in range(len(problem.choices))]
    return _gold_share(_shares(_per(sizes, options, problem)), problem)


def choice_logprob(options: OptionLikelihoods, problem: Problem) -> float | None:
    """Logarithm of the right option's share."""
    return _log(choice_prob(options, problem))


def choice_logprob_norm(options: OptionLikelihoods, problem: Problem) -> float | None:
    """Logarithm of the right option's share per byte."""
    return _log(choice_prob_norm(options, problem))


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
    size = continuation_bytes(problem, place)
    return -texts[place].logprob / (size * log(2)) if size else None


def _size(problem: Problem, unit: str) -> int:
    text = problem.candidates[0].continuation if problem.candidates else problem.text
    return len(re.split(r"\s+", text)) if unit == "words" else _bytes(text)


def by_size(unit: str, texts: OptionLikelihoods, problem: Problem) -> tuple[float, int]:
    """Log-likelihood of the whole text, and its number of words between blanks, or of bytes."""
    return texts[0].logprob, _size(problem, unit)


def _option_scores(problem: Problem) -> list[float]:
    """The score of each option: as the row says, else 1 for the right ones."""
    scores = problem.extras.get("target_scores")
    if isinstance(scores, dict):
        return [float(value) for value in scores.values()]
    return [float(place in problem.gold) for place in range(len(problem.choices))]


def _values(texts: OptionLikelihoods, problem: Problem, per: str) -> list[float]:
    options = texts[: len(problem.choices) or None]
    if per == "answer":
        return logprobs(texts, problem)
    values = [option.logprob / option.tokens for option in options if option.tokens]
    if per != "token" or len(values) < len(options):
        raise BadData(f"log_prob compares per answer or per token, and the service must count tokens; not per '{per}'.")
    return values


def log_prob(texts: OptionLikelihoods, problem: Problem, *, per: str = "answer") -> float:
    """The score of the most likely option."""
    values = _values(texts, problem, per)
    return _option_scores(problem)[argmax(values)] if max(values) > -inf else 0.0


def log_prob_mc2(texts: OptionLikelihoods, problem: Problem, *, per: str = "answer") -> float:
    """Share of the probability that the options before the first one with score 0 have."""
    values = _values(texts, problem, per)
    scores = _option_scores(problem)
    right = scores.index(0.0) if 0.0 in scores else len(scores)
    top = max(values)
    weights = [exp(value - top) if top > -inf else 0.0 for value in values]
    return fsum(weights[:right]) / fsum(weights) if any(weights) else 0.0


def _of_size(unit: str, aggregation: str) -> Metric:
    def limits(problem: Problem) -> ValueLimits:
        return (-inf, _size(problem, unit)), (0.0, _size(problem, unit))

    return _lower_is_better(partial(by_size, unit), limits, aggregation=aggregation)


def _bits_limits(problem: Problem) -> tuple[float, float] | None:
    """None for an empty text: its bits per byte are nothing."""
    places = problem.gold or (0,)
    return metric_type.from_zero(problem) if all(continuation_bytes(problem, place) for place in places) else None


def _score_limits(problem: Problem) -> tuple[float, float]:
    scores = _option_scores(problem)
    return min(scores, default=0.0), max(scores, default=1.0)


def _likelihoods(score: Callable[..., object], **more: Any) -> Metric:
    return Metric(score=score, reads="likelihoods", **more)


def _number(score: Callable[..., object], limits: Callable[[Problem], ValueLimits | None], **more: Any) -> Metric:
    return _likelihoods(score, limits=limits, share=False, **more)


_lower_is_better = partial(_number, higher_is_better=False)

OPTION_METRICS = {
    "acc": _likelihoods(acc, yes_or_no=True),
    "acc_norm": _likelihoods(acc_norm, yes_or_no=True),
    "acc_bytes": _likelihoods(acc_bytes, yes_or_no=True),
    "acc_tokens": _likelihoods(acc_tokens, yes_or_no=True),
    "acc_mutual_info": _likelihoods(acc_mutual_info, yes_or_no=True),
    "exact_match_mc": _likelihoods(exact_match_mc, yes_or_no=True),
    "f1": _likelihoods(gold_and_chosen, aggregation="f1"),
    "mcc": _likelihoods(gold_and_chosen, share=False, aggregation="matthews_corrcoef"),
    "brier_score": _lower_is_better(brier_score, metric_type.brier),
    "choice_prob": _likelihoods(choice_prob),
    "choice_prob_norm": _likelihoods(choice_prob_norm),
    "choice_logprob": _number(choice_logprob, metric_type.nats),
    "choice_logprob_norm": _number(choice_logprob_norm, metric_type.nats),
}

LIKELIHOOD_METRICS = {
    "perplexity": _lower_is_better(logprob, metric_type.nats, aggregation="perplexity"),
    "word_perplexity": _of_size("words", "weighted_perplexity"),
    "byte_perplexity": _of_size("bytes", "weighted_perplexity"),
    "bits_per_byte": _of_size("bytes", "bits_per_byte"),
    "bpb": _lower_is_better(bits_of_gold, _bits_limits),
    "logprob": _number(logprob, metric_type.nats),
    "likelihood": _likelihoods(likelihood),
    "log_prob": _likelihoods(log_prob, limits=_score_limits),
    "log_prob_mc2": _likelihoods(log_prob_mc2),
}
