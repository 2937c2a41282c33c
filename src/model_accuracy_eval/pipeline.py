"""The story of a run: clear it, deploy, ask, mark, publish. Whatever fails on the way, a report is left behind."""

from collections.abc import Sequence

from model_accuracy_eval.errors import EvalError, NoHonestScore, PublishFailed, Stopped, UsageError
from model_accuracy_eval.ports import Ports, Store
from model_accuracy_eval.records import (
    Clearance,
    Decision,
    Exam,
    GateResult,
    Outcome,
    Report,
    RunPlan,
    Service,
    Sheet,
    Stock,
)
from model_accuracy_eval.scoring import gates, groups
from model_accuracy_eval.stages import deploy, infer, past, preflight, publish, resume, score
from model_accuracy_eval.stages.diary import Diary
from model_accuracy_eval.stages.lending import one_sandbox

_VERDICTS: tuple[tuple[Decision, int], ...] = (("failed", 1), ("undecided", 7), ("passed", 0))
"""What gates decide, the worst first, and the exit codes that tell it."""


def run(plan: RunPlan, configs: str, ports: Ports, against: Sequence[str] = ()) -> Report:
    """`configs` is the source of the file that keeps the plan; `against` what forbids the run already.

    Refusals and errors of usage leave no folder.
    """
    with one_sandbox(ports) as shared:
        return _evaluate(plan, configs, shared, against)


def _evaluate(plan: RunPlan, configs: str, ports: Ports, against: Sequence[str]) -> Report:
    diary = Diary(ports.clock, ports.screen.enter)
    with diary.stage("preflight"):
        clearance = preflight.clear(plan, ports, against)
        exams = clearance.exams
        baseline = past.baseline(plan, exams, ports)
        store = resume.open_folder(plan, exams, ports)
    try:
        store.write(f"configs/{plan.stamp}_{ports.facts['pid']}.py", configs.encode())
        trouble, service = _ask(plan, clearance, store, ports, diary)
        with diary.stage("score"):
            sheets = () if plan.mode == "infer" else score.mark(plan, exams, store, ports, partial=trouble is not None)
        trouble = trouble or _stopped(ports) or _too_many_lost(plan, sheets)
        judged = () if trouble else sheets
        comparison = past.against(baseline, plan, judged) if baseline and judged else None
        rows = [*(row for sheet in judged for row in sheet.rows), *groups.all_rows(plan.groups, judged)]
        results = gates.results(plan.gates, rows, comparison)
        report = Report(
            plan=plan,
            outcome=_outcome(plan, trouble, results, store.root),
            sheets=sheets,
            gates=results,
            comparison=comparison,
            service=service,
            seconds=diary.seconds,
            started=diary.started,
            finished=diary.now(),
            environment={**ports.facts, **_weights_facts(clearance.stock)},
        )
        _publish(report, exams, store, trouble)
        return report
    finally:
        store.close()


def _ask(
    plan: RunPlan, clearance: Clearance, store: Store, ports: Ports, diary: Diary
) -> tuple[EvalError | None, Service | None]:
    """Fetches, deploys and asks; what goes wrong is told in the report instead of ending without one."""
    service = resume.kept_service(store)
    if plan.mode == "eval":
        return None, service
    try:
        weights = ""
        if clearance.stock is not None:
            with diary.stage("weights"):
                weights = ports.warehouse.fetch(clearance.stock.reference, plan.max_weight_size)
        with diary.stage("deploy"), deploy.service(plan, weights, store, ports) as live:
            service = live.service
            resume.note_service(plan, clearance.exams, service, store, diary.started)
            with diary.stage("infer"):
                infer.collect(plan, clearance.exams, live, store, ports)
                ports.clock.check()
    except UsageError:
        raise
    except EvalError as trouble:
        return trouble, service
    return None, service


def _weights_facts(stock: Stock | None) -> dict[str, str]:
    if stock is None:
        return {}
    return {"weights": f"{stock.reference}, {f'commit {stock.commit}, ' if stock.commit else ''}{stock.shown}"}


def _publish(report: Report, exams: tuple[Exam, ...], store: Store, trouble: EvalError | None) -> None:
    """A report that cannot be written must not hide the trouble that came before it."""
    try:
        publish.write(report, exams, store)
    except PublishFailed as failure:
        if trouble is None:
            raise
        trouble.detail = f"{trouble.detail}\n{failure.sentence}".lstrip()
        raise trouble from failure


def _stopped(ports: Ports) -> Stopped | None:
    try:
        ports.clock.check()
    except Stopped as stop:
        return stop
    return None


def _too_many_lost(plan: RunPlan, sheets: tuple[Sheet, ...]) -> EvalError | None:
    planned = sum(sheet.counts.planned for sheet in sheets)
    lost = sum(sheet.counts.failed + sheet.counts.missing for sheet in sheets)
    unjudged = sum(sheet.counts.unjudged for sheet in sheets)
    if lost + unjudged <= plan.max_failed_requests:
        return None
    if unjudged:
        return NoHonestScore(
            f"{unjudged} of {planned} samples have an answer that could not be judged, {lost} have no answer, and at "
            f"most {plan.max_failed_requests} may lack a verdict (--max-failed-requests), so the figures are no "
            "verdict about accuracy; go on with --mode eval --reuse once the judge is well.",
            stage="score",
        )
    return NoHonestScore(
        f"{lost} of {planned} samples have no answer and at most {plan.max_failed_requests} may lack one "
        "(--max-failed-requests), so the figures are no verdict about accuracy; "
        "go on with --reuse once the service is well."
    )


def _outcome(plan: RunPlan, trouble: EvalError | None, results: tuple[GateResult, ...], folder: str) -> Outcome:
    if trouble is not None:
        return Outcome(
            conclusion="stopped" if isinstance(trouble, Stopped) else "broken",
            exit_code=trouble.exit_code,
            stage=trouble.stage,
            sentence=trouble.sentence,
            detail=trouble.detail,
            folder=folder,
            about=trouble.about,
        )
    for decision, exit_code in _VERDICTS:
        told = [result.sentence for result in results if result.decision == decision]
        if told:
            return Outcome(
                conclusion=decision, exit_code=exit_code, stage="gates", sentence=" ".join(told), folder=folder
            )
    sentence = "The evaluation is complete."
    if plan.mode == "infer":
        sentence = "Every sample was asked; judge them with --mode eval --reuse."
    if plan.shard:
        sentence = f"The shard {plan.shard} is complete; `merge` makes one report of all {plan.shard.count}."
    return Outcome(conclusion="passed", exit_code=0, stage="done", sentence=sentence, folder=folder)
