"""MT-Bench over its real rows: what the judge is shown of each turn, and the marks that it gives."""

from tests.real_data import paper

from model_accuracy_eval.benchmarks.dataset_table import find
from model_accuracy_eval.records import Attempt, EarlierReply, Question
from model_accuracy_eval.scoring.figures.scorecard import Scorecard


def test_a_judge_sees_the_turn_that_it_marks() -> None:
    """Ten questions of each category; GPT-4's answers for three of them; the first turn before the second."""
    problems = paper("mt_bench").problems
    assert len(problems) == 80
    assert all(len(problem.follow_ups) == 1 for problem in problems)
    assert sum(bool(problem.turn_references[0]) for problem in problems) == 30
    for problem in problems:
        sample = Attempt(
            problem=problem.id,
            index=0,
            text="SECOND",
            earlier=(EarlierReply(text="FIRST", next=problem.follow_ups[0]),),
        )
        asked = [
            one for one in Scorecard(find("mt_bench"), 1, (1,)).asks(problem, [sample]) if isinstance(one, Question)
        ]
        first, second = (one.messages[-1].content for one in dict.fromkeys(asked))
        assert "Assistant: FIRST" in first
        assert "SECOND" not in first
        assert problem.follow_ups[0] not in first
        start = f"User: {problem.messages[-1].content}\n\nAssistant: FIRST\n\nUser: {problem.follow_ups[0]}\n\n"
        assert start in second
        assert second.index("Assistant: FIRST") < second.index("Assistant: SECOND")
        for text, reference in zip((first, second), problem.turn_references, strict=True):
            assert ("A good answer to this" in text) == bool(reference)
            assert reference in text
