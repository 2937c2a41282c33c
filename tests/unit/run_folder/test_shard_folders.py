"""Any split of a run, merged, is that run: figure by figure, count by count and verdict by verdict."""

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace
from tests.fake_ports import LogprobOf, MemoryHub, MemoryStore, ScriptedChat, ScriptedSandbox, fake_ports
from tests.small_task import small_task

from model_accuracy_eval.benchmarks import demo
from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.ports import Chat, ServiceRole
from model_accuracy_eval.records import (
    Candidate,
    Choice,
    ClientLimits,
    Fault,
    Loglikelihood,
    MetricUse,
    Pipeline,
    Report,
    Request,
    RunPlan,
    Sampling,
    Service,
    Settings,
    Shard,
    TaskSpec,
    Timings,
)
from model_accuracy_eval.records.code import ExecutionVerdict, Program
from model_accuracy_eval.run import pipeline
from model_accuracy_eval.run_folder import journal, shard_folders
from model_accuracy_eval.run_folder.shard_folders import ShardFolder

N = 3


def judged_by(metric: str, name: str) -> TaskSpec:
    pipelines = (Pipeline(metrics=(MetricUse(name=metric),)),)
    return replace(demo.WORD_PROBLEMS, name=name, pipelines=pipelines)


TASKS = {
    "text": demo.WORD_PROBLEMS,
    "judged": judged_by("judge", "judged"),
    "code": judged_by("code", "code"),
    "loglikelihood": small_task(
        "options",
        "{{ question }}",
        "{{ answer }}",
        choices='["a", "b"]',
        kind="choice",
        mode="text",
        pipelines=(Pipeline(metrics=(MetricUse(name="acc"), MetricUse(name="acc_norm"))),),
    ),
}


def draw(*facts: object) -> int:
    """The same for the same facts."""
    return hashlib.sha256(repr(facts).encode()).digest()[0]


def answer(request: Request, choice: int) -> str | Choice | Fault:
    """By question and seed alone, as a real service: right, wrong, cut, empty or refused."""
    question, seed = request.messages[-1].content, (request.seed or 0) + choice
    match draw("fault", question) % 5, draw(question, seed) % 5:
        case 0, _ if "+ 1?" in question and "What is 0" not in question:  # else the service would reject everything
            return Fault(kind="rejected", sentence="too long", status=400)
        case _, 0:
            return ""
        case _, 1:
            return Choice(text="half of it", finish_reason="length", timings=Timings(e2e=0.01))
        case _, place:
            return f"#### {place}"


def weight(candidate: Candidate) -> Loglikelihood:
    return Loglikelihood(logprob=-float(draw(candidate.context, candidate.continuation)), tokens=1)


def opinion(request: Request, _choice: int) -> str:
    return "yes" if draw(request.messages) % 2 else "no"


def verdict(program: Program) -> ExecutionVerdict:
    return "passed" if draw(program.code) % 2 else "failed"


class World:
    """A service, a judge and a sandbox that can be switched off."""

    def __init__(self, rows: int) -> None:
        lines = [b'{"question": "What is %d + 1?", "answer": "#### 3"}\n' % at for at in range(rows)]
        options = [b'{"question": "Q%d", "answer": %d}\n' % (at, at % 2) for at in range(rows)]
        data = demo.WORD_PROBLEMS.data.name
        self.hub = MemoryHub({data: b"".join(lines), "options.jsonl": b"".join(options)})
        self.judge_is_on = True
        self.sandbox = ScriptedSandbox(verdict)

    def run(self, plan: RunPlan, store: MemoryStore) -> Report:
        def connect(_service: Service, _limits: ClientLimits, *, role: ServiceRole) -> Chat:
            assert role == "model" or self.judge_is_on, "the judge is off"
            return ScriptedChat(opinion) if role == "judge" else ScriptedChat(answer, weight=log_weight)

        log_weight: LogprobOf = weight
        sandbox = self.sandbox
        ports = fake_ports(
            connect=connect, hub=self.hub, open_store=lambda _: store, open_sandbox=lambda: sandbox,
            open_archive=lambda _: store,
        )  # fmt: skip
        return pipeline.run(plan, ports)


def whole_plan(kind: str) -> RunPlan:
    judge = {"judge_endpoint": "http://judge", "judge_model": "wise"}
    return RunPlan(
        run_id="0" * 32,
        stamp="20260326_151326",
        settings=Settings(endpoint=("http://fake-service",), **judge),  # type: ignore[arg-type]
        tasks=(TASKS[kind],),
        sampling=Sampling(n=N),
        k=(1, N),
        client_limits=ClientLimits(concurrency=32),
    )


def shard_of(plan: RunPlan, index: int, count: int) -> RunPlan:
    shard = Shard(index=index, count=count)
    return replace(plan, shard=shard).with_settings(shard=str(shard))


def told(report: Report) -> Any:
    """Everything but what a clock says."""
    return [
        (result.rows, result.counts, result.problem_results, result.notes, result.ran, result.readings)
        for result in report.dataset_results
    ]


@given(
    kind=st.sampled_from(sorted(TASKS)),
    rows=st.integers(1, 7),
    count=st.integers(1, 5),
    order=st.randoms(use_true_random=False),
)
def test_a_merged_split_is_the_single_run(kind: str, rows: int, count: int, order: Any) -> None:
    """With any number of shards, in any order, empty ones among them; nobody is asked and nothing runs again."""
    world, plan = World(rows), whole_plan(kind)
    single = world.run(plan, MemoryStore())
    folders = []
    for index in range(count):
        store = MemoryStore(f"shard {index}")
        the_plan = shard_of(plan, index, count)
        world.run(the_plan, store)
        folders.append(ShardFolder(store, the_plan))
    order.shuffle(folders)
    shard_folders.check(folders)
    merged = MemoryStore("merged")
    shard_folders.gather(folders, merged, run_id="1" * 32)
    world.judge_is_on, ran = False, len(world.sandbox.programs)
    report = world.run(plan.with_settings(mode="eval"), merged)
    assert told(report) == told(single)
    assert report.outcome.exit_code == single.outcome.exit_code
    assert len(world.sandbox.programs) == ran


def shards_of(plan: RunPlan, world: World, count: int = 2) -> list[ShardFolder]:
    folders = []
    for index in range(count):
        store = MemoryStore(f"shard-{index}")
        world.run(shard_of(plan, index, count), store)
        folders.append(ShardFolder(store, shard_of(plan, index, count)))
    return folders


def test_sounds_and_pictures_of_replies_come_along() -> None:
    """Those of all shards, at the places that the journals name."""
    world = World(3)
    folders = shards_of(whole_plan(min(TASKS)), world)
    names = [f"predictions/label/sums_media/{number}.wav" for number in range(2)]
    for name, folder in zip(names, folders, strict=True):
        assert isinstance(folder.store, MemoryStore)
        folder.store.write(name, name.encode())
    merged = MemoryStore("merged")
    shard_folders.gather(folders, merged, run_id="1" * 32)
    assert [merged.read(name) for name in names] == [name.encode() for name in names]


def test_a_shard_and_its_copy_are_named() -> None:
    first, second = shards_of(whole_plan("text"), World(4))
    copy = ShardFolder(MemoryStore("copy of 0"), first.plan)
    with pytest.raises(BadReuse, match="'shard-0' and 'copy of 0' are both the shard 0/2"):
        shard_folders.check([first, second, copy])


def test_a_problem_is_never_counted_twice() -> None:
    """Replies that somebody wrote into a run's folder are no verdict when they are judged, merged or not."""
    world, store, plan = World(4), MemoryStore(), whole_plan("loglikelihood")
    world.run(plan, store)
    name = journal.file(plan.settings.label, "options")
    store.append(name, b"".join(store.lines(name)))
    report = world.run(plan.with_settings(mode="eval"), store)
    assert report.outcome.exit_code == 5
    assert "a sample of problem 0 too many" in report.outcome.sentence
    assert report.dataset_results == ()
