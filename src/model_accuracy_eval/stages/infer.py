"""Problems × n → answered samples in the journals: bounded concurrency, each sample asked once, none padded.

All datasets go through one pool of workers, so that the slow last answers of one do not leave the service idle.
"""

from collections import deque
from collections.abc import Iterator

from model_accuracy_eval.errors import AdapterFailed, NoHonestScore
from model_accuracy_eval.ports import Chat, Ports, Scale, Store
from model_accuracy_eval.records import Exam, Fault, Reply, Rung, RunPlan
from model_accuracy_eval.stages.alongside import Alongside
from model_accuracy_eval.stages.attended import attended, crowd
from model_accuracy_eval.stages.conversing import converse
from model_accuracy_eval.stages.deploy import Live
from model_accuracy_eval.stages.desk import Desk, Wanted
from model_accuracy_eval.stages.weighing import find_scale


def collect(plan: RunPlan, exams: tuple[Exam, ...], live: Live, store: Store, ports: Ports) -> None:
    """Asks everything that the journals do not hold yet."""
    alongside = Alongside(plan, store, ports)
    desks = [Desk(plan, exam, store, ports, alongside.ear(exam)) for exam in exams]
    try:
        ports.run_async(_Inference(plan, desks, live, ports).run(alongside))
    finally:
        for desk in desks:
            desk.close()


class _Inference:
    """Workers over one stream of wanted samples; `_queue` holds what is asked one by one, ahead of new problems."""

    def __init__(self, plan: RunPlan, desks: list[Desk], live: Live, ports: Ports) -> None:
        self._plan = plan
        self._desks = desks
        self._live = live
        self._ports = ports
        self._queue: deque[Wanted] = deque()
        self._scale: Scale | None = None
        self._several_at_once: bool | None = None
        """Whether the service gives several choices a request; None until an answer shows it."""

    async def run(self, alongside: Alongside) -> None:
        todo = [wanted for desk in self._desks for wanted in desk.open()]
        chat = self._ports.connect(self._live.service, self._plan.patience)
        try:
            await attended(self._all(todo, chat), self._live.check, self._ports.clock)
        finally:
            await chat.close()
            await alongside.close()

    async def _all(self, wanted: list[Wanted], chat: Chat) -> None:
        weighing = list(dict.fromkeys(one.desk for one in wanted if one.weighs))
        if weighing:
            self._scale = await find_scale(self._plan, weighing, chat, self._ports)
        todo = iter(wanted)
        await crowd(lambda: self._worker(todo, chat), self._plan.patience.concurrency)

    async def _worker(self, todo: Iterator[Wanted], chat: Chat) -> None:
        while (wanted := self._next(todo)) is not None:
            if wanted.weighs and self._scale is not None:
                self._take(wanted, await self._scale.weigh(wanted.ballot()), self._scale.rung)
            elif wanted.task.tools:
                self._take(wanted, await converse(chat.ask, wanted.request(), wanted.task), wanted.rung)
            else:
                self._take(wanted, await chat.ask(wanted.request()), wanted.rung)

    def _next(self, todo: Iterator[Wanted]) -> Wanted | None:
        if not self._queue:
            wanted = next(todo, None)
            if wanted is None or len(wanted.indexes) == 1 or (self._several_at_once is not False and wanted.together):
                return wanted
            self._queue.extend(wanted.singles())
        return self._queue.popleft()

    def _take(self, wanted: Wanted, reply: Reply, rung: Rung) -> None:
        """Journals what came, and queues again what did not."""
        if reply.fault is not None:
            self._take_fault(wanted, reply.fault, reply.tries)
            return
        came = wanted.desk.keep(wanted, reply, rung)
        if len(wanted.indexes) > 1:
            self._several_at_once = came == len(wanted.indexes)
        if came < len(wanted.indexes):
            wanted.desk.log(f"problem {wanted.problem.id}: {came} of {len(wanted.indexes)} choices came")
            self._queue.extend(wanted.singles(came))

    def _take_fault(self, wanted: Wanted, fault: Fault, tries: int) -> None:
        if fault.kind == "refused":
            self._live.check()
            raise AdapterFailed(f"The service is gone: {fault.sentence}", stage="infer")
        if fault.kind == "rejected" and len(wanted.indexes) > 1 and not self._several_at_once:
            # It may be the number of choices that this service will not do.
            self._several_at_once = False
            wanted.desk.log(f"problem {wanted.problem.id}: {fault.sentence}; its samples are asked one by one")
            self._queue.extend(wanted.singles())
            return
        wanted.desk.give_up(wanted, fault, tries)
        self._stop_if_nothing_is_accepted(fault)

    def _stop_if_nothing_is_accepted(self, fault: Fault) -> None:
        """When the whole first wave was rejected, the rest will be too."""
        counts = [desk.counts for desk in self._desks]
        rejected = sum(count.rejected for count in counts)
        wave = min(self._plan.patience.concurrency, sum(count.planned for count in counts))
        if rejected >= wave and not any(count.answered for count in counts):
            raise NoHonestScore(
                f"The service rejected the first {rejected} requests, so the run ended: {fault.sentence}"
            )
