"""Judging that takes long says how far it is, in the log and on the terminal."""

import dataclasses
import re
from itertools import accumulate

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fake_ports import (
    ManualClock,
    MemoryHub,
    MemoryStore,
    RecordingProgress,
    ScriptedChat,
    ScriptedSandbox,
    fake_ports,
)
from tests.unit.run.test_pipeline import plan

from model_accuracy_eval.benchmarks import demo
from model_accuracy_eval.ports import Ports
from model_accuracy_eval.records import ClientLimits, MetricUse, Pipeline
from model_accuracy_eval.records.base import duration
from model_accuracy_eval.records.code import Execution, Program
from model_accuracy_eval.run import pipeline
from model_accuracy_eval.run.run_progress import DatasetLog, StageTimer, journal_lines
from model_accuracy_eval.run_folder import journal
from model_accuracy_eval.scoring.metrics.metric_table import METRICS

PROBLEMS, SAMPLES = 20, 2
ROWS = b"".join(b'{"question": "What is %d + 1?", "answer": "#### %d"}\n' % (i, i + 1) for i in range(PROBLEMS))
LOG = "logs/eval/vllm-api-stream-chat/demo_gsm8k.out"
LINE = re.compile(r"(\d+) of 40 samples (judged|scored), about ")


class SlowSandbox(ScriptedSandbox):
    """Each program takes seven seconds of the clock."""

    def __init__(self, clock: ManualClock) -> None:
        super().__init__(lambda program: "passed")
        self._clock = clock

    async def run(self, program: Program) -> Execution:
        if program.code:
            self._clock.sleep(7)
        return await super().run(program)


class World:
    """One run folder, and what was said and written while it was judged."""

    def __init__(self, metric: str) -> None:
        self.clock, self.store = ManualClock(), MemoryStore()
        task = msgspec.structs.replace(demo.WORD_PROBLEMS, pipelines=(Pipeline(metrics=(MetricUse(name=metric),)),))
        limits = ClientLimits(concurrency=3)
        self.plan = msgspec.structs.replace(plan(n=SAMPLES), tasks=(task,), client_limits=limits)

    def run(self, mode: str, **settings: object) -> list[str]:
        progress = RecordingProgress()
        pipeline.run(self.plan.with_settings(mode=mode, **settings), self.ports(progress))
        return [sentence for sentence in progress.said if "samples" in sentence]

    def ports(self, progress: RecordingProgress) -> Ports:
        return fake_ports(
            chat=ScriptedChat(lambda request, choice: f"{request.messages[-1].content} {choice}"),
            hub=MemoryHub({demo.WORD_PROBLEMS.data.name: ROWS}),
            open_store=lambda _root: self.store,
            open_sandbox=lambda: SlowSandbox(self.clock),
            progress=progress,
            clock=self.clock,
        )

    def log(self) -> str:
        return (self.store.read(LOG) or b"").decode()


def counts(said: list[str], participle: str) -> list[int]:
    found = [match for sentence in said if (match := LINE.search(sentence))]
    assert {match[2] for match in found} == {participle}
    return [int(match[1]) for match in found]


def test_programs_say_how_many_have_run_and_the_time_left() -> None:
    """Rising counts of all samples; what is said stands in the log too."""
    world = World("code")
    world.run("infer")
    said = world.run("eval")
    done = counts(said, "judged")
    assert done == sorted(set(done))
    assert len(done) >= 5
    for sentence in said:
        assert sentence.removeprefix("demo_gsm8k: ") in world.log()


def test_texts_say_how_many_are_scored(monkeypatch: pytest.MonkeyPatch) -> None:
    """A metric that takes its time is no silence."""
    world = World("exact_match")
    score = METRICS["exact_match"].score

    def slow(*args: object, **kwargs: object) -> object:
        world.clock.sleep(7)
        return score(*args, **kwargs)

    monkeypatch.setitem(METRICS, "exact_match", dataclasses.replace(METRICS["exact_match"], score=slow))
    world.run("infer")
    said = world.run("eval")
    assert len(counts(said, "scored")) >= 5


@given(st.lists(st.integers(0, 40), min_size=1, max_size=40), st.integers(0, 3))
def test_a_word_comes_after_five_seconds_and_then_every_thirty(seconds: list[int], under_way: int) -> None:
    """The time left is that of the rest at the pace since the last word, or a dash where nothing was done since."""
    world, progress = World("exact_match"), RecordingProgress()
    log = DatasetLog("eval", world.plan, "demo_gsm8k", world.store, world.ports(progress))
    written = [b"%d\n" % number for number in range(len(seconds))]
    world.store.append(journal.file(world.plan.settings.label, "demo_gsm8k"), b"".join(written))
    read = list[bytes]()
    for line in journal_lines(log, "judged", lambda: under_way):
        world.clock.sleep(seconds[len(read)])
        read.append(line)
    assert read == written
    words, last, last_done = list[str](), 0, 0
    for asked, now in enumerate(accumulate(seconds[:-1], initial=0)):
        if now - last >= (30 if words else 5):
            done = max(0, asked - under_way)
            left = (len(seconds) - done) * (now - last) / (done - last_done) if done > last_done else None
            words.append(f"demo_gsm8k: {done} of {len(seconds)} samples judged, about {duration(left)} left")
            last, last_done = now, done
    assert progress.said == words


def test_the_time_of_a_stage_inside_another_counts_once() -> None:
    """And a stage that comes twice has the sum."""
    clock, begun = ManualClock(), list[str]()
    timer = StageTimer(clock, begun.append)
    with timer.stage("deploy"):
        clock.sleep(2)
        with timer.stage("infer"):
            clock.sleep(3)
        clock.sleep(1)
    with timer.stage("deploy"):
        clock.sleep(4)
    assert timer.seconds == {"infer": 3.0, "deploy": 7.0}
    assert begun == ["deploy", "infer", "deploy"]
