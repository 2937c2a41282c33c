"""(likelihoods of a problem's candidates, problem) → which option is likeliest, and how likely the right one is.

Of equally likely options the earliest counts. Behind the options' likelihoods may stand those of the same endings
after nothing.
"""

from collections.abc import Callable, Sequence
from math import exp, fsum, inf, log

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Likelihood, Problem
from model_accuracy_eval.scoring.metrics.row import Metric

Weighed = Sequence[Likelihood]


def logprobs(weighed: Weighed, problem: Problem) -> list[float]:
    """One for every option; of what has no options, of all there is."""
    return [one.logprob for one in weighed[: len(problem.choices) or None]]


def likeliest(values: Sequence[float]) -> int:
    """The first of the greatest."""
    return max(range(len(values)), key=values.__getitem__)


def _right(values: Sequence[float], problem: Problem) -> float:
    return float(likeliest(values) in problem.gold)


def _per(lengths: Callable[[str], int], weighed: Weighed, problem: Problem) -> list[float]:
    """Likelihood by length of the option's text; of an option without text nothing can be said."""
    sizes = map(lengths, problem.choices)
    return [one / size if size else -inf for one, size in zip(logprobs(weighed, problem), sizes, strict=True)]


def _bytes(text: str) -> int:
    return len(text.encode())


def weighed_bytes(problem: Problem, place: int) -> int:
    """Bytes of what was weighed: of an option with the blank in front of it, where it is known how it was sent."""
    sent = problem.candidates[place].continuation if problem.candidates else ""
    return _bytes(sent or (problem.choices or problem.references)[place])


def _shares_per_byte(weighed: Weighed, problem: Problem) -> list[float]:
    sizes = [weighed_bytes(problem, place) for place in range(len(problem.choices))]
    told = zip(logprobs(weighed, problem), sizes, strict=True)
    return _shares([one / size if size else -inf for one, size in told])


def acc(weighed: Weighed, problem: Problem) -> float | None:
    """1 if a right option is the likeliest; without options, if greedy decoding would say the right answer."""
    if not problem.choices:
        greedy = weighed[0].greedy
        return None if greedy is None else float(greedy)
    return _right(logprobs(weighed, problem), problem)


def acc_norm(weighed: Weighed, problem: Problem) -> float:
    """1 if a right option is the likeliest per character of its text."""
    return _right(_per(len, weighed, problem), problem)


def acc_bytes(weighed: Weighed, problem: Problem) -> float:
    """1 if a right option is the likeliest per byte of its text."""
    return _right(_per(_bytes, weighed, problem), problem)


def acc_tokens(weighed: Weighed, problem: Problem) -> float | None:
    """1 if a right option is the likeliest per token; unknown where the service does not count tokens."""
    options = weighed[: len(problem.choices)]
    if any(not one.tokens for one in options):
        return None
    return _right([one.logprob / (one.tokens or 1) for one in options], problem)


def acc_mutual_info(weighed: Weighed, problem: Problem) -> float:
    """1 if a right option is the one that its question makes likelier by the most."""
    bare = weighed[len(problem.choices) :]
    if len(bare) != len(problem.choices):
        raise BadData(
            f"acc_mutual_info weighs every option twice, but problem {problem.id} has {len(problem.choices)} options "
            f"and {len(weighed)} likelihoods."
        )
    known = zip(logprobs(weighed, problem), bare, strict=True)
    return _right([asked - alone.logprob for asked, alone in known], problem)


def exact_match_mc(weighed: Weighed, problem: Problem) -> float | None:
    """1 if greedy decoding would say a right option; unknown where the service does not tell."""
    told = [weighed[place].greedy for place in problem.gold if place < len(problem.choices)]
    if True in told:
        return 1.0
    return None if None in told else 0.0


def gold_and_likeliest(weighed: Weighed, problem: Problem) -> tuple[int, int]:
    """For figures over the whole dataset: which option is right, and which is likeliest."""
    return problem.gold[0], likeliest(logprobs(weighed, problem))


def _shares(values: Sequence[float]) -> list[float]:
    """Softmax: what each is worth of all."""
    top = max(values)
    if top == -inf:
        return [1 / len(values)] * len(values)
    parts = [exp(value - top) for value in values]
    return [part / fsum(parts) for part in parts]


def _log(share: float) -> float | None:
    return log(share) if share > 0 else None


def _of_gold(shares: Sequence[float], problem: Problem) -> float:
    return fsum(shares[place] for place in problem.gold if 0 <= place < len(shares))


def brier_score(weighed: Weighed, problem: Problem) -> float:
    """Squared distance of the options' shares of probability from certainty about the right one."""
    shares = _shares(logprobs(weighed, problem))
    return fsum((share - (place in problem.gold)) ** 2 for place, share in enumerate(shares))


def choice_prob(weighed: Weighed, problem: Problem) -> float:
    """The right option's share of the probability of all options."""
    return _of_gold(_shares(logprobs(weighed, problem)), problem)


def choice_prob_norm(weighed: Weighed, problem: Problem) -> float:
    """The same per byte of what was weighed."""
    return _of_gold(_shares_per_byte(weighed, problem), problem)


def choice_logprob(weighed: Weighed, problem: Problem) -> float | None:
    """Logarithm of the right option's share."""
    return _log(choice_prob(weighed, problem))


def choice_logprob_norm(weighed: Weighed, problem: Problem) -> float | None:
    """Logarithm of the right option's share per byte."""
    return _log(choice_prob_norm(weighed, problem))


ROWS = {
    "acc": Metric(score=acc, reads="likelihoods", yes_or_no=True),
    "acc_norm": Metric(score=acc_norm, reads="likelihoods", yes_or_no=True),
    "acc_bytes": Metric(score=acc_bytes, reads="likelihoods", yes_or_no=True),
    "acc_tokens": Metric(score=acc_tokens, reads="likelihoods", yes_or_no=True),
    "acc_mutual_info": Metric(score=acc_mutual_info, reads="likelihoods", yes_or_no=True),
    "exact_match_mc": Metric(score=exact_match_mc, reads="likelihoods", yes_or_no=True),
    "f1": Metric(score=gold_and_likeliest, reads="likelihoods", aggregation="f1"),
    "mcc": Metric(score=gold_and_likeliest, reads="likelihoods", aggregation="matthews_corrcoef", share=False),
    "brier_score": Metric(score=brier_score, reads="likelihoods", share=False, higher_is_better=False),
    "choice_prob": Metric(score=choice_prob, reads="likelihoods"),
    "choice_prob_norm": Metric(score=choice_prob_norm, reads="likelihoods"),
    "choice_logprob": Metric(score=choice_logprob, reads="likelihoods", share=False),
    "choice_logprob_norm": Metric(score=choice_logprob_norm, reads="likelihoods", share=False),
}
