"""The whole story on fake ports: every ending has its conclusion, its exit code and its report."""

import json
import re
from pathlib import Path

import msgspec
import pytest
from tests.fake_ports import (
    FakeLauncher,
    FakeWeightsSource,
    ManualClock,
    MemoryHub,
    MemoryStore,
    ScriptedAnswer,
    ScriptedChat,
    fake_ports,
)

from model_accuracy_eval.benchmarks import demo
from model_accuracy_eval.errors import BadData, BadReuse, Refused
from model_accuracy_eval.ports import Ports
from model_accuracy_eval.records import (
    Choice,
    ClientLimits,
    Fault,
    Report,
    Request,
    RunPlan,
    Sampling,
    Settings,
    Timings,
)
from model_accuracy_eval.run import pipeline
from model_accuracy_eval.scoring.verdicts import gate_lines

ROWS = b"".join(b'{"question": "What is %d + 1?", "answer": "#### %d"}\n' % (i, i + 1) for i in range(4))


def plan(*, gate: str = "", mode: str = "all", n: int = 5, adapter: str | None = None) -> RunPlan:
    return RunPlan(
        run_id="0" * 32,
        stamp="20260326_151326",
        settings=Settings(
            mode=mode,  # type: ignore[arg-type]
            endpoint=() if adapter else ("http://fake-service",),
            adapter=adapter,
            model=adapter,
        ),
        tasks=(demo.WORD_PROBLEMS,),
        sampling=Sampling(n=n),
        k=(n,),
        gates=gate_lines.parse(gate),
        client_limits=ClientLimits(concurrency=2),
    )


def asked(request: Request) -> int:
    """The first number of the question; the readiness probe has one too."""
    found = re.search(r"\d+", request.messages[-1].content)
    assert found is not None
    return int(found.group())


def right(request: Request, _choice: int) -> str:
    """A model that can add."""
    return f"#### {asked(request) + 1}"


def half_right(request: Request, choice: int) -> str:
    """A model that is right in the first three of five samples of even questions."""
    return right(request, choice) if choice < 3 and asked(request) % 2 == 0 else "#### 99"


def evaluate(the_plan: RunPlan, answer: ScriptedAnswer, **parts: object) -> tuple[Report, MemoryStore]:
    store = MemoryStore()
    hub = MemoryHub({demo.WORD_PROBLEMS.data.name: ROWS})
    ports = fake_ports(**({"chat": ScriptedChat(answer), "hub": hub, "open_store": lambda _root: store} | parts))
    return pipeline.run(the_plan, ports), store


def figures(report: Report) -> dict[str, float | None]:
    return {row.metric: row.value for row in report.dataset_results[0].rows}


def test_the_designed_files_are_written() -> None:
    """A run leaves exactly the designed tree behind, and the manifest names every other file."""
    _, store = evaluate(plan(), right)
    label = "vllm-api-stream-chat"
    designed = {
        "configs/20260326_151326_1.py",
        f"logs/infer/{label}/demo_gsm8k.out",
        f"logs/eval/{label}/demo_gsm8k.out",
        f"predictions/{label}/demo_gsm8k.jsonl",
        f"predictions/{label}/demo_gsm8k.json",
        f"results/{label}/demo_gsm8k.json",
        "summary/summary_20260326_151326.csv",
        "summary/summary_20260326_151326.md",
        "summary/summary_20260326_151326.txt",
        "report.html",
        "run.json",
    }
    assert set(store.files) == designed | {"manifest.sha256"}
    assert {line.split(b"  ")[1].decode() for line in store.files["manifest.sha256"].splitlines()} == designed


def test_figures_are_means_over_problems() -> None:
    """Two of four problems with three of five right samples: 30, 50 and 50."""
    report, _ = evaluate(plan(), half_right)
    assert figures(report) == pytest.approx(
        {"accuracy (5 runs average)": 30.0, "avg@5": 30.0, "pass@5": 50.0, "cons@5": 50.0}
    )


@pytest.mark.parametrize(
    ("gate", "conclusion", "exit_code"),
    [
        ("", "complete", 0),
        ("demo_gsm8k: avg@5 >= 10", "passed", 0),
        ("demo_gsm8k: avg@5 >= 30", "undecided", 7),
        ("demo_gsm8k: avg@5 > 70", "failed", 1),
        ("demo_gsm8k: avg@5 >= 10\ndemo_gsm8k: avg@5 >= 70", "failed", 1),
    ],
)
def test_gates_decide_the_exit_code(gate: str, conclusion: str, exit_code: int) -> None:
    """All gates reached: 0; one missed: 1; one that chance decides: 7. The sentence names it."""
    report, _ = evaluate(plan(gate=gate), half_right)
    assert (report.outcome.conclusion, report.outcome.exit_code) == (conclusion, exit_code)
    if exit_code:
        assert conclusion in report.outcome.sentence


@pytest.mark.parametrize(
    ("setting", "gate", "conclusion"),
    [
        ("block", "avg@5 >= 30", "undecided"),
        ("fail", "avg@5 >= 30", "failed"),
        ("pass", "avg@5 >= 30", "passed"),
        ("pass", "avg@5 >= 30 and avg@5 >= 70", "failed"),
    ],
)
def test_what_an_undecided_gate_does_is_a_setting(setting: str, gate: str, conclusion: str) -> None:
    """Its own decision stays what it is."""
    asked = plan(gate=f"demo_gsm8k: {gate}").with_settings(on_undecided=setting)
    report, _ = evaluate(asked, half_right)
    assert report.outcome.conclusion == conclusion
    assert report.gates[0].decision == "undecided"


def lossy(request: Request, choice: int) -> str | Fault:
    lost = request.messages[-1].content.startswith("What is 3")
    return Fault(kind="failed", sentence="HTTP 503", status=503) if lost else right(request, choice)


def test_lost_samples_make_no_verdict() -> None:
    """One failed problem: exit 5, the strict figure, the counts, and no gate is decided."""
    report, store = evaluate(plan(gate="demo_gsm8k: avg@5 >= 10"), lossy)
    assert (report.outcome.conclusion, report.outcome.exit_code) == ("broken", 5)
    assert "5 of 20 samples have no answer" in report.outcome.sentence
    assert figures(report)["avg@5"] == 75.0
    assert (report.dataset_results[0].counts.failed, report.dataset_results[0].counts.answered) == (5, 15)
    assert [result.decision for result in report.gates] == ["undecided"]
    first = [note for note in report.dataset_results[0].notes if note.startswith("The first of")]
    assert first == ["The first of 5 failures: HTTP 503"]
    assert msgspec.json.decode(store.files["run.json"])["exit_code"] == 5


def test_allowed_losses_leave_a_verdict() -> None:
    """Up to --max-failed-requests the run is a verdict; lost samples count as not correct."""
    report, _ = evaluate(plan().with_settings(max_failed_requests=5), lossy)
    assert (report.outcome.exit_code, figures(report)["avg@5"]) == (0, 75.0)


def test_cut_and_doubtful_replies_are_counted() -> None:
    """One of four is a guess, two were cut: the figure of the others stands beside that of all."""

    def answer(request: Request, choice: int) -> str | Choice:
        place = asked(request)
        if place == 1:
            return "1 and 1 makes 2"
        text = right(request, choice) if place < 3 else "#### 99"
        return Choice(
            index=choice, text=text, finish_reason="length" if place > 1 else "stop", timings=Timings(e2e=0.1)
        )

    report, _ = evaluate(plan(n=1), answer)
    counts, row = report.dataset_results[0].counts, report.dataset_results[0].rows[0]
    assert (counts.answered, counts.cut, counts.doubtful) == (4, 2, 1)
    assert (row.value, row.finished) == (75.0, 100.0)


def picky(request: Request, choice: int) -> str | Fault:
    """A service that rejects one of the four questions."""
    too_long = request.messages[-1].content.startswith("What is 3")
    return Fault(kind="rejected", sentence="HTTP 400", status=400) if too_long else right(request, choice)


@pytest.mark.parametrize(
    ("gate", "conclusion", "exit_code"),
    [("avg@5 >= 20", "passed", 0), ("avg@5 >= 76", "undecided", 7), ("avg@5 < 20", "failed", 1)],
)
def test_rejected_samples_decide_no_gate(gate: str, conclusion: str, exit_code: int) -> None:
    """75 to 100: decided is what holds, or fails, in the worst and in the best case."""
    report, store = evaluate(plan(gate=f"demo_gsm8k: {gate}"), picky)
    assert (report.outcome.conclusion, report.outcome.exit_code) == (conclusion, exit_code)
    assert (
        "or anything from 75.00 to 100.00, because 5 samples of demo_gsm8k have no verdict" in report.gates[0].sentence
    )
    limits = {"low": 75.0, "high": 100.0, "samples": 5}
    run = msgspec.json.decode(store.files["run.json"])
    assert run["datasets"]["demo_gsm8k"]["bounds"]["avg@5"] == run["gates"][0]["bounds"] == limits
    results = msgspec.json.decode(store.files["results/vllm-api-stream-chat/demo_gsm8k.json"])
    assert results["bounds"]["avg@5"] == limits
    assert results["details"][3]["bounds"]["avg@5"] == {"low": 0.0, "high": 100.0, "samples": 5}
    assert "bounds" not in results["details"][0]
    assert b"75.00 .. 100.00" in store.files["summary/summary_20260326_151326.md"]
    assert b"75.00 .. 100.00" in store.files["report.html"]


def test_a_dataset_of_which_nothing_was_answered_has_no_figure() -> None:
    """Neither 0.00 nor an interval, and nothing is said of texts that nobody wrote; a gate on it is undecided."""

    def silent(request: Request, choice: int) -> str | Fault:
        if not request.messages[-1].content.startswith("What is"):
            return "ready"
        return Fault(kind="failed", sentence="HTTP 503", status=503)

    report, _ = evaluate(plan(gate="demo_gsm8k: avg@5 < 60").with_settings(max_failed_requests=20), silent)
    (result,) = report.dataset_results
    assert {(row.value, row.interval, row.stderr, row.bounds) for row in result.rows} == {(None, None, None, None)}
    assert result.notes == (
        "None of the 20 samples was answered (20 failed), so there is no figure.",
        "The first of 20 failures: HTTP 503",
    )
    assert (report.outcome.conclusion, report.outcome.exit_code) == ("undecided", 7)


def test_a_stop_leaves_a_partial_report() -> None:
    """Stopped in the middle: exit 143, finished problems alone are marked, and the report says so."""
    clock = ManualClock()

    def stopping(request: Request, choice: int) -> str:
        if request.messages[-1].content.startswith("What is 0"):
            clock.stop()
        return right(request, choice)

    report, store = evaluate(plan(), stopping, clock=clock)
    assert (report.outcome.conclusion, report.outcome.exit_code) == ("stopped", 143)
    assert 0 < len(report.dataset_results[0].problem_results) < 4
    assert figures(report)["avg@5"] == 100.0
    bounds = next(row.bounds for row in report.dataset_results[0].rows if row.metric == "avg@5")
    judged = len(report.dataset_results[0].problem_results)
    assert bounds is not None
    assert (bounds.low, bounds.high, bounds.samples) == (100 * judged / 4, 100.0, 5 * (4 - judged))
    assert "ended early" in report.dataset_results[0].notes[0]
    assert "report.html" in store.files


def test_infer_and_eval_run_apart(tmp_path: Path) -> None:
    """Asking first and judging later gives what doing both at once gives, and judging asks nobody."""
    together, _ = evaluate(plan(), half_right)
    asked, store = evaluate(plan(mode="infer"), half_right)
    assert (asked.dataset_results, asked.outcome.exit_code) == ((), 0)
    silent = ScriptedChat(half_right)
    judged, _ = evaluate(plan(mode="eval"), half_right, open_store=lambda _root: store, chat=silent)
    assert figures(judged) == figures(together)
    assert silent.requests == []
    assert judged.service == asked.service


def test_judging_where_nothing_was_asked_is_refused() -> None:
    """`--mode eval` of an empty folder says what to do first."""
    with pytest.raises(BadReuse, match="--mode infer first"):
        evaluate(plan(mode="eval"), right)


def test_changed_questions_are_refused() -> None:
    """When the data changed since the journal was written, nothing is mixed."""
    _, store = evaluate(plan(), right)
    changed = MemoryHub({demo.WORD_PROBLEMS.data.name: ROWS.replace(b"What", b"How much")})
    with pytest.raises(BadReuse, match="questions of 'demo_gsm8k'"):
        evaluate(plan(), right, open_store=lambda _root: store, hub=changed)


def test_another_model_is_refused() -> None:
    """A service that now serves another model may not go on with the replies of the first."""
    _, store = evaluate(plan(mode="infer"), right)
    other = ScriptedChat(right, names=("other",))
    with pytest.raises(BadReuse, match="asked the model 'fake-model'.*now serves 'other'"):
        evaluate(plan(), right, open_store=lambda _root: store, chat=other)


def test_a_run_without_an_answer_goes_on_with_any_model() -> None:
    """It ended before its first answer: there is nothing to be mixed."""
    silent = ScriptedChat(lambda _request, _choice: Fault(kind="failed", sentence="Overloaded."), names=("first",))
    _, store = evaluate(plan(), right, chat=silent)
    report, _ = evaluate(plan(), right, open_store=lambda _root: store, chat=ScriptedChat(right, names=("other",)))
    assert (report.outcome.exit_code, report.service and report.service.model) == (0, "other")


def refused(ports: Ports, the_plan: RunPlan) -> str:
    with pytest.raises(Refused) as caught:
        pipeline.run(the_plan, ports)
    assert caught.value.exit_code == 3
    return caught.value.sentence


def test_all_findings_about_an_adapter_come_at_once(tmp_path: Path) -> None:
    """A missing deploy.sh, missing weights and a taken port are told together, and no folder is made."""
    stores: list[str] = []
    ports = fake_ports(
        hub=MemoryHub({demo.WORD_PROBLEMS.data.name: ROWS}),
        launcher=FakeLauncher(owner="python3, pid 4711"),
        weights_source=FakeWeightsSource("The weights 'gone' are not there."),
        open_store=lambda root: stores.append(root) or MemoryStore(root),  # type: ignore[func-returns-value]
    )
    the_plan = plan(adapter=str(tmp_path)).with_settings(model=str(tmp_path / "gone"))
    sentence = refused(ports, the_plan)
    assert "no deploy.sh" in sentence
    assert "The weights 'gone' are not there." in sentence
    assert "Port 8000 is already in use by python3, pid 4711" in sentence
    assert stores == []


def test_bad_data_starts_nothing(tmp_path: Path) -> None:
    """A data file that cannot be used is found before anything is started."""
    (tmp_path / "deploy.sh").write_text("")
    launcher = FakeLauncher()
    ports = fake_ports(hub=MemoryHub({demo.WORD_PROBLEMS.data.name: b'{"question": 1}\n'}), launcher=launcher)
    with pytest.raises(BadData, match="line 1: the field 'answer' is missing"):
        pipeline.run(plan(adapter=str(tmp_path)), ports)
    assert launcher.started == []


def test_the_adapter_is_stopped_however_the_run_ends(tmp_path: Path) -> None:
    """After a good end, a stop, and a death the launcher was told to stop."""
    (tmp_path / "deploy.sh").write_text("")
    good = FakeLauncher()
    report, _ = evaluate(plan(adapter=str(tmp_path)), right, launcher=good)
    assert (report.outcome.exit_code, good.running.stopped) == (0, True)
    assert good.started[0]["model_path"] == str(tmp_path)

    dead = FakeLauncher()
    dead.running.code, dead.running.log = 3, "no NPU"
    broken = always_refused()
    report, _ = evaluate(plan(adapter=str(tmp_path)), broken, launcher=dead)
    assert (report.outcome.exit_code, dead.running.stopped) == (4, True)
    assert "deploy.sh exited with code 3" in report.outcome.sentence
    assert report.outcome.detail == "no NPU"


def always_refused() -> ScriptedAnswer:
    return lambda _request, _choice: Fault(kind="refused", sentence="connection refused")


def test_a_service_without_the_chat_endpoint_is_named_as_that(tmp_path: Path) -> None:
    """404 on the chat endpoint fails the job with a sentence that says so."""
    (tmp_path / "deploy.sh").write_text("")
    fault = Fault(kind="rejected", sentence="HTTP 404: Not Found", status=404)
    report, _ = evaluate(plan(adapter=str(tmp_path)), lambda _request, _choice: fault)
    assert report.outcome.exit_code == 4
    assert "does not offer /v1/chat/completions (HTTP 404)" in report.outcome.sentence


def test_a_service_that_never_answers_runs_into_the_limit(tmp_path: Path) -> None:
    """The ready timeout is told with its seconds and the last answer, whatever models the server lists meanwhile."""
    (tmp_path / "deploy.sh").write_text("")
    silent = ScriptedChat(always_refused(), names=("other",))
    report, _ = evaluate(plan(adapter=str(tmp_path)).with_settings(model_name="qwen"), right, chat=silent)
    assert report.outcome.exit_code == 4
    assert "within 1800 s; the last try said: connection refused" in report.outcome.sentence


def test_a_run_that_goes_on_says_what_was_answered_before() -> None:
    """The time in `seconds` is not that of these answers."""
    whole, store = evaluate(plan(), right)
    assert "answered_before" not in json.loads(store.files["run.json"])
    evaluate(plan(), right, open_store=lambda _root: store)
    answered = sum(result.counts.answered for result in whole.dataset_results)
    assert json.loads(store.files["run.json"])["answered_before"] == answered > 0


def test_a_run_whose_adapter_never_came_up_can_be_resumed(tmp_path: Path) -> None:
    """No model had answered yet, so the one that is served later is not another one."""
    (tmp_path / "deploy.sh").write_text("")
    broken, store = evaluate(plan(adapter=str(tmp_path)), always_refused())
    assert broken.outcome.exit_code == 4
    resumed, _ = evaluate(plan(adapter=str(tmp_path)), right, open_store=lambda _root: store)
    assert (resumed.outcome.exit_code, resumed.outcome.conclusion) == (0, "complete")
