"""In which order problems are asked: by an earlier run's lengths, and never where the order decides."""

import msgspec
import pytest
from tests.fake_ports import MemoryStore, ScriptedChat, fake_ports
from tests.unit.run.test_infer import by_seed, kept, plan, prepared

from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.ports import Archive
from model_accuracy_eval.records import Choice, Request, RunPlan, Service, Settings, Timings
from model_accuracy_eval.run import infer
from model_accuracy_eval.run.deploy import LiveService
from model_accuracy_eval.run.early_stop import early_stop
from model_accuracy_eval.run_folder import journal
from model_accuracy_eval.scoring.verdicts import gate_lines

LIVE = LiveService(Service(base_url="http://fake-service"), None)
RUN = {"schema": 1, "status": "complete", "run_id": "before", "label": "npu", "started": "", "datasets": {}}


def earlier(*seconds: float, dataset: str = "sums") -> MemoryStore:
    """A run under another label that took so many seconds for each of these problems; 0: it has none of it."""
    archive = MemoryStore("before")
    archive.write("run.json", msgspec.json.encode(RUN))
    for place, length in enumerate(seconds):
        line = {"id": place, "index": 0, "timings": {"e2e": length}}
        if length:
            archive.append(journal.file("npu", dataset), msgspec.json.encode(line) + b"\n")
    return archive


def with_baseline(the_plan: RunPlan) -> RunPlan:
    return msgspec.structs.replace(the_plan, settings=Settings(baseline="before"))


def asked(the_plan: RunPlan, archive: Archive | Exception, problems: int = 5) -> list[str]:
    """The questions in the order in which they were asked; checks that every sample is that of its seed."""

    def open_archive(_: str) -> Archive:
        if isinstance(archive, Exception):
            raise archive
        return archive

    chat, store = ScriptedChat(by_seed), MemoryStore()
    infer.collect(the_plan, (prepared(problems),), LIVE, store, fake_ports(chat=chat, open_archive=open_archive))
    assert kept(store) == {(p, 0): f"sums {p} / {p}" for p in range(problems)}
    return [request.messages[0].content.removeprefix("sums ") for request in chat.requests]


def test_what_took_longest_before_is_asked_first() -> None:
    """By its longest sample, since one request may ask for all; a problem that the earlier run lacks comes where the
    middle one would, and a line that a kill cut off is passed over. No sample changes by it."""
    archive = earlier(3, 9, 0, 5, 1)
    archive.append(journal.file("npu", "sums"), msgspec.json.encode({"id": 4, "index": 1, "timings": {"e2e": 8.0}}))
    archive.append(journal.file("npu", "sums"), b'\n{"id": 2, "timi\n')
    assert asked(with_baseline(plan(1, concurrency=1)), archive) == ["1", "4", "2", "3", "0"]


@pytest.mark.parametrize(
    "archive",
    [earlier(), earlier(3, 9, dataset="other"), BadReuse("It is gone."), MemoryStore()],
    ids=["without-replies", "of-another-dataset", "gone", "no-run"],
)
def test_an_earlier_run_that_says_nothing_changes_nothing(archive: Archive | Exception) -> None:
    """Nor does one that could be read when the run began and cannot be any more: the order is worth no run."""
    assert asked(with_baseline(plan(1, concurrency=1)), archive) == ["0", "1", "2", "3", "4"]


def test_datasets_are_mixed_and_a_continued_run_knows_its_own_lengths() -> None:
    """What the first part of a run answered says which dataset has the longer answers."""
    slow = {"slow 0": 30.0, "quick 0": 1.0}

    def answer(request: Request, choice: int) -> Choice:
        text = by_seed(request, choice)
        seconds = slow.get(request.messages[0].content, 0.1)
        return Choice(index=choice, text=text, finish_reason="stop", timings=Timings(e2e=seconds))

    the_plan, store, chat = plan(1, concurrency=1), MemoryStore(), ScriptedChat(answer)
    infer.collect(the_plan, (prepared(1, "quick"), prepared(1, "slow")), LIVE, store, fake_ports(chat=chat))
    infer.collect(the_plan, (prepared(2, "quick"), prepared(3, "slow")), LIVE, store, fake_ports(chat=chat))
    assert [request.messages[0].content for request in chat.requests[2:]] == ["slow 1", "slow 2", "quick 1"]


def test_what_decides_gates_keeps_its_order() -> None:
    """Gates are decided by samples in an order that was drawn at random: sorted by length, it would favour errors."""
    the_plan = msgspec.structs.replace(
        plan(1, concurrency=1),
        settings=Settings(baseline="before", stop_when_decided=True),
        gates=gate_lines.parse("sums: accuracy > 50"),
    )
    datasets = (prepared(6), prepared(3, "free"))
    followings = early_stop(the_plan, datasets, None).followings
    archive = earlier(*range(1, 7))
    archive.files |= earlier(20, 30, 40, dataset="free").files
    chat, open_archive = ScriptedChat(by_seed), lambda _: archive
    ports = fake_ports(chat=chat, open_archive=open_archive)
    infer.collect(the_plan, datasets, LIVE, MemoryStore(), ports, followings=followings)
    drawn = [f"sums {unit.place}" for unit in followings["sums"].order]
    questions = [request.messages[0].content for request in chat.requests]
    assert questions == [*drawn, "free 2", "free 1", "free 0"]
