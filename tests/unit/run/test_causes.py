"""What is looked for in a service whose figures failed a gate, before it is stopped."""

import re
from collections.abc import Sequence
from itertools import count

import pytest
from tests.fake_ports import MemoryHub, MuteSubject, ScriptedChat, fake_ports
from tests.unit.run.test_pipeline import evaluate as before_that
from tests.unit.run.test_pipeline import plan

from model_accuracy_eval.benchmarks import demo
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.records import Choice, Fault, Reply, Report, Request, ScoredReply, ScoredToken, Timings
from model_accuracy_eval.run import pipeline
from model_accuracy_eval.sinks.publisher import Publisher

ROWS = b"".join(b'{"question": "What is %d + 1?", "answer": "#### %d"}\n' % (at, at + 1) for at in range(50))


class Changing(MuteSubject):
    """Every answer is another one."""

    numbers = count()

    async def scored(self, requests: Sequence[Request], at_once: int = 1) -> list[ScoredReply | Fault]:
        token = ScoredToken("7", -0.1, (("7", -0.1), ("8", -2.4)))
        return [ScoredReply(text="7", tokens=(token,)) for _ in requests]

    async def ask(self, requests: Sequence[Request], at_once: int = 1) -> list[Reply]:
        texts = [str(next(self.numbers)) for _ in requests]
        choices = [Choice(text=text, finish_reason="stop", timings=Timings(e2e=0.1)) for text in texts]
        return [Reply(id="", choices=(choice,)) for choice in choices]


def evaluated(gate: str, rows: bytes = ROWS, base: Archive | None = None) -> Report:
    ports = fake_ports(
        chat=ScriptedChat(lambda request, choice: "#### 3"),
        open_archive=lambda _: base,
        hub=MemoryHub({demo.WORD_PROBLEMS.data.name: rows}),
        open_subject=lambda service, limits: Changing(),
        finds_causes=True,
    )
    return pipeline.evaluate(plan(gate=gate).with_settings(baseline=base and "base"), ports, Publisher([]))


def test_a_failed_gate_is_explained() -> None:
    report = evaluated("demo_gsm8k: avg@5 >= 90")
    assert report.outcome.conclusion == "failed", report.outcome.sentence
    assert report.service is not None
    first = report.service.findings[0]
    assert (first.probe, first.state) == ("repeats", "FAIL")
    assert report.seconds.keys() >= {"diagnose"}


@pytest.mark.parametrize(("before", "is_explained"), [("#### 3", False), ("#### {}", True)])
def test_a_figure_that_fell_below_the_baseline_is_explained_without_a_gate(before: str, is_explained: bool) -> None:
    """And not where nothing has changed."""

    def answer(request: Request, _choice: int) -> str:
        asked = re.search(r"What is (\d+) \+ 1", request.messages[-1].content)
        return before.format(1 + int(asked[1]) if asked else "")

    _, base = before_that(plan(), answer, hub=MemoryHub({demo.WORD_PROBLEMS.data.name: ROWS}))
    report = evaluated("", base=base)
    assert report.comparison is not None
    assert ("diagnose" in report.seconds) == is_explained


@pytest.mark.parametrize(
    ("gate", "rows"), [("demo_gsm8k: avg@5 >= 0", ROWS), ("demo_gsm8k: accuracy >= 90", ROWS[:400])]
)
def test_a_gate_that_passed_and_a_run_of_few_samples_are_not(gate: str, rows: bytes) -> None:
    assert "diagnose" not in evaluated(gate, rows[: rows.rindex(b"\n") + 1]).seconds
