"""One dataset while it is asked: which samples are missing, where they are kept, and how many there are.

Seeds: sample `i` of the problem at place `p` of the whole dataset has seed base + p·n + i, and servers give choice
`j` of a request with seed s what a lone request with seed s + j would get. So one request for five choices and five
requests for one get the same samples, and a run that is continued asks what an undisturbed one would have asked.
"""

import asyncio
import base64
import contextlib
from collections.abc import Iterable
from statistics import median

import msgspec

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.ports import Activity, Archive, Ports, Store
from model_accuracy_eval.records import (
    Attempt,
    Counts,
    Fault,
    FigureSoFar,
    LoglikelihoodRequest,
    LoglikelihoodSetting,
    Media,
    PreparedDataset,
    Problem,
    Reply,
    Request,
    RequestMethod,
    RunPlan,
    Sampling,
    TaskSpec,
)
from model_accuracy_eval.run.ask_store import AskRunners, AskStore
from model_accuracy_eval.run.early_stop import Follower
from model_accuracy_eval.run.rounds import reply_samples, without_partial_count
from model_accuracy_eval.run.run_progress import DatasetLog, RunningFigure, SpareTime
from model_accuracy_eval.run_folder import journal, runfile
from model_accuracy_eval.run_folder.runfile import RUN_FILE
from model_accuracy_eval.scoring.answers import tools
from model_accuracy_eval.scoring.code.code_task_trials import runs_programs
from model_accuracy_eval.scoring.verdicts.following import Following

_LARGEST_SEED = 2**31 - 1


class SampleRequest(msgspec.Struct, frozen=True):
    """Samples of one problem that are asked for with one request."""

    collector: "SampleCollector"
    place: int
    indexes: tuple[int, ...]

    @property
    def problem(self) -> Problem:
        return self.collector.prepared.problems[self.place]

    @property
    def dataset(self) -> str:
        return self.collector.prepared.task.name

    @property
    def task(self) -> TaskSpec:
        return self.collector.prepared.task.of(self.problem)

    @property
    def by_loglikelihood(self) -> bool:
        return self.task.kind != "generate"

    @property
    def sampling(self) -> Sampling:
        return self.collector.plan.sampling.of(self.task) if self.problem.part else self.collector.sampling

    @property
    def allows_several_choices(self) -> bool:
        """Says whether one request may ask for all samples.

        With greedy decoding some servers answer several choices with an error, others with one sample. Conversations
        of several requests differ after their first replies.
        """
        consecutive = self.indexes[-1] - self.indexes[0] + 1 == len(self.indexes)
        in_one = not (self.task.tools or self.task.functions or self.problem.follow_ups)
        return consecutive and bool(self.sampling.temperature) and in_one

    def halves(self) -> list["SampleRequest"]:
        """The samples as two requests, so that two replicas can answer the same problem."""
        middle = (len(self.indexes) + 1) // 2
        parts = [part for part in (self.indexes[:middle], self.indexes[middle:]) if part]
        return [SampleRequest(self.collector, self.place, part) for part in parts]

    def singles(self) -> list["SampleRequest"]:
        return [SampleRequest(self.collector, self.place, (index,)) for index in self.indexes]

    @property
    def method(self) -> RequestMethod:
        return "text" if self.task.mode == "text" else "chat"

    @property
    def seed(self) -> int | None:
        sampling = self.collector.sampling
        if sampling.seed is None:
            return None
        shard = self.collector.plan.shard
        place = shard.place(self.place) if shard else self.place
        return (sampling.seed + place * sampling.n + self.indexes[0]) % _LARGEST_SEED

    def request(self) -> Request:
        task, sampling = self.task, self.sampling
        return Request(
            messages=self.problem.messages,
            text=self.problem.text if task.mode == "text" else None,
            n=len(self.indexes),
            temperature=sampling.temperature or 0.0,
            top_p=sampling.top_p or 1.0,
            max_tokens=sampling.max_tokens or task.max_tokens,
            seed=self.seed,
            stop=task.stop,
            tools=tools.offered(task.tools) or self.problem.functions,
            extra=sampling.extra,
        )

    def loglikelihood_request(self) -> LoglikelihoodRequest:
        """Where only an answer can be had, it is the likeliest one, unless another temperature is set."""
        task, problem = self.task, self.problem
        settings = (self.collector.plan.sampling.temperature, task.temperature, 0.0)
        temperature = next(value for value in settings if value is not None)
        return LoglikelihoodRequest(
            request=msgspec.structs.replace(self.request(), text=None, temperature=temperature),
            candidates=problem.candidates,
            options=len(problem.choices) or len(problem.candidates),
            boundary=task.boundary,
            rolling=task.kind == "rolling",
        )


class SampleCollector:
    """Keeps the samples of one dataset: the answered ones in the journal, each once, the others with their reason."""

    def __init__(
        self,
        plan: RunPlan,
        prepared: PreparedDataset,
        store: Store,
        ports: Ports,
        *,
        runners: AskRunners,
        following: Following | None,
        spare: SpareTime,
    ) -> None:
        """`following`: what is followed of it, which says which samples are needed; None: all are."""
        self.plan = plan
        self.prepared = prepared
        self.ask_store = AskStore(plan, prepared, store)
        self.follower = Follower(plan, prepared, following, store, self.ask_store) if following else None
        is_judged = plan.settings.mode != "infer" and prepared.task.kind == "generate"
        self._runs_programs = is_judged and self.follower is None and runs_programs(prepared)
        self._runners = runners
        self.in_flight: set[asyncio.Task[tuple[Reply, RequestMethod]]] = set()
        """Requests that end when nothing more is needed."""
        self.sampling = plan.sampling.of(prepared.task)
        self._store = store
        self._kept_media: set[str] = set()
        self._ports = ports
        self.log = DatasetLog("infer", plan, prepared.task.name, store, ports)
        self._journal = journal.file(plan.settings.label, prepared.task.name)
        self._failures = journal.failures_file(plan.settings.label, prepared.task.name)
        self.counts = Counts()
        self.first_method: LoglikelihoodSetting | None = None
        """How the log-likelihoods in the journal were taken."""
        self._began = ports.clock.elapsed()
        self._spare = spare
        self._figure: RunningFigure | None = None
        self.activity = Activity(ports.clock.elapsed, self._so_far, may_end_early=following is not None)

    def _so_far(self) -> FigureSoFar | str | None:
        if self.follower is not None:
            return self.follower.reader.so_far.figure()
        return self._figure.so_far() if self._figure is not None else None

    def open(self) -> list[SampleRequest]:
        """Returns requests for the samples that the journal does not hold, problem by problem."""
        n = self.sampling.n
        present = {journal.key(line) for line in self._store.lines(self._journal)}
        if any(task.kind != "generate" for task in self.prepared.tasks):
            methods = map(journal.loglikelihood_method, self._store.lines(self._journal))
            self.first_method = next((method for method in methods if method), None)
        per_problem = [
            SampleRequest(self, place, tuple(index for index in range(n) if (problem.id, index) not in present))
            for place, problem in enumerate(self.prepared.problems)
        ]
        requests = [request for request in per_problem if request.indexes]
        planned = n * len(self.prepared.problems)
        self.counts = Counts(planned=planned, answered=planned - sum(len(request.indexes) for request in requests))
        self._store.remove(self._failures)
        self.log.write(f"{planned} samples planned, {self.counts.answered} of them answered before")
        if self.follower is None:
            whole = {request.place for request in requests if len(request.indexes) == n}
            self._figure = RunningFigure(self.plan, self.prepared, whole, self._spare)
        self._ports.progress.begin(self.prepared.task.name, self.counts, self.activity)
        return requests

    @property
    def is_done(self) -> bool:
        """Whether the gates have what they need."""
        return self.follower is not None and self.follower.reader.is_done

    async def needed(self, requests: list[SampleRequest]) -> list[SampleRequest]:
        """Of these requests those that are needed, in the order of their issue."""
        if self.follower is None:
            return requests
        await self.follower.replay(self._runners)
        needed: list[SampleRequest] = []
        for unit in self.follower.following.order:
            lacks = self.follower.reader.lacks(unit.place)
            indexes = lacks if unit.sample is None else (unit.sample,) if unit.sample in lacks else ()
            if indexes:
                first_alone = indexes[:1] if self.follower.following.stops_inside else indexes
                needed.append(SampleRequest(self, unit.place, first_alone))
        return needed

    def next_inside(self, request: SampleRequest) -> list[SampleRequest]:
        """The next sample of a problem whose figures are not settled by the one that has just been read."""
        if self.follower is None or not self.follower.following.stops_inside:
            return []
        lacks = self.follower.reader.lacks(request.place)
        return [SampleRequest(self, request.place, lacks[:1])] if lacks and request.indexes[0] not in lacks else []

    async def read(self, request: SampleRequest) -> None:
        """Lets who follows the dataset judge the new samples of a problem."""
        if self.follower is not None:
            await self.follower.read(request.place, self._runners)

    def abandon(self) -> None:
        """Ends the requests whose answers are no longer needed."""
        for task in self.in_flight:
            task.cancel()

    def drop_unfinished(self) -> list[SampleRequest]:
        """Removes replies without a finish_reason from the journal; returns requests for their samples."""
        dropped = [journal.key(line) for line in self._store.lines(self._journal) if journal.unfinished(line)]
        if not dropped:
            return []
        complete = [line for line in self._store.lines(self._journal) if not journal.unfinished(line)]
        self._store.write(self._journal, b"".join(complete))
        self.log.write(
            f"{len(dropped)} replies without a finish_reason are asked for again: the service sends one at the end"
        )
        if self.counts.planned:  # it was opened before
            self._count(answered=-len(dropped))
        places = {problem.id: place for place, problem in enumerate(self.prepared.problems)}
        return [SampleRequest(self, places[problem], (index,)) for problem, index in dropped if problem in places]

    def close(self) -> None:
        counts, seconds = self.counts, self._ports.clock.elapsed() - self._began
        self.log.write(
            f"{counts.answered} answered, {counts.rejected} rejected, {counts.failed} failed, "
            f"{counts.cut} cut by length, {counts.empty} empty, in {seconds:.1f} s"
        )
        self._ports.progress.end(self.prepared.task.name, counts)

    def keep(self, request: SampleRequest, reply: Reply, method: RequestMethod) -> list[SampleRequest]:
        """Journals the samples of a reply, and returns requests for those that it lacks.

        One append: a kill keeps all samples of a reply or none.
        """
        problem, now = request.problem, self._ports.clock.now()
        counted = without_partial_count(reply)
        if counted is not reply:
            self.log.write(f"problem {problem.id}: the service counts the tokens of one choice alone: left out")
        attempts = reply_samples(problem, request.indexes, request.seed, counted, method)
        attempts = [self._with_files(attempt) if attempt.media else attempt for attempt in attempts]
        lines = b"".join(journal.line(self.prepared, problem, attempt, now) for attempt in attempts)
        self._store.append(self._journal, lines)
        if self.follower is not None:
            self.follower.on_sample(problem, attempts)
        elif self._runs_programs:
            self.ask_store.run_programs(problem, attempts, self._runners)
        if counted.usage is not None:
            self.activity.tokens += counted.usage.completion_tokens or 0
        if self._figure is not None:
            self._figure.take(request.place, attempts)
        self._count(
            answered=len(attempts),
            cut=sum(attempt.finish_reason == "length" for attempt in attempts),
            empty=sum(attempt.is_empty for attempt in attempts),
        )
        there = {attempt.index for attempt in attempts}
        return [single for single in request.singles() if there.isdisjoint(single.indexes)]

    def _with_files(self, attempt: Attempt) -> Attempt:
        """The sample with its sounds and pictures in files; those that only have an address keep it."""
        kept: list[Media] = []
        for media in attempt.media:
            name = journal.media_file(self.plan.settings.label, self.prepared.task.name, media)
            if media.url.startswith("data:"):
                if name not in self._kept_media:
                    self._kept_media.add(name)
                    self._store.write(name, base64.b64decode(media.url.partition(",")[2]))
                kept.append(msgspec.structs.replace(media, name=name, url=""))
            else:
                kept.append(media)
        return msgspec.structs.replace(attempt, media=tuple(kept))

    def give_up(self, request: SampleRequest, fault: Fault, tries: int) -> None:
        """Notes why the samples have no answer."""
        lost = [Attempt(problem=request.problem.id, index=index, tries=tries, fault=fault) for index in request.indexes]
        if self._figure is not None:
            self._figure.take(request.place, lost)
        for attempt in lost:
            line = journal.failure_line(self.prepared, request.problem, attempt, fault, self._ports.clock.now())
            self._store.append(self._failures, line)
            if self.follower is not None:
                self.follower.on_sample(request.problem, [attempt])
        self.log.write(f"problem {request.problem.id}, samples {list(request.indexes)}: {fault.sentence}")
        self._count(**{"rejected" if fault.kind == "rejected" else "failed": len(request.indexes)})

    def _count(self, **increments: int) -> None:
        self.counts = self.counts.plus(**increments)
        self._ports.progress.update(self.prepared.task.name, self.counts)


# In which order problems are asked: those with long answers first, so that at the end no long one runs alone.
#
# How long answers are is known from an earlier run: the baseline, or this run before it was continued. The order
# changes no sample, because seeds are of problems and not of requests.


def longest_first(requests: list[SampleRequest], plan: RunPlan, store: Store, ports: Ports) -> list[SampleRequest]:
    """Requests of which no length is known come where the middle one of their dataset would.

    What gates are decided by keeps its order, which was drawn at random, and goes ahead. Where no earlier run says
    anything, nothing changes.
    """
    followed = [request for request in requests if request.collector.follower is not None]
    free = [request for request in requests if request.collector.follower is None]
    datasets = dict.fromkeys(request.dataset for request in free)
    lengths = _lengths(datasets, plan, store, ports)
    known = [seconds for of_dataset in lengths.values() for seconds in of_dataset.values()]
    if not known:
        return requests
    for collector in dict.fromkeys(request.collector for request in free):
        collector.log.write("problems whose answers took long before are asked first")
    usual = {name: median(lengths[name].values() or known) for name in datasets}

    def expected(request: SampleRequest) -> float:
        return lengths[request.dataset].get(request.problem.id, usual[request.dataset])

    return followed + sorted(free, key=expected, reverse=True)


def _lengths(datasets: Iterable[str], plan: RunPlan, store: Store, ports: Ports) -> dict[str, dict[int, float]]:
    """Dataset → problem → seconds of its longest answer. What this run has seen counts more than its baseline."""
    before: dict[str, dict[int, float]] = {}
    # A baseline that cannot be read any more costs time at the end of the run, but no run.
    with contextlib.suppress(EvalError):
        if plan.settings.baseline:
            archive = ports.open_archive(plan.settings.baseline)
            label = runfile.read(archive.read(RUN_FILE), archive.root).label
            before = {name: _longest_answers(archive, label, name) for name in datasets}
    return {name: before.get(name, {}) | _longest_answers(store, plan.settings.label, name) for name in datasets}


def _longest_answers(archive: Archive, label: str, dataset: str) -> dict[int, float]:
    """Of the samples of each problem the longest one, as one request may have asked for all of them."""
    longest: dict[int, float] = {}
    for problem, seconds in filter(None, map(journal.sample_time, archive.lines(journal.file(label, dataset)))):
        longest[problem] = max(seconds, longest.get(problem, 0.0))
    return longest
