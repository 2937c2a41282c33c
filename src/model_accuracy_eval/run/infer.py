"""Problems × n → answered samples in the journals: bounded concurrency, each sample asked once, none padded.

All datasets go through one pool of workers, so that the slow last answers of one do not leave the service idle.
"""

import asyncio
import math
from collections import deque
from collections.abc import Awaitable, Callable, Iterator, Mapping
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from model_accuracy_eval.errors import AdapterFailed, NoHonestScore
from model_accuracy_eval.ports import LoglikelihoodClient, Ports, Store
from model_accuracy_eval.records import (
    ClientLoad,
    Fault,
    PreparedDataset,
    Reply,
    RequestMethod,
    RunPlan,
    RunSpeed,
    Service,
    ServiceFinding,
)
from model_accuracy_eval.run.ask_store import AskRunners
from model_accuracy_eval.run.client_load import ClientClock
from model_accuracy_eval.run.deploy import LiveService
from model_accuracy_eval.run.replica_pool import Replica, ReplicaPool, agreed_loglikelihoods
from model_accuracy_eval.run.rounds import ask_in_turns, converse, with_calls_in_texts
from model_accuracy_eval.run.run_progress import SpareTime
from model_accuracy_eval.run.sample_collector import SampleCollector, SampleRequest, longest_first
from model_accuracy_eval.scoring.figures import notes
from model_accuracy_eval.scoring.verdicts.following import Following
from model_accuracy_eval.system.clock import run, run_checked, run_workers

_REPLICA_GONE_AFTER = 5.0
"""Seconds of refused connections after which the others do the work of a replica."""
_FEW = 16
"""Requests: of those that are sent one by one, few may be long by chance."""

LookAt = Callable[[LiveService], Awaitable[tuple[list[ServiceFinding], str]]]
"""What is found in a replica that joins, and why it is not to be asked; empty: it may be."""


class Asked(NamedTuple):
    """What is known when everything was asked."""

    service: Service | None
    """As its replies have shown it; None: none came up."""
    tail_seconds: float | None = None
    """How long fewer requests were under way than may be, because none was left; None: it did not come to that."""
    answered_before: int = 0
    """Samples that were in the journals already."""
    client: ClientLoad | None = None
    """How busy this process was; None: nobody has looked."""
    of_shards: RunSpeed | None = None
    """How fast the services of a merged run were, which shards have measured."""
    joined: tuple[LiveService, ...] = ()
    """Replicas that came while the others were asked."""


def collect(
    plan: RunPlan,
    datasets: tuple[PreparedDataset, ...],
    live: LiveService,
    store: Store,
    ports: Ports,
    *,
    look_at: LookAt | None = None,
    followings: Mapping[str, Following] = MappingProxyType({}),
) -> Asked:
    """Asks for every sample that is needed and that the journals do not hold yet. `look_at`: what a replica that joins
    has to pass; None: nothing. `followings`: the datasets of which not all samples may be needed."""
    if live.service.samplers:
        plan = replace(plan, sampling=replace(plan.sampling, neutral=live.service.samplers.neutral))
    spare, runners = SpareTime(), AskRunners(plan, ports)
    collectors = [
        SampleCollector(
            plan, prepared, store, ports, runners=runners, following=followings.get(prepared.task.name), spare=spare
        )
        for prepared in datasets
    ]
    try:
        return run(_Inference(plan, collectors, live, store, ports, look_at=look_at).run(runners))
    finally:
        for collector in collectors:
            collector.close()


class _Inference:
    """Workers over one stream of requests; `_queue` holds single samples, which go ahead of new problems."""

    def __init__(
        self,
        plan: RunPlan,
        collectors: list[SampleCollector],
        live: LiveService,
        store: Store,
        ports: Ports,
        *,
        look_at: LookAt | None,
    ) -> None:
        self._plan = plan
        self._store = store
        self._collectors = collectors
        self._live = live
        self._ports = ports
        self._look_at = look_at
        self._looks: list[asyncio.Task[None]] = []
        """At replicas that have come and are not asked yet."""
        self._joined: list[LiveService] = []
        self._found: dict[str, list[ServiceFinding]] = {}
        """In each of them, when it came last."""
        self._queue: deque[SampleRequest] = deque()
        self._loglikelihoods: LoglikelihoodClient | None = None
        self._several_choices: bool | None = None
        """Whether one request can get several choices from the service; None until an answer shows it."""
        self._tail_began: float | None = None
        """When the first worker found nothing left to ask."""
        self._tail_seconds = 0.0
        self._answered_before = 0
        self._silences = 0
        """Requests in a row that were lost because all their tries got no answer in time."""

    async def run(self, runners: AskRunners) -> Asked:
        service, chat, client = self._live.service, self._connect(), ClientClock(self._ports.clock.now())
        try:
            await run_checked(self._run(chat), lambda: self._check(chat), self._ports.clock)
        finally:
            load = client.end()
            for look in self._looks:
                look.cancel()
            await asyncio.gather(*self._looks, return_exceptions=True)
            await chat.close()
            for each in self._collectors:
                await each.ask_store.close()
            await runners.close()
        for look in [look for look in self._looks if not look.cancelled()]:
            look.result()
        findings = (*service.findings, *(each for found in self._found.values() for each in found))
        service = replace(service, sends_finish_reasons=chat.sends_finish_reasons, findings=findings)
        tail = round(self._tail_seconds, 3)
        return Asked(service, tail, self._answered_before, load, joined=tuple(self._joined))

    def _connect(self) -> ReplicaPool:
        limits = self._plan.client_limits
        share = limits.concurrency / self._plan.settings.replica_count
        return ReplicaPool(
            [self._replica(live) for live in self._live.replicas],
            self._ports.progress.say,
            # Where some replicas may be missing, the others do not get what these would be asked.
            share=math.ceil(share) if self._live.source else None,
            silent_retries=limits.retries if self._has_replicas else 0,
        )

    @property
    def _has_replicas(self) -> bool:
        return len(self._live.replicas) > 1 or self._plan.settings.replica_count > 1

    def _replica(self, live: LiveService) -> Replica:
        limits = self._plan.client_limits
        if self._has_replicas:
            # A request is not worth ten more minutes of a replica that hangs, while others answer.
            limits = replace(limits, gone_after=_REPLICA_GONE_AFTER, silent_retries=0)
        name = live.name if self._has_replicas else ""
        chat, source = self._ports.connect(live.service, limits, role="model"), self._live.source
        if source is None:
            return Replica(name, chat)
        return Replica(name, chat, lambda reason, gone: source.dismiss(live.service, reason, gone=gone))

    def _check(self, chat: ReplicaPool) -> None:
        self._live.check()
        self._ports.progress.tick()
        for live in self._live.joined(self._ports.progress.say):
            self._looks.append(asyncio.ensure_future(self._let_in(live, chat)))
        for look in [look for look in self._looks if look.done()]:
            self._looks.remove(look)
            look.result()

    async def _let_in(self, live: LiveService, chat: ReplicaPool) -> None:
        """A replica that joins is looked at as those were that the run began with."""
        found, objection = await self._look_at(live) if self._look_at else ([], "")
        self._found[live.name] = found
        if objection:
            self._ports.progress.say(f"{objection} It is asked nothing.")
            if self._live.source is not None:
                self._live.source.dismiss(live.service, objection, gone=False)
        else:
            self._joined.append(live)
            chat.add(self._replica(live))

    async def _run(self, chat: ReplicaPool) -> None:
        """Asks for everything, then again for what was taken for complete before the first finish_reason came."""
        known = chat.sends_finish_reasons is True
        requests: list[SampleRequest] = []
        for each in self._collectors:
            if known:
                each.drop_unfinished()
            requests += await each.needed(each.open())
        self._answered_before = sum(each.counts.answered for each in self._collectors)
        await self._ask_all(longest_first(requests, self._plan, self._store, self._ports), chat)
        if chat.sends_finish_reasons and not known:
            dropped = [(each, each.drop_unfinished()) for each in self._collectors]
            again = [await each.needed(requests) for each, requests in dropped if requests]
            await self._ask_all([item for requests in again for item in requests], chat)

    async def _ask_all(self, requests: list[SampleRequest], chat: ReplicaPool) -> None:
        if self._has_replicas:
            requests = [part for request in requests for part in request.halves()]
        collectors = list(dict.fromkeys(request.collector for request in requests if request.by_loglikelihood))
        if collectors:
            self._loglikelihoods = await agreed_loglikelihoods(self._plan, collectors, chat, self._ports)
        stream, self._tail_began = iter(requests), None
        await run_workers(lambda: self._worker(stream, chat), self._plan.client_limits.concurrency)
        if requests and self._tail_began is not None:
            self._tail_seconds += self._ports.clock.elapsed() - self._tail_began

    async def _worker(self, stream: Iterator[SampleRequest], chat: ReplicaPool) -> None:
        while (request := self._next(stream)) is not None:
            is_followed = request.collector.follower is not None
            with request.collector.activity.request():
                ask = self._while_needed if is_followed else self._answer
                answered = await ask(request, chat)
            if answered is not None:
                self._take(request, *answered)
                if is_followed:
                    await self._follow(request)
        if self._tail_began is None:
            self._tail_began = self._ports.clock.elapsed()

    async def _answer(self, request: SampleRequest, chat: ReplicaPool) -> tuple[Reply, RequestMethod]:
        if request.by_loglikelihood and self._loglikelihoods is not None:
            reply = await self._loglikelihoods.loglikelihood(request.loglikelihood_request())
            return reply, self._loglikelihoods.method
        if request.task.tools:
            reply = await converse(chat.conversation(), request.request(), request.task)
        elif request.task.functions:
            reply = with_calls_in_texts(await chat.ask(request.request()))
        elif request.problem.follow_ups:
            reply = await ask_in_turns(chat.conversation(), request.request(), request.problem)
        else:
            reply = await chat.ask(request.request())
        return reply, request.method

    async def _while_needed(self, request: SampleRequest, chat: ReplicaPool) -> tuple[Reply, RequestMethod] | None:
        """None if the dataset's gates were decided before the answer was there; its connection is closed then."""
        task = asyncio.ensure_future(self._answer(request, chat))
        request.collector.in_flight.add(task)
        try:
            await asyncio.wait({task})
        finally:
            request.collector.in_flight.discard(task)
            if not task.done():
                task.cancel()
                await asyncio.gather(task, return_exceptions=True)
        return None if task.cancelled() else task.result()

    async def _follow(self, request: SampleRequest) -> None:
        """Lets the dataset's gates read the new samples."""
        await request.collector.read(request)
        if request.collector.is_done:
            request.collector.abandon()
        else:
            self._queue.extend(request.collector.next_inside(request))

    def _next(self, stream: Iterator[SampleRequest]) -> SampleRequest | None:
        while (request := self._queue.popleft() if self._queue else next(stream, None)) is not None:
            if request.collector.is_done:
                continue
            if len(request.indexes) == 1 or (self._several_choices is not False and request.allows_several_choices):
                return request
            self._queue.extend(request.singles())
        return None

    def _take(self, request: SampleRequest, reply: Reply, method: RequestMethod) -> None:
        """Journals a reply, and notes what it shows."""
        if reply.fault is not None:
            self._take_fault(request, reply.fault, reply.tries)
            return
        self._silences = 0
        total, missing = len(request.indexes), request.collector.keep(request, reply, method)
        if total > 1:
            self._several_choices = not missing
        if missing:
            request.collector.log.write(f"problem {request.problem.id}: {total - len(missing)} of {total} choices came")
            self._queue.extend(missing)

    def _take_fault(self, request: SampleRequest, fault: Fault, tries: int) -> None:
        if fault.kind == "refused":
            self._live.check()
            raise AdapterFailed(f"The service is gone: {fault.sentence}", stage="infer")
        if fault.kind == "rejected" and len(request.indexes) > 1 and not self._several_choices:
            # The service may have rejected the number of choices.
            self._several_choices = False
            request.collector.log.write(
                f"problem {request.problem.id}: {fault.sentence}; its samples are asked one by one"
            )
            self._queue.extend(request.singles())
            return
        request.collector.give_up(request, fault, tries)
        self._raise_if_all_are_rejected(fault)
        self._raise_if_all_are_silent(fault)

    def _raise_if_all_are_rejected(self, fault: Fault) -> None:
        """When every request of the first wave was rejected, the rest will be too.

        A shard may be as small as that by chance; of the whole run it says nothing.
        """
        settings, counts = self._plan.settings, [collector.counts for collector in self._collectors]
        rejected, planned = (sum(getattr(count, name) for count in counts) for name in ("rejected", "planned"))
        wave = min(self._plan.client_limits.concurrency, planned)
        if self._plan.shard and wave == planned:
            return
        if rejected >= wave and not any(count.answered for count in counts):
            raise NoHonestScore(
                f"The service rejected the first {rejected} requests, so the run ended: {fault.sentence}"
                f"{notes.step_after_rejection(fault.sentence)}",
                next_step=f"model-accuracy-eval doctor --endpoint {settings.endpoint[0]}" if settings.endpoint else "",
            )

    def _raise_if_all_are_silent(self, fault: Fault) -> None:
        """A server that hangs still accepts connections, so it is not gone. Each of its requests takes all its tries,
        and one that hangs at the beginning of a night would keep a run waiting for weeks."""
        self._silences = self._silences + 1 if fault.silent else 0
        if self._silences >= max(_FEW, 2 * self._plan.client_limits.concurrency):
            raise AdapterFailed(
                f"The service takes requests, but the last {self._silences} in a row got no answer in time: "
                f"{fault.sentence} Start it again, and go on with --reuse.",
                stage="infer",
            )
