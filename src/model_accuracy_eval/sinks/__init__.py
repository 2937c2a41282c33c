"""Where the result of a run is published; one file a sink, with its inputs beside it.

The order counts: each sink is given what those before it have published.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

from model_accuracy_eval.ports import Sink
from model_accuracy_eval.records import Record
from model_accuracy_eval.settings import Setting, table
from model_accuracy_eval.sinks.artifact_sink import ArtifactInputs, ArtifactSink, LateArtifactSink
from model_accuracy_eval.sinks.check_sink import CheckInputs, CheckSink, StatusInputs, StatusSink
from model_accuracy_eval.sinks.comment_sink import CommentInputs, CommentSink
from model_accuracy_eval.sinks.history_sink import HistoryInputs, HistorySink
from model_accuracy_eval.sinks.publisher import NoInputs, SinkParts
from model_accuracy_eval.sinks.run_files import RunFiles
from model_accuracy_eval.sinks.step_sinks import JobSummary, StepLog, StepOutputs

FILES: tuple[Sink, ...] = (RunFiles(),)
"""The sinks of a run that publishes to its folder alone."""

OF_THE_ACTION: tuple[tuple[Callable[..., Sink], type[Record]], ...] = (
    (StepLog, NoInputs),
    (ArtifactSink, ArtifactInputs),
    (CheckSink, CheckInputs),
    (CommentSink, CommentInputs),
    (StatusSink, StatusInputs),
    (HistorySink, HistoryInputs),
    (LateArtifactSink, ArtifactInputs),
    (JobSummary, NoInputs),
    (StepOutputs, NoInputs),
)
"""Each sink, and the inputs of the action that are for it. The files come before them."""


def inputs() -> Iterator[Setting]:
    """The inputs of the action that say where it publishes, each once."""
    for kind in dict.fromkeys(kind for _, kind in OF_THE_ACTION):
        yield from table(kind)


def action_sinks(
    parts: SinkParts,
    values: Mapping[str, Any],
    noted: Callable[[], AbstractContextManager[None]] = nullcontext,
) -> tuple[Sink, ...]:
    """`values`: typed, by the names of the fields; what is not given has its default. `noted`: entered around each one,
    which may refuse its inputs and is left out then."""
    made: list[Sink] = []
    for sink, kind in OF_THE_ACTION:
        with noted():
            made.append(sink(parts, kind(**{name: values[name] for name in kind.__struct_fields__ if name in values})))
    return (*FILES, *made)
