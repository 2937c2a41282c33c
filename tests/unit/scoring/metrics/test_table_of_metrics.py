"""The table of metrics: the parts of all modules are one table."""

from collections import Counter

import pytest

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.scoring.metrics.metric_table import METRICS, PARTS, metric
from model_accuracy_eval.scoring.metrics.user_functions import is_path


def test_no_name_stands_in_two_parts() -> None:
    """So the order of the parts does not matter; nor is a name a path, which is looked at before."""
    counts = Counter(name for part in PARTS for name in part)
    assert {name for name, count in counts.items() if count > 1 or is_path(name)} == set()
    assert counts.keys() == METRICS.keys()


def test_an_unknown_name_is_refused_with_the_nearest_of_all_parts() -> None:
    with pytest.raises(UnknownName, match="anls"):
        metric("anlss")
