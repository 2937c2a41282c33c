"""Asks → findings: programs are run and questions put to a judge model once, and the findings kept in a file.

The findings file (`run_folder.predictions`) has a line for every answer of the judge and every program that ran.
An ask that failed is not in it, and is repeated when the run is judged again.
"""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property

from model_accuracy_eval.errors import Defect, EvalError, Refused, Stopped, UsageError
from model_accuracy_eval.ports import API_KEYS, Ports, Store
from model_accuracy_eval.records import (
    NO_PROBLEM,
    Attempt,
    ExecutionSummary,
    Fault,
    Opinion,
    PreparedDataset,
    Problem,
    Question,
    Reply,
    Request,
    RunPlan,
    Service,
    Settings,
)
from model_accuracy_eval.records.code import Execution, Program
from model_accuracy_eval.run import outcome
from model_accuracy_eval.run.readiness import PROBE_LIMITS, READINESS_PROBE
from model_accuracy_eval.run.run_progress import DatasetLog, journal_lines
from model_accuracy_eval.run_folder import journal, predictions
from model_accuracy_eval.scoring.figures import notes
from model_accuracy_eval.scoring.figures.scorecard import Scorecard
from model_accuracy_eval.scoring.filters.filters import strip_thoughts
from model_accuracy_eval.scoring.metrics import metric_type
from model_accuracy_eval.scoring.metrics.metric_table import metric, metric_uses, needs_judge
from model_accuracy_eval.scoring.metrics.metric_type import Ask, AskResult
from model_accuracy_eval.system.clock import run, run_checked, run_workers

# The model that judges: what it says to a question.
#
# An opinion that never comes is a fault, which is told, and never a bad mark.


_OPINION_TOKENS = 2048
"""For one opinion, thoughts included, if the task does not say it."""
_MAX_WAITING = 256
"""Programs of a dataset that wait for a core while a service answers; more of them would only fill the memory."""


def name(settings: Settings) -> str:
    """The judge model and its service."""
    return f"{settings.judge_model} at {settings.judge_endpoint}"


def check(plan: RunPlan, ports: Ports) -> None:
    """Refuses a run whose judge does not answer: hours of asking would end without a figure.

    A run that goes on may have every opinion already.
    """
    settings = plan.settings
    if settings.mode != "all" or settings.reuse or not any(map(needs_judge, plan.tasks)):
        return
    fault = run(run_checked(_fault(settings, ports), ports.clock.check, ports.clock))
    if fault is not None:
        refuses_key = fault.status in {401, 403}
        raise Refused(
            f"The judge {name(settings)} does not answer: {fault.sentence}",
            next_step=f"export {API_KEYS['judge']}=YOUR-KEY"
            if refuses_key
            else f"model-accuracy-eval doctor --endpoint {settings.judge_endpoint} --model-name {settings.judge_model}",
        )


async def _fault(settings: Settings, ports: Ports) -> Fault | None:
    """Why it does not answer. A list of models is answer enough."""
    service = Service(base_url=settings.judge_endpoint or "", model=settings.judge_model)
    chat = ports.connect(service, PROBE_LIMITS, role="judge")
    try:
        return None if await chat.models() else (await chat.ask(READINESS_PROBE)).fault
    finally:
        await chat.close()


class JudgeService:
    """The judge while it is asked. If it is gone, it is not asked again."""

    def __init__(self, plan: RunPlan, ports: Ports) -> None:
        settings = plan.settings
        if settings.judge_endpoint is None:
            raise UsageError("These answers are judged by a model: name it with --judge-endpoint and --judge-model.")
        self._plan = plan
        service = Service(base_url=settings.judge_endpoint, model=settings.judge_model)
        self._chat = ports.connect(service, plan.client_limits, role="judge")
        self._refusal = ""

    async def close(self) -> None:
        await self._chat.close()

    async def opinion(self, question: Question) -> Opinion | str:
        """Returns what the judge says, or why it says nothing."""
        if self._refusal:
            return self._refusal
        request = Request(
            messages=question.messages,
            max_tokens=question.max_tokens or _OPINION_TOKENS,
            temperature=0.0,
            seed=self._plan.sampling.seed,
        )
        reply = await self._chat.ask(request)
        if any(choice.finish_reason is None for choice in reply.choices):
            # Perhaps the judge never sends one, perhaps this opinion was cut: a small request shows which.
            await self._chat.ask(READINESS_PROBE)
            reply = await self._chat.ask(request) if self._chat.sends_finish_reasons else reply
        if reply.fault is not None:
            if reply.fault.kind == "refused":
                self._refusal = reply.fault.sentence
            return reply.fault.sentence
        return self._read(reply, request.max_tokens)

    def _read(self, reply: Reply, tokens: int) -> Opinion | str:
        if not reply.choices:
            return "The judge gave no answer."
        choice = reply.choices[0]
        text = strip_thoughts(choice.text, NO_PROBLEM) or ""
        cut = choice.finish_reason == "length"
        if not text.strip():
            return (
                f"The judge used its {tokens} tokens up before it said anything." if cut else "The judge said nothing."
            )
        return Opinion(text=text, cut=cut)


class AskStore:
    """The findings about the replies of one dataset, and the asking of what has none."""

    def __init__(self, plan: RunPlan, prepared: PreparedDataset, store: Store) -> None:
        self._plan = plan
        self._prepared = prepared
        self._store = store
        self._file = predictions.findings_file(plan.settings.label, prepared.task.name)
        self._judge = name(plan.settings)
        self._findings: dict[str, AskResult] = {}
        for key, finding in map(predictions.finding, store.lines(self._file)):
            if finding is not None:
                self._findings[key] = finding
        self._asked: set[str] = set()
        self._running: dict[str, asyncio.Task[None]] = {}
        self._programs: Counter[str] = Counter()
        """Key of a program → how many samples have it."""
        self.troubles: list[str] = []
        """Why asks have no finding, one sentence each."""

    @cached_property
    def _card(self) -> Scorecard:
        """Knows what has to be asked, which depends on the number of samples."""
        samples = self._plan.sampling.of(self._prepared.task).n
        return Scorecard(self._prepared.task, samples, (samples,))

    def look_up(self, ask: Ask) -> AskResult | None:
        """Returns the finding."""
        return self._findings.get(metric_type.key(ask, self._judge))

    def notes(self) -> tuple[str, ...]:
        """Names the judge and where programs ran, because the figures depend on both."""
        judge_note = (f"The answers are judged by {self._judge}.",) if needs_judge(self._prepared.task) else ()
        missing = tuple(notes.missing_modules(self._executions()))
        return judge_note + notes.execution_notes(self.ran()) + missing + notes.shared_program_notes(self._programs)

    def ran(self) -> tuple[ExecutionSummary, ...]:
        """Returns where programs ran, and how they were judged."""
        return notes.execution_summaries(self._executions())

    def _executions(self) -> Iterator[Execution]:
        return (finding for finding in self._findings.values() if isinstance(finding, Execution))

    def answer_all(self, ports: Ports) -> None:
        """Answers every ask that has no finding. A stop ends it; the pipeline sees the stop at the clock."""
        if not any(metric(measure.name).asks for measure in metric_uses(self._prepared.task)):
            return
        try:
            ports.clock.check()
            run(run_checked(self._answer_all(ports), lambda: None, ports.clock))
        except Stopped as stop:
            self.troubles.append(stop.sentence)

    async def _answer_all(self, ports: Ports) -> None:
        runners = AskRunners(self._plan, ports)
        problems = {problem.id: problem for problem in self._prepared.problems}
        log = DatasetLog("eval", self._plan, self._prepared.task.name, self._store, ports)
        lines = journal_lines(log, "judged", lambda: len(self._running))

        async def worker() -> None:
            for attempt in map(journal.attempt, lines):
                if attempt.problem in problems:
                    by_key = self._asks(problems[attempt.problem], attempt)
                    self._programs.update(key for key, ask in by_key.items() if isinstance(ask, Program))
                    await self._answered(by_key, attempt, runners)

        try:
            await run_workers(worker, self._plan.client_limits.concurrency)
        finally:
            await self.close()
            await runners.close()

    async def answer_now(self, problem: Problem, attempt: Attempt, runners: "AskRunners") -> None:
        """Answers what has to be asked about one sample."""
        await self._answered(self._asks(problem, attempt), attempt, runners)

    def run_programs(self, problem: Problem, attempts: Sequence[Attempt], runners: "AskRunners") -> None:
        """Begins to run the programs of new samples: the cores of the machine are idle while a service answers.

        One that has not ended when the last answer arrives, or that ended with an error, is run again when the run is
        judged; no defect in judging may end the asking.
        """
        for attempt in attempts:
            by_key = outcome.attempt("the start of programs", lambda: self._asks(problem, attempt))  # noqa: B023
            for key, ask in by_key.items() if isinstance(by_key, dict) else ():
                if isinstance(ask, Program) and len(self._running) < _MAX_WAITING:
                    self._begin(key, ask, attempt, runners)

    def _asks(self, problem: Problem, attempt: Attempt) -> dict[str, Ask]:
        """By their keys. Empty for a reply that asks cannot be made of by a defect, which shows again when the problem
        is judged."""
        by_key = outcome.attempt(
            f"the asks of problem {problem.id}",
            lambda: {metric_type.key(ask, self._judge): ask for ask in self._card.asks(problem, [attempt])},
        )
        if isinstance(by_key, Defect):
            self.troubles.append(f"problem {problem.id}, sample {attempt.index}: {by_key.sentence}")
            return {}
        if isinstance(by_key, EvalError):
            raise by_key
        return by_key

    async def _answered(self, by_key: Mapping[str, Ask], attempt: Attempt, runners: "AskRunners") -> None:
        """What another sample asks at the same time is asked once."""
        for key, ask in by_key.items():
            self._begin(key, ask, attempt, runners)
            if key in self._running:
                await asyncio.shield(self._running[key])

    def _begin(self, key: str, ask: Ask, attempt: Attempt, runners: "AskRunners") -> None:
        """Unless it has a finding or was begun before."""
        if key in self._findings or key in self._asked:
            return
        self._asked.add(key)
        self._running[key] = asyncio.ensure_future(self._answer(key, ask, attempt, runners))
        self._running[key].add_done_callback(lambda task: self._end(key, task))

    def _end(self, key: str, task: "asyncio.Task[None]") -> None:
        self._running.pop(key, None)
        if not task.cancelled():
            task.exception()  # whoever waits for it is told

    async def _answer(self, key: str, ask: Ask, attempt: Attempt, runners: "AskRunners") -> None:
        """Runs the program or asks the judge, and keeps the finding."""
        try:
            finding = await runners.run(ask)
        except EvalError:
            raise
        except Exception as error:  # noqa: BLE001 - of whatever kind, it is no verdict about the answer
            finding = outcome.defect("a judgement", error).sentence
        if isinstance(finding, str):
            self.troubles.append(f"problem {attempt.problem}, sample {attempt.index}: {finding}")
            return
        self._findings[key] = finding
        self._store.append(self._file, predictions.line(key, attempt.problem, attempt.index, ask, finding))

    async def close(self) -> None:
        """Ends what is still asked."""
        tasks = [*self._running.values()]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class AskRunners:
    """The judge, opened when it is first needed, and the run's sandbox."""

    def __init__(self, plan: RunPlan, ports: Ports) -> None:
        self._plan = plan
        self._ports = ports
        self._judge: JudgeService | None = None

    async def run(self, ask: Ask) -> AskResult | str:
        """Returns the finding, or a sentence that says why there is none."""
        if isinstance(ask, Question):
            self._judge = self._judge or JudgeService(self._plan, self._ports)
            return await self._judge.opinion(ask)
        if self._ports.open_sandbox is None:
            raise UsageError(
                "These answers are programs, and there is no place to run them.",
                next_step="model-accuracy-eval doctor",
            )
        execution = await self._ports.open_sandbox().run(ask)
        return execution.detail or "The sandbox failed." if execution.passed is None else execution

    async def close(self) -> None:
        if self._judge is not None:
            await self._judge.close()
