"""Which datasets are asked no further than their gates need, and the judging of samples as they come."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.ports import Ports, Store
from model_accuracy_eval.records import Attempt, FigureSoFar, Gate, PreparedDataset, Problem, RunPlan
from model_accuracy_eval.run import outcome
from model_accuracy_eval.run.ask_store import AskRunners, AskStore
from model_accuracy_eval.run.previous_run import Baseline
from model_accuracy_eval.run_folder import journal
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.scoring.figures.scorecard import Scorecard, figure_units
from model_accuracy_eval.scoring.metrics.metric_type import AskResults
from model_accuracy_eval.scoring.verdicts import gates, sequential
from model_accuracy_eval.scoring.verdicts.comparison_statistics import DatasetOutcome
from model_accuracy_eval.scoring.verdicts.following import (
    FollowedFigure,
    FollowedGate,
    Following,
    PrefixReader,
    SampleEnds,
    baseline_figure,
    followed_figures,
    stop_lines,
    values_before,
)
from model_accuracy_eval.scoring.verdicts.gate_lines import figure_named

_UNKNOWN = (0.0, 1.0)


class EarlyStop(NamedTuple):
    """What is followed, by dataset, and why the other datasets are asked whole."""

    followings: Mapping[str, Following]
    reasons: Mapping[str, str]

    @property
    def gated(self) -> frozenset[str]:
        """The datasets that may be stopped by their gates."""
        return frozenset(name for name, following in self.followings.items() if following.gates)


NO_STOP = EarlyStop({}, {})


def early_stop(plan: RunPlan, datasets: Sequence[PreparedDataset], base: Baseline | None) -> EarlyStop:
    """What the settings want followed."""
    followings: dict[str, Following] = {}
    reasons: dict[str, str] = {}
    for prepared in datasets:
        name = prepared.task.name
        found = _following(plan, prepared, base) if plan.settings.stop_when_decided else ""
        if isinstance(found, Following):
            followings[name] = found
            continue
        if found:
            reasons[name] = found
        if settling := _settling(plan, prepared):
            followings[name] = settling
    return EarlyStop(followings, reasons)


def _settling(plan: RunPlan, prepared: PreparedDataset) -> Following | None:
    """What is followed where some figures alone are wanted: all problems, each until these are settled."""
    wanted = _wanted(plan, prepared)
    if not wanted or any(figure is None or figure.by_count is None for figure in wanted.values()):
        return None
    figures = {name: figure for name, figure in wanted.items() if figure is not None}
    problems = tuple(problem.id for problem in prepared.problems)
    return Following(problems=problems, n=plan.sampling.of(prepared.task).n, figures=figures)


def _wanted(plan: RunPlan, prepared: PreparedDataset) -> dict[str, FollowedFigure | None]:
    """The figures of `--only`; None: it cannot be followed."""
    n = plan.sampling.of(prepared.task).n
    units = figure_units(prepared.task, n, plan.k)
    names = [figure_named(name, units) for name in plan.settings.only]
    available = followed_figures(prepared.task, n, plan.k)
    return {name: available.get(name) for name in names if name is not None}


def _following(plan: RunPlan, prepared: PreparedDataset, base: Baseline | None) -> Following | str:
    """Or why the dataset is asked whole."""
    name = prepared.task.name
    n = plan.sampling.of(prepared.task).n
    problems = tuple(problem.id for problem in prepared.problems)
    own = [gate for gate in plan.gates if gate.dataset == name]
    if whole := _gated_groups(plan, name):
        return f"the gate on {whole[0]} is about the whole of it"
    if not own:
        return "it has no gate"
    available = followed_figures(prepared.task, n, plan.k)
    figures: dict[str, FollowedFigure] = {}
    for gate in own:
        figure = available.get(gate.metric)
        if figure is None or not (figure.is_mean_of_samples or figure.by_count):
            return f"{gate.metric} is known only when all of it is"
        figures[gate.metric] = figure
    # What is wanted besides is only waited for within a problem.
    figures |= {name: figure for name, figure in _wanted(plan, prepared).items() if figure and figure.by_count}
    following = Following(problems=problems, n=n, figures=figures, seed=f"{plan.run_id} {name}")
    before = _Before.of(prepared, base, plan)
    followed = [_followed_gate(plan, gate, following, before) for gate in own]
    known = tuple(gate for gate in followed if gate is not None)
    if len(known) < len(followed):
        return f"the gate '{own[followed.index(None)]}' is decided only by the whole of it"
    return replace(following, gates=known)


def _gated_groups(plan: RunPlan, dataset: str) -> list[str]:
    """The groups with a gate that the dataset is a member of."""
    by_name = {group.name: group for group in plan.groups}
    gated = [gate.dataset for gate in plan.gates if gate.dataset in by_name]
    return [name for name in gated if dataset in groups.datasets(by_name[name], by_name)]


class _Before(NamedTuple):
    """A baseline's outcome on the same questions."""

    side: DatasetOutcome
    is_drawn_alike: bool

    @classmethod
    def of(cls, prepared: PreparedDataset, base: Baseline | None, plan: RunPlan) -> "_Before | None":
        side = base.sides.get(prepared.task.name) if base else None
        if base is None or side is None or side.version != prepared.version or not side.problems:
            return None
        return cls(side, base.is_drawn_like(plan.sampling))


def _followed_gate(plan: RunPlan, gate: Gate, following: Following, before: _Before | None) -> FollowedGate | None:
    figure = following.figures[gate.metric]
    draws = following.planned if figure.is_mean_of_samples else len(following.problems)
    base = baseline_figure(before.side, gate.metric, is_drawn_alike=before.is_drawn_alike) if before else None
    lines = stop_lines(gate, draws, gates.rule(plan), drawn=figure.drawn, base=base)
    if lines is None:
        return None
    values = values_before(before.side, gate.metric, following.problems) if before else ()
    follows = before is not None and figure.is_mean_of_samples
    slope = sequential.reliability(values, before.side.problems[0].n) if before and follows else 0.5
    return FollowedGate(gate=gate, lines=lines, before=values, slope=slope)


class SampleJudge:
    """What single samples are worth to the figures that are followed."""

    def __init__(self, plan: RunPlan, prepared: PreparedDataset, following: Following, look_up: AskResults) -> None:
        self._n = following.n
        self._figures = tuple(following.figures)
        self._places = {problem: place for place, problem in enumerate(following.problems)}
        self._problems = {problem.id: problem for problem in prepared.problems}
        self.card = Scorecard(
            prepared.task,
            self._n,
            plan.k,
            ask_results=look_up,
        )

    def place(self, problem: int) -> int | None:
        return self._places.get(problem)

    def ends(self, attempt: Attempt) -> SampleEnds:
        """As if all samples of the problem were like this one. What cannot be judged may be worth anything."""
        problem = self._problems[attempt.problem]
        result = outcome.attempt(
            f"the judging of problem {problem.id}", lambda: self.card.judge(problem, [attempt] * self._n)
        )
        if isinstance(result, EvalError):
            return dict.fromkeys(self._figures, _UNKNOWN)
        ends: dict[str, tuple[float, float]] = {}
        for name in self._figures:
            value, bounds = result.figures.get(name), result.bounds.get(name)
            if value is None or bounds is not None:
                ends[name] = _UNKNOWN
            else:
                ends[name] = (min(max(value / 100, 0.0), 1.0),) * 2
        return ends


def read_again(
    plan: RunPlan, prepared: PreparedDataset, following: Following, store: Store, *, look_up: AskResults
) -> PrefixReader:
    """Reads the journal of a dataset, as far as its gates needed it."""
    reader = PrefixReader(following)
    judge = SampleJudge(plan, prepared, following, look_up)
    label, dataset = plan.settings.label, prepared.task.name
    answered: set[tuple[int, int]] = set()
    for line in store.lines(journal.file(label, dataset)):
        answered.add(journal.key(line))
        _tell(reader, judge, journal.attempt(line))
    for line in store.lines(journal.failures_file(label, dataset)):
        if journal.key(line) not in answered:
            _tell(reader, judge, journal.failure(line))
    return reader


def _tell(reader: PrefixReader, judge: SampleJudge, attempt: Attempt) -> None:
    place = judge.place(attempt.problem)
    if place is not None:
        reader.tell(place, attempt.index, judge.ends(attempt))


class Follower:
    """Judges the samples of one dataset while it is asked."""

    def __init__(
        self, plan: RunPlan, prepared: PreparedDataset, following: Following, store: Store, ports: Ports
    ) -> None:
        self.following = following
        self._plan = plan
        self._prepared = prepared
        self._store = store
        self._kept = AskStore(plan, prepared, store)
        self._runners = AskRunners(plan, ports)
        self._judge = SampleJudge(plan, prepared, following, self._kept.look_up)
        self._reader = PrefixReader(following)
        self._inbox: dict[int, list[Attempt]] = {}

    def on_sample(self, problem: Problem, attempts: Sequence[Attempt]) -> None:
        """Notes new samples, those without an answer included; `read` judges them."""
        self._inbox.setdefault(problem.id, []).extend(attempts)

    async def replay(self) -> None:
        """Reads everything that the journal holds, as if it had just come."""
        self._reader = PrefixReader(self.following)
        self._inbox.clear()
        for line in self._store.lines(journal.file(self._plan.settings.label, self._prepared.task.name)):
            attempt = journal.attempt(line)
            if (place := self._judge.place(attempt.problem)) is not None:
                await self._read(place, attempt)

    async def read(self, place: int) -> None:
        """Judges what has come of a problem; programs are run and judges asked where that takes them."""
        for attempt in self._inbox.pop(self.following.problems[place], ()):
            await self._read(place, attempt)

    async def _read(self, place: int, attempt: Attempt) -> None:
        await self._kept.answer_now(self._judge.card, self._prepared.problems[place], attempt, self._runners)
        self._reader.tell(place, attempt.index, self._judge.ends(attempt))

    @property
    def is_done(self) -> bool:
        return self._reader.is_done

    def so_far(self) -> FigureSoFar | None:
        return self._reader.so_far.figure()

    def lacks(self, place: int) -> tuple[int, ...]:
        return self._reader.lacks(place)

    async def close(self) -> None:
        await self._kept.close()
        await self._runners.close()
