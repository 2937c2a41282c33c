"""How far a run is, kept for whoever tells it elsewhere: a screen in front of the screen that people see."""

from collections.abc import Callable

from model_accuracy_eval.ports import Screen
from model_accuracy_eval.records import Counts
from model_accuracy_eval.reporting import progress
from model_accuracy_eval.reporting.progress import Standing


class Watch:
    """Remembers the newest state. Words are made when they are asked for, because replies come by the thousand."""

    def __init__(self, elapsed: Callable[[], float]) -> None:
        self._elapsed = elapsed
        self.stage = "prepare"
        self.counts: dict[str, Counts] = {}
        self.began: dict[str, tuple[float, int]] = {}
        """When each dataset began, and how many of its samples an earlier run had answered."""

    def before(self, screen: Screen) -> Screen:
        """A screen that shows everything on the given one."""
        return _Watched(screen, self)

    def begin(self, dataset: str, counts: Counts) -> None:
        self.began[dataset] = (self._elapsed(), counts.answered)
        self.counts[dataset] = counts

    def newest(self) -> tuple[str, str]:
        """Title and summary; may be asked from any thread."""
        standings = {
            name: Standing(counts=counts, rate=self._rate(name, counts)) for name, counts in [*self.counts.items()]
        }
        return progress.title(self.stage, standings), progress.summary(self.stage, standings)

    def _rate(self, dataset: str, counts: Counts) -> float:
        began, before = self.began[dataset]
        done = counts.answered + counts.rejected + counts.failed - before
        return done / max(self._elapsed() - began, 1e-9)


class _Watched:
    """Implements `ports.Screen`."""

    def __init__(self, screen: Screen, watch: Watch) -> None:
        self._screen = screen
        self._watch = watch

    def enter(self, stage: str) -> None:
        self._watch.stage = stage
        self._screen.enter(stage)

    def say(self, sentence: str) -> None:
        self._screen.say(sentence)

    def begin(self, dataset: str, counts: Counts) -> None:
        self._watch.begin(dataset, counts)
        self._screen.begin(dataset, counts)

    def update(self, dataset: str, counts: Counts) -> None:
        self._watch.counts[dataset] = counts
        self._screen.update(dataset, counts)

    def end(self, dataset: str, counts: Counts) -> None:
        self._watch.counts[dataset] = counts
        self._screen.end(dataset, counts)

    def close(self) -> None:
        self._screen.close()
