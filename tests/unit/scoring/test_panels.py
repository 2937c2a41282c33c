"""Several judges of one reply: of yes and no the majority counts, whichever of the two is good."""

import pytest

from model_accuracy_eval.records import Attempt, MetricUse, Pipeline, Problem
from model_accuracy_eval.records.exchange import Opinion
from model_accuracy_eval.scoring.figures.judging import judge
from model_accuracy_eval.scoring.metrics.metric_type import Panel

PROMPT = "Is {answer} an answer to {question}? Reply yes or no."


@pytest.mark.parametrize(
    ("name", "said", "value"),
    [
        ("judge", ("yes", "yes", "no"), 1.0),
        ("judge", ("yes", "no", "no"), 0.0),
        ("judge_no", ("yes", "yes", "no"), 0.0),
        ("judge_no", ("yes", "no", "no"), 1.0),
        ("judge_no", ("no", "no", "no"), 1.0),
    ],
)
def test_the_majority_decides(name: str, said: tuple[str, ...], value: float) -> None:
    """A whole verdict, never a share of one."""
    problem = Problem(id=0, messages=(), references=("x",))
    pipeline = Pipeline(metrics=(MetricUse(name=name, args={"prompt": PROMPT}),))
    panel = Panel(tuple(Opinion(text=text) for text in said))
    judged = judge(problem, [Attempt(problem=0, index=0, text="a")], pipeline, ask_results=lambda _ask: panel)
    assert judged.values == ((value,),)
