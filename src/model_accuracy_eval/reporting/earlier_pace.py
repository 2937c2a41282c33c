"""How fast an earlier run was asked, as its `run.json` says: what a further run will take."""

from collections.abc import Mapping
from math import fsum

from model_accuracy_eval.records import Record
from model_accuracy_eval.reporting.runfile import RunFile


class EarlierPace(Record, frozen=True, kw_only=True):
    """How long answers took, and how many there were in a second."""

    lengths: dict[str, float]
    """Dataset → mean seconds of an answer."""
    usual: float
    """Seconds of an answer in all datasets together."""
    rate: float | None
    """Answers in a second; None: the run, which may be a merged one, does not say how long it asked."""

    def seconds(self, samples: Mapping[str, int], concurrency: int) -> float:
        """How long so many samples of each dataset take, as many at a time as then; where that is not known, as many
        as `concurrency` says."""
        width = concurrency if self.rate is None else self.rate * self.usual
        return fsum(count * self.lengths.get(name, self.usual) for name, count in samples.items()) / width


def of_run(run: RunFile) -> EarlierPace | None:
    """None: the run has no answers of its own, or says nothing of their time."""
    answered = {name: entry.counts.answered for name, entry in run.datasets.items() if entry.counts}
    lengths = {
        name: entry.speed.e2e.mean
        for name, entry in run.datasets.items()
        if entry.speed and entry.speed.e2e and answered.get(name)
    }
    # Of a run that broke off, nobody noted how many of its answers an earlier part had given.
    asked = run.seconds.get("infer", 0.0) if run.is_verdict else 0.0
    now = sum(answered.values()) - (run.answered_before or 0)
    rate = now / asked if asked and now > 0 else None
    timed = sum(answered[name] for name in lengths)
    if timed:
        usual = fsum(mean * answered[name] for name, mean in lengths.items()) / timed
        return EarlierPace(lengths=lengths, usual=usual, rate=rate)
    # Log-likelihoods are not timed one by one: how many are under way at a time is in the rate.
    return EarlierPace(lengths={}, usual=1 / rate, rate=rate) if rate else None
