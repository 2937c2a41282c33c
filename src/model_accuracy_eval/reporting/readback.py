"""`run.json` and `results/<label>/<dataset>.json` read back, typed: what `runfile` and `results` wrote.

Only the fields that are wanted are decoded, so that a file of a million samples costs what its marks weigh.
"""

from typing import TypeVar

import msgspec

from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.records import Comparison, Counts, Decision, Interval, Ran, Row, Sheet, Speed, Tally, Why
from model_accuracy_eval.reporting import results
from model_accuracy_eval.scoring.comparing import Mark, Side

T = TypeVar("T")


class KeptDataset(msgspec.Struct, frozen=True, kw_only=True):
    """A dataset in `run.json`; without metrics it was not judged."""

    version: str
    metrics: dict[str, float | None] | None = None
    intervals: dict[str, Interval | None] = {}
    counts: Counts = Counts()
    notes: tuple[str, ...] = ()
    speed: Speed = Speed()
    ran: tuple[Ran, ...] = ()


class KeptGate(msgspec.Struct, frozen=True, kw_only=True):
    """A gate in `run.json`."""

    gate: str
    value: float | None
    interval: Interval | None
    decision: Decision
    sentence: str


class KeptRun(msgspec.Struct, frozen=True, kw_only=True):
    """`run.json`."""

    run_id: str
    label: str
    status: str
    model: str | None = None
    endpoint: str | None = None
    started: str
    finished: str = ""
    datasets: dict[str, KeptDataset]
    exit_code: int = 0
    stage: str = ""
    sentence: str = ""
    detail: str = ""
    seconds: dict[str, float] = {}
    gates: tuple[KeptGate, ...] = ()
    comparison: Comparison | None = None
    environment: dict[str, str] = {}

    @property
    def judged(self) -> list[str]:
        """The datasets that have figures."""
        return [name for name, dataset in self.datasets.items() if dataset.metrics is not None]

    @property
    def is_verdict(self) -> bool:
        """Whether its figures are those of a whole run."""
        return self.status in {"passed", "failed", "undecided"}


class _Marks(msgspec.Struct, frozen=True):
    details: list[Mark]


class _Problem(msgspec.Struct, frozen=True):
    id: int
    n: int
    c: int | None
    pred: tuple[str | None, ...]
    answer: tuple[str, ...]
    why: tuple[Why, ...]
    values: tuple[float, ...] = ()
    figures: dict[str, float | None] = {}
    category: str | None = None
    cut: int = 0


class _Problems(msgspec.Struct, frozen=True):
    rows: tuple[Row, ...]
    details: list[_Problem]


def run(source: bytes | None, where: str) -> KeptRun:
    if source is None:
        raise BadReuse(f"'{where}' is no folder of a run: it has no run.json.")
    return _decode(source, KeptRun, f"{where}/run.json")


def side(kept: KeptRun, dataset: str, source: bytes | None, where: str) -> Side:
    """What comparing needs of one dataset."""
    facts = kept.datasets[dataset]
    return Side(
        dataset=dataset,
        version=facts.version,
        figures=facts.metrics or {},
        shares=frozenset(metric for metric, interval in facts.intervals.items() if interval is not None),
        marks=_details(source, _Marks, kept, dataset, where).details,
        counts=facts.counts,
        speed=facts.speed,
    )


def sheet(kept: KeptRun, dataset: str, source: bytes | None, where: str) -> Sheet:
    """One dataset's marks, whole."""
    facts = kept.datasets[dataset]
    whole = _details(source, _Problems, kept, dataset, where)
    return Sheet(
        dataset=dataset,
        version=facts.version,
        rows=whole.rows,
        tallies=tuple(map(_tally, whole.details)),
        counts=facts.counts,
        notes=facts.notes,
        speed=facts.speed,
        ran=facts.ran,
    )


def _tally(problem: _Problem) -> Tally:
    return Tally(
        problem=problem.id,
        n=problem.n,
        c=problem.c,
        values=problem.values or tuple(float(why == "right") for why in problem.why),
        answers=problem.pred,
        why=problem.why,
        references=problem.answer[:1],
        figures=problem.figures,
        category=problem.category,
        cut=problem.cut,
    )


def _details(source: bytes | None, kind: type[T], kept: KeptRun, dataset: str, where: str) -> T:
    name = results.file(kept.label, dataset)
    if source is None:
        raise BadReuse(f"'{where}' has no {name}, so '{dataset}' cannot be looked at problem by problem.")
    return _decode(source, kind, f"{where}/{name}")


def _decode(source: bytes, kind: type[T], where: str) -> T:
    try:
        return msgspec.json.decode(source, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise BadReuse(f"'{where}' cannot be read as this program writes it: {error}.") from error
