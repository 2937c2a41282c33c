"""The table of metrics: its parts are loaded when a name is looked for, and together they are one table."""

import subprocess
import sys
from collections import Counter
from importlib import import_module

import pytest

from model_accuracy_eval.errors import UnknownName
from model_accuracy_eval.scoring.function_paths import is_path
from model_accuracy_eval.scoring.metrics import METRICS, TABLES, metric


def parts() -> dict[str, dict[str, object]]:
    home = "model_accuracy_eval.scoring.metrics"
    return {module: getattr(import_module(f"{home}.{module}"), name) for module, name in TABLES.items()}


def test_every_metric_of_every_part_is_found_under_its_name() -> None:
    assert {name: metric(name) for part in parts().values() for name in part} == dict(METRICS)
    assert all(METRICS[name] is value for part in parts().values() for name, value in part.items())


def test_no_name_stands_in_two_parts() -> None:
    """So it does not matter which part is looked at first; nor is a name a path, which is looked at before."""
    counts = Counter(name for part in parts().values() for name in part)
    assert {name for name, count in counts.items() if count > 1 or is_path(name)} == set()


def test_an_unknown_name_is_refused_with_the_nearest_of_all_parts() -> None:
    with pytest.raises(UnknownName, match="anls"):
        metric("anlss")


def test_a_common_metric_loads_its_own_part_alone() -> None:
    code = (
        "import sys; from model_accuracy_eval.scoring.metrics import METRICS; METRICS['exact']; "
        "print(*[name.rpartition('.')[2] for name in sys.modules if name.endswith(('.metrics.exact', '.metrics.overlap'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "exact\n"
