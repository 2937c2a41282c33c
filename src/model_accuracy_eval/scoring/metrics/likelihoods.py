"""(log-likelihoods of a problem's candidates, problem) → how well the model predicts a text."""

import re
from collections.abc import Callable, Sequence
from math import exp, fsum, inf, log

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Loglikelihood, Problem
from model_accuracy_eval.scoring.metrics import metric_type
from model_accuracy_eval.scoring.metrics.metric_type import Metric, ValueLimits

# (log-likelihoods of a problem's candidates, problem) → the most likely option, and the probability of the right one.
#
# Of equally likely options the first counts. The options' log-likelihoods may be followed by those of the same endings
# without their question.


OptionLikelihoods = Sequence[Loglikelihood]


def logprobs(options: OptionLikelihoods, problem: Problem) -> list[float]:
    """One for every option; for a problem without options, all there are."""
    return [option.logprob for option in options[: len(problem.choices) or None]]


def argmax(values: Sequence[float]) -> int:
    """The place of the greatest value, of equal ones the first."""
    return max(range(len(values)), key=values.__getitem__)


def _right(values: Sequence[float], problem: Problem) -> float:
    return float(argmax(values) in problem.gold)


def _per(length: Callable[[str], int], options: OptionLikelihoods, problem: Problem) -> list[float]:
    """Log-likelihoods divided by the length of the option's text; an option without text is the least likely."""
    sizes = map(length, problem.choices)
    return [value / size if size else -inf for value, size in zip(logprobs(options, problem), sizes, strict=True)]


def _bytes(text: str) -> int:
    return len(text.encode())


def continuation_bytes(problem: Problem, place: int) -> int:
    """Bytes of the option as it was sent, with the blank in front of it where that is known."""
    sent = problem.candidates[place].continuation if problem.candidates else ""
    return _bytes(sent or (problem.choices or problem.references)[place])


def _shares_per_byte(options: OptionLikelihoods, problem: Problem) -> list[float]:
    sizes = [continuation_bytes(problem, place) for place in range(len(problem.choices))]
    values = zip(logprobs(options, problem), sizes, strict=True)
    return _shares([value / size if size else -inf for value, size in values])


def acc(options: OptionLikelihoods, problem: Problem) -> float | None:
    """1 if a right option is the most likely; without options, if greedy decoding would give the right answer."""
    if not problem.choices:
        greedy = options[0].greedy
        return None if greedy is None else float(greedy)
    return _right(logprobs(options, problem), problem)


def acc_norm(options: OptionLikelihoods, problem: Problem) -> float:
    """1 if a right option is the most likely per character of its text."""
    return _right(_per(len, options, problem), problem)


def acc_bytes(options: OptionLikelihoods, problem: Problem) -> float:
    """1 if a right option is the most likely per byte of its text."""
    return _right(_per(_bytes, options, problem), problem)


def acc_tokens(options: OptionLikelihoods, problem: Problem) -> float | None:
    """1 if a right option is the most likely per token; None if the service does not count tokens."""
    choices = options[: len(problem.choices)]
    if any(not option.tokens for option in choices):
        return None
    return _right([option.logprob / (option.tokens or 1) for option in choices], problem)


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
    return _gold_share(_shares_per_byte(options, problem), problem)


def choice_logprob(options: OptionLikelihoods, problem: Problem) -> float | None:
    """Logarithm of the right option's share."""
    return _log(choice_prob(options, problem))


def choice_logprob_norm(options: OptionLikelihoods, problem: Problem) -> float | None:
    """Logarithm of the right option's share per byte."""
    return _log(choice_prob_norm(options, problem))


OPTION_METRICS = {
    "acc": Metric(score=acc, reads="likelihoods", yes_or_no=True),
    "acc_norm": Metric(score=acc_norm, reads="likelihoods", yes_or_no=True),
    "acc_bytes": Metric(score=acc_bytes, reads="likelihoods", yes_or_no=True),
    "acc_tokens": Metric(score=acc_tokens, reads="likelihoods", yes_or_no=True),
    "acc_mutual_info": Metric(score=acc_mutual_info, reads="likelihoods", yes_or_no=True),
    "exact_match_mc": Metric(score=exact_match_mc, reads="likelihoods", yes_or_no=True),
    "f1": Metric(score=gold_and_chosen, reads="likelihoods", aggregation="f1", limits=metric_type.labels),
    "mcc": Metric(
        score=gold_and_chosen,
        reads="likelihoods",
        aggregation="matthews_corrcoef",
        share=False,
        limits=metric_type.labels,
    ),
    "brier_score": Metric(
        score=brier_score, reads="likelihoods", share=False, higher_is_better=False, limits=metric_type.brier
    ),
    "choice_prob": Metric(score=choice_prob, reads="likelihoods"),
    "choice_prob_norm": Metric(score=choice_prob_norm, reads="likelihoods"),
    "choice_logprob": Metric(score=choice_logprob, reads="likelihoods", share=False, limits=metric_type.nats),
    "choice_logprob_norm": Metric(score=choice_logprob_norm, reads="likelihoods", share=False, limits=metric_type.nats),
}


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
    return metric_type.from_zero(problem) if all(continuation_bytes(problem, place) for place in places) else None


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
    "perplexity": _lower_is_better(logprob, "perplexity", metric_type.nats),
    "word_perplexity": _lower_is_better(by_words, "weighted_perplexity", _words_limits),
    "byte_perplexity": _lower_is_better(by_bytes, "weighted_perplexity", _bytes_limits),
    "bits_per_byte": _lower_is_better(by_bytes, "bits_per_byte", _bytes_limits),
    "bpb": _lower_is_better(bits_of_gold, "mean", _bits_limits),
    "logprob": Metric(score=logprob, reads="likelihoods", share=False, limits=metric_type.nats),
    "likelihood": Metric(score=likelihood, reads="likelihoods"),
    "log_prob": Metric(score=log_prob, reads="likelihoods", limits=_score_limits),
    "log_prob_mc2": Metric(score=log_prob_mc2, reads="likelihoods"),
}
