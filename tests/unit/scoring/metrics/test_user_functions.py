"""Metrics, aggregations and reductions outside the tables: at a path, or in an installed library."""

import sys
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.unit.scoring.judged_tasks import pipe, rows, task, values

from model_accuracy_eval.errors import BadValue, UnknownName, UsageError
from model_accuracy_eval.records import MetricUse
from model_accuracy_eval.scoring.figures.judging import check
from model_accuracy_eval.scoring.metrics import user_functions
from model_accuracy_eval.scoring.metrics.metric_table import METRICS, metric, user_function_paths

OWN = """
from model_accuracy_eval import Metric

def length(answer, references, *, per=1):
    return len(answer) / per

def both(answer, references):
    return {"same": float(answer in references), "length": len(answer)}

def theirs(predictions, references, ignore_case=False):
    (said,), (right,) = predictions, references
    return float(said.lower() == right.lower() if ignore_case else said == right)

def initial(answer, references):
    return float(answer[:1] == references[0][:1])

ROW = Metric(score=initial, yes_or_no=True)

def range_of(values):
    return max(values) - min(values)
"""


@pytest.fixture
def own_file(tmp_path: Path) -> str:
    (tmp_path / "own.py").write_text(OWN)
    return str(tmp_path / "own.py")


def one(measure: MetricUse, replies: list[list[str]], references: list[str]) -> dict[str, float | None]:
    return values(rows(task(pipe(measure)), replies, references))


def test_l31_a_function_at_a_path_is_a_metric(own_file: str) -> None:
    """(answer, right answers, its arguments); its figures are shown as they are."""
    measure = MetricUse(name=f"{own_file}:length", label="length", args={"per": 2})
    assert one(measure, [["ab"], ["abcd"]], ["x", "y"]) == {"length": 1.5}


def test_l31_a_mapping_becomes_several_figures(own_file: str) -> None:
    """Each under its own name."""
    assert one(MetricUse(name=f"{own_file}:both"), [["ab"], ["x"]], ["ab", "y"]) == {"same": 0.5, "length": 1.5}


def test_l31_a_function_in_the_harness_form_gets_lists_of_one(own_file: str) -> None:
    """predictions and references, with its own arguments."""
    measure = MetricUse(name=f"{own_file}:theirs", label="same", args={"ignore_case": True})
    assert one(measure, [["Ab"], ["x"]], ["aB", "y"]) == {"same": 0.5}


def test_l31_a_row_at_a_path_says_what_its_figures_mean(own_file: str) -> None:
    """Right or wrong, so there are pass@k and cons@k."""
    found = one(MetricUse(name=f"{own_file}:ROW", label="initial"), [["ax", "b", "az"]], ["a"])
    assert found == pytest.approx({"initial (3 runs average)": 200 / 3, "avg@3": 200 / 3, "pass@3": 100, "cons@3": 100})


def test_aggregations_and_reductions_may_be_at_paths_too(own_file: str) -> None:
    """Of problems' values and of samples' values."""
    measure = MetricUse(name=f"{own_file}:length", label="length", aggregation=f"{own_file}:range_of")
    assert one(measure, [["a"], ["abcd"]], ["x", "y"]) == {"length": 3}
    measure = MetricUse(name=f"{own_file}:length", label="length", reduction=f"{own_file}:range_of")
    assert one(measure, [["a", "abcd"]], ["x"]) == {"length": 3}


def test_python_of_a_tasks_author_is_known_before_it_runs(own_file: str) -> None:
    """Every path that judging would load, and no name of a table."""
    measure = MetricUse(name=f"{own_file}:length", aggregation=f"{own_file}:range_of")
    assert user_function_paths(task(pipe(measure, "exact_match"))) == [f"{own_file}:length", f"{own_file}:range_of"]
    assert user_function_paths(task(pipe("exact_match", "hf_evaluate:bleurt"))) == []


def test_paths_that_lead_nowhere_are_told(own_file: str) -> None:
    """With what is missing; a broken file says why it is."""
    with pytest.raises(BadValue, match=r"own.py has no 'nobody'"):
        check(pipe(f"{own_file}:nobody"))
    Path(own_file).write_text("import nothing_like_this")
    with pytest.raises(BadValue, match="ModuleNotFoundError: No module named 'nothing_like_this'"):
        check(pipe(f"{own_file}:other"))
    with pytest.raises(UnknownName, match="no metric called 'exact_mach'; did you mean exact_match"):
        metric("exact_mach")


class Evaluate:
    """Plays the library: one metric, on this machine alone."""

    DownloadConfig = SimpleNamespace

    def load(self, name: str, download_config: SimpleNamespace) -> "Evaluate":
        assert download_config.local_files_only
        if name != "words":
            raise FileNotFoundError(name)
        return self

    def compute(self, predictions: list[str], references: list[str]) -> dict[str, float]:
        return {"total": 9.0, "words": float(sum(len(one.split()) for one in predictions) / len(references))}


def test_l32_metrics_of_the_evaluate_library_need_no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told to look at this machine alone, and gets all answers at once."""
    monkeypatch.setitem(sys.modules, "evaluate", Evaluate())
    user_functions._hugging_face_metric.cache_clear()
    measure = MetricUse(name="hf_evaluate:words", label="words")
    assert one(measure, [["a b"], ["c d e f"]], ["x", "y"]) == {"words": 3}
    with pytest.raises(UsageError, match="The metric 'bleurt' of the evaluate library is not on this machine"):
        one(MetricUse(name="hf_evaluate:bleurt"), [["a"]], ["x"])


def test_a_library_that_is_missing_is_one_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is asked, with the command to type."""
    needed = [("every_instruction", module, "ifeval") for module in ("punkt", "nltk", "langdetect")]
    for name, module, extra in (("bleu", "sacrebleu", "text"), *needed):  # the first that is missing is told
        monkeypatch.setitem(sys.modules, module, None)
        with pytest.raises(UsageError) as error:
            check(pipe(name))
        assert error.value.sentence == (
            f"The metric '{name}' needs {module}, which is not installed: pip install 'model-accuracy-eval[{extra}]'."
        )
        assert module in METRICS[name].needs
