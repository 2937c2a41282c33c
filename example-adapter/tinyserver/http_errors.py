"""What can go wrong, each with the sentence that is shown.

Exception
├── WeightsError   the weights folder cannot be served: said at the start, then exit
├── RequestError   this request cannot be answered: becomes an HTTP error
└── ClientGone     nobody is left to read the answer
"""

from __future__ import annotations

from http import HTTPStatus


class WeightsError(Exception):
    """The weights folder is missing, damaged or of a kind this server does not know."""


class ClientGone(Exception):
    """The client closed its connection before the answer was complete."""


class RequestError(Exception):
    """A refusal with an HTTP status, in the envelope that vLLM uses."""

    def __init__(self, message: str, *, status: int = 400, param: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.status = status
        self.param = param

    def body(self) -> dict[str, object]:
        kind = HTTPStatus(self.status).phrase.title().replace(" ", "") + "Error"
        kind = "InternalServerError" if self.status == 500 else kind
        return {"error": {"message": self.message, "type": kind, "param": self.param, "code": self.status}}
