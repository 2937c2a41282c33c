"""Runs that have ended, read again: to compare two of them, or as the baseline of a new run."""

from collections.abc import Callable, Collection, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec
from msgspec.structs import replace

from model_accuracy_eval.errors import BadReuse, BadValue, EvalError
from model_accuracy_eval.ports import Archive, Ports, Store
from model_accuracy_eval.records import (
    Comparison,
    DatasetChange,
    DatasetResult,
    Gate,
    Identity,
    PreparedDataset,
    RunPlan,
    RunSpeed,
    Sampling,
    Service,
)
from model_accuracy_eval.records.plan import SPEED, changes, stack_changes
from model_accuracy_eval.records.report import LostProblem
from model_accuracy_eval.run_folder import journal, kept_run, results, runfile, saved_plan
from model_accuracy_eval.run_folder.kept_run import KeptRun
from model_accuracy_eval.run_folder.manifest import MANIFEST
from model_accuracy_eval.run_folder.runfile import RUN_FILE, RunFile
from model_accuracy_eval.run_folder.saved_plan import SamplingFacts, sampling_change, sampling_facts, setting_changes
from model_accuracy_eval.scoring.figures.run_speed import speed_differences
from model_accuracy_eval.scoring.verdicts.comparison_statistics import compare as compare_results
from model_accuracy_eval.scoring.verdicts.comparison_statistics import whole_figures


class ComparedRun(NamedTuple):
    """A run that was judged, as one side of a comparison."""

    run_id: str
    datasets: Collection[str]
    results: Mapping[str, DatasetResult]
    """Of the datasets that are compared."""
    identity: Identity
    stack: Mapping[str, str]
    sampling_facts: SamplingFacts
    drawn: Sampling | None
    doubts: tuple[str, ...] = ()
    """What a reader of its figures has to know."""
    speed: RunSpeed | None = None


def _read(kept: KeptRun, datasets: Collection[str]) -> ComparedRun:
    run = kept.run()
    if not run.judged:
        raise BadReuse(f"'{kept.archive.root}' holds no figures to compare: its run is {run.status}.")
    doubts = [f"Unverified: {doubt}." for doubt in kept.doubts]
    if not run.is_verdict:
        doubts.append(f"The run {run.run_id} ended as {run.status}, so its figures are no verdict.")
    found = {name: results.dataset_result(kept.archive, run.label, name) for name in run.judged if name in datasets}
    return ComparedRun(
        run.run_id, run.judged, found, run.identity, run.stack, run.sampling_facts, run.drawn, tuple(doubts), run.speed
    )


def compare(base: KeptRun, new: KeptRun) -> Comparison:
    """Compares dataset by dataset."""
    both = {*base.run().judged} & {*new.run().judged}
    return _comparison(_read(base, both), _read(new, both))


def baseline(
    plan: RunPlan,
    versions: Mapping[str, str],
    open_archive: Callable[[str], Archive],
    *,
    unverified: bool | None = None,
) -> ComparedRun | None:
    """The run that `--baseline` names. Refuses one without a verdict, and gates that it could never decide. It is read
    before the new run starts, so that it cannot fail at the end.

    `versions`: of the datasets that are compared with it. `unverified`: as `kept_run.opened` has it.
    """
    if plan.settings.baseline is None:
        return None
    kept = kept_run.opened(open_archive(plan.settings.baseline), unverified=unverified)
    run, root = kept.run(), kept.archive.root
    if run.judged and not run.is_verdict:
        raise BadReuse(
            f"The baseline '{root}' ended as {run.status}, so its figures are no verdict; give a run that came to its "
            "end."
        )
    if run.judged and kept.doubts and not unverified:
        raise BadReuse(f"The baseline '{root}' is unverified itself: {'; '.join(kept.doubts)}.")
    base = _read(kept, versions)
    _check_gates(plan, versions, base)
    return base


def _check_gates(plan: RunPlan, versions: Mapping[str, str], base: ComparedRun) -> None:
    for gate in (gate for gate in plan.gates if gate.from_baseline):
        if reason := _never_decided(gate, plan, versions, base):
            raise BadValue(
                f"The gate '{gate}' could never be decided: the baseline '{plan.settings.baseline}' {reason}."
            )


def _never_decided(gate: Gate, plan: RunPlan, versions: Mapping[str, str], base: ComparedRun) -> str:
    """Why; empty if it can be decided."""
    found, sampling, reason = base.results.get(gate.dataset), base.sampling_facts.setting, ""
    if gate.dataset == SPEED and found is None:
        is_known = base.speed is not None and gate.metric in base.speed.figures
        reason = "" if is_known else f"does not say its {gate.metric}"
    elif sampling != plan.settings.sampling:
        reason = f"was run with --sampling {sampling}, and this run has --sampling {plan.settings.sampling}"
    elif difference := differently_drawn(base.drawn, plan.sampling):
        reason = difference
    elif found is None:
        reason = f"has no figures of {gate.dataset}"
    elif found.version != versions[gate.dataset]:
        reason = f"has {gate.dataset} in version {found.version}, and this run asks version {versions[gate.dataset]}"
    elif found.part is not None and found.part.estimated:
        reason = (
            f"was decided after {found.part.share} of the requests, so its figures are estimates; complete it with "
            f"--reuse {plan.settings.baseline}"
        )
    elif whole_figures(found.rows).get(gate.metric) is None:
        reason = f"has no {gate.metric} of {gate.dataset}"
    return reason


def differently_drawn(old: Sampling | None, new: Sampling) -> str:
    """What was asked of the samplers then and is not now, or the other way around; the seed alone changes nothing."""
    if old is None:
        return ""
    was, now = (msgspec.to_builtins(msgspec.structs.replace(each, seed=None)) for each in (old, new))
    changes = [f"{name} {was[name]}, and this run has {now[name]}" for name in was if was[name] != now[name]]
    return f"was run with {'; '.join(changes)}" if changes else ""


_REPLIES, _LONGEST_REPLY = 3, 300


def _with_replies(change: DatasetChange, result: DatasetResult, lines: Iterable[bytes]) -> DatasetChange:
    """With a wrong reply to each of the problems that lost most."""
    if change.flips is None:
        return change
    lost = change.flips.first_lost[:_REPLIES]
    wrong = {each.problem: each for each in result.problem_results if each.problem in lost}
    found: dict[int, LostProblem] = {}
    for answer in map(journal.answer_of, lines if lost else ()):
        each = wrong.get(answer.id)
        if each is not None and answer.id not in found and each.why[answer.index] != "right":
            reply = answer.prediction[:_LONGEST_REPLY]
            found[answer.id] = LostProblem(problem=answer.id, right=each.references[0], reply=reply)
    return replace(change, flips=replace(change.flips, replies=tuple(found[name] for name in lost if name in found)))


def against(
    base: ComparedRun,
    plan: RunPlan,
    service: Service | None,
    dataset_results: tuple[DatasetResult, ...],
    lines: Callable[[str], Iterable[bytes]] = lambda _: (),
    *,
    speed: RunSpeed | None = None,
) -> Comparison:
    """Compares the run that has just been judged with its baseline. `lines`: those of a file of the run's folder."""
    judged = {result.dataset: result for result in dataset_results}
    facts, stack = sampling_facts(plan, service), service.stack if service else {}
    new = ComparedRun(plan.run_id, judged, judged, plan.identity, stack, facts, plan.sampling, speed=speed)
    compared = _comparison(base, new)
    with_replies = (
        _with_replies(each, judged[each.dataset], lines(journal.file(plan.settings.label, each.dataset)))
        for each in compared.changes
    )
    return replace(compared, changes=tuple(with_replies))


def _comparison(base: ComparedRun, new: ComparedRun) -> Comparison:
    return Comparison(
        base=base.run_id,
        new=new.run_id,
        changes=tuple(
            compare_results(
                base.results[name], result, is_same_run=base.run_id == new.run_id and base.results[name] == result
            )
            for name, result in new.results.items()
            if name in base.results
        ),
        only_base=tuple(name for name in base.datasets if name not in new.datasets),
        only_new=tuple(name for name in new.datasets if name not in base.datasets),
        speed=speed_differences(base.speed, new.speed),
        notes=(
            *base.doubts,
            *new.doubts,
            *changes(base.identity, new.identity),
            *stack_changes(base.stack, new.stack),
            *filter(None, [sampling_change(base.sampling_facts, new.sampling_facts)]),
            *setting_changes(base.drawn, new.drawn),
        ),
    )


# The run folder, new or resumed: it never mixes in replies to other questions or of another model.


_FACTS = ("deploy.sh", "weights")


def open_folder(plan: RunPlan, datasets: tuple[PreparedDataset, ...], ports: Ports) -> Store:
    """Opens the folder of the run; one that is there already must hold the same questions."""
    folder = Path(plan.settings.out) / plan.run_id
    store = ports.open_store(str(folder))
    try:
        _check(plan, datasets, store)
    except EvalError:
        store.close()
        raise
    return store


def begin(plan: RunPlan, store: Store, ports: Ports) -> None:
    """From now on its files are not those of a run that came to its end; said again, it changes nothing.

    One that did is left as it is until the service has turned out to be the one that it asked.
    """
    own = f"configs/{plan.stamp}_{ports.facts['pid']}.py"
    if store.read(own) is None or store.read(MANIFEST) is not None:
        store.remove(MANIFEST)
        store.write(own, saved_plan.dump(plan).encode())


def _check(plan: RunPlan, datasets: tuple[PreparedDataset, ...], store: Store) -> None:
    run = kept(store)
    for prepared in datasets:
        entry = run.datasets.get(prepared.task.name) if run else None
        if entry is not None and entry.questions != prepared.questions:
            raise BadReuse(
                f"The questions of '{prepared.task.name}' are not those of the run {plan.run_id}: "
                f"hash {entry.questions[:6]} then, {prepared.questions[:6]} now. Its data or its prompt has changed; "
                "where the data of then still is, --data-dir FOLDER names it."
            )
    if plan.settings.mode == "eval" and run is None:
        folder = Path(plan.settings.out) / plan.run_id
        raise BadReuse(f"{folder} holds no replies to judge: run it with --mode infer first.")


def note_service(
    plan: RunPlan, datasets: tuple[PreparedDataset, ...], service: Service, store: Store, ports: Ports, *, began: str
) -> Service:
    """Writes into `run.json` which service answers, before the first answer; refuses another model than before.

    Returns the service with what its earlier replies have shown. A run without replies has nothing to be mixed with.
    """
    journals = (journal.file(plan.settings.label, prepared.task.name) for prepared in datasets)
    answered = any(True for name in journals for _ in store.lines(name))
    run = kept(store) if answered else None
    if run is not None and run.model not in {None, service.model}:
        raise BadReuse(
            f"The run {plan.run_id} asked the model '{run.model}', but the service now serves '{service.model}'; "
            "replies of two models are not mixed."
        )
    if run is not None and (change := sampling_change(run.sampling_facts, sampling_facts(plan, service))):
        raise BadReuse(f"The run {plan.run_id} cannot go on, because its samples would be drawn in two ways. {change}")
    if run is not None and (moved := changes(run.identity, plan.identity)):
        raise BadReuse(
            f"The run {plan.run_id} cannot go on, because its samples would be of two things. {' '.join(moved)}"
        )
    if run is not None and run.sends_finish_reasons:
        service = replace(service, sends_finish_reasons=True)
    begin(plan, store, ports)
    store.write(RUN_FILE, runfile.started(plan, datasets, service, began))
    return service


def kept(store: Store) -> RunFile | None:
    """What the folder says of the run whose replies it holds."""
    return runfile.read_if_complete(store.read(RUN_FILE), store.root)


def kept_identity(plan: RunPlan, store: Store) -> Identity:
    """What the verdict is about: of replies that are judged again, what they are of. It is no other commit than the one
    on which the verdict is asked for."""
    run = kept(store) if plan.settings.mode == "eval" else None
    about, wanted = run.identity if run else Identity(), plan.identity
    if about == Identity():
        return wanted
    if wanted.repository and (about.repository.lower(), about.commit) != (wanted.repository.lower(), wanted.commit):
        raise BadReuse(
            f"The replies in {store.root} are about {about.line}, and the verdict would be about {wanted.line}."
        )
    return about


def kept_facts(plan: RunPlan, store: Store) -> dict[str, str]:
    """What replies that are judged again are of: asking is over, so nobody else knows it any more."""
    run = kept(store) if plan.settings.mode == "eval" else None
    return {name: run.environment[name] for name in _FACTS if name in run.environment} if run else {}
