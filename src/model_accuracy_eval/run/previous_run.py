"""Runs that have ended, read again: to compare two of them, or as the baseline of a new run."""

from collections.abc import Callable, Collection, Mapping
from pathlib import Path

import msgspec
from msgspec.structs import replace

from model_accuracy_eval.errors import BadReuse, BadValue, EvalError
from model_accuracy_eval.ports import Archive, Ports, Store
from model_accuracy_eval.records import (
    Comparison,
    DatasetChange,
    DatasetResult,
    Identity,
    PreparedDataset,
    RunPlan,
    Sampling,
    Service,
)
from model_accuracy_eval.records.identity import changes, stack_changes
from model_accuracy_eval.run_folder import journal, kept_run, results, runfile, saved_plan
from model_accuracy_eval.run_folder.kept_run import KeptRun
from model_accuracy_eval.run_folder.manifest import MANIFEST
from model_accuracy_eval.run_folder.runfile import RUN_FILE
from model_accuracy_eval.run_folder.saved_plan import SamplingFacts, sampling_change, sampling_facts, setting_changes
from model_accuracy_eval.scoring.verdicts import comparison_statistics
from model_accuracy_eval.scoring.verdicts.comparison_statistics import DatasetOutcome


class PreviousRun:
    """A run that was judged. Its `run.json` is read at once, the results of a dataset when they are asked for."""

    def __init__(self, kept: KeptRun) -> None:
        self.kept, self._archive = kept, kept.archive
        self.run = kept.run()
        if not self.run.judged:
            raise BadReuse(f"'{kept.archive.root}' holds no figures to compare: its run is {self.run.status}.")

    def side(self, dataset: str) -> DatasetOutcome:
        return results.side(self._archive, self.run.label, dataset)

    def doubts(self) -> tuple[str, ...]:
        """What a reader of its figures has to know."""
        said = tuple(f"Unverified: {doubt}." for doubt in self.kept.doubts)
        if self.run.is_verdict:
            return said
        return (*said, f"The run {self.run.run_id} ended as {self.run.status}, so its figures are no verdict.")


class Baseline:
    """The run to compare with. It is read whole before the new run starts, so that it cannot fail at the end."""

    def __init__(self, previous: PreviousRun, datasets: Collection[str]) -> None:
        self.run_id = previous.run.run_id
        self.identity = previous.run.identity
        self.stack = previous.run.stack
        self.sampling_facts = previous.run.sampling_facts
        self.datasets = previous.run.judged
        self.sides = {name: previous.side(name) for name in self.datasets if name in datasets}
        self.drawn = previous.run.drawn
        self.doubts = previous.doubts()

    def is_drawn_like(self, sampling: Sampling) -> bool:
        """Whether its samples are known to be drawn as these are."""
        return self.drawn is not None and not _differently_drawn(self.drawn, sampling)


def compare(base: PreviousRun, new: PreviousRun) -> Comparison:
    """Compares dataset by dataset: no more than two result files are in memory at once."""
    return _comparison(
        (base.run.run_id, base.run.judged),
        (new.run.run_id, new.run.judged),
        lambda name: comparison_statistics.compare(base.side(name), new.side(name), is_same_run=base.run == new.run),
        (
            *base.doubts(),
            *new.doubts(),
            *changes(base.run.identity, new.run.identity),
            *stack_changes(base.run.stack, new.run.stack),
            *_sampling_note(base.run.sampling_facts, new.run.sampling_facts),
            *setting_changes(base.run.drawn, new.run.drawn),
        ),
    )


def baseline(
    plan: RunPlan,
    versions: Mapping[str, str],
    open_archive: Callable[[str], Archive],
    *,
    unverified: bool | None = None,
) -> Baseline | None:
    """The run that `--baseline` names. Refuses one without a verdict, and gates that it could never decide.

    `versions`: of the datasets that are compared with it. `unverified`: as `kept_run.opened` has it.
    """
    if plan.settings.baseline is None:
        return None
    kept = kept_run.opened(open_archive(plan.settings.baseline), unverified=unverified)
    base = Baseline(_fit_for_baseline(kept, unverified=unverified), versions)
    _check_gates(plan, versions, base)
    return base


def _fit_for_baseline(kept: KeptRun, *, unverified: bool | None) -> PreviousRun:
    """A run whose figures others may be held against: it came to its end, and they are as it left them."""
    previous = PreviousRun(kept)
    if not previous.run.is_verdict:
        raise BadReuse(
            f"The baseline '{kept.archive.root}' ended as {previous.run.status}, so its figures are no verdict; "
            "give a run that came to its end."
        )
    if kept.doubts and not unverified:
        raise BadReuse(f"The baseline '{kept.archive.root}' is unverified itself: {'; '.join(kept.doubts)}.")
    return previous


def _check_gates(plan: RunPlan, versions: Mapping[str, str], base: Baseline) -> None:
    for gate in (gate for gate in plan.gates if gate.from_baseline):
        side = base.sides.get(gate.dataset)
        reason, sampling = "", base.sampling_facts.setting
        if sampling != plan.settings.sampling:
            reason = f"was run with --sampling {sampling}, and this run has --sampling {plan.settings.sampling}"
        elif difference := _differently_drawn(base.drawn, plan.sampling):
            reason = difference
        elif side is None:
            reason = f"has no figures of {gate.dataset}"
        elif side.version != versions[gate.dataset]:
            reason = f"has {gate.dataset} in version {side.version}, and this run asks version {versions[gate.dataset]}"
        elif side.part is not None and side.part.estimated:
            reason = (
                f"was decided after {side.part.share} of the requests, so its figures are estimates; complete it with "
                f"--reuse {plan.settings.baseline}"
            )
        elif side.figures.get(gate.metric) is None:
            reason = f"has no {gate.metric} of {gate.dataset}"
        if reason:
            raise BadValue(
                f"The gate '{gate}' could never be decided: the baseline '{plan.settings.baseline}' {reason}."
            )


def _differently_drawn(old: Sampling | None, new: Sampling) -> str:
    """What was asked of the samplers then and is not now, or the other way around; the seed alone changes nothing."""
    if old is None:
        return ""
    was, now = (msgspec.to_builtins(msgspec.structs.replace(each, seed=None)) for each in (old, new))
    changes = [f"{name} {was[name]}, and this run has {now[name]}" for name in was if was[name] != now[name]]
    return f"was run with {'; '.join(changes)}" if changes else ""


def against(
    base: Baseline, plan: RunPlan, service: Service | None, dataset_results: tuple[DatasetResult, ...]
) -> Comparison:
    """Compares the run that has just been judged with its baseline."""
    sides = {result.dataset: comparison_statistics.dataset_outcome(result) for result in dataset_results}
    return _comparison(
        (base.run_id, base.datasets),
        (plan.run_id, list(sides)),
        lambda name: comparison_statistics.compare(base.sides[name], sides[name]),
        (
            *base.doubts,
            *changes(base.identity, plan.identity),
            *stack_changes(base.stack, service.stack if service else {}),
            *_sampling_note(base.sampling_facts, sampling_facts(plan, service)),
            *setting_changes(base.drawn, plan.sampling),
        ),
    )


def _sampling_note(old: SamplingFacts, new: SamplingFacts) -> tuple[str, ...]:
    return tuple(filter(None, [sampling_change(old, new)]))


def _comparison(
    base: tuple[str, list[str]],
    new: tuple[str, list[str]],
    change: Callable[[str], DatasetChange],
    notes: tuple[str, ...] = (),
) -> Comparison:
    """`base` and `new` are a run's id and its datasets; `change` compares a dataset that both have."""
    (base_id, base_names), (new_id, new_names) = base, new
    return Comparison(
        base=base_id,
        new=new_id,
        changes=tuple(change(name) for name in new_names if name in base_names),
        only_base=tuple(name for name in base_names if name not in new_names),
        only_new=tuple(name for name in new_names if name not in base_names),
        notes=notes,
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
    run = runfile.read_if_complete(store.read(RUN_FILE), store.root)
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
    run = runfile.read_if_complete(store.read(RUN_FILE), store.root) if answered else None
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


def kept_service(store: Store) -> Service | None:
    """Returns the service that gave the replies in the folder."""
    run = runfile.read_if_complete(store.read(RUN_FILE), store.root)
    return run.service if run else None


def kept_identity(plan: RunPlan, store: Store) -> Identity:
    """What the verdict is about: of replies that are judged again, what they are of. It is no other commit than the one
    on which the verdict is asked for."""
    run = runfile.read_if_complete(store.read(RUN_FILE), store.root) if plan.settings.mode == "eval" else None
    kept, wanted = run.identity if run else Identity(), plan.identity
    if kept == Identity():
        return wanted
    if wanted.repository and (kept.repository.lower(), kept.commit) != (wanted.repository.lower(), wanted.commit):
        raise BadReuse(
            f"The replies in {store.root} are about {kept.line}, and the verdict would be about {wanted.line}."
        )
    return kept


def kept_facts(plan: RunPlan, store: Store) -> dict[str, str]:
    """What replies that are judged again are of: asking is over, so nobody else knows it any more."""
    run = runfile.read_if_complete(store.read(RUN_FILE), store.root) if plan.settings.mode == "eval" else None
    return {name: run.environment[name] for name in _FACTS if name in run.environment} if run else {}
