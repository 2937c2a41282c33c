"""An answer beside the known one: what rounding explains, and what it does not."""

import pytest

from model_accuracy_eval.diagnosis.known_answers import Known
from model_accuracy_eval.diagnosis.probe import question
from model_accuracy_eval.records import ScoredReply, ScoredToken

NEAR_TIE = ScoredToken("1", -0.7, (("1", -0.7), ("8", -0.9), ("2", -4.0)))


def reply(*tokens: ScoredToken) -> ScoredReply:
    return ScoredReply(text="".join(token.text for token in tokens), tokens=tokens, finish_reason="length")


@pytest.mark.parametrize(
    ("now", "rule"),
    [
        (ScoredToken("8", -0.75, (("8", -0.75), ("1", -0.8), ("2", -4.0))), None),
        (ScoredToken("8", -0.1, (("8", -0.1), ("1", -2.6), ("2", -4.0))), "log-probabilities"),
        (ScoredToken("8", -0.75, (("8", -0.75), ("2", -1.2))), None),
    ],
    ids=["as likely as before", "far more likely than before", "the other one is not told"],
)
def test_a_near_tie_tips_over_by_rounding_alone_where_it_is_still_one(now: ScoredToken, rule: str | None) -> None:
    """Behind it, both answer another prompt, and nothing is compared."""
    behind = ScoredToken("7", -0.1, (("7", -0.1),)), ScoredToken("7", -3.0, (("7", -3.0),))
    known = Known(question("2+6="), reply(NEAR_TIE, behind[0]))
    found = known.complaint(reply(now, behind[1]))
    assert (found.rule if found else None) == rule


def test_of_several_tokens_with_one_text_the_nearest_is_taken() -> None:
    """Parts of characters look alike."""
    was = ScoredToken("a", -0.7, (("a", -0.7), ("?", -0.9)))
    now = ScoredToken("?", -0.8, (("?", -0.8), ("a", -3.0), ("a", -0.75)))
    assert Known(question("a"), reply(was)).complaint(reply(now)) is None
