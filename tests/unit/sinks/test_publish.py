"""Results are published to all sinks in their order; failures come together at the end."""

from collections.abc import Iterable

import msgspec
import pytest
from tests.fake_ports import MemoryHub, MemoryStore, ScriptedChat, fake_ports
from tests.unit.run.test_pipeline import ROWS, plan, right

from model_accuracy_eval.benchmarks import demo
from model_accuracy_eval.errors import EvalError, PublishFailed, Refused
from model_accuracy_eval.ports import Ports, Published, Store
from model_accuracy_eval.records import Fault, Outcome, Report
from model_accuracy_eval.run import pipeline
from model_accuracy_eval.run_folder import kept_run
from model_accuracy_eval.sinks import FILES
from model_accuracy_eval.sinks.publisher import Publisher
from model_accuracy_eval.sinks.run_files import RunFiles

OUTCOME = Outcome(conclusion="refused", exit_code=3, stage="preflight", sentence="No.")


class NotedSink:
    """Notes what it is given; raises `error` if there is one."""

    def __init__(self, name: str, error: Exception | None = None) -> None:
        self.name = name
        self.error = error
        self.calls: list[tuple[Report | Outcome, Store | None, Published]] = []

    def publish(self, result: Report | Outcome, folder: Store | None, published: Published) -> Published:
        self.calls.append((result, folder, published))
        if self.error is not None:
            raise self.error
        return published.with_link(self.name, f"https://example.invalid/{self.name}")


class NotedLiveSink(NotedSink):
    """Also shows that a run is under way."""

    def begin(self, published: Published) -> Published:
        return published.with_link(self.name, "https://example.invalid/begun")


def ports(store: MemoryStore, answer: object = right) -> Ports:
    return fake_ports(
        chat=ScriptedChat(answer),  # type: ignore[arg-type]
        hub=MemoryHub({demo.WORD_PROBLEMS.data.name: ROWS}),
        open_store=lambda _root: store,
    )


def test_each_sink_is_given_what_those_before_it_published() -> None:
    """Links are handed on in the order of the list."""
    first, second = NotedSink("first"), NotedSink("second")
    publisher = Publisher([first, second])
    publisher.publish(OUTCOME, None)
    assert first.calls == [(OUTCOME, None, Published())]
    assert second.calls[0][2].links == {"first": "https://example.invalid/first"}
    assert list(publisher.published.links) == ["first", "second"]


def test_only_live_sinks_begin() -> None:
    """What a live sink shows at the beginning is known to all sinks at the end."""
    live, other = NotedLiveSink("live"), NotedSink("other")
    publisher = Publisher([other, live])
    publisher.begin()
    assert (other.calls, live.calls) == ([], [])
    publisher.publish(OUTCOME, None)
    assert other.calls[0][2].links == {"live": "https://example.invalid/begun"}


def test_a_sink_that_fails_silences_no_other() -> None:
    """All sinks have their turn, failures are told at once, and one error at the end has all their sentences."""
    warnings: list[str] = []
    broken = [NotedSink("one", PublishFailed("One is full.")), NotedSink("two", Refused("Two is closed."))]
    last = NotedSink("last")
    publisher = Publisher([*broken, last], warnings.append)
    publisher.publish(msgspec.structs.replace(OUTCOME, conclusion="passed", exit_code=0), None)
    assert [failure.sink for failure in last.calls[0][2].failures] == ["one", "two"]
    assert warnings == ["One is full.", "Two is closed."]
    with pytest.raises(PublishFailed, match=r"^One is full\. Two is closed\.$") as caught:
        publisher.check(msgspec.structs.replace(OUTCOME, conclusion="failed", exit_code=1))
    assert caught.value.exit_code == 6


def test_a_defect_in_a_sink_is_raised_after_the_others_had_their_turn() -> None:
    """An exception that is no error of ours is not hidden, and hides nothing."""
    last = NotedSink("last")
    with pytest.raises(ZeroDivisionError):
        Publisher([NotedSink("defect", ZeroDivisionError()), last]).publish(OUTCOME, None)
    assert len(last.calls) == 1


def test_a_run_publishes_to_the_sinks_it_is_given() -> None:
    """The files are written first; the sink after them gets the report and the folder."""
    store, sink = MemoryStore(), NotedSink("hook")
    report = pipeline.run(plan(), ports(store), [*FILES, sink])
    assert sink.calls == [(report, store, Published())]
    assert "manifest.sha256" in store.files


def test_a_sink_that_fails_fails_the_run_at_its_end() -> None:
    """The run is complete, its files are there, and the error says what is missing."""
    store = MemoryStore()
    with pytest.raises(PublishFailed, match=r"The hook is gone\."):
        pipeline.run(plan(), ports(store), [NotedSink("hook", PublishFailed("The hook is gone.")), RunFiles()])
    assert "manifest.sha256" in store.files


def test_a_failure_to_publish_does_not_hide_what_went_wrong_before() -> None:
    """Exit code and sentence are those of the run; the failure stands in the detail."""

    def rejecting(request: object, choice: int) -> Fault:
        return Fault(kind="refused", sentence="connection refused")

    with pytest.raises(EvalError) as caught:
        sinks = [NotedSink("hook", PublishFailed("The hook is gone."))]
        pipeline.run(plan(), ports(MemoryStore(), rejecting), sinks)
    assert (caught.value.exit_code, caught.value.stage) == (4, "deploy")
    assert "The hook is gone." in caught.value.detail
    assert "The hook is gone." not in caught.value.sentence


@pytest.mark.parametrize(("full", "listed"), [("report.html", True), ("run.json", False)])
def test_the_manifest_has_all_that_was_written(full: str, *, listed: bool) -> None:
    """So that replies can be held against it, whatever the disk had no room for; a run that did not come to its end has
    none."""

    class FullStore(MemoryStore):
        def write(self, name: str, data: bytes | Iterable[bytes]) -> None:
            if name == full and not (isinstance(data, bytes) and b'"running"' in data):
                raise PublishFailed("No space is left.")
            super().write(name, data)

    store = FullStore()
    with pytest.raises(PublishFailed, match="No space is left"):
        pipeline.run(plan(), ports(store))
    assert ("manifest.sha256" in store.files) == listed
    if listed:
        assert kept_run.edited(store) == ()
        store.remove("manifest.sha256")
        assert "somebody removed it" in kept_run.edited(store)[0]
