"""Whatever fails after answers were collected: the rest of the report is there, and nobody is asked again."""

from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Any, NoReturn

import msgspec
import pytest
from tests.fake_ports import MemoryStore, ScriptedChat, ScriptedSandbox
from tests.unit.run.test_pipeline import evaluate, plan, right

from model_accuracy_eval.benchmarks import demo
from model_accuracy_eval.errors import PublishFailed
from model_accuracy_eval.records import MetricUse, Pipeline, Report, Request, RunPlan, TaskSpec
from model_accuracy_eval.records.code import Execution, Program
from model_accuracy_eval.report import page
from model_accuracy_eval.run import previous_run
from model_accuracy_eval.scoring.figures import judging
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.verdicts import gate_lines, gates

TWO = (demo.WORD_PROBLEMS, msgspec.structs.replace(demo.WORD_PROBLEMS, name="second"))
LOG = "logs/eval/vllm-api-stream-chat/demo_gsm8k.out"


def defective(*_: object) -> NoReturn:
    raise LookupError("no such thing")


class FullStore(MemoryStore):
    """A disk that refuses some files; `refused` are parts of their names."""

    def __init__(self, *refused: str, error: Callable[[str], Exception] = PublishFailed) -> None:
        super().__init__()
        self.refused = refused
        self._error = error

    def write(self, name: str, data: bytes | Iterable[bytes]) -> None:
        if any(part in name for part in self.refused):
            raise self._error(f"{name} cannot be written: No space left on device.")
        super().write(name, data)


class World:
    """A service that can add, and one run folder."""

    def __init__(self, store: MemoryStore | None = None, metric: str = "") -> None:
        self.store = store or MemoryStore()
        self.chat = ScriptedChat(right)
        tasks: tuple[TaskSpec, ...] = TWO
        if metric:
            pipelines = (Pipeline(metrics=(MetricUse(name=metric),)),)
            tasks = (msgspec.structs.replace(demo.WORD_PROBLEMS, pipelines=pipelines),)
        self.plan = msgspec.structs.replace(plan(n=2), tasks=tasks)

    def run(self, the_plan: RunPlan | None = None, **parts: Any) -> Report:
        own = {"chat": self.chat, "open_store": lambda _root: self.store}
        return evaluate(the_plan or self.plan, right, **(own | parts))[0]

    def again(self, **parts: Any) -> Report:
        """Judged again, without a question."""
        asked = len(self.chat.requests)
        report = self.run(self.plan.with_settings(mode="eval"), **parts)
        assert len(self.chat.requests) == asked
        return report


def files() -> list[str]:
    """What a good run writes at its end."""
    world = World()
    world.run()
    parts = ("summary", "results", "report.html", "run.json", "manifest")
    return [name for name in world.store.names() if name.startswith(parts) or name.endswith(".json")]


@pytest.mark.parametrize("name", [name for name in files() if name != "run.json"])  # without that one no run begins
@pytest.mark.parametrize("error", [PublishFailed, OSError])
def test_a_file_that_cannot_be_written_keeps_no_other_back(name: str, error: Callable[[str], Exception]) -> None:
    """Exit code 6 with its name; judging again writes all."""
    world = World(FullStore(name, error=error))
    with pytest.raises(PublishFailed, match=name):
        world.run()
    assert set(files()) - set(world.store.names()) == {name}
    world.store.refused = ()  # type: ignore[attr-defined]
    assert world.again().outcome.exit_code == 0
    assert set(files()) <= set(world.store.names())


def test_a_page_with_a_defect_is_named_and_all_else_is_there(monkeypatch: pytest.MonkeyPatch) -> None:
    """The traceback is in a log of the run, and the sentence names the log and the next command."""
    world = World()
    with monkeypatch.context() as broken:
        broken.setattr(page, "as_html", defective)
        with pytest.raises(PublishFailed) as failed:
            world.run()
    assert failed.value.sentence == (
        "report.html could not be made (LookupError: no such thing), which is a defect of model-accuracy-eval: please report "
        "memory/logs/defects_20260326_151326.out. All other files of the run are there; for a whole report, type "
        "model-accuracy-eval run --mode eval --reuse memory."
    )
    assert "Traceback" in world.store.files["logs/defects_20260326_151326.out"].decode()
    assert set(files()) - set(world.store.names()) == {"report.html"}
    assert world.again().outcome.exit_code == 0


def fails_on(word: str) -> Callable[..., Any]:
    """`Scorecard.judge` that cannot bear one reply."""
    judge = Scorecard.judge

    def judge_or_fail(card: Scorecard, problem: Any, samples: Any) -> Any:
        if any(sample is not None and word in sample.text for sample in samples):
            raise RecursionError("too deep")
        return judge(card, problem, samples)

    return judge_or_fail


def test_a_reply_that_no_metric_can_bear_costs_its_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its samples are not judged, the figure is an interval, exit code 5; all others are judged, and later this one."""
    world = World()
    with monkeypatch.context() as broken:
        broken.setattr(Scorecard, "judge", fails_on("#### 3"))
        report = world.run()
    assert report.outcome.exit_code == 5
    for dataset_result in report.dataset_results:
        assert (dataset_result.counts.answered, dataset_result.counts.unjudged) == (8, 2)
        assert [problem_result.problem for problem_result in dataset_result.problem_results] == [0, 1, 3]
        assert dataset_result.rows[0].bounds is not None
        assert any("RecursionError: too deep" in note for note in dataset_result.notes)
        assert not any("ended early" in note for note in dataset_result.notes)
    assert "Traceback" in world.store.files[LOG].decode()
    again = world.again()
    assert (again.outcome.exit_code, again.dataset_results[0].rows[0].value) == (0, 100.0)


def test_figures_with_a_defect_keep_no_other_dataset_back(monkeypatch: pytest.MonkeyPatch) -> None:
    """The run has no verdict, exit code 70, and a report with what could be judged."""
    world, rows = World(), Scorecard.rows

    def fail_once(card: Scorecard, *parts: Any, **more: Any) -> Any:
        if card._task.name == "second":
            raise ZeroDivisionError("division by zero")
        return rows(card, *parts, **more)

    with monkeypatch.context() as broken:
        broken.setattr(Scorecard, "rows", fail_once)
        report = world.run()
    assert (report.outcome.exit_code, report.outcome.conclusion) == (70, "broken")
    assert "the judging of second (ZeroDivisionError: division by zero)" in report.outcome.sentence
    assert "Traceback" in report.outcome.detail
    assert [dataset_result.dataset for dataset_result in report.dataset_results] == ["demo_gsm8k"]
    assert {"report.html", "run.json", "results/vllm-api-stream-chat/demo_gsm8k.json"} <= set(world.store.names())
    assert world.again().outcome.exit_code == 0


@pytest.mark.parametrize(("module", "name"), [(gates, "results"), (previous_run, "against")])
def test_gates_or_a_comparison_with_a_defect_keep_no_figure_back(
    module: ModuleType, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """All datasets are judged and shown; whether the gate holds, or what has changed, is not known."""
    base = World()
    base.run()
    world = World()
    gated = msgspec.structs.replace(world.plan, gates=gate_lines.parse("demo_gsm8k: avg@2 >= 20"))
    world.plan = gated.with_settings(baseline="base")
    with monkeypatch.context() as broken:
        broken.setattr(module, name, defective)
        report = world.run(open_archive=lambda _path: base.store)
    assert (report.outcome.exit_code, len(report.dataset_results)) == (70, 2)
    assert "report.html" in world.store.names()
    assert world.again(open_archive=lambda _path: base.store).outcome.exit_code == 0


def test_a_client_with_a_defect_loses_no_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was answered until then is judged and reported; the run goes on with the rest."""
    world = World()

    def fails(request: Request, choice: int) -> str:
        if len(world.chat.requests) > 5:
            raise LookupError("no such thing")
        return right(request, choice)

    world.chat = ScriptedChat(fails)
    report = world.run()
    assert (report.outcome.exit_code, report.outcome.conclusion) == (70, "broken")
    answered = sum(dataset_result.counts.answered for dataset_result in report.dataset_results)
    assert 0 < answered < 16
    assert "report.html" in world.store.names()
    world.chat = ScriptedChat(right)
    assert world.run().outcome.exit_code == 0
    assert 0 < len(world.chat.requests) < 16


class BrokenSandbox(ScriptedSandbox):
    """Breaks after the first programs, in a way that nobody foresaw."""

    def __init__(self, good: int) -> None:
        super().__init__(lambda program: "passed")
        self._good = good

    async def run(self, program: Program) -> Execution:
        if program.code and len(self.programs) >= self._good:
            raise BrokenPipeError("the engine is gone")
        return await super().run(program)


@pytest.mark.parametrize("good", [0, 2])
def test_a_sandbox_that_breaks_makes_no_answer_wrong(good: int) -> None:
    """Neither while the service answers nor afterwards; the answers are judged when it is well again."""
    world = World(metric="code")
    report = world.run(open_sandbox=lambda: BrokenSandbox(good))
    (dataset_result,) = report.dataset_results
    assert (report.outcome.exit_code, dataset_result.counts.answered) == (5, 8)
    assert dataset_result.counts.unjudged > 0
    assert "the engine is gone" in world.store.files[LOG].decode()
    again = world.again(open_sandbox=lambda: ScriptedSandbox(lambda program: "passed"))
    assert (again.outcome.exit_code, again.dataset_results[0].rows[0].value) == (0, 100.0)


def test_programs_that_cannot_be_made_cost_their_problem(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is asked and judged but for that problem, which is judged when the defect is gone."""
    world, make = World(metric="code"), judging._asks

    def fail_on_one(row: Any, use: Any, answer: str, problem: Any) -> Any:
        return defective() if problem.id == 2 else make(row, use, answer, problem)

    with monkeypatch.context() as broken:
        broken.setattr(judging, "_asks", fail_on_one)
        report = world.run(open_sandbox=lambda: ScriptedSandbox(lambda program: "passed"))
    (dataset_result,) = report.dataset_results
    assert (report.outcome.exit_code, dataset_result.counts.answered, dataset_result.counts.unjudged) == (5, 8, 2)
    assert "the asks of problem 2 (LookupError: no such thing)" in world.store.files[LOG].decode()
    again = world.again(open_sandbox=lambda: ScriptedSandbox(lambda program: "passed"))
    assert (again.outcome.exit_code, again.dataset_results[0].rows[0].value) == (0, 100.0)
