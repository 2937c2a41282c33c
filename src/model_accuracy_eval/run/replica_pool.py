"""Replicas of one service behind one `Chat`: each request goes to the least busy, and from one that fails to another.

Samples of one problem go to two replicas where they can, so that the replicas can be compared on the same problems.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence

import msgspec
from msgspec.structs import replace

from model_accuracy_eval.errors import NoHonestScore
from model_accuracy_eval.ports import Chat, LoglikelihoodClient, Ports
from model_accuracy_eval.records import (
    Fault,
    JSONObject,
    LoglikelihoodRequest,
    LoglikelihoodSetting,
    PreparedDataset,
    Reply,
    Request,
    RequestMethod,
    RunPlan,
    Samplers,
)
from model_accuracy_eval.run.rounds import AskChat
from model_accuracy_eval.run.sample_collector import SampleCollector
from model_accuracy_eval.scoring.metrics import metric_table
from model_accuracy_eval.scoring.metrics.metric_table import metric, metric_uses

_LOST_IN_A_ROW = 3
"""Requests that a replica failed and another answered, after which it is asked no more."""
_DETOUR = 2
"""Requests that a replica may have more than another, so that the next samples of a problem go to another one."""

AskReplica = Callable[["Replica"], Awaitable[Reply]]


class Replica(msgspec.Struct, eq=False):
    """One server, and how it is doing."""

    name: str
    """Empty if it is the only one."""
    chat: Chat
    dismiss: Callable[[str, bool], object] = lambda reason, gone: None
    """Hears why it is asked no more, and whether that is because nobody reaches it."""
    loglikelihoods: LoglikelihoodClient | None = None
    looked_at: asyncio.Lock = msgspec.field(default_factory=asyncio.Lock)
    in_flight: int = 0
    asked: int = 0
    lost_in_a_row: int = 0
    given_up: bool = False


class ReplicaPool:
    """Implements `ports.Chat`. `say` hears of every replica that is given up."""

    def __init__(
        self,
        replicas: Sequence[Replica],
        say: Callable[[str], object],
        *,
        share: int | None = None,
        silent_retries: int = 0,
    ) -> None:
        """`share`: requests that there may be at a time for each replica, where others may join: then requests wait
        for the next one when all are lost. None: these replicas are all. `silent_retries`: further tries of a request,
        over all replicas, after tries that got no answer in time."""
        self._replicas = [*replicas]
        self._say = say
        self._silent_retries = silent_retries
        self._slots = None if share is None else _Slots(share, len(replicas))
        self._last: tuple[object, Replica] | None = None
        """What was asked last, and whom."""

    def add(self, replica: Replica) -> None:
        """Lets another replica answer from now on."""
        self._replicas.append(replica)
        if self._slots is not None:
            self._slots.open()

    async def ask(self, request: Request) -> Reply:
        return await self._ask_any(lambda replica: replica.chat.ask(request), request.messages)

    def conversation(self) -> AskChat:
        """Returns an `ask` for the requests of one sample, which stays with its replica while that answers."""
        favourite: list[Replica] = []

        async def ask(request: Request) -> Reply:
            async def asked(replica: Replica) -> Reply:
                favourite[:] = [replica]
                return await replica.chat.ask(request)

            return await self._ask_any(asked, request.messages, favourite)

        return ask

    async def loglikelihood_client(self, setting: LoglikelihoodSetting, extra: JSONObject) -> LoglikelihoodClient:
        """All replicas have to give log-likelihoods in one way; raises `NoHonestScore` otherwise."""
        pooled = _PooledLoglikelihoods(self._ask_any, setting, extra)
        for replica in self._replicas:
            await pooled.client_of(replica)
        return pooled

    async def models(self) -> tuple[str, ...]:
        return await self._replicas[0].chat.models()

    async def context_length(self) -> int | None:
        return await self._replicas[0].chat.context_length()

    async def samplers(self, probes: Sequence[Request] = ()) -> Samplers | Fault:
        return await self._replicas[0].chat.samplers(probes)

    @property
    def sends_finish_reasons(self) -> bool | None:
        told = {replica.chat.sends_finish_reasons for replica in self._replicas}
        return True if True in told else False if False in told else None

    async def close(self) -> None:
        for replica in self._replicas:
            await replica.chat.close()

    async def _ask_any(self, ask: AskReplica, about: object, favourite: Sequence[Replica] = ()) -> Reply:
        if self._slots is None:
            return await self._ask_one_after_another(ask, about, favourite)
        while True:
            async with self._slots:
                reply = await self._ask_one_after_another(ask, about, favourite)
            if reply.fault is None or reply.fault.kind != "refused":
                return reply

    async def _ask_one_after_another(self, ask: AskReplica, about: object, favourite: Sequence[Replica]) -> Reply:
        """Asks one replica after another until one does not fail. A rejection is an answer: all would say the same.
        When all were silent, which may have been a moment's load, they are asked once more."""
        tried: list[Replica] = []
        failed: list[Replica] = []
        tries = silences = 0
        while True:
            replica = self._choose(about, tried, favourite)
            replica.in_flight += 1
            replica.asked += 1
            try:
                reply = await ask(replica)
            finally:
                replica.in_flight -= 1
            tries += reply.tries
            if reply.fault is None or reply.fault.kind == "rejected":
                self._blame([each for each in failed if each is not replica])
                replica.lost_in_a_row = 0
                return replace(reply, replica=replica.name, tries=tries)
            tried.append(replica)
            if replica not in failed:
                failed.append(replica)
            silences += reply.fault.silent
            if reply.fault.kind == "refused":
                self._give_up(replica, reply.fault.sentence, gone=True)
            if not [each for each in self._replicas if each not in tried and not each.given_up]:
                if not reply.fault.silent or silences > self._silent_retries:
                    return replace(reply, tries=tries)
                tried.clear()

    def _choose(self, about: object, tried: Sequence[Replica], favourite: Sequence[Replica]) -> Replica:
        """The least busy one; of equally busy ones the one that was asked least. The last one is asked in any case."""
        for replica in favourite:
            if replica not in tried and not replica.given_up:
                return replica
        able = [replica for replica in self._replicas if replica not in tried and not replica.given_up]

        def busy(replica: Replica) -> tuple[int, int]:
            again = self._last is not None and self._last == (about, replica)
            return replica.in_flight + (_DETOUR if again else 0), replica.asked

        chosen = min(able or self._replicas, key=busy)
        self._last = (about, chosen)
        return chosen

    def _blame(self, failed: Sequence[Replica]) -> None:
        """A request that another replica answered is the fault of those that did not."""
        for replica in failed:
            replica.lost_in_a_row += 1
            if replica.lost_in_a_row >= _LOST_IN_A_ROW:
                self._give_up(replica, f"it failed {replica.lost_in_a_row} requests in a row that others answered")

    def _give_up(self, replica: Replica, reason: str, *, gone: bool = False) -> None:
        if replica.given_up:
            return
        replica.given_up = True
        if replica.name:
            left = sum(not each.given_up for each in self._replicas)
            self._say(f"The replica {replica.name} is asked no more, {left} are left: {reason.rstrip('.')}.")
        if self._slots is not None:
            self._slots.close()
        replica.dismiss(reason, gone)


class _Slots:
    """Requests that may be under way, so many for each replica; those that wait are served in their order."""

    def __init__(self, share: int, replicas: int) -> None:
        self._share = share
        self._free = asyncio.Semaphore(share * replicas)
        self._owed = 0
        """Slots that are taken back as soon as they are given back."""

    def open(self) -> None:
        """A replica has come."""
        for _ in range(self._share):
            self._give_back()

    def close(self) -> None:
        """One has gone."""
        self._owed += self._share

    async def __aenter__(self) -> None:
        await self._free.acquire()

    async def __aexit__(self, *_: object) -> None:
        self._give_back()

    def _give_back(self) -> None:
        if self._owed:
            self._owed -= 1
        else:
            self._free.release()


class _PooledLoglikelihoods:
    """Implements `ports.LoglikelihoodClient` over all replicas; the first speaks for them, and one that joins later is
    looked at when it is first asked."""

    method: RequestMethod
    findings: tuple[str, ...]

    def __init__(
        self,
        ask_any: Callable[[AskReplica, object], Awaitable[Reply]],
        setting: LoglikelihoodSetting,
        extra: JSONObject,
    ) -> None:
        self._ask_any = ask_any
        self._setting, self._extra = setting, extra
        self._first = ""

    async def client_of(self, replica: Replica) -> LoglikelihoodClient:
        async with replica.looked_at:
            if replica.loglikelihoods is None:
                found = await replica.chat.loglikelihood_client(self._setting, self._extra)
                if not self._first:
                    self._first, self.method, self.findings = replica.name or "it", found.method, found.findings
                if found.method != self.method:
                    raise NoHonestScore(
                        f"The replicas give log-likelihoods in different ways ({self._first} by {self.method}, "
                        f"{replica.name} by {found.method}): start equal servers."
                    )
                replica.loglikelihoods = found
            return replica.loglikelihoods

    async def loglikelihood(self, request: LoglikelihoodRequest) -> Reply:
        async def ask(replica: Replica) -> Reply:
            return await (await self.client_of(replica)).loglikelihood(request)

        return await self._ask_any(ask, request.candidates)


# How the log-likelihoods of a run are taken: in one way all along, and one that its datasets can do with.


async def agreed_loglikelihoods(
    plan: RunPlan, collectors: Sequence[SampleCollector], chat: Chat, ports: Ports
) -> LoglikelihoodClient:
    """Returns the client for the method that the run began with, else for the one of the settings."""
    first_method = next((collector.first_method for collector in collectors if collector.first_method), None)
    try:
        wish = first_method or plan.settings.loglikelihood
        client = await chat.loglikelihood_client(wish, plan.sampling.fields())
    except NoHonestScore as error:
        if first_method is None:
            raise
        raise NoHonestScore(
            f"The run has taken log-likelihoods by {first_method} until now, and methods are not mixed. {error}"
        ) from error
    for collector in collectors:
        for finding in client.findings:
            collector.log.write(f"log-likelihoods by {finding}")
    ports.progress.say(f"Log-likelihoods are taken by {client.findings[-1] if client.findings else client.method}")
    if objections := [line for collector in collectors for line in _objections(collector.prepared, client.method)]:
        raise NoHonestScore(" ".join(objections), detail="\n".join(client.findings))
    return client


def _objections(prepared: PreparedDataset, method: RequestMethod) -> Iterator[str]:
    """Says why a method cannot evaluate a dataset."""
    for task in prepared.tasks:
        names = {measure.name for measure in metric_uses(task) if metric(measure.name).reads == "likelihoods"}
        missing = metric_table.unavailable_metrics(task, method)
        if task.kind != "generate" and names and names == set(missing):
            yield f"{task.name} cannot be evaluated by {method}: {metric_table.unavailable_note(missing)}"
            return
    for problem in prepared.problems:
        if metric_table.too_many_options(problem, method):
            yield (
                f"{prepared.task.name} cannot be evaluated by {method}: "
                f"problem {problem.id} has {len(problem.choices)} options, and there are 26 letters."
            )
            return
