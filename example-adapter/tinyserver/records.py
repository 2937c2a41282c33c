"""What flows between the request, the engine and the reply."""

from __future__ import annotations

from dataclasses import dataclass, field

from tinyserver.sampling import Sampling
from tinyserver.weights import Floats


@dataclass(frozen=True)
class Job:
    """One prompt to continue, `choices` times."""

    prompt: tuple[int, ...]
    choices: int
    max_tokens: int
    sampling: Sampling
    stops: tuple[str, ...] = ()
    top: int | None = None
    """How many likeliest tokens to tell at each place; None is: no logprobs at all."""
    echo: bool = False
    pictures: tuple[Floats, ...] = ()
    """What the prompt's patches are cut from, in order."""
    ends: bool = True
    """False: it goes on behind the token of the end."""


@dataclass(frozen=True)
class Asked:
    """A whole request: a chat has one job, a completion one for each prompt."""

    jobs: tuple[Job, ...]
    stream: bool
    include_usage: bool
    aloud: bool = False
    """Whether the answer is to be heard, too."""

    @property
    def choices(self) -> int:
        return sum(job.choices for job in self.jobs)

    @property
    def prompt_tokens(self) -> int:
        return sum(len(job.prompt) for job in self.jobs)


@dataclass(frozen=True)
class Score:
    """A token with the logarithm of its probability (before temperature), and the likeliest beside it."""

    token: int
    logprob: float | None
    top: tuple[tuple[int, float], ...] = ()


@dataclass(frozen=True)
class Piece:
    """Some more of one choice. The last piece carries the finish reason."""

    choice: int
    text: str
    tokens: int
    scores: tuple[Score, ...] = ()
    finish: str | None = None


@dataclass
class Whole:
    """All pieces of one choice, put together."""

    text: str = ""
    tokens: int = 0
    scores: list[Score] = field(default_factory=list)
    finish: str | None = None

    def add(self, piece: Piece) -> None:
        self.text += piece.text
        self.tokens += piece.tokens
        self.scores += piece.scores
        self.finish = piece.finish
