"""`plan`: what a run will be able to show, before anything is asked."""

from collections.abc import Iterator
from math import ceil

from model_accuracy_eval.errors import BadValue
from model_accuracy_eval.ports import Ports
from model_accuracy_eval.records import Gate, PreparedDataset, RunPlan
from model_accuracy_eval.report import progress
from model_accuracy_eval.run import preflight
from model_accuracy_eval.run_folder import runfile
from model_accuracy_eval.scoring.verdicts import gates, planned_sizes
from model_accuracy_eval.scoring.verdicts.following import followed_figures
from model_accuracy_eval.scoring.verdicts.planned_sizes import PlannedSize

_UNKNOWN_SHARE = 70.0
"""Of right answers, where no gate says which are expected."""


def requests(plan: RunPlan, ports: Ports, number: float, is_minutes: bool) -> int:
    """A budget as requests: as many as the baseline's run answered in so many minutes."""
    if not is_minutes:
        return int(number)
    if not plan.settings.baseline:
        raise BadValue(
            f"How many requests {number:g} minutes are, an earlier run of the service says: name it by --baseline."
        )
    archive = ports.open_archive(plan.settings.baseline)
    last = runfile.read(archive.read(runfile.RUN_FILE), archive.root)
    pace = progress.of_run(last)
    if pace is None or pace.rate is None:
        raise BadValue(f"'{archive.root}' does not say how fast the service is: its last part has no answers.")
    return int(60 * number * pace.rate)


def lines(plan: RunPlan, ports: Ports, requests: int | None) -> Iterator[str]:
    """What is planned for every dataset, and what its gates can show; with `requests`, how they are best spent."""
    with ports.clock.interruptible():
        datasets = [preflight.prepared(task, plan, ports) for task in plan.tasks]
    total = 0
    for prepared in datasets:
        size = PlannedSize(len(prepared.problems), plan.sampling.of(prepared.task).n)
        total += size.requests
        yield f"{prepared.task.name}: {size}, {size.requests:,} requests"
        for gate in (gate for gate in plan.gates if gate.dataset == prepared.task.name):
            yield f"  {gate} {_can_show(plan, prepared, gate, size)}"
    named = {prepared.task.name for prepared in datasets}
    for gate in (gate for gate in plan.gates if gate.dataset not in named):
        yield f"{gate}: what it can show depends on the figures of its datasets."
    if len(datasets) > 1:
        yield f"{total:,} requests in all"
    if requests is not None:
        yield from _budget(plan, datasets, requests)


def _can_show(plan: RunPlan, prepared: PreparedDataset, gate: Gate, size: PlannedSize) -> str:
    figure = followed_figures(prepared.task, size.n, plan.k).get(gate.metric)
    if figure is None:
        return "is about a figure that is no plain mean: what it can show is known when it is."
    rule = gates.rule(plan)
    return planned_sizes.can_show(gate, size, rule, of_samples=figure.is_mean_of_samples, drawn=figure.drawn)


def _budget(plan: RunPlan, datasets: list[PreparedDataset], requests: int) -> Iterator[str]:
    """Each dataset gets as many requests for each of its problems."""
    problems = sum(len(prepared.problems) for prepared in datasets)
    for prepared in datasets:
        name, here = prepared.task.name, len(prepared.problems)
        own = requests * here // problems
        least = _least(plan, name)
        sizes = [*planned_sizes.alternatives(own, here, least)]
        if not sizes:
            raise BadValue(
                f"{requests:,} requests leave {own:,} for {name}, whose figures need {least:,} samples of a problem. "
                f"Give a --budget of {ceil(least * problems / here):,} or more, or fewer datasets."
            )
        share = next((gate.threshold for gate in plan.gates if gate.dataset == name and gate.threshold > 0), None)
        share = (share or _UNKNOWN_SHARE) / 100
        yield f"{own:,} requests for {name} are best spent on {sizes[0]}: --limit {sizes[0].problems} -n {sizes[0].n}"
        for size in sizes:
            points = planned_sizes.margin(size, here, min(share, 0.99))
            yield f"  {size}: within {points:.2f} points of the true figure of all problems"
    yield "(95 %, where the samples of one problem correlate by .5)"


def _least(plan: RunPlan, dataset: str) -> int:
    """Samples of a problem that the gated figures need."""
    names = [gate.metric for gate in plan.gates if gate.dataset == dataset]
    sizes = [int(size) for kind, _, size in (name.partition("@") for name in names) if kind in {"pass", "cons"}]
    return max(sizes, default=1)
