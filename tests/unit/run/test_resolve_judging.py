"""What judging needs is there before anything starts: a judge, and the user's trust in Python of the task's author."""

from typing import Any

import msgspec
import pytest
from tests.fake_ports import MemoryTaskFiles

from model_accuracy_eval.benchmarks import demo
from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.records import MetricUse, Pipeline, RunPlan, Settings
from model_accuracy_eval.run.resolve import resolve
from model_accuracy_eval.tasks import library
from model_accuracy_eval.tasks.library import Library


def plan(monkeypatch: pytest.MonkeyPatch, metric: str, **settings: Any) -> RunPlan:
    measure = MetricUse(name=metric, label="figure")
    task = msgspec.structs.replace(demo.WORD_PROBLEMS, pipelines=(Pipeline(metrics=(measure,)),))
    monkeypatch.setattr(library, "find", lambda _name: task, raising=False)
    monkeypatch.setattr("model_accuracy_eval.benchmarks.dataset_table.find", lambda _name: task)
    whole = {"endpoint": ("http://a",), "datasets": ("demo_gsm8k",), **settings}
    files: dict[str, bytes] = {}
    tasks = Library(files.__getitem__, MemoryTaskFiles())
    return resolve(Settings(**whole), run_id="0" * 32, stamp="20260326_151326", library=tasks)


def test_a_judge_is_named_and_kept_in_the_plan(monkeypatch: pytest.MonkeyPatch) -> None:
    """Both its address and its model; where only replies are collected, it can wait."""
    for lacking in ({}, {"judge_endpoint": "http://b"}, {"judge_model": "wise"}):
        with pytest.raises(
            BadValue, match="demo_gsm8k is judged by a model: name it with --judge-endpoint and --judge-model"
        ):
            plan(monkeypatch, "judge", **lacking)
    assert plan(monkeypatch, "judge", mode="infer").settings.judge_endpoint is None
    found = plan(monkeypatch, "judge", judge_endpoint="http://b/", judge_model="wise")
    assert (found.settings.judge_endpoint, found.settings.judge_model) == ("http://b", "wise")
    with pytest.raises(BadValue, match="The judge's endpoint must be an http:// or https:// URL, but is 'b'"):
        plan(monkeypatch, "judge", judge_endpoint="b", judge_model="wise")


def test_python_of_a_tasks_author_needs_trust(monkeypatch: pytest.MonkeyPatch) -> None:
    """It would run in this process."""
    with pytest.raises(
        BadValue, match=r"is judged by Python of its own \(statistics:fmean\): allow it with --trust-python"
    ):
        plan(monkeypatch, "statistics:fmean")
    assert plan(monkeypatch, "statistics:fmean", trust_python=True).tasks
