"""The first of many, in order, that is wrong: halved by a judge who errs now and then, and who cannot judge some.

What was found is one small record, so a search can be stopped and continued.
"""

from typing import Literal

import msgspec

from model_accuracy_eval.diagnosis.discriminating import Apart, WrongAnswers
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records import Record

_ERROR = 0.04
"""How often the search may end at a wrong place. What is known of the rates may be wrong in one case of a hundred more:
together one of twenty."""


class StepVerdict(Record, frozen=True):
    state: Literal["good", "bad", "skip"]
    sentence: str


class Bisection(Record, frozen=True, kw_only=True):
    """A search, as far as it has come."""

    schema: int = 1
    about: str
    """What is searched: a search for something else is not continued."""
    names: tuple[str, ...]
    """The good one first, the bad one last."""
    apart: Apart = Apart(WrongAnswers(0, ()))
    """What tells good from bad, once the ends were looked at."""
    verdicts: dict[str, StepVerdict] = msgspec.field(default_factory=dict)

    @property
    def last_good(self) -> int:
        return max((at for at, name in enumerate(self.names) if self._is(name, "good")), default=0)

    @property
    def first_bad(self) -> int:
        return min((at for at, name in enumerate(self.names) if self._is(name, "bad")), default=len(self.names) - 1)

    @property
    def open(self) -> tuple[str, ...]:
        """Those that may be the first bad one: only skipped ones beside the last, where there is no next one."""
        return self.names[self.last_good + 1 : self.first_bad + 1]

    @property
    def next(self) -> str | None:
        """The one nearest to the middle that was not skipped."""
        middle = (self.last_good + self.first_bad) / 2
        return self.names[min(self._left, key=lambda at: abs(at - middle))] if self._left else None

    @property
    def _left(self) -> list[int]:
        return [at for at in range(self.last_good + 1, self.first_bad) if self.names[at] not in self.verdicts]

    @property
    def steps(self) -> int:
        """About as many judgements are left."""
        return len(self._left).bit_length()

    @property
    def error(self) -> float:
        """How often the next judgement may be wrong: the shares of however many judgements add up to the whole."""
        number = sum(verdict.state != "skip" for verdict in self.verdicts.values()) - 1  # two of them are the ends
        return _ERROR / (number * (number + 1))

    def judged(self, name: str, verdict: StepVerdict) -> "Bisection":
        return msgspec.structs.replace(self, verdicts={**self.verdicts, name: verdict})

    def _is(self, name: str, state: str) -> bool:
        return name in self.verdicts and self.verdicts[name].state == state


def read(data: bytes, name: str, begun: Bisection) -> Bisection:
    """The search that a file keeps, if it is the one that is begun."""
    try:
        kept = msgspec.json.decode(data, type=Bisection)
    except msgspec.DecodeError as error:
        raise BadData(f"{name} keeps no search of `diagnose --bisect`: {error}.") from error
    if (kept.about, kept.names) != (begun.about, begun.names):
        raise BadData(
            f"{name} keeps another search ({kept.about}, {len(kept.names)} of them): remove it, or name another "
            "file with --state."
        )
    return kept
