"""The result of a run, published to every sink in turn. A sink that fails silences no other."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Generic, TypeVar

from model_accuracy_eval.errors import EvalError, PublishFailed, Refused
from model_accuracy_eval.ports import Archive, LiveSink, Published, Sink, Store
from model_accuracy_eval.records import Identity, Outcome, Record, Report
from model_accuracy_eval.records.report import ActionContext
from model_accuracy_eval.report.comment import Links
from model_accuracy_eval.run_folder import manifest

if TYPE_CHECKING:
    from model_accuracy_eval.github.api import GitHubRest
    from model_accuracy_eval.github.artifact_service import ArtifactService
    from model_accuracy_eval.github.runner import Runner


class Publisher:
    """Holds the sinks in their order, and what they have published."""

    def __init__(self, sinks: Sequence[Sink], warn: Callable[[str], object] = lambda sentence: None) -> None:
        """`warn` gets the sentence of every failure as soon as it happens."""
        self._sinks = sinks
        self._warn = warn
        self._defects: list[Exception] = []
        self.published = Published()

    def begin(self) -> None:
        """Shows that a run is under way, wherever that can be shown."""
        for sink in self._sinks:
            if isinstance(sink, LiveSink):
                self._call(sink.name, sink.begin)
        self._raise_defects()

    def publish(self, result: Report | Outcome, folder: Store | None) -> None:
        """Publishes how the run ended. A defect in a sink is raised after all others had their turn."""
        for sink in self._sinks:
            self._call(sink.name, partial(sink.publish, result, folder))
        self._raise_defects()

    def _call(self, name: str, action: Callable[[Published], Published]) -> None:
        before = len(self.published.failures)
        try:
            self.published = action(self.published)
        except EvalError as error:
            self.published = self.published.with_failures(name, error.sentence)
        except Exception as defect:  # noqa: BLE001 - raised when all sinks had their turn
            self._defects.append(defect)
        for failure in self.published.failures[before:]:
            self._warn(failure.sentence)

    def _raise_defects(self) -> None:
        if self._defects:
            raise self._defects[0]

    def check(self, outcome: Outcome) -> None:
        """Raises one error with the sentences of all failures; it does not hide what went wrong before."""
        if not self.published.failures:
            return
        sentence = " ".join(failure.sentence for failure in self.published.failures)
        if outcome.conclusion not in {"broken", "stopped"}:
            raise PublishFailed(sentence)
        error = EvalError(outcome.sentence, detail=f"{outcome.detail}\n{sentence}".lstrip(), stage=outcome.stage)
        error.exit_code = outcome.exit_code
        raise error


# What the sinks of the action are built from.


def manifest_digest(folder: Archive | None) -> str:
    """What stands for every file of the run; empty if the run left no manifest."""
    stated = folder.read(manifest.MANIFEST) if folder is not None else None
    return "" if stated is None else manifest.digest_of([stated])


class NoInputs(Record, frozen=True):
    """For a sink that nothing has to be said to."""


@dataclass(frozen=True, kw_only=True, slots=True)
class SinkParts:
    """Each sink takes of these what it needs."""

    context: ActionContext
    step: "Runner"
    github: "GitHubRest"
    artifacts: "ArtifactService | None"
    """None where the runner names no artifact service."""
    since_stop: Callable[[], float]
    """Seconds since the request to stop; 0 when there was none."""

    @property
    def title(self) -> str:
        """What check and status are called; those of another repository's commit never as those of this one's."""
        return f"Model accuracy ({self.context.identity.name(self.context.repository)})"

    def identity(self, result: Report | Outcome) -> Identity:
        """What the result is about, as far as the run got to know it."""
        return result.plan.identity if isinstance(result, Report) else self.context.identity

    @contextmanager
    def where_the_token_may(self) -> Iterator[None]:
        """What another repository does not let the token write is told, and is no failure."""
        try:
            yield
        except (PublishFailed, Refused) as failure:
            place = f"{self.context.adapter_repository}@{self.context.adapter_commit[:7]}"
            self.step.notice(f"{place} does not show this verdict: {failure.sentence}", title="Another repository")

    def links(self, published: Published) -> Links:
        """The links at the end of a comment, a check and a summary."""
        links = published.links
        return Links(artifact=links.get("artifact", ""), check=links.get("check", ""), run=self.context.run_url)


ForSink = TypeVar("ForSink", bound=Record)


class ActionSink(Generic[ForSink]):
    """A sink of the action, with the inputs that are for it."""

    def __init__(self, parts: SinkParts, inputs: ForSink) -> None:
        self._parts, self.inputs = parts, inputs
