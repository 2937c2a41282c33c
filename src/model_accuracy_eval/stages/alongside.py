"""Programs run while the service is still answering: the machine's cores have nothing else to do.

What has not come to its end when the last answer is there is left to the judging, which finds it unknown.
"""

import asyncio
from collections.abc import Callable, Sequence

from model_accuracy_eval.ports import Ports, Store
from model_accuracy_eval.records import Attempt, Exam, Problem, RunPlan
from model_accuracy_eval.records.code import Program
from model_accuracy_eval.scoring.code.probes import runs_programs
from model_accuracy_eval.scoring.scorecard import Scorecard
from model_accuracy_eval.stages.asking import Carriers, Inquiry

_MOST = 256
"""Programs that wait for a core; further ones would only fill the memory."""

Hear = Callable[[Problem, Sequence[Attempt]], object]


class Alongside:
    """Hears every sample that was kept, and runs what is to be run for it."""

    def __init__(self, plan: RunPlan, store: Store, ports: Ports) -> None:
        self._plan = plan
        self._store = store
        self._carriers = Carriers(plan, ports)
        self._running: set[asyncio.Task[None]] = set()

    def ear(self, exam: Exam) -> Hear:
        """What the samples of a dataset are told to; deaf where nothing is to be run."""
        if self._plan.mode == "infer" or exam.task.kind != "generate" or not runs_programs(exam):
            return lambda problem, attempts: None
        inquiry = Inquiry(self._plan, exam, self._store)
        card = Scorecard(exam.task, 1, (1,), score_reasoning=self._plan.score_reasoning)

        def hear(problem: Problem, attempts: Sequence[Attempt]) -> None:
            for attempt in attempts:
                for ask in card.asks(problem, [attempt]):
                    if isinstance(ask, Program) and len(self._running) < _MOST and inquiry.begin(ask):
                        self._start(inquiry, problem.id, attempt.index, ask)

        return hear

    def _start(self, inquiry: Inquiry, problem: int, index: int, program: Program) -> None:
        task = asyncio.ensure_future(inquiry.settle(problem, index, program, self._carriers))
        self._running.add(task)
        task.add_done_callback(self._ended)

    def _ended(self, task: "asyncio.Task[None]") -> None:
        """What raised is not lost: judging runs it again, and raises again."""
        self._running.discard(task)
        if not task.cancelled():
            task.exception()

    async def close(self) -> None:
        """Ends what still runs."""
        running = list(self._running)
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await self._carriers.close()
