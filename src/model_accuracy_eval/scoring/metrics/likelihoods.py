"""(likelihoods of a problem's candidates, problem) → how well the model foresees a text."""

import re
from collections.abc import Sequence
from math import exp, fsum, inf, log

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Likelihood, Problem
from model_accuracy_eval.scoring.metrics.options import likeliest, weighed_bytes
from model_accuracy_eval.scoring.metrics.row import Metric

Weighed = Sequence[Likelihood]


def _gold(weighed: Weighed, problem: Problem) -> int:
    """The likeliest of the right options; without options, the only text there is."""
    places = [place for place in problem.gold if 0 <= place < len(weighed)]
    return max(places, key=lambda place: weighed[place].logprob, default=0)


def logprob(weighed: Weighed, problem: Problem) -> float:
    """Natural logarithm of how likely the right answer is."""
    return weighed[_gold(weighed, problem)].logprob


def likelihood(weighed: Weighed, problem: Problem) -> float:
    """How likely the right answer is."""
    return exp(logprob(weighed, problem))


def bits_of_gold(weighed: Weighed, problem: Problem) -> float | None:
    """Bits that the right option costs, per byte of what was weighed."""
    place = _gold(weighed, problem)
    size = weighed_bytes(problem, place)
    return -weighed[place].logprob / (size * log(2)) if size else None


def _text(problem: Problem) -> str:
    return problem.candidates[0].continuation if problem.candidates else problem.text


def by_words(weighed: Weighed, problem: Problem) -> tuple[float, int]:
    """Logarithm of the whole text's likelihood, and its words: what stands between blanks."""
    return weighed[0].logprob, len(re.split(r"\s+", _text(problem)))


def by_bytes(weighed: Weighed, problem: Problem) -> tuple[float, int]:
    """Logarithm of the whole text's likelihood, and its bytes."""
    return weighed[0].logprob, len(_text(problem).encode())


def _worth(problem: Problem) -> list[float]:
    """What each option is worth: as the row says, else 1 for the right ones."""
    told = problem.extras.get("target_scores")
    if isinstance(told, dict):
        return [float(value) for value in told.values()]
    return [float(place in problem.gold) for place in range(len(problem.choices))]


def _values(weighed: Weighed, problem: Problem, per: str) -> list[float]:
    if per == "answer":
        return [one.logprob for one in weighed[: len(problem.choices) or None]]
    if per != "token" or any(not one.tokens for one in weighed):
        raise BadData(f"log_prob weighs per answer or per token, and the service must count tokens; not per '{per}'.")
    return [one.logprob / (one.tokens or 1) for one in weighed[: len(problem.choices) or None]]


def log_prob(weighed: Weighed, problem: Problem, *, per: str = "answer") -> float:
    """What the likeliest option is worth."""
    values = _values(weighed, problem, per)
    return _worth(problem)[likeliest(values)] if max(values) > -inf else 0.0


def log_prob_mc2(weighed: Weighed, problem: Problem, *, per: str = "answer") -> float:
    """Share of probability of the options before the first that is worth nothing."""
    values = _values(weighed, problem, per)
    worth = _worth(problem)
    right = worth.index(0.0) if 0.0 in worth else len(worth)
    top = max(values)
    parts = [exp(value - top) if top > -inf else 0.0 for value in values]
    return fsum(parts[:right]) / fsum(parts) if any(parts) else 0.0


def _figure(score: object, aggregation: str) -> Metric:
    return Metric(
        score=score,  # type: ignore[arg-type]
        reads="likelihoods",
        aggregation=aggregation,
        share=False,
        higher_is_better=False,
    )


ROWS = {
    "perplexity": _figure(logprob, "perplexity"),
    "word_perplexity": _figure(by_words, "weighted_perplexity"),
    "byte_perplexity": _figure(by_bytes, "weighted_perplexity"),
    "bits_per_byte": _figure(by_bytes, "bits_per_byte"),
    "bpb": _figure(bits_of_gold, "mean"),
    "logprob": Metric(score=logprob, reads="likelihoods", share=False),
    "likelihood": Metric(score=likelihood, reads="likelihoods"),
    "log_prob": Metric(score=log_prob, reads="likelihoods"),
    "log_prob_mc2": Metric(score=log_prob_mc2, reads="likelihoods"),
}
