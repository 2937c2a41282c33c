"""The figure of a run under way: what the report will say of the same problems, or why nothing can be said yet."""

import time
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fake_ports import MemoryStore, RecordingProgress, ScriptedChat
from tests.unit.run import test_infer
from tests.unit.run.test_ask_store import World, judged_plan
from tests.unit.run.test_pipeline import evaluate, figures, half_right, plan

from model_accuracy_eval.ports import Activity
from model_accuracy_eval.records import Attempt, Fault, FigureSoFar, Reply, Request, Usage
from model_accuracy_eval.run.run_progress import RunningFigure, SpareTime
from model_accuracy_eval.scoring.figures.intervals import ClusterSums


class Watching(RecordingProgress):
    """Keeps what a display is given of a dataset."""

    activity: Activity

    def begin(self, dataset: str, counts: Any, activity: Activity | None = None) -> None:
        assert activity is not None
        self.activity = activity


TIME_IS_LEFT = SpareTime.is_left


@pytest.fixture(autouse=True)
def _time_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    """So that no slow machine leaves a problem out."""
    monkeypatch.setattr(SpareTime, "is_left", lambda _self: True)


def test_it_ends_as_the_figure_of_the_report() -> None:
    """Value and interval, with its short name."""
    watching = Watching()
    report, _ = evaluate(plan(), half_right, progress=watching)
    found, row = watching.activity.so_far(), report.dataset_results[0].rows[1]
    assert isinstance(found, FigureSoFar)
    assert row.interval is not None
    assert (found.metric, found.judged) == ("avg@5", 4)
    assert (found.value, found.low, found.high) == pytest.approx((30.0, row.interval.low, row.interval.high))


SAMPLES = st.sampled_from(["1", "2", None])


@given(
    st.integers(1, 3).flatmap(lambda n: st.lists(st.lists(SAMPLES, min_size=n, max_size=n), min_size=2, max_size=8)),
    st.data(),
)
def test_it_is_the_mean_of_the_complete_problems(asked: list[list[str | None]], data: st.DataObject) -> None:
    """In whatever order and pieces samples come; what is lost may be worth anything, and what an earlier run has asked
    does not count."""
    places = range(len(asked))
    earlier = data.draw(st.sets(st.sampled_from(places)))
    n, prepared = len(asked[0]), test_infer.prepared(len(asked))
    figure = RunningFigure(test_infer.plan(n), prepared, {*places} - earlier, SpareTime())
    for place, index in data.draw(st.permutations([(place, index) for place in places for index in range(n)])):
        said = asked[place][index]
        fault = None if said else Fault(kind="failed", sentence="gone", status=500)
        figure.take(place, [Attempt(problem=place, index=index, text=said or "", finish_reason="stop", fault=fault)])
    least, most = ClusterSums(), ClusterSums()
    for place in {*places} - earlier:
        least.add(sum(said == "1" for said in asked[place]) / n, "")
        most.add(sum(said in ("1", None) for said in asked[place]) / n, "")
    worst, best, found = least.interval(n), most.interval(n), figure.so_far()
    if worst is None or best is None:
        assert found is None
        return
    assert isinstance(found, FigureSoFar)
    assert (found.metric, found.judged) == ("accuracy" if n == 1 else f"avg@{n}", len(asked) - len(earlier))
    assert (found.low, found.high) == pytest.approx((worst.low, best.high))
    assert found.value == pytest.approx(100 * least.total / least.problems)


def test_lost_samples_are_told_too() -> None:
    """Whoever watches a service fail sees no figure that is sure of itself."""
    watching, lost = Watching(), Fault(kind="failed", sentence="overloaded", status=503)
    evaluate(plan(), lambda request, choice: "#### 99" if choice < 4 else lost, progress=watching)
    found = watching.activity.so_far()
    assert isinstance(found, FigureSoFar)
    assert (found.value, found.judged) == (0.0, 4)
    assert found.high > 50


def test_without_time_it_leaves_problems_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """And says nothing rather than to hold up the asking."""
    monkeypatch.setattr(SpareTime, "is_left", lambda _self: False)
    watching = Watching()
    report, _ = evaluate(plan(), half_right, progress=watching)
    assert watching.activity.so_far() is None
    assert figures(report)["avg@5"] == 30


@pytest.mark.parametrize(
    ("spent", "passed", "left"), [(0.5, 0.0, True), (0.75, 0.0, False), (1.5, 100.0, True), (1.75, 100.0, False)]
)
def test_all_figures_together_cost_a_hundredth_of_the_time(
    spent: float, passed: float, left: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And half a second in any case."""
    now = [1000.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    spare = SpareTime()
    with spare.spending():
        now[0] += spent
    now[0] += passed - spent
    assert TIME_IS_LEFT(spare) == left


def test_a_run_that_goes_on_counts_its_own_problems() -> None:
    """Those of the earlier run are not judged twice."""
    watching = Watching()
    _, store = evaluate(plan(), half_right)
    lines = store.files["predictions/vllm-api-stream-chat/demo_gsm8k.jsonl"].splitlines(keepends=True)
    kept = MemoryStore()
    kept.files |= store.files | {"predictions/vllm-api-stream-chat/demo_gsm8k.jsonl": b"".join(lines[:7])}
    kept.files.pop("manifest.sha256")
    evaluate(plan().with_settings(reuse="memory"), half_right, progress=watching, open_store=lambda _root: kept)
    found = watching.activity.so_far()
    assert isinstance(found, FigureSoFar)
    assert (found.judged, found.value) == (2, 30.0)


@pytest.mark.parametrize(
    ("metric", "words"), [("exact_match", None), ("judge", "judged afterwards"), ("bleu", "judged at the end")]
)
def test_what_cannot_be_told_before_the_end_says_so(metric: str, words: str | None) -> None:
    """An opinion is asked for afterwards; a figure of the whole corpus is no mean."""
    watching = Watching()
    World().run(judged_plan(metric), progress=watching)
    found = watching.activity.so_far()
    assert found == words if words else isinstance(found, FigureSoFar)


def test_replies_that_are_not_judged_have_no_figure() -> None:
    """`--mode infer`."""
    watching = Watching()
    evaluate(plan(mode="infer"), half_right, progress=watching)
    assert watching.activity.so_far() == "not judged"


def test_a_defect_in_judging_ends_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """The figure is missing; the run goes on, and its report has it."""
    monkeypatch.setattr(RunningFigure, "_ends", lambda *_: 1 / 0)
    watching = Watching()
    report, _ = evaluate(plan(), half_right, progress=watching)
    assert watching.activity.so_far() == "judged at the end"
    assert figures(report)["avg@5"] == 30


def test_tokens_and_requests_are_counted() -> None:
    """As the service reports them; nothing where it does not."""

    class Counting(ScriptedChat):
        async def ask(self, request: Request) -> Reply:
            return msgspec.structs.replace(await super().ask(request), usage=Usage(completion_tokens=7))

    watching = Watching()
    evaluate(plan(), half_right, chat=Counting(half_right), progress=watching)
    assert watching.activity.tokens == 4 * 7
    assert watching.activity.first_asked is not None
