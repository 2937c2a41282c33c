"""`run.json`: what other programs read. It is also written at the start, so that a killed run says what it was."""

from typing import Literal

import msgspec

from model_accuracy_eval.errors import BadReuse
from model_accuracy_eval.records import (
    AskedPart,
    Comparison,
    Conclusion,
    Counts,
    DatasetResult,
    Decision,
    Draw,
    ExecutionSummary,
    FigureBounds,
    GateResult,
    Identity,
    Interval,
    PreparedDataset,
    ReplicaFigure,
    Report,
    RowsSource,
    RunPlan,
    Samplers,
    Sampling,
    SamplingSetting,
    Service,
    Speed,
)
from model_accuracy_eval.records.report import is_verdict
from model_accuracy_eval.run_folder.results import bounds_of, chances_of, decode, estimates_of
from model_accuracy_eval.run_folder.saved_plan import SamplingFacts
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.scoring.verdicts import gate_lines
from model_accuracy_eval.scoring.verdicts.comparison_statistics import whole_figures

RUN_FILE = "run.json"


class DatasetEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A dataset; the fields from `metrics` on are there if it was judged."""

    version: str
    questions: str
    problems: int
    sources: tuple[RowsSource, ...] = ()
    """Where its rows came from, and whether they are those that are known."""
    draw: Draw | None = None
    """Of which problems these are a sample, or the first ones; None: these are all."""
    metrics: dict[str, float | None] | None = None
    intervals: dict[str, Interval | None] | None = None
    bounds: dict[str, FigureBounds] = {}
    """Of the figures of which samples have no verdict."""
    chances: dict[str, float] = {}
    """What guessing would give."""
    counts: Counts | None = None
    notes: tuple[str, ...] | None = None
    speed: Speed | None = None
    ran: tuple[ExecutionSummary, ...] = ()
    part: AskedPart | None = None
    """What was asked, where that was not everything."""
    estimates: dict[str, float] = {}
    """Figures of that part; they are none of the dataset."""


class GateEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A gate, as the user wrote it, and its decision."""

    gate: str
    value: float | None
    interval: Interval | None
    decision: Decision
    sentence: str
    bounds: FigureBounds | None = None
    limits: Interval | None = None

    def result(self) -> GateResult:
        (gate,) = gate_lines.parse(self.gate)
        return GateResult(
            gate=gate,
            value=self.value,
            interval=self.interval,
            bounds=self.bounds,
            limits=self.limits,
            decision=self.decision,
            sentence=self.sentence,
        )


class GroupFigure(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A figure of a group of datasets."""

    value: float | None
    stderr: float | None
    bounds: FigureBounds | None = None


class GroupEntry(msgspec.Struct, frozen=True, kw_only=True):
    """A group of datasets."""

    version: str
    metrics: dict[str, GroupFigure]


class StartedRun(msgspec.Struct, frozen=True, kw_only=True):
    """The file while the run goes on."""

    schema: Literal[1] = 1
    status: Literal["running"] | Conclusion
    run_id: str
    label: str
    identity: Identity = Identity()
    """What the verdict is about."""
    model: str | None = None
    endpoint: str | None = None
    sends_finish_reasons: bool | None = None
    sampling: SamplingSetting = "server"
    samplers: Samplers | None = None
    stack: dict[str, str] = {}
    """On what the answers were made."""
    started: str
    datasets: dict[str, DatasetEntry]


class RunFile(StartedRun, frozen=True, kw_only=True):
    """The file of a run that has ended. The file of one that goes on is read into it as well, with these defaults."""

    exit_code: int = 0
    stage: str = ""
    sentence: str = ""
    detail: str = ""
    finished: str = ""
    seconds: dict[str, float] = {}
    tail_seconds: float | msgspec.UnsetType = msgspec.UNSET
    answered_before: int | msgspec.UnsetType = msgspec.UNSET  # the time of these is not in `seconds`
    n: int = 0
    drawn: Sampling | None = None
    """How the samples were drawn."""
    k: tuple[int, ...] = ()
    gates: tuple[GateEntry, ...] = ()
    comparison: Comparison | None = None
    environment: dict[str, str] = {}
    service_notes: tuple[str, ...] = ()
    replicas: tuple[ReplicaFigure, ...] | msgspec.UnsetType = msgspec.UNSET
    """Of a service that has several."""
    groups: dict[str, GroupEntry] | msgspec.UnsetType = msgspec.UNSET
    unverified: tuple[str, ...] | msgspec.UnsetType = msgspec.UNSET
    """Why nobody can say that its replies are those that a run left."""

    @property
    def judged(self) -> list[str]:
        """The datasets that have figures."""
        return [name for name, dataset in self.datasets.items() if dataset.metrics is not None]

    @property
    def service(self) -> Service | None:
        """The service that was asked; None where none came up."""
        if not self.endpoint:
            return None
        return Service(
            base_url=self.endpoint,
            model=self.model,
            sends_finish_reasons=self.sends_finish_reasons,
            samplers=self.samplers,
            stack=self.stack,
        )

    @property
    def sampling_facts(self) -> SamplingFacts:
        return SamplingFacts(self.sampling, self.samplers)

    @property
    def is_verdict(self) -> bool:
        """Whether its figures are those of a complete run."""
        return is_verdict(self.status)


def started(plan: RunPlan, datasets: tuple[PreparedDataset, ...], service: Service | None, began: str) -> bytes:
    """The file of a run that is under way."""
    run = StartedRun(
        status="running",
        run_id=plan.run_id,
        label=plan.settings.label,
        identity=plan.identity,
        model=service.model if service else None,
        endpoint=service.base_url if service else None,
        sends_finish_reasons=service.sends_finish_reasons if service else None,
        sampling=plan.settings.sampling,
        samplers=service.samplers if service else None,
        stack=service.stack if service else {},
        started=began,
        datasets={prepared.task.name: _dataset(prepared, None) for prepared in datasets},
    )
    return _encode(run)


def finished(report: Report, service_notes: tuple[str, ...]) -> bytes:
    """The file of a run that has ended, whatever its end. `service_notes`: what readers of figures must know."""
    plan, outcome, service = report.plan, report.outcome, report.service
    results = {result.dataset: result for result in report.dataset_results}
    run = RunFile(
        status=outcome.conclusion,
        run_id=plan.run_id,
        label=plan.settings.label,
        identity=plan.identity,
        model=service.model if service else None,
        endpoint=service.base_url if service else None,
        sends_finish_reasons=service.sends_finish_reasons if service else None,
        sampling=plan.settings.sampling,
        samplers=service.samplers if service else None,
        stack=service.stack if service else {},
        started=report.started,
        datasets={each.task.name: _dataset(each, results.get(each.task.name)) for each in report.datasets},
        exit_code=outcome.exit_code,
        stage=outcome.stage,
        sentence=outcome.sentence,
        detail=outcome.detail,
        finished=report.finished,
        seconds=report.seconds,
        tail_seconds=msgspec.UNSET if report.tail_seconds is None else report.tail_seconds,
        answered_before=report.answered_before or msgspec.UNSET,
        n=plan.sampling.n,
        drawn=plan.sampling,
        k=plan.k,
        gates=tuple(map(gate_entry, report.gates)),
        comparison=report.comparison,
        environment=report.environment,
        service_notes=service_notes if results else (),
        replicas=report.replicas or msgspec.UNSET,
        groups=_groups(report) or msgspec.UNSET,
        unverified=plan.unverified or msgspec.UNSET,
    )
    return _encode(run)


def with_verdict(run: RunFile, report: Report) -> bytes:
    """The file of a run that has ended, with the verdict of gates that were given later."""
    ending = report.outcome
    changed = msgspec.structs.replace(
        run,
        status=ending.conclusion,
        exit_code=ending.exit_code,
        stage=ending.stage,
        sentence=ending.sentence,
        detail=ending.detail,
        gates=tuple(map(gate_entry, report.gates)),
        comparison=report.comparison,
        environment=report.environment,
        unverified=report.plan.unverified or msgspec.UNSET,
    )
    return _encode(changed)


def _dataset(prepared: PreparedDataset, result: DatasetResult | None) -> DatasetEntry:
    entry = DatasetEntry(
        version=prepared.version,
        questions=prepared.questions,
        problems=len(prepared.problems),
        sources=prepared.sources,
        draw=prepared.draw,
    )
    if result is None:
        return entry
    return msgspec.structs.replace(
        entry,
        metrics=whole_figures(result.rows),
        intervals={row.metric: row.interval for row in result.rows},
        bounds=bounds_of(result.rows),
        chances=chances_of(result.rows),
        counts=result.counts,
        notes=result.notes,
        speed=result.speed,
        ran=result.ran,
        part=result.part,
        estimates=estimates_of(result.rows),
    )


def gate_entry(result: GateResult) -> GateEntry:
    return GateEntry(
        gate=str(result.gate),
        value=result.value,
        interval=result.interval,
        bounds=result.bounds,
        limits=result.limits,
        decision=result.decision,
        sentence=result.sentence,
    )


def _groups(report: Report) -> dict[str, GroupEntry]:
    entries: dict[str, GroupEntry] = {}
    for row in groups.all_rows(report.plan.groups, report.dataset_results):
        entry = entries.setdefault(row.dataset, GroupEntry(version=row.version, metrics={}))
        entry.metrics[row.metric] = GroupFigure(value=row.value, stderr=row.stderr, bounds=row.bounds)
    return entries


def _encode(run: StartedRun) -> bytes:
    return msgspec.json.format(msgspec.json.encode(run), indent=2) + b"\n"


def read(source: bytes | None, folder: str) -> RunFile:
    """The `run.json` of a folder that must be a run's."""
    if source is None:
        raise BadReuse(f"'{folder}' is not the folder of a run: it has no {RUN_FILE}.")
    return decode(source, RunFile, f"{folder}/{RUN_FILE}")


def read_if_complete(source: bytes | None, folder: str) -> RunFile | None:
    """The `run.json` of an earlier run; None if there is none, or only the beginning of one that a crash left."""
    try:
        msgspec.json.decode(source or b"", type=msgspec.Raw)
    except msgspec.DecodeError:
        return None
    return read(source, folder)
