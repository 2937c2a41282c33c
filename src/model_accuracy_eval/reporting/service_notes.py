"""Sentences about the service that concern all datasets of a run, so that a report says each of them once."""

from collections.abc import Iterator

from model_accuracy_eval.records import Service

_NO_FINISH_REASON = (
    "The service never sent a finish_reason: an answer that broke off without an error looks like a complete one and "
    "is judged as one."
)


def service_notes(service: Service | None) -> tuple[str, ...]:
    """What a reader of the figures has to know about the service that gave the answers."""
    return tuple(_notes(service)) if service else ()


def _notes(service: Service) -> Iterator[str]:
    if service.sends_finish_reasons is False:
        yield _NO_FINISH_REASON
