"""Why a stream is no answer, as the exceptions that end its reading."""

from model_accuracy_eval.system.retry import Failure


class StreamBroken(Exception):
    """The stream itself shows that there will be no answer."""

    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.sentence)
        self.failure = failure


class EventUnreadable(StreamBroken):
    """An event is no JSON object."""

    def __init__(self, excerpt: str) -> None:
        super().__init__(stream_failure(f"The stream holds an event that is no JSON object: {excerpt}"))
        self.excerpt = excerpt


def stream_failure(sentence: str) -> Failure:
    """A failure after which another try may succeed."""
    return Failure(kind="failed", sentence=sentence)
