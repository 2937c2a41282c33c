"""The story of a run: preflight, deploy, infer, score, publish. Whatever fails on the way, a report is left behind."""

from collections.abc import Callable, Sequence
from contextlib import ExitStack
from functools import partial

from msgspec.structs import replace

from model_accuracy_eval.errors import EvalError, UsageError
from model_accuracy_eval.ports import Ports, Sink, Store
from model_accuracy_eval.records import (
    Comparison,
    DatasetResult,
    GateResult,
    ReplicaFigure,
    Report,
    RunPlan,
    RunSpeed,
    Service,
    ServiceFinding,
    WeightsInfo,
)
from model_accuracy_eval.run import (
    deploy,
    early_stop,
    infer,
    outcome,
    picture_probe,
    preflight,
    previous_run,
    score,
    thinking_probe,
)
from model_accuracy_eval.run.early_stop import EarlyStop
from model_accuracy_eval.run.infer import Asked
from model_accuracy_eval.run.run_progress import StageTimer
from model_accuracy_eval.run.service_check import ServiceCheck
from model_accuracy_eval.run.shared_sandbox import one_sandbox
from model_accuracy_eval.run_folder.manifest import MANIFEST
from model_accuracy_eval.scoring.figures import groups, run_speed
from model_accuracy_eval.scoring.figures.replica_statistics import replica_figures
from model_accuracy_eval.scoring.verdicts import gates
from model_accuracy_eval.sinks import FILES
from model_accuracy_eval.sinks.publisher import Publisher

FindCauses = Callable[[Sequence[ReplicaFigure]], tuple[ServiceFinding, ...]]
"""Looks for faults in a service that is still there."""


def run(plan: RunPlan, ports: Ports, sinks: Sequence[Sink] = FILES) -> Report:
    """Evaluates and publishes the report to the sinks, in their order.

    Raises one error with the sentences of all sinks that failed, after every sink had its turn.
    """
    publisher = Publisher(sinks)
    report = evaluate(plan, ports, publisher)
    publisher.check(report.outcome)
    return report


def evaluate(plan: RunPlan, ports: Ports, publisher: Publisher, objections: Sequence[str] = ()) -> Report:
    """Does the same, but leaves the failures of sinks to the caller. `objections` forbid the run before it begins.

    Refusals and errors of usage are raised; they leave no folder, and nothing is published.
    """
    with ExitStack() as at_exit, one_sandbox(ports) as ports_with_sandbox:
        report, store = _evaluate(plan, ports_with_sandbox, objections, at_exit)
        # The sandbox is closed first, because publishing may take all seconds that a stop leaves.
        at_exit.callback(publisher.publish, report, store)
        return report


def _evaluate(plan: RunPlan, ports: Ports, objections: Sequence[str], at_exit: ExitStack) -> tuple[Report, Store]:
    timer = StageTimer(ports.clock, ports.progress.enter)
    with timer.stage("preflight"):
        checked = preflight.check(plan, ports, objections)
        datasets, weights_info = checked
        plan = replace(plan, identity=preflight.identity(plan, weights_info, ports))
        versions = {prepared.task.name: prepared.version for prepared in datasets}
        with ports.clock.interruptible():
            baseline = previous_run.baseline(plan, versions, ports.open_archive)
        stop = early_stop.early_stop(plan, datasets, baseline)
        store = previous_run.open_folder(plan, datasets, ports)
        at_exit.callback(store.close)
        plan = replace(plan, identity=previous_run.kept_identity(plan, store))
        if store.read(MANIFEST) is None:
            previous_run.begin(plan, store, ports)
    with ExitStack() as serving:
        trouble, asked, causes = _infer(plan, checked, store, ports, timer, stop=stop, serving=serving)
        previous_run.begin(plan, store, ports)
        with timer.stage("score"):
            judging = datasets if plan.settings.mode != "infer" else ()
            dataset_results, unjudged = score.judge_each(
                plan, judging, store, ports, partial=trouble is not None, stop=stop
            )
        trouble = trouble or outcome.stopped(ports.clock) or unjudged or outcome.too_many_lost(plan, dataset_results)
        judged = () if trouble else dataset_results
        speed = asked.of_shards or run_speed.run_speed(dataset_results, asked.client)
        verdict = outcome.attempt(
            "the comparison", lambda: _verdict(plan, asked.service, baseline, judged, speed, stop=stop, store=store)
        )
        if isinstance(verdict, EvalError):
            trouble, verdict = trouble or verdict, (None, ())
        comparison, gate_results = verdict
        replicas = replica_figures(dataset_results)
        ended = outcome.attempt(
            "the service",
            lambda: _explained(
                asked,
                causes if outcome.is_worse(gate_results, judged, comparison) else None,
                replicas=replicas,
                serving=serving,
                timer=timer,
            ),
        )
    if isinstance(ended, EvalError):
        trouble = trouble or ended
    else:
        asked = ended
    report = Report(
        plan=plan,
        outcome=outcome.conclude(
            plan, trouble, gate_results, store.root, judged, compared=comparison, service=asked.service
        ),
        datasets=datasets,
        dataset_results=dataset_results,
        gates=gate_results,
        comparison=comparison,
        service=asked.service,
        seconds=timer.seconds,
        tail_seconds=asked.tail_seconds,
        answered_before=asked.answered_before,
        started=timer.started,
        finished=timer.now(),
        environment={
            **({"verdict about": plan.identity.line} if plan.identity.line else {}),
            **previous_run.kept_facts(plan, store),
            **ports.facts,
            **_weights_facts(weights_info),
        },
        replicas=replicas,
        speed=speed,
    )
    return report, store


def _verdict(
    plan: RunPlan,
    service: Service | None,
    baseline: previous_run.ComparedRun | None,
    judged: tuple[DatasetResult, ...],
    speed: RunSpeed | None,
    *,
    stop: EarlyStop,
    store: Store,
) -> tuple[Comparison | None, tuple[GateResult, ...]]:
    comparison = None
    if baseline and judged:
        comparison = previous_run.against(baseline, plan, service, judged, store.lines, speed=speed)
    rows = [row for dataset_result in judged for row in dataset_result.rows]
    followed = {result.dataset: result.part for result in judged if result.dataset in stop.followings}
    rows += [*groups.all_rows(plan.groups, judged), *gates.of_counts(judged)]
    return comparison, gates.results(plan, rows, comparison, followed, speed=speed)


def _infer(
    plan: RunPlan,
    checked: preflight.Preflight,
    store: Store,
    ports: Ports,
    timer: StageTimer,
    *,
    stop: EarlyStop,
    serving: ExitStack,
) -> tuple[EvalError | None, Asked, FindCauses | None]:
    """Fetches, deploys and asks. Returns what went wrong, so that there is a report of it, and what is known then.

    Where a gate may have to be explained, the service stays up as long as `serving` is open.
    """
    (datasets, weights_info), earlier = checked, previous_run.kept(store)
    asked = Asked(earlier.service if earlier else None)
    if plan.settings.mode == "eval":
        if earlier and earlier.speed:
            of_shards = earlier.speed if earlier.speed.shards > 1 else None
            asked = asked._replace(client=earlier.speed.client, of_shards=of_shards)
        return None, asked, None
    try:
        with ExitStack() as until_asked:
            weights = ""
            if weights_info is not None:
                with timer.stage("weights"):
                    weights = ports.weights_source.fetch(weights_info.reference)
            until_asked.enter_context(timer.stage("deploy"))
            live = until_asked.enter_context(deploy.service(plan, weights, store, ports))
            service = previous_run.note_service(plan, datasets, live.service, store, ports, began=timer.started)
            asked = Asked(service)
            with timer.stage("infer"):
                picture_probe.check(plan, datasets, live, ports)
                plan, live = thinking_probe.settled(plan, live, ports)
                looks = ServiceCheck(plan, datasets, weights, ports)
                live, findings = looks.check(live)
                service = replace(service, findings=findings)
                asked = Asked(service)
                known = live.answering_as(service)
                asked = infer.collect(
                    plan,
                    datasets,
                    known,
                    store,
                    ports,
                    look_at=partial(looks.newcomer, live),
                    followings=stop.followings,
                )
                live = live.with_newcomers(asked.joined)
                ports.clock.check()
            if (plan.gates or plan.settings.baseline) and ports.finds_causes:
                serving.push(until_asked.pop_all())
                return None, asked, partial(looks.causes, live)
    except UsageError:
        raise
    except EvalError as trouble:
        return trouble, asked, None
    except Exception as error:  # noqa: BLE001 - the answers until then are judged and reported
        return outcome.defect("the asking", error), asked, None
    return None, asked, None


def _explained(
    asked: Asked,
    causes: FindCauses | None,
    *,
    replicas: Sequence[ReplicaFigure],
    serving: ExitStack,
    timer: StageTimer,
) -> Asked:
    """Looks for causes in the service while it is there, if any are asked for; then ends the service."""
    with serving:
        if causes is None or asked.service is None:
            return asked
        with timer.stage("diagnose"):
            found = outcome.attempt("the search for causes", partial(causes, replicas))
        # A service that ends meanwhile, or a stop, takes nothing from the verdict.
        findings = () if isinstance(found, EvalError) else found
        return asked._replace(service=replace(asked.service, findings=(*findings, *asked.service.findings)))


def _weights_facts(weights_info: WeightsInfo | None) -> dict[str, str]:
    if weights_info is None:
        return {}
    commit = f"commit {weights_info.commit}, " if weights_info.commit else ""
    return {"weights": f"{weights_info.reference}, {commit}{weights_info.shown}"}
