"""Contracts of `math_equal`: one for each topic of `maths_pairs.txt`, asked in both directions.

A line there is a right answer and an answer of a model, with a tilde between.
"""

from pathlib import Path
from typing import NamedTuple

from model_accuracy_eval.scoring.contracts.contract import Case, Contract
from model_accuracy_eval.scoring.metrics.metric_table import metric

AnswerPairs = tuple[tuple[str, str], ...]


class PairTopic(NamedTuple):
    """Answers that are the same mathematics, and answers that are not."""

    name: str
    rule: str
    same: AnswerPairs
    different: AnswerPairs


def _topic(paragraph: str) -> PairTopic:
    name, rule, _, *lines = paragraph.strip().splitlines()
    end = lines.index("different")
    return PairTopic(name.removeprefix("# "), rule, _pairs(lines[:end]), _pairs(lines[end + 1 :]))


def _pairs(lines: list[str]) -> AnswerPairs:
    return tuple((right, answer) for right, _, answer in (line.partition(" ~ ") for line in lines))


TOPICS = tuple(map(_topic, Path(__file__).with_name("maths_pairs.txt").read_text("utf-8").split("\n\n")))


def _case(pairs: AnswerPairs, *, same: bool) -> Case:
    """The pairs that are judged wrongly, in either direction; there must be none."""

    def run() -> tuple[str, ...]:
        score = metric("math_equal").score
        return tuple(
            f"{answer} for {right}"
            for pair in pairs
            for right, answer in (pair, pair[::-1])
            if score(answer, (right,)) != float(same)
        )

    return Case(f"{len(pairs)} pairs that are {'' if same else 'not '}the same", run, ())


CONTRACTS = tuple(
    Contract(f"maths: {topic.name}", topic.rule, _case(topic.same, same=True), _case(topic.different, same=False))
    for topic in TOPICS
)
