"""`plan`: what a run will be able to show, before anything is asked; and the action's number of shards."""

import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from math import ceil, fsum
from typing import Any

import click

from model_accuracy_eval.commands.options import given_settings, setting_options
from model_accuracy_eval.errors import BadValue, EvalError
from model_accuracy_eval.hubs.data_fetch import DataFetch
from model_accuracy_eval.ports import Archive, Ports
from model_accuracy_eval.records import Gate, PreparedDataset, Record, RunPlan
from model_accuracy_eval.run import engines, plan_parts, preflight, setting_values
from model_accuracy_eval.run.build import hub
from model_accuracy_eval.run_folder import kept_run
from model_accuracy_eval.run_folder.runfile import RunFile
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.scoring.verdicts import gates, sequential
from model_accuracy_eval.scoring.verdicts.following import followed_figures
from model_accuracy_eval.scoring.verdicts.sequential import PlannedSize
from model_accuracy_eval.system.clock import SignalClock
from model_accuracy_eval.tasks import preparation, rows
from model_accuracy_eval.trusted_python.trusted_functions import TrustedRows

_MINUTES = re.compile(r"(\d+(?:\.\d+)?)\s*(?:m|min)")
_SETTINGS = {
    "baseline", "datasets", "columns", "tasks_path", "data_dir", "offline", "limit", "first",
    "num_return_sequences", "k", "gate", "gate_on", "confidence", "temperature",
}  # fmt: skip
_UNKNOWN_SHARE = 70.0
"""Of right answers, where no gate says which are expected."""


def _budget(_context: click.Context, _option: click.Parameter, text: str | None) -> tuple[float, bool] | None:
    """The number of requests or minutes, and whether it counts minutes."""
    if text is None:
        return None
    bare = text.replace(",", "").strip()
    minutes = _MINUTES.fullmatch(bare)
    number = float(minutes[1]) if minutes else float(bare) if bare.isdecimal() else 0.0
    if number <= 0:
        raise click.BadParameter(
            f"'{text}' is neither a number of requests, such as 2000, nor of minutes, such as 30m."
        )
    return number, minutes is not None


@click.command()
@click.option(
    "--budget",
    callback=_budget,
    metavar="REQUESTS|MINUTES",
    help="Say how so many requests (2000) or minutes (30m, at the pace of the baseline) are best spent.",
)
@setting_options(_SETTINGS)
def plan(budget: tuple[float, bool] | None, **values: Any) -> None:
    """Say what the gates of a run can show at this size, and how a number of requests or minutes is best spent.

    Nothing is asked: the questions are counted, and fetched where they are not on this machine.
    """
    # A plan needs somebody to ask; nobody is.
    values = {**given_settings(values), "endpoint": "http://localhost:8000"}
    run_plan = plan_parts.plan(values, os.environ, say=partial(click.echo, err=True))
    ports = engines.ports(run_plan, os.environ, SignalClock(), sys.stderr)
    try:
        requests = _requests(run_plan, ports, *budget) if budget else None
        click.echo("\n".join(_lines(run_plan, ports, requests)))
    finally:
        ports.progress.close()


def _requests(plan: RunPlan, ports: Ports, number: float, is_minutes: bool) -> int:
    """A budget as requests: as many as the baseline's run answered in so many minutes."""
    if not is_minutes:
        return int(number)
    if not plan.settings.baseline:
        raise BadValue(
            f"How many requests {number:g} minutes are, an earlier run of the service says: name it by --baseline."
        )
    archive = ports.open_archive(plan.settings.baseline)
    pace = _earlier_pace(kept_run.opened(archive).run())
    if pace is None or pace.rate is None:
        raise BadValue(f"'{archive.root}' does not say how fast the service is: its last part has no answers.")
    return int(60 * number * pace.rate)


def _lines(plan: RunPlan, ports: Ports, requests: int | None) -> Iterator[str]:
    """What is planned for every dataset, and what its gates can show; with `requests`, how they are best spent."""
    with ports.clock.interruptible():
        datasets = [preflight.prepared(task, plan, ports) for task in plan.tasks]
    total = 0
    for prepared in datasets:
        of = prepared.draw.population if prepared.draw else None
        size = PlannedSize(len(prepared.problems), plan.sampling.of(prepared.task).n, of)
        total += size.requests
        of_all = f" ({prepared.draw})" if prepared.draw else ""
        yield f"{prepared.task.name}: {size}{of_all}, {size.requests:,} requests"
        for gate in (gate for gate in plan.gates if gate.dataset == prepared.task.name):
            yield f"  {gate} {_can_show(plan, prepared, gate, size)}"
    named = {prepared.task.name for prepared in datasets}
    for gate in (gate for gate in plan.gates if gate.dataset not in named):
        yield f"{gate}: what it can show depends on the figures of its datasets."
    if len(datasets) > 1:
        yield f"{total:,} requests in all"
    if requests is not None:
        yield from _best_spent(plan, datasets, requests)


def _can_show(plan: RunPlan, prepared: PreparedDataset, gate: Gate, size: PlannedSize) -> str:
    figure = followed_figures(prepared.task, size.n, plan.k).get(gate.metric)
    if figure is None:
        return "is about a figure that is no plain mean: what it can show is known when it is."
    rule = gates.rule(plan)
    # Samples of a service that decodes greedily are one.
    of_samples = figure.is_mean_of_samples and plan.sampling.of(prepared.task).temperature != 0
    shown = sequential.can_show(gate, size, rule, of_samples=of_samples, drawn=figure.drawn)
    clusters = {problem.cluster or str(problem.id) for problem in prepared.problems}
    if rule.over != "problems" or len(clusters) == len(prepared.problems):
        return shown
    return f"{shown} They share {len(clusters):,} {groups.clusters_named(prepared.task)}, and these are what counts."


def _best_spent(plan: RunPlan, datasets: list[PreparedDataset], requests: int) -> Iterator[str]:
    """Each dataset gets as many requests for each of its problems: all that it has, whatever the limit."""
    sizes_of: dict[str, int] = {}
    for each in datasets:
        if each.draw and each.task.slice.sample:
            yield f"{each.task.name} is {each.draw}, whatever the budget"
        else:
            sizes_of[each.task.name] = each.draw.of if each.draw else len(each.problems)
    problems = sum(sizes_of.values())
    for name, here in sizes_of.items():
        own = requests * here // problems
        of_gates = [gate.metric.partition("@") for gate in plan.gates if gate.dataset == name]
        least = max((int(size) for kind, _, size in of_gates if kind in {"pass", "cons"}), default=1)
        sizes = [*sequential.alternatives(own, here, least)]
        if not sizes:
            raise BadValue(
                f"{requests:,} requests leave {own:,} for {name}, whose figures need {least:,} samples of a problem. "
                f"Give a --budget of {ceil(least * problems / here):,} or more, or fewer datasets."
            )
        share = next((gate.threshold for gate in plan.gates if gate.dataset == name and gate.threshold > 0), None)
        share = (share or _UNKNOWN_SHARE) / 100
        limit = f"--limit {sizes[0].problems} " if sizes[0].problems < here else ""
        yield f"{own:,} requests for {name} are best spent on {sizes[0]}: {limit}-n {sizes[0].n}"
        for size in sizes:
            points = sequential.margin(size, here, min(share, 0.99))
            yield f"  {size}: within {points:.2f} points of the true figure of all problems"
    yield "(95 %, where the samples of one problem correlate by .5)"


# Into how many shards the action splits a run: from the sizes of its datasets, and from the pace of an earlier run.
# A shard has every W-th problem of each dataset, so all take about the same time, whatever mixture of datasets it is.


class ShardPlan(Record, frozen=True, kw_only=True):
    """The shards of a run."""

    count: int
    samples: int
    seconds: float | None = None
    """What one machine would need to ask for everything; None: unknown."""

    def jobs(self) -> list[dict[str, str]]:
        """The entries of a matrix: each shard, and its name in the name of an artifact."""
        return [{"shard": f"{at}/{self.count}", "name": f"{at}-of-{self.count}"} for at in range(self.count)]

    def sentence(self) -> str:
        shards = "1 shard" if self.count == 1 else f"{self.count} shards"
        if self.seconds is None:
            return f"{self.samples:,} samples in {shards}; no earlier run says how long they take."
        each = self.seconds / self.count / 60
        return (
            f"{self.samples:,} samples take about {self.seconds / 60:.0f} minutes at the earlier run's pace: {shards} "
            f"of about {each:.0f} minutes, and what a start takes."
        )


def shard_plan(
    sizes: Mapping[str, PlannedSize], last: RunFile | None, *, minutes: float, most: int, concurrency: int
) -> ShardPlan:
    """As few shards as keep each below so many minutes, `most` at most. Without an earlier run there are `most`."""
    samples = sum(size.requests for size in sizes.values())
    largest = max((size.problems for size in sizes.values()), default=1)
    most = max(1, min(most, largest))
    pace = _earlier_pace(last) if last else None
    seconds = pace.seconds({name: size.requests for name, size in sizes.items()}, concurrency) if pace else None
    count = most if seconds is None else min(most, max(1, ceil(seconds / (60 * minutes))))
    return ShardPlan(count=count, samples=samples, seconds=seconds)


def planned(
    values: Mapping[str, Any],
    environment: Mapping[str, str],
    *,
    minutes: float,
    most: int,
    check: Callable[[], object],
    say: Callable[[str], object],
    open_archive: Callable[[str], Archive],
) -> ShardPlan:
    """The shards of a run with these settings; `baseline` names the run that says how long samples take."""
    settings = setting_values.merge(setting_values.read(values, "the shards' settings"))
    fetch = None if settings.offline else DataFetch(environment, check=check, say=say)
    data, make_rows = hub(environment, fetch=fetch), TrustedRows(environment)
    sizes: dict[str, PlannedSize] = {}
    for task in plan_parts.library(settings, environment, check, say).find_all(settings.datasets).tasks:
        prepared = preparation.assemble(
            task,
            lambda file, fields: rows.read(file, fields, settings.data_dir, data, make_rows),
            settings.limit or None,
            first=settings.first,
        )
        each = task.repeats or settings.num_return_sequences if task.kind == "generate" else 1
        sizes[task.name] = PlannedSize(len(prepared.problems), each)
    last = None
    if settings.baseline:
        try:
            last = kept_run.opened(open_archive(settings.baseline)).run()
        except EvalError as error:
            say(f"No earlier run says how long the samples take: {error.sentence}")
    return shard_plan(sizes, last, minutes=minutes, most=most, concurrency=settings.concurrency)


# How fast an earlier run was asked, as its `run.json` says: what a further run will take.


class _EarlierPace(Record, frozen=True, kw_only=True):
    """How long answers took, and how many there were in a second."""

    lengths: dict[str, float]
    """Dataset → mean seconds of an answer."""
    usual: float
    """Seconds of an answer in all datasets together."""
    rate: float | None
    """Answers in a second; None: the run, which may be a merged one, does not say how long it asked."""

    def seconds(self, samples: Mapping[str, int], concurrency: int) -> float:
        """How long so many samples of each dataset take, as many at a time as then; where that is not known, as many
        as `concurrency` says."""
        width = concurrency if self.rate is None else self.rate * self.usual
        return fsum(count * self.lengths.get(name, self.usual) for name, count in samples.items()) / width


def _earlier_pace(run: RunFile) -> _EarlierPace | None:
    """None: the run has no answers of its own, or says nothing of their time."""
    answered = {name: entry.counts.answered for name, entry in run.datasets.items() if entry.counts}
    lengths = {
        name: entry.speed.e2e.mean
        for name, entry in run.datasets.items()
        if entry.speed and entry.speed.e2e and answered.get(name)
    }
    # Of a run that broke off, nobody noted how many of its answers an earlier part had given.
    asked = run.seconds.get("infer", 0.0) if run.is_verdict else 0.0
    now = sum(answered.values()) - (run.answered_before or 0)
    rate = now / asked if asked and now > 0 else None
    timed = sum(answered[name] for name in lengths)
    if timed:
        usual = fsum(mean * answered[name] for name, mean in lengths.items()) / timed
        return _EarlierPace(lengths=lengths, usual=usual, rate=rate)
    # Log-likelihoods are not timed one by one: how many are under way at a time is in the rate.
    return _EarlierPace(lengths={}, usual=1 / rate, rate=rate) if rate else None
