"""The Python interface: what scripts and notebooks call, and what the command line calls too."""

import asyncio
import json
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.servers.fault_server import FaultServer
from tests.waiting import HANGING

import model_accuracy_eval
from model_accuracy_eval import ProgressEvent, Report, Settings, compare, evaluate, rescore
from model_accuracy_eval.errors import BadValue

QUIET = """
import json, logging, os, signal, sys, threading
def state():
    handlers = {number: str(signal.getsignal(number)) for number in signal.valid_signals()}
    return [handlers, dict(os.environ), os.getcwd(), threading.active_count(), sorted(os.listdir()),
            logging.getLogger().handlers, sys.excepthook is sys.__excepthook__]
before = state()
import model_accuracy_eval
light = sorted(name for name in ("click", "httpx", "msgspec", "numpy") if name in sys.modules)
for name in model_accuracy_eval.__all__:
    getattr(model_accuracy_eval, name)
print(json.dumps([light, state() == before]))
"""

CELL = """
import asyncio, json, signal, sys, threading
from model_accuracy_eval import evaluate
signal.signal(signal.SIGINT, signal.default_int_handler)  # as a notebook has it, whatever was inherited
async def cell():
    evaluate(json.loads(sys.argv[1]))
try:
    asyncio.new_event_loop().run_until_complete(cell())
except KeyboardInterrupt:
    print("interrupted, threads:", *(thread.name for thread in threading.enumerate()))
"""


@pytest.fixture
def service() -> Iterator[str]:
    """A service that gives the same answer to every question."""
    with FaultServer(lambda request: ["#### 78"] * request.get("n", 1)) as server:
        yield server.url


def settings(service: str, out: Path) -> dict[str, object]:
    return {"endpoint": service, "datasets": ("demo_gsm8k",), "limit": 3, "num_return_sequences": 1, "out": str(out)}


def test_an_evaluation_returns_its_report_and_leaves_its_folder(
    service: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """Keywords, a mapping and a record of settings are the same run; nothing is printed."""
    values = settings(service, tmp_path)
    reports = [evaluate(**values), evaluate(values), evaluate(Settings(**values))]  # type: ignore[arg-type]
    assert [report.outcome.conclusion for report in reports] == ["complete"] * 3
    assert len({report.dataset_results[0].rows for report in reports}) == 1
    assert len(list(tmp_path.glob("[0-9a-f]*/report.html"))) == 3
    assert capfd.readouterr() == ("", "")


def test_keywords_win_over_a_record(service: str, tmp_path: Path) -> None:
    """A field of the record that is left at its default does not hide what a YAML file says."""
    (tmp_path / "run.yaml").write_text("limit: 2\nseed: 7\n")
    record = Settings(endpoint=(service,), datasets=("demo_gsm8k",), num_return_sequences=2, out=str(tmp_path))
    report = evaluate(record, config=str(tmp_path / "run.yaml"), num_return_sequences=1)
    assert (report.plan.sampling.n, report.plan.sampling.seed) == (1, 7)
    assert report.dataset_results[0].counts.planned == 2


def test_progress_goes_to_a_callback(service: str, tmp_path: Path) -> None:
    """Every stage begins once, and the last counts of a dataset are those of the report."""
    events: list[ProgressEvent] = []
    report = evaluate(settings(service, tmp_path), progress=events.append)
    assert [event.stage for event in events if event.kind == "stage"] == ["preflight", "deploy", "infer", "score"]
    last = [event for event in events if event.kind == "dataset"][-1]
    assert last.dataset == "demo_gsm8k"
    assert last.counts is not None
    assert last.counts.answered == report.dataset_results[0].counts.answered == 3


def test_failures_are_errors_with_a_sentence(tmp_path: Path) -> None:
    """A wrong setting raises; the process goes on, and there is no folder."""
    with pytest.raises(BadValue, match=r"'temperature' cannot be 'hot' \(the arguments\)"):
        evaluate(endpoint="http://127.0.0.1:9", datasets="demo_gsm8k", temperature="hot", out=str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()


def test_runs_are_compared_and_replies_judged_again(service: str, tmp_path: Path) -> None:
    """A run does not differ from itself; its journal, judged again, gives its figure."""
    report = evaluate(settings(service, tmp_path))
    folder = Path(report.outcome.folder or "")
    comparison = compare(folder, folder)
    assert {difference.points for difference in comparison.changes[0].differences} == {0.0}
    (result,) = rescore(folder / "predictions" / report.plan.settings.label / "demo_gsm8k.jsonl")
    assert result.rows[0].value == report.dataset_results[0].rows[0].value


def test_the_guide_runs_as_it_is_written(service: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its blocks, one after the other, before a service at another address."""
    monkeypatch.chdir(tmp_path)
    guide = (Path(__file__).parents[2] / "docs" / "how-to" / "python.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", guide, re.DOTALL)
    names: dict[str, object] = {}
    for block in blocks:
        exec(block.replace("http://localhost:8000", service), names)
    assert len(blocks) == 4
    assert len(list(tmp_path.glob("outputs/[0-9a-f]*/report.html"))) == 3


def test_an_exception_in_the_callback_ends_the_run(service: str, tmp_path: Path) -> None:
    """It is not swallowed, and the service is not asked on."""

    def fail(_event: ProgressEvent) -> None:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        evaluate(settings(service, tmp_path), progress=fail)


def test_a_notebook_may_call_it(service: str, tmp_path: Path) -> None:
    """An event loop that runs in the calling thread is not in the way."""

    async def cell() -> Report:
        return evaluate(settings(service, tmp_path))

    assert asyncio.run(cell()).outcome.conclusion == "complete"


def test_an_interrupted_notebook_stops_asking(tmp_path: Path) -> None:
    """Ctrl-C in a cell ends the run that it waits for; nothing goes on in the background."""
    first, gate = threading.Event(), threading.Event()

    def answer(request: dict[str, Any]) -> list[str]:
        if request["max_tokens"] > 1:  # not the readiness probe
            first.set()
            gate.wait(HANGING)
        return ["#### 78"]

    with FaultServer(answer) as server:
        command = [sys.executable, "-c", CELL, json.dumps(settings(server.url, tmp_path))]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            assert first.wait(HANGING)
            process.send_signal(signal.SIGINT)
            output, _ = process.communicate()
        gate.set()
    assert output == "interrupted, threads: MainThread\n"


def test_signals_stay_the_callers(service: str, tmp_path: Path) -> None:
    """While a run is under way the handlers are the caller's, unless it asks otherwise; afterwards they are again."""
    before = signal.getsignal(signal.SIGTERM)
    handlers: dict[bool, set[object]] = {False: set(), True: set()}
    for handled, seen in handlers.items():

        def note_handler(_event: ProgressEvent, seen: set[object] = seen) -> None:
            seen.add(signal.getsignal(signal.SIGTERM))

        evaluate(settings(service, tmp_path), progress=note_handler, handle_signals=handled)
    assert handlers[False] == {before}
    assert before not in handlers[True]
    assert signal.getsignal(signal.SIGTERM) == before


def test_importing_has_no_side_effects(tmp_path: Path) -> None:
    """The package alone loads no library; its names install no handler, thread, file or variable."""
    done = subprocess.run([sys.executable, "-c", QUIET], capture_output=True, text=True, check=True, cwd=tmp_path)
    assert json.loads(done.stdout) == [[], True]


def test_every_public_name_is_there() -> None:
    """What `__all__` promises can be imported, and nothing else is made up."""
    assert all(getattr(model_accuracy_eval, name) for name in model_accuracy_eval.__all__)
    with pytest.raises(AttributeError, match="no attribute 'evaluat'"):
        model_accuracy_eval.evaluat  # noqa: B018
