"""`run.json`: what other programs read. It is also written at the start, so that a killed run says what it was."""

from typing import Any, Literal, TypeVar

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
    RunSpeed,
    Samplers,
    Sampling,
    SamplingSetting,
    Service,
    ServiceFinding,
    Speed,
)
from model_accuracy_eval.records.base import filled
from model_accuracy_eval.records.report import is_verdict
from model_accuracy_eval.run_folder.results import decode, told
from model_accuracy_eval.run_folder.saved_plan import SamplingFacts
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.scoring.verdicts import gate_lines
from model_accuracy_eval.scoring.verdicts.comparison_statistics import whole_figures

RUN_FILE = "run.json"
S = TypeVar("S", bound="StartedRun")


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
    finished: dict[str, float] = {}
    """The first figure of the replies that were not cut, where some were."""
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
        return filled(GateResult, self, gate=gate)


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
    findings: tuple[ServiceFinding, ...] = ()
    """What was looked at beside the questions."""
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
    speed: RunSpeed | None = None
    """How fast the service was, over all datasets."""
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
        return filled(Service, self, base_url=self.endpoint) if self.endpoint else None

    @property
    def sampling_facts(self) -> SamplingFacts:
        return SamplingFacts(self.sampling, self.samplers)

    @property
    def is_verdict(self) -> bool:
        """Whether its figures are those of a complete run."""
        return is_verdict(self.status)


def started(plan: RunPlan, datasets: tuple[PreparedDataset, ...], service: Service | None, began: str) -> bytes:
    """The file of a run that is under way."""
    entries = {prepared.task.name: _dataset(prepared, None) for prepared in datasets}
    return _encode(_begun(StartedRun, plan, service, started=began, datasets=entries, status="running"))


def finished(report: Report, service_notes: tuple[str, ...]) -> bytes:
    """The file of a run that has ended, whatever its end. `service_notes`: what readers of figures must know."""
    plan = report.plan
    results = {result.dataset: result for result in report.dataset_results}
    run = _begun(
        RunFile,
        plan,
        report.service,
        started=report.started,
        datasets={each.task.name: _dataset(each, results.get(each.task.name)) for each in report.datasets},
        finished=report.finished,
        seconds=report.seconds,
        tail_seconds=msgspec.UNSET if report.tail_seconds is None else report.tail_seconds,
        answered_before=report.answered_before or msgspec.UNSET,
        n=plan.sampling.n,
        drawn=plan.sampling,
        k=plan.k,
        service_notes=service_notes if results else (),
        replicas=report.replicas or msgspec.UNSET,
        speed=report.speed,
        groups=_groups(report) or msgspec.UNSET,
        **_ending(report),
    )
    return _encode(run)


def with_verdict(run: RunFile, report: Report) -> bytes:
    """The file of a run that has ended, with the verdict of gates that were given later."""
    return _encode(msgspec.structs.replace(run, **_ending(report)))


def _begun(kind: type[S], plan: RunPlan, service: Service | None, **more: Any) -> S:
    """The file with what is known as soon as a service answers."""
    asked = service or Service(base_url="")
    return filled(
        kind,
        asked,
        run_id=plan.run_id,
        label=plan.settings.label,
        identity=plan.identity,
        endpoint=asked.base_url or None,
        sampling=plan.settings.sampling,
        **more,
    )


def _ending(report: Report) -> dict[str, Any]:
    """How the run ended, and what the verdict was made of."""
    ending = {name: getattr(report.outcome, name) for name in ("exit_code", "stage", "sentence", "detail")}
    return {
        "status": report.outcome.conclusion,
        **ending,
        "gates": tuple(map(gate_entry, report.gates)),
        "comparison": report.comparison,
        "environment": report.environment,
        "unverified": report.plan.unverified or msgspec.UNSET,
    }


def _dataset(prepared: PreparedDataset, result: DatasetResult | None) -> DatasetEntry:
    entry = filled(DatasetEntry, prepared, problems=len(prepared.problems))
    if result is None:
        return entry
    return msgspec.structs.replace(
        entry,
        metrics=whole_figures(result.rows),
        intervals={row.metric: row.interval for row in result.rows},
        bounds=told(result.rows, "bounds"),
        chances=told(result.rows, "chance"),
        counts=result.counts,
        notes=result.notes,
        speed=result.speed,
        finished=told(result.rows, "finished"),
        ran=result.ran,
        part=result.part,
        estimates=told((row for row in result.rows if row.estimated), "value"),
    )


def gate_entry(result: GateResult) -> GateEntry:
    return filled(GateEntry, result, gate=str(result.gate))


def _groups(report: Report) -> dict[str, GroupEntry]:
    entries: dict[str, GroupEntry] = {}
    for row in groups.all_rows(report.plan.groups, report.dataset_results):
        entry = entries.setdefault(row.dataset, GroupEntry(version=row.version, metrics={}))
        entry.metrics[row.metric] = filled(GroupFigure, row)
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
