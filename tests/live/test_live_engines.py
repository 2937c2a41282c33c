"""What holds of every engine: the same figures from the same weights, and nothing lost when one hangs or dies."""

import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.e2e import command
from tests.live.conftest import Models
from tests.live.demo_answers import SECONDS, DemoAnswers, evaluate, far_apart, read
from tests.live.live_servers import NAMES, LiveServer, serving
from tests.waiting import until

pytestmark = pytest.mark.timeout(1800)

PROBLEMS, SAMPLES = 100, 20
"""Twice as long as the run waits for a server that says nothing."""


@pytest.fixture(scope="module", params=NAMES)
def server(
    request: pytest.FixtureRequest, models: Models, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[LiveServer]:
    """One engine after the other, with the example adapter's weights."""
    model = models.adding(request.param)
    with serving(request.param, model, tmp_path_factory.mktemp("logs") / "server.log") as started:
        yield started


def asked(server: LiveServer, *more: object) -> list[object]:
    return ["--endpoint", server.url, "--datasets", "demo_arithmetic", "--sampling", "plain", *more]


def test_greedy_answers_are_those_of_the_numpy_server(
    server: LiveServer, tmp_path: Path, numpy_greedy: dict[tuple[int, int], str]
) -> None:
    """The likeliest tokens of the same weights; half of a rounding error may turn one answer of a hundred."""
    found = evaluate(tmp_path, *asked(server, "--temperature", 0, "-n", 1))
    answers = command.journal(found.folder, "demo_arithmetic")
    assert answers.keys() == numpy_greedy.keys()
    differing = {key: (answers[key], numpy_greedy[key]) for key in answers if answers[key] != numpy_greedy[key]}
    assert len(differing) <= 1, differing


def test_figures_are_within_the_error_of_the_numpy_servers(
    server: LiveServer, tmp_path: Path, numpy_sums: DemoAnswers
) -> None:
    """Twenty answers to each sum at temperature 1, whether the engine gives several a request or one."""
    found = evaluate(tmp_path, *asked(server, "-n", SAMPLES))
    assert sum(map(len, found.right.values())) == PROBLEMS * SAMPLES
    assert far_apart(found, numpy_sums) < 4, (found.avg, numpy_sums.avg)


def begun(out: Path) -> int:
    """How many answers the run's journal has."""
    return sum(
        len(path.read_bytes().splitlines()) for path in out.glob(f"[0-9a-f]*/predictions/{command.LABEL}/*.jsonl")
    )


def wait_for_answers(run: "subprocess.Popen[str]", out: Path) -> None:
    """Until the run is in the middle; one that ends before that fails the test with its words."""
    until(lambda: begun(out) > PROBLEMS or run.poll() is not None, "answers", SECONDS)
    if begun(out) <= PROBLEMS:
        pytest.fail(str(command.finish(run)))


def test_an_engine_that_stays_gone_ends_the_run_which_can_be_continued(server: LiveServer, tmp_path: Path) -> None:
    """The process that computes is killed under answers: half answers are none, and what was answered is kept."""
    run = command.start("run", *asked(server, "-n", SAMPLES, "--concurrency", 4), "--out", tmp_path)
    wait_for_answers(run, tmp_path)
    server.kill([server.engine()])
    done = command.finish(run, SECONDS)
    server.kill()
    assert done.code in (4, 5), done.out + done.err
    folder = command.only_run(tmp_path)
    before = command.journal(folder, "demo_arithmetic")
    assert PROBLEMS < len(before) < PROBLEMS * SAMPLES
    server.start()
    _continue(folder, before)


def _continue(folder: Path, before: dict[tuple[int, int], str], *limits: object) -> None:
    done = command.finish(command.start("run", "--reuse", folder, *limits), SECONDS)
    assert done.code == 0, done.out + done.err
    after = command.journal(folder, "demo_arithmetic")
    assert len(after) == PROBLEMS * SAMPLES
    assert {key: after[key] for key in before} == before
    assert read(folder).avg > 0
