"""The samples of a reply, as they are journaled and judged."""

from collections.abc import Sequence

from model_accuracy_eval.records import Attempt, Problem, Reply, RequestMethod


def reply_samples(
    problem: Problem, indexes: Sequence[int], seed: int | None, reply: Reply, method: RequestMethod
) -> list[Attempt]:
    """`indexes` and `seed`: the samples that the request asked for, and the seed of the first."""
    if reply.loglikelihoods:
        return [_likeliest(problem, indexes[0], reply, method)]
    return [
        Attempt(
            problem=problem.id,
            index=indexes[choice.index],
            text=choice.text,
            reasoning=choice.reasoning,
            finish_reason=choice.finish_reason,
            rounds=choice.rounds,
            earlier=choice.earlier,
            method=method,
            timings=choice.timings,
            usage=reply.usage,
            request=reply.id,
            replica=reply.replica,
            seed=None if seed is None else seed + choice.index,
            tries=reply.tries,
        )
        for choice in reply.choices
    ]


def _likeliest(problem: Problem, index: int, reply: Reply, method: RequestMethod) -> Attempt:
    """The text is the option that the service finds likeliest, for people to read."""
    choices = problem.choices
    likelihoods = enumerate(reply.loglikelihoods[: len(choices)])
    ranking = [(likelihood.logprob, -place) for place, likelihood in likelihoods if likelihood is not None]
    return Attempt(
        problem=problem.id,
        index=index,
        text=choices[-max(ranking)[1]] if ranking else "",
        method=method,
        loglikelihoods=reply.loglikelihoods,
        request=reply.id,
        replica=reply.replica,
        tries=reply.tries,
    )
