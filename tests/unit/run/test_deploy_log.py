"""What of deploy.log is shown when an adapter fails."""

import pytest
from tests.fake_ports import FakeRunningAdapter

from model_accuracy_eval.run import readiness


def excerpt(*lines: str) -> list[str]:
    running = FakeRunningAdapter()
    running.log = "\n".join(lines)
    return readiness.excerpt(running).splitlines()


NOISE = [f"INFO loading shard {number} of 200" for number in range(200)]
TRACE = [
    "(Engine pid=7) Traceback (most recent call last):",
    '(Engine pid=7)   File "core.py", line 1, in run',
    "(Engine pid=7)     start()",
    "(Engine pid=7) RuntimeError: no NPU memory left",
]


def test_errors_are_found_however_far_above_the_end_they_stand() -> None:
    """With the whole traceback, its loggers' prefixes included, and with how much was left out."""
    shown = excerpt(NOISE[0], *TRACE, *NOISE, "ERROR engine is dead", *NOISE[:40])
    assert shown[:5] == ["… 1 line left out", *TRACE]
    assert shown[5:] == ["… 200 lines left out", "ERROR engine is dead", "… 37 lines left out", *NOISE[37:40]]


def test_without_errors_the_last_lines_are_shown() -> None:
    """Words that only look like errors are none."""
    assert excerpt(*NOISE, "0 errors, terror_level=3") == [*NOISE[-29:], "0 errors, terror_level=3"]


def test_many_errors_keep_the_first_and_the_last() -> None:
    """The cause tends to stand first, and what came of it last."""
    shown = excerpt(*(f"ERROR {number}" for number in range(500)))
    assert (shown[0], shown[-1]) == ("ERROR 0", "ERROR 499")
    assert len(shown) == 31
    assert "… 470 lines left out" in shown


def test_an_empty_log_shows_nothing() -> None:
    assert excerpt("") == []
    assert readiness.last_line("one\n\n two \n\n") == "two"
    assert not readiness.last_line("\n \n")


@pytest.mark.parametrize(
    ("code", "sentence"),
    [
        (-9, "deploy.sh was ended by signal 9 early."),
        (3, "deploy.sh exited with code 3 early."),
        (0, "deploy.sh exited with code 0 early. It has to stay until it is stopped"),
    ],
)
def test_its_end_is_said_by_its_code(code: int, sentence: str) -> None:
    """Where nothing went wrong, also why it ended."""
    said = str(readiness.exited(code, FakeRunningAdapter(), "early"))
    assert said.startswith(sentence)
    assert ("It has to stay" in said) == (code == 0)
