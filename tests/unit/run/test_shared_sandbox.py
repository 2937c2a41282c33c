"""One sandbox for a whole run, whoever asks for it."""

from typing import Any

import pytest
from tests.fake_ports import RecordingProgress, ScriptedSandbox, fake_ports

from model_accuracy_eval.records.code import Program
from model_accuracy_eval.run.shared_sandbox import one_sandbox
from model_accuracy_eval.system.clock import run


class Opener:
    """Counts how often a sandbox was opened."""

    def __init__(self, **facts: Any) -> None:
        self.sandbox = ScriptedSandbox(lambda program: "passed")
        vars(self.sandbox).update(facts)
        self.times = 0

    def __call__(self) -> ScriptedSandbox:
        self.times += 1
        return self.sandbox


def test_it_is_opened_once_and_closed_at_the_end() -> None:
    """Whoever asks for it, and however often."""
    opener = Opener()
    ports = fake_ports(open_sandbox=opener)
    with one_sandbox(ports) as shared:
        for _ in range(3):
            assert shared.open_sandbox
            lent = shared.open_sandbox()
            assert run(lent.run(Program(code="pass", tests=""))).passed
            assert not opener.sandbox.closed
    assert (opener.times, opener.sandbox.closed) == (1, True)


def test_it_is_closed_when_the_run_fails() -> None:
    """Whatever ends the run, no worker outlives it."""
    opener = Opener()

    def fails() -> None:
        with one_sandbox(fake_ports(open_sandbox=opener)) as shared:
            assert shared.open_sandbox
            shared.open_sandbox()
            raise ValueError("the end")

    with pytest.raises(ValueError, match="the end"):
        fails()
    assert opener.sandbox.closed


def test_nothing_is_opened_where_nothing_runs() -> None:
    """A run without programs needs no sandbox, and may have none."""
    opener = Opener()
    with one_sandbox(fake_ports(open_sandbox=opener)):
        pass
    with one_sandbox(fake_ports()) as ports:
        assert ports.open_sandbox is None
    assert opener.times == 0


def test_why_it_is_no_stronger_one_is_told_once() -> None:
    """On the screen, with the reason of each kind that was passed over."""
    progress = RecordingProgress()
    opener = Opener(passed_over=("docker: no engine answers.",))
    with one_sandbox(fake_ports(open_sandbox=opener, progress=progress)) as shared:
        for _ in range(2):
            assert shared.open_sandbox
            lent = shared.open_sandbox()
    assert progress.said == ["A stronger sandbox was passed over: docker: no engine answers."]
    assert (lent.isolation, lent.image, len(lent.passed_over)) == ("none", "no image", 1)
