"""Contracts of `math_equal`: one for each topic of the table of pairs, asked in both directions."""

from model_accuracy_eval.scoring.contracts.contract import Case, Contract, contract
from model_accuracy_eval.scoring.contracts.maths_pairs import TOPICS, AnswerPairs, PairTopic
from model_accuracy_eval.scoring.metrics import metric


def _case(pairs: AnswerPairs, *, same: bool) -> Case:
    """The pairs with the other verdict, of which there must be none."""

    def run() -> tuple[str, ...]:
        score = metric("math_equal").score
        return tuple(
            f"{answer} for {right}"
            for pair in pairs
            for answer, right in (pair, reversed(pair))
            if score(answer, (right,)) != float(same)
        )

    return Case(input=f"{len(pairs)} pairs that are {'' if same else 'not '}the same", run=run, expected=())


def _contract(topic: PairTopic) -> Contract:
    return contract(
        f"maths: {topic.name}",
        topic.rule,
        _case(topic.same, same=True),
        _case(topic.different, same=False),
        "Right answers count as wrong, or wrong ones as right.",
    )


CONTRACTS = tuple(map(_contract, TOPICS))
