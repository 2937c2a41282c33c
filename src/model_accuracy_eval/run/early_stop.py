"""Which datasets are asked no further than their gates need, and the judging of samples as they come."""

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from msgspec.structs import replace

from model_accuracy_eval.ports import Store
from model_accuracy_eval.records import (
    AskedPart,
    Attempt,
    Gate,
    Interval,
    PreparedDataset,
    Problem,
    ProblemResult,
    Reading,
    RunPlan,
    SummaryRow,
)
from model_accuracy_eval.run import outcome
from model_accuracy_eval.run.ask_store import AskRunners, AskStore
from model_accuracy_eval.run.previous_run import ComparedRun, differently_drawn
from model_accuracy_eval.run_folder import journal
from model_accuracy_eval.scoring.figures import groups
from model_accuracy_eval.scoring.figures.intervals import ClusterSums
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.verdicts import gates
from model_accuracy_eval.scoring.verdicts.following import (
    FollowedFigure,
    Following,
    PrefixReader,
    SampleEnds,
    baseline_figure,
    followed_figures,
)
from model_accuracy_eval.scoring.verdicts.sequential import BaselineFigure, PlannedSize, StopLines, stop_lines

_UNKNOWN = (0.0, 1.0)


class EarlyStop(NamedTuple):
    """What is followed, by dataset, and why the other datasets are asked whole."""

    followings: Mapping[str, Following]
    reasons: Mapping[str, str]


NO_STOP = EarlyStop({}, {})


def early_stop(plan: RunPlan, datasets: Sequence[PreparedDataset], base: ComparedRun | None) -> EarlyStop:
    """What the settings want followed."""
    followings: dict[str, Following] = {}
    reasons: dict[str, str] = {}
    for prepared in datasets if plan.settings.stop_when_decided else ():
        found = _following(plan, prepared, base)
        if isinstance(found, Following):
            followings[prepared.task.name] = found
        else:
            reasons[prepared.task.name] = found
    return EarlyStop(followings, reasons)


def _following(plan: RunPlan, prepared: PreparedDataset, base: ComparedRun | None) -> Following | str:
    """Or why the dataset is asked whole."""
    name = prepared.task.name
    n = plan.sampling.of(prepared.task).n
    problems = tuple(problem.id for problem in prepared.problems)
    own = [gate for gate in plan.gates if gate.dataset == name]
    by_name = {group.name: group for group in plan.groups}
    for gated in (gate.dataset for gate in plan.gates if gate.dataset in by_name):
        if name in groups.datasets(by_name[gated], by_name):
            return f"the gate on {gated} is about the whole of it"
    if not own:
        return "it has no gate"
    available = followed_figures(prepared.task, n, plan.k)
    figures: dict[str, FollowedFigure] = {}
    for gate in own:
        figure = available.get(gate.metric)
        if figure is None or not (figure.is_mean_of_samples or figure.by_count):
            return f"{gate.metric} is known only when all of it is"
        figures[gate.metric] = figure
    clusters = tuple(problem.cluster for problem in prepared.problems)
    following = Following(
        problems=problems,
        clusters=clusters if any(clusters) else (),
        n=n,
        figures=figures,
        seed=f"{plan.run_id} {name}",
    )
    before = base.results.get(name) if base else None
    if before is not None and (before.version != prepared.version or not before.problem_results):
        before = None
    is_greedy = plan.settings.gate_on == "reruns" and plan.sampling.of(prepared.task).temperature == 0
    of = prepared.draw.population if prepared.draw and plan.settings.gate_on == "reruns" else None
    is_drawn_alike = base is not None and base.drawn is not None and not differently_drawn(base.drawn, plan.sampling)

    def baseline_of(gate: Gate) -> BaselineFigure | None:
        return baseline_figure(before, gate.metric, is_drawn_alike=is_drawn_alike) if before else None

    followed = [_followed_gate(plan, gate, following, baseline_of, of=of, is_greedy=is_greedy) for gate in own]
    known = tuple(gate for gate in followed if gate is not None)
    if len(known) < len(followed):
        return f"the gate '{own[followed.index(None)]}' is decided only by the whole of it"
    return replace(following, gates=known)


def _followed_gate(
    plan: RunPlan,
    gate: Gate,
    following: Following,
    baseline_of: Callable[[Gate], BaselineFigure | None],
    *,
    of: int | None,
    is_greedy: bool,
) -> StopLines | None:
    """`of`: how many problems a sample was drawn from. `is_greedy`: samples of a problem will be one and the same."""
    figure = following.figures[gate.metric]
    of = None if gate.from_baseline else of  # a change is about the problems that both runs are asked
    size = PlannedSize(len(following.problems), following.n, of)
    draws = size.draws(of_samples=figure.is_mean_of_samples and not is_greedy, drawn=figure.drawn)
    base = None if of else baseline_of(gate)  # what a baseline says is about its problems, not about all
    return stop_lines(gate, draws, gates.rule(plan), drawn=figure.drawn or of is not None, base=base)


class Follower:
    """Judges the samples of one dataset, one by one: while it is asked, or again when all of it was."""

    def __init__(
        self, plan: RunPlan, prepared: PreparedDataset, following: Following, store: Store, ask_store: AskStore
    ) -> None:
        self.following = following
        self._problems = prepared.problems
        self._places = {problem: place for place, problem in enumerate(following.problems)}
        self._store = store
        self._journal = journal.file(plan.settings.label, prepared.task.name)
        self._failures = journal.failures_file(plan.settings.label, prepared.task.name)
        self._ask_store = ask_store
        self._card = Scorecard(prepared.task, following.n, plan.k, ask_results=ask_store.look_up)
        self.reader = PrefixReader(following)
        self._inbox: dict[int, list[Attempt]] = {}

    def read_again(self) -> None:
        """Reads what was asked, as far as the gates needed it."""
        answered: set[tuple[int, int]] = set()
        for line in self._store.lines(self._journal):
            answered.add(journal.key(line))
            self._tell(journal.attempt(line))
        for line in self._store.lines(self._failures):
            if journal.key(line) not in answered:
                self._tell(journal.failure(line))

    def on_sample(self, problem: Problem, attempts: Sequence[Attempt]) -> None:
        """Notes new samples, those without an answer included; `read` judges them."""
        self._inbox.setdefault(problem.id, []).extend(attempts)

    async def replay(self, runners: AskRunners) -> None:
        """Reads everything that the journal holds, as if it had just come."""
        self.reader = PrefixReader(self.following)
        self._inbox.clear()
        for line in self._store.lines(self._journal):
            await self._read(journal.attempt(line), runners)

    async def read(self, place: int, runners: AskRunners) -> None:
        """Judges what has come of a problem; programs are run and judges asked where that takes them."""
        for attempt in self._inbox.pop(self.following.problems[place], ()):
            await self._read(attempt, runners)

    async def _read(self, attempt: Attempt, runners: AskRunners) -> None:
        if attempt.problem in self._places:
            await self._ask_store.answer_now(self._problems[self._places[attempt.problem]], attempt, runners)
            self._tell(attempt)

    def _tell(self, attempt: Attempt) -> None:
        place = self._places.get(attempt.problem)
        if place is not None:
            self.reader.tell(place, attempt.index, self._ends(self._problems[place], attempt))

    def _ends(self, problem: Problem, attempt: Attempt) -> SampleEnds:
        """As if all samples of the problem were like this one. What cannot be judged may be worth anything."""
        result = outcome.attempt(
            f"the judging of problem {problem.id}", lambda: self._card.judge(problem, [attempt] * self.following.n)
        )
        ends: dict[str, tuple[float, float]] = dict.fromkeys(self.following.figures, _UNKNOWN)
        if isinstance(result, ProblemResult):
            for name in ends:
                value = result.figures.get(name)
                if value is not None and name not in result.bounds:
                    ends[name] = (min(max(value / 100, 0.0), 1.0),) * 2
        return ends


# The figures of a dataset that was asked no further than was needed: which samples count, and what they show.


NewCard = Callable[[], Scorecard]


class PartJudge:
    """Judges the samples that were read. Where they are single samples, each stands for its problem."""

    def __init__(
        self, plan: RunPlan, prepared: PreparedDataset, following: Following, reader: PrefixReader, new_card: NewCard
    ) -> None:
        self._following = following
        self._reader = reader
        self._plain = followed_figures(prepared.task, following.n, plan.k)
        self._card = new_card()
        self._samples = new_card()
        """Collects each sample as if it were a problem."""
        self._values: dict[str, tuple[ClusterSums, ClusterSums]] = {}
        """Figure → the samples' least and greatest values."""
        self.indexes: dict[int, list[int]] = {}
        """Problem → the samples of it that were read."""
        for problem, index in sorted(reader.samples_read()):
            self.indexes.setdefault(problem, []).append(index)

    def judge(self, problem: Problem, samples: Sequence[Attempt | None]) -> ProblemResult:
        """`samples`: those that were read. No other one could change the figures that stay."""
        unasked = [None] * (self._following.n - len(samples))
        result = self._card.judge(problem, [*samples, *unasked])
        if self._following.by_samples:
            for sample in samples:
                self._note(self._samples.judge(problem, [sample] * self._following.n), problem.cluster)
        known = () if self._following.by_samples else self._following.figures
        return _of_samples_read(result, len(samples), known if unasked else None)

    def leave_out(self, problem: Problem) -> None:
        """A problem that cannot be judged."""
        if not self._following.by_samples:
            self._card.leave_out(problem)
            return
        for _ in self.indexes[problem.id]:
            self._samples.leave_out(problem)

    def readings(self) -> tuple[Reading, ...]:
        return self._card.readings()

    def _note(self, result: ProblemResult, cluster: str) -> None:
        for name, value in result.figures.items():
            bounds = result.bounds.get(name)
            ends = (bounds.low, bounds.high) if bounds else (value, value)
            for end, sums in zip(ends, self._values.setdefault(name, (ClusterSums(), ClusterSums())), strict=True):
                if None not in ends:
                    sums.add((end or 0.0) / 100, cluster or f"problem {result.problem}")

    def rows(self, version: str, mode: str, *, all_equal: bool) -> tuple[SummaryRow, ...]:
        """The rows that a run of the whole has, without a value where the part does not give it."""
        card = self._samples if self._following.by_samples else self._card
        return tuple(self._row(row) for row in card.rows(version, mode, all_equal=all_equal))

    def _row(self, row: SummaryRow) -> SummaryRow:
        if not self._gives(row.metric):
            return replace(row, value=None, interval=None, stderr=None, bounds=None, chance=None, certainty=None)
        if self._following.by_samples:
            return replace(
                row, estimated=True, certainty=None, interval=row.interval and self._interval(row.metric), stderr=None
            )
        return replace(row, estimated=self.estimated)

    def _gives(self, name: str) -> bool:
        """Whether what was read says something about the figure."""
        if self._following.by_samples:
            return name in self._plain and self._plain[name].is_mean_of_samples
        return name in (self._following.figures if self.left_inside else self._plain)

    @property
    def left_inside(self) -> bool:
        """Whether a problem was left before all its samples were asked."""
        return self._following.stops_inside and any(
            len(indexes) < self._following.n for indexes in self.indexes.values()
        )

    @property
    def estimated(self) -> bool:
        """Whether figures are those of a part."""
        return self._following.by_samples or len(self.indexes) < len(self._following.problems)

    def part(self) -> AskedPart:
        return AskedPart(
            read=sum(map(len, self.indexes.values())),
            answered=self._reader.told,
            planned=self._following.planned,
            problems=len(self.indexes),
            left_inside=self.left_inside,
            estimated=self.estimated,
            decisions=dict(self._reader.decisions),
        )

    def _interval(self, name: str) -> Interval | None:
        worst, best = (sums.interval() for sums in self._values.get(name, (ClusterSums(), ClusterSums())))
        return Interval(low=worst.low, high=best.high) if worst and best else None


def _of_samples_read(result: ProblemResult, count: int, known: Collection[str] | None) -> ProblemResult:
    """`known`: the figures that these samples give whatever the others would have been; None: all."""
    if known is None:
        return result
    values = result.values[:count]
    return replace(
        result,
        n=count,
        c=None if result.c is None else sum(value >= 1.0 for value in values),
        values=values,
        answers=result.answers[:count],
        why=result.why[:count],
        figures={name: value for name, value in result.figures.items() if name in known},
        bounds={name: bounds for name, bounds in result.bounds.items() if name in known},
    )


def notes(part: AskedPart | None, problems: int) -> Iterator[str]:
    """What a reader of the figures has to know first. `problems`: of the dataset."""
    if part is None:
        return
    asked = f"{part.share} of the requests ({part.read:,} of {part.planned:,} samples"
    if part.estimated:
        yield (
            f"Decided after {asked}, of {part.problems:,} of {problems:,} problems; {part.answered:,} samples were "
            "there by then): figures with ≈ are estimates from these, and those without a value need the rest, which "
            "--reuse RUN asks for."
        )
    else:
        yield f"{asked}) settled the figures that are shown, for all problems. --reuse RUN asks for the rest."
