"""`--only` and `--stop-when-decided`: what cannot be meant with them is refused before anything starts."""

import pytest

from model_accuracy_eval.errors import BadValue, UnknownName
from model_accuracy_eval.run import plan_parts

GIVEN = {"endpoint": "http://localhost:8000", "datasets": "demo_gsm8k"}


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"stop_when_decided": "true"}, "none is given: add --gate 'gsm8k: avg@5 >= 60'"),
        ({"stop_when_decided": "true", "gate": "demo_gsm8k: avg@5 >= 60", "shard": "0/2"}, "--shard 0/2 exclude"),
        ({"stop_when_decided": "true", "gate": "demo_gsm8k: avg@5 >= 60", "mode": "infer"}, "--mode infer judges none"),
        ({"only": "pass@5", "mode": "infer"}, "--mode infer judges none"),
        ({"only": "pass@5", "gate": "demo_gsm8k: avg@5 >= 60"}, "needs avg@5, and --only pass@5 leaves it out"),
    ],
)
def test_contradictions(values: dict[str, str], sentence: str) -> None:
    """Each with the next thing to type."""
    with pytest.raises(BadValue) as caught:
        plan_parts.plan({**GIVEN, **values}, {})
    assert sentence in caught.value.sentence


def test_a_figure_that_no_dataset_has_is_refused() -> None:
    """It would settle nothing, and everything would be asked in silence."""
    with pytest.raises(UnknownName, match="pass@7"):
        plan_parts.plan({**GIVEN, "only": "pass@7"}, {})


def test_a_k_that_is_wanted_is_computed() -> None:
    """As for gates, without --k."""
    assert plan_parts.plan({**GIVEN, "only": "pass@2"}, {}).k == (2, 5)
