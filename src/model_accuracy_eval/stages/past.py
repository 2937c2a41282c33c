"""Runs that have ended, looked at again: two of them compared, or one as the baseline of a run that is to come."""

from collections.abc import Callable, Collection, Iterable, Iterator

from model_accuracy_eval.errors import BadReuse, BadValue
from model_accuracy_eval.ports import Archive, Ports
from model_accuracy_eval.records import Change, Comparison, Exam, RunPlan, Sheet
from model_accuracy_eval.reporting import readback, results
from model_accuracy_eval.scoring import comparing, recurring
from model_accuracy_eval.scoring.comparing import Side
from model_accuracy_eval.scoring.recurring import Recurring
from model_accuracy_eval.stages.publish import RUN_FILE


class Past:
    """A run that was judged: what it says of itself at once, its problems dataset by dataset."""

    def __init__(self, archive: Archive) -> None:
        self._archive = archive
        self.kept = readback.run(archive.read(RUN_FILE), archive.root)
        if not self.kept.judged:
            raise BadReuse(f"'{archive.root}' holds no figures to compare: its run is {self.kept.status}.")

    def side(self, dataset: str) -> Side:
        source = self._archive.read(results.file(self.kept.label, dataset))
        return readback.side(self.kept, dataset, source, self._archive.root)

    def doubts(self) -> tuple[str, ...]:
        """What a reader of its figures has to know."""
        kept = self.kept
        if kept.is_verdict:
            return ()
        return (f"The run {kept.run_id} ended as {kept.status}, so its figures are no verdict.",)


class Baseline:
    """The run to compare with, read before anything starts, so that nothing about it can surprise at the end."""

    def __init__(self, past: Past, datasets: Collection[str]) -> None:
        self.run_id = past.kept.run_id
        self.datasets = past.kept.judged
        self.sides = {name: past.side(name) for name in self.datasets if name in datasets}


def compare(base: Past, new: Past) -> Comparison:
    """One dataset at a time: no more than two result files are in memory at once."""
    return _compared(
        (base.kept.run_id, base.kept.judged),
        (new.kept.run_id, new.kept.judged),
        lambda name: comparing.compare(base.side(name), new.side(name)),
        (*base.doubts(), *new.doubts()),
    )


def recur(archives: Iterable[Archive], dataset: str | None = None, label: str | None = None) -> list[Recurring]:
    """Which problems all of these runs solve, some of them, or none; runs that are no verdict are passed over."""
    sides = (side for archive in archives for side in _sides(archive, dataset, label))
    return recurring.recurring(found for side in sides if (found := recurring.solved(side)))


def _sides(archive: Archive, dataset: str | None, label: str | None) -> Iterator[Side]:
    kept = readback.run(archive.read(RUN_FILE), archive.root)
    if kept.is_verdict and label in {None, kept.label}:
        past = Past(archive)
        yield from (past.side(name) for name in kept.judged if dataset in {None, name})


def baseline(plan: RunPlan, exams: tuple[Exam, ...], ports: Ports) -> Baseline | None:
    """Refuses what cannot be read, what is no verdict, and gates that it could never decide."""
    if plan.baseline is None:
        return None
    past = Past(ports.open_archive(plan.baseline))
    if not past.kept.is_verdict:
        raise BadReuse(
            f"The baseline '{plan.baseline}' ended as {past.kept.status}, so its figures are no verdict; "
            "give a run that came to its end."
        )
    found = Baseline(past, [exam.task.name for exam in exams])
    _check_gates(plan, {exam.task.name: exam.version for exam in exams}, found)
    return found


def _check_gates(plan: RunPlan, versions: dict[str, str], found: Baseline) -> None:
    for gate in (gate for gate in plan.gates if gate.from_baseline):
        side = found.sides.get(gate.dataset)
        reason = ""
        if side is None:
            reason = f"has no figures of {gate.dataset}"
        elif side.version != versions[gate.dataset]:
            reason = f"has {gate.dataset} in version {side.version}, and this run asks version {versions[gate.dataset]}"
        elif side.figures.get(gate.metric) is None:
            reason = f"has no {gate.metric} of {gate.dataset}"
        if reason:
            raise BadValue(f"The gate '{gate}' could never be decided: the baseline '{plan.baseline}' {reason}.")


def against(found: Baseline, plan: RunPlan, sheets: tuple[Sheet, ...]) -> Comparison:
    """The run that has just been judged beside its baseline."""
    sides = {sheet.dataset: comparing.of_sheet(sheet) for sheet in sheets}
    return _compared(
        (found.run_id, found.datasets),
        (plan.run_id, list(sides)),
        lambda name: comparing.compare(found.sides[name], sides[name]),
    )


def _compared(
    base: tuple[str, list[str]],
    new: tuple[str, list[str]],
    change: Callable[[str], Change],
    notes: tuple[str, ...] = (),
) -> Comparison:
    (old_id, olds), (new_id, news) = base, new
    return Comparison(
        base=old_id,
        new=new_id,
        changes=tuple(change(name) for name in news if name in olds),
        only_base=tuple(name for name in olds if name not in news),
        only_new=tuple(name for name in news if name not in olds),
        notes=notes,
    )
