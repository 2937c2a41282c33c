"""Asks are carried out once, kept beside the journal, and told when nobody answered them."""

import msgspec
import pytest
from tests.fake_ports import ManualClock, MemoryStore, ScriptedChat, ScriptedSandbox
from tests.unit.run.test_pipeline import evaluate, plan

from model_accuracy_eval.benchmarks import demo
from model_accuracy_eval.errors import Refused
from model_accuracy_eval.ports import API_KEYS, Chat, ServiceRole
from model_accuracy_eval.records import (
    Choice,
    ClientLimits,
    Fault,
    MetricUse,
    Pipeline,
    Reply,
    Report,
    Request,
    RunPlan,
    Service,
    Timings,
)

JUDGE = "http://judge"
FINDINGS = "predictions/vllm-api-stream-chat/demo_gsm8k_findings.jsonl"


def judged_plan(metric: str = "judge", **more: object) -> RunPlan:
    task = msgspec.structs.replace(
        demo.WORD_PROBLEMS, pipelines=(Pipeline(metrics=(MetricUse(name=metric, label="judged"),)),)
    )
    judge = {"judge_endpoint": JUDGE, "judge_model": "wise", **more}
    return msgspec.structs.replace(plan(n=2), tasks=(task,)).with_settings(**judge)


def answering(_request: Request, choice: int) -> str:
    """A model whose two samples differ."""
    return f"sample {choice}"


def kind(request: Request, _choice: int) -> str:
    """A judge that likes first samples."""
    return "yes" if "sample 0" in request.messages[-1].content else "no"


class World:
    """A model, a judge, and one run folder for all runs."""

    def __init__(self, judge: ScriptedChat | None = None) -> None:
        self.model, self.judge = ScriptedChat(answering), judge or ScriptedChat(kind)
        self.services: list[Service] = []
        self.store = MemoryStore()

    def run(self, the_plan: RunPlan, **parts: object) -> Report:
        def connect(service: Service, _limits: ClientLimits, *, role: ServiceRole) -> Chat:
            self.services.append(service)
            return {"judge": self.judge, "model": self.model}[role]

        own = {"connect": connect, "open_store": lambda _root: self.store}
        return evaluate(the_plan, answering, **(own | parts))[0]


def test_a_judge_decides_and_is_named() -> None:
    """Its own service and model, decoding greedily; half of the samples are right, and the report says by whom."""
    world = World()
    report = world.run(judged_plan())
    (dataset_result,) = report.dataset_results
    assert report.outcome.exit_code == 0
    assert {row.metric: row.value for row in dataset_result.rows}["avg@2"] == 50
    assert world.services[-1] == Service(base_url=JUDGE, model="wise")
    assert {request.temperature for request in world.judge.requests} == {0.0}
    assert dataset_result.notes[0] == "The answers are judged by wise at http://judge."


def test_judging_again_asks_nobody_twice() -> None:
    """What the judge said is kept; another judge is asked anew."""
    world = World()
    first = world.run(judged_plan())
    asked = len(world.judge.requests)
    assert asked == len({request.messages for request in world.judge.requests}) > 0
    assert len(list(world.store.lines(FINDINGS))) == asked
    second = world.run(judged_plan(mode="eval"))
    assert len(world.judge.requests) == asked
    assert [dataset_result.rows for dataset_result in second.dataset_results] == [
        dataset_result.rows for dataset_result in first.dataset_results
    ]
    world.run(judged_plan(mode="eval", judge_model="wiser"))
    assert len(world.judge.requests) == 2 * asked


def test_equal_questions_are_asked_once() -> None:
    """Samples that agree share one opinion."""
    world = World()
    world.model = ScriptedChat(lambda _request, _choice: "the same")
    world.run(judged_plan())
    assert len(world.judge.requests) == 4  # one a problem, not one a sample


def test_a_judge_that_fails_makes_no_answer_wrong() -> None:
    """No verdict about accuracy: exit 5, counts, notes and the log say why; later only the rest is asked."""
    world = World(ScriptedChat(lambda request, choice: Fault(kind="failed", sentence="overloaded", status=503)
                               if "sample 1" in request.messages[-1].content else kind(request, choice)))  # fmt: skip
    report = world.run(judged_plan())
    (dataset_result,) = report.dataset_results
    assert (report.outcome.exit_code, report.outcome.stage) == (5, "score")
    assert report.outcome.sentence.startswith(
        "4 of 8 samples have an answer that could not be judged (demo_gsm8k: 4), 0 have no answer"
    )
    assert (dataset_result.counts.unjudged, dataset_result.counts.answered, dataset_result.counts.failed) == (4, 8, 0)
    assert any(note.startswith("4 of 8 answers could not be judged") for note in dataset_result.notes)
    log = (world.store.read("logs/eval/vllm-api-stream-chat/demo_gsm8k.out") or b"").decode()
    assert "problem 0, sample 1: overloaded" in log
    world.judge = ScriptedChat(kind)
    again = world.run(judged_plan(mode="eval"))
    assert again.outcome.exit_code == 0
    assert len(world.judge.requests) == 4


def unfinished(text: str) -> Choice:
    """An answer without a finish_reason."""
    return Choice(text=text, timings=Timings(e2e=0.0))


def test_half_an_opinion_is_none() -> None:
    """The judge's first reply lacks a finish_reason, and a small request shows that it sends some."""

    def opinion(request: Request, choice: int) -> str | Choice:
        return unfinished("no") if len(judge.requests) == 1 else kind(request, choice)

    judge = ScriptedChat(opinion)
    report = World(judge).run(msgspec.structs.replace(judged_plan(), client_limits=ClientLimits(concurrency=1)))
    assert {row.metric: row.value for row in report.dataset_results[0].rows}["avg@2"] == 50
    assert judge.requests[1].max_tokens == 1
    assert judge.requests[2] == judge.requests[0]


@pytest.mark.parametrize(
    ("opinion", "trouble"),
    [
        (
            Choice(text="<think>So", timings=Timings(e2e=0.0), finish_reason="length"),
            "used its 2048 tokens up before it",
        ),
        (Choice(text=" ", timings=Timings(e2e=0.0), finish_reason="stop"), "The judge said nothing."),
        (None, "The judge gave no answer."),
    ],
)
def test_a_judge_that_says_nothing_is_told(
    opinion: Choice | None, trouble: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is no verdict, and the log says why there is none."""
    judge = ScriptedChat(lambda _request, _choice: opinion or "")
    if opinion is None:
        monkeypatch.setattr(judge, "ask", silent)
    world = World(judge)
    assert world.run(judged_plan()).dataset_results[0].counts.unjudged == 8
    log = (world.store.read("logs/eval/vllm-api-stream-chat/demo_gsm8k.out") or b"").decode()
    assert trouble in log


@pytest.mark.parametrize(
    ("status", "step"),
    [
        (401, f"export {API_KEYS['judge']}=YOUR-KEY"),
        (500, f"model-accuracy-eval doctor --endpoint {JUDGE} --model-name wise"),
    ],
)
def test_a_judge_that_does_not_answer_is_refused_first(status: int, step: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the model is asked; a run that asks no judge needs none."""

    async def none() -> tuple[str, ...]:
        return ()

    judge = ScriptedChat(lambda _request, _choice: Fault(kind="failed", sentence="gone.", status=status))
    monkeypatch.setattr(judge, "models", none)
    world = World(judge)
    with pytest.raises(Refused, match=r"The judge wise at http://judge does not answer: gone\.") as refused:
        world.run(judged_plan())
    assert refused.value.next_step == step
    assert [service.model for service in world.services] == ["wise"]
    assert world.run(judged_plan(mode="infer")).outcome.exit_code == 0


async def silent(_request: Request) -> Reply:
    return Reply(id="")


def test_a_judge_that_is_gone_is_not_waited_for_again() -> None:
    """One refusal is enough: the others are not asked."""
    world = World(ScriptedChat(lambda _request, _choice: Fault(kind="refused", sentence="nobody listens")))
    report = world.run(msgspec.structs.replace(judged_plan(), client_limits=ClientLimits(concurrency=1)))
    assert report.dataset_results[0].counts.unjudged == 8
    assert len(world.judge.requests) == 1


def test_a_stop_ends_the_asking_and_leaves_a_report() -> None:
    """What was said until then is kept."""
    clock = ManualClock()

    def stops(request: Request, choice: int) -> str:
        clock.stop()
        return kind(request, choice)

    world = World(ScriptedChat(stops))
    report = world.run(judged_plan(), clock=clock)
    assert report.outcome.conclusion == "stopped"
    assert len(world.judge.requests) < 8
    assert "run.json" in world.store.names()


def bench() -> ScriptedSandbox:
    """A sandbox whose programs pass if they say 0, and in which those that say 1 are lost."""
    return ScriptedSandbox(
        lambda program: "passed" if "0" in program.code else "harness_error" if "1" in program.code else "failed"
    )


def test_programs_run_in_the_sandbox_and_its_failures_are_not_theirs() -> None:
    """A lost worker says nothing, is not kept, and is tried again later."""
    world, place = World(), bench()
    report = world.run(judged_plan("code"), open_sandbox=lambda: place)
    (dataset_result,) = report.dataset_results
    assert {why for problem_result in dataset_result.problem_results for why in problem_result.why} == {
        "right",
        "unjudged",
    }
    assert dataset_result.counts.unjudged == 4
    assert place.closed
    ran = len(place.programs)
    world.run(judged_plan("code", mode="eval"), open_sandbox=lambda: place)
    assert len(place.programs) - ran == 4


def test_equal_programs_run_once_and_the_report_tells() -> None:
    """Samples that are the same code share its verdict, in this judging and in the next; nothing is said where all differ."""
    world, place = World(), bench()
    world.model = ScriptedChat(lambda _request, _choice: "sample 0")
    told = "8 programs were judged by running 4: equal ones share a verdict."
    for mode, ran in (("all", 4), ("eval", 4)):
        (dataset_result,) = world.run(judged_plan("code", mode=mode), open_sandbox=lambda: place).dataset_results
        assert [problem_result.c for problem_result in dataset_result.problem_results] == [2, 2, 2, 2]
        assert len(place.programs) == ran
        assert told in dataset_result.notes
    (dataset_result,) = World().run(judged_plan("code"), open_sandbox=bench).dataset_results
    assert not [note for note in dataset_result.notes if "share a verdict" in note]


def test_programs_without_a_sandbox_are_refused() -> None:
    """Before anything is asked."""
    with pytest.raises(Refused, match="there is no place to run them"):
        World().run(judged_plan("code"))
