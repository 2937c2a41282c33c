"""(log-likelihoods of a problem's candidates, problem) → how well the model predicts a text."""

import re
from collections.abc import Callable, Sequence
from math import exp, fsum, inf, log

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Loglikelihood, Problem
from model_accuracy_eval.scoring.metrics import limits
from model_accuracy_eval.scoring.metrics.metric_type import Metric, ValueLimits
from model_accuracy_eval.scoring.metrics.options import argmax, continuation_bytes

TextLikelihoods = Sequence[Loglikelihood]


def _gold(texts: TextLikelihoods, problem: Problem) -> int:
    """The most likely of the right options; without options, the only text."""
    places = [place for place in problem.gold if 0 <= place < len(texts)]
    return max(places, key=lambda place: texts[place].logprob, default=0)


def logprob(texts: TextLikelihoods, problem: Problem) -> float:
    """Natural logarithm of the right answer's likelihood."""
    return texts[_gold(texts, problem)].logprob


def likelihood(texts: TextLikelihoods, problem: Problem) -> float:
    """The right answer's likelihood."""
    return exp(logprob(texts, problem))


def bits_of_gold(texts: TextLikelihoods, problem: Problem) -> float | None:
    """Bits of the right option per byte of its text as it was sent."""
    place = _gold(texts, problem)
    size = continuation_bytes(problem, place)
    return -texts[place].logprob / (size * log(2)) if size else None


def _text(problem: Problem) -> str:
    return problem.candidates[0].continuation if problem.candidates else problem.text


def by_words(texts: TextLikelihoods, problem: Problem) -> tuple[float, int]:
    """Log-likelihood of the whole text, and its number of words between blanks."""
    return texts[0].logprob, len(re.split(r"\s+", _text(problem)))


def by_bytes(texts: TextLikelihoods, problem: Problem) -> tuple[float, int]:
    """Log-likelihood of the whole text, and its number of bytes."""
    return texts[0].logprob, len(_text(problem).encode())


def _option_scores(problem: Problem) -> list[float]:
    """The score of each option: as the row says, else 1 for the right ones."""
    scores = problem.extras.get("target_scores")
    if isinstance(scores, dict):
        return [float(value) for value in scores.values()]
    return [float(place in problem.gold) for place in range(len(problem.choices))]


def _values(texts: TextLikelihoods, problem: Problem, per: str) -> list[float]:
    options = texts[: len(problem.choices) or None]
    if per == "answer":
        return [option.logprob for option in options]
    if per != "token" or any(not text.tokens for text in texts):
        raise BadData(f"log_prob compares per answer or per token, and the service must count tokens; not per '{per}'.")
    return [option.logprob / (option.tokens or 1) for option in options]


def log_prob(texts: TextLikelihoods, problem: Problem, *, per: str = "answer") -> float:
    """The score of the most likely option."""
    values = _values(texts, problem, per)
    return _option_scores(problem)[argmax(values)] if max(values) > -inf else 0.0


def log_prob_mc2(texts: TextLikelihoods, problem: Problem, *, per: str = "answer") -> float:
    """Share of the probability that the options before the first one with score 0 have."""
    values = _values(texts, problem, per)
    scores = _option_scores(problem)
    right = scores.index(0.0) if 0.0 in scores else len(scores)
    top = max(values)
    weights = [exp(value - top) if top > -inf else 0.0 for value in values]
    return fsum(weights[:right]) / fsum(weights) if any(weights) else 0.0


def _words_limits(problem: Problem) -> tuple[tuple[float, int], tuple[float, int]]:
    _, words = by_words((Loglikelihood(logprob=0.0),), problem)
    return (-inf, words), (0.0, words)


def _bytes_limits(problem: Problem) -> tuple[tuple[float, int], tuple[float, int]]:
    _, size = by_bytes((Loglikelihood(logprob=0.0),), problem)
    return (-inf, size), (0.0, size)


def _bits_limits(problem: Problem) -> tuple[float, float] | None:
    """None for an empty text: its bits per byte are nothing."""
    places = problem.gold or (0,)
    return limits.from_zero(problem) if all(continuation_bytes(problem, place) for place in places) else None


def _score_limits(problem: Problem) -> tuple[float, float]:
    scores = _option_scores(problem)
    return min(scores, default=0.0), max(scores, default=1.0)


def _lower_is_better(
    score: Callable[..., object], aggregation: str, limits_of: Callable[[Problem], ValueLimits | None]
) -> Metric:
    return Metric(
        score=score,
        reads="likelihoods",
        aggregation=aggregation,
        share=False,
        higher_is_better=False,
        limits=limits_of,
    )


LIKELIHOOD_METRICS = {
    "perplexity": _lower_is_better(logprob, "perplexity", limits.nats),
    "word_perplexity": _lower_is_better(by_words, "weighted_perplexity", _words_limits),
    "byte_perplexity": _lower_is_better(by_bytes, "weighted_perplexity", _bytes_limits),
    "bits_per_byte": _lower_is_better(by_bytes, "bits_per_byte", _bytes_limits),
    "bpb": _lower_is_better(bits_of_gold, "mean", _bits_limits),
    "logprob": Metric(score=logprob, reads="likelihoods", share=False, limits=limits.nats),
    "likelihood": Metric(score=likelihood, reads="likelihoods"),
    "log_prob": Metric(score=log_prob, reads="likelihoods", limits=_score_limits),
    "log_prob_mc2": Metric(score=log_prob_mc2, reads="likelihoods"),
}
