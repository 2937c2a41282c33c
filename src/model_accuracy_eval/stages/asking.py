"""Asks → findings: what judging cannot know by itself is found out once, and kept beside the journal.

`predictions/<label>/<dataset>_findings.jsonl` has a line for everything that a judge said and every program that ran;
what nobody answered is not in it, and is asked again when the run is judged again.
"""

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator

import msgspec

from model_accuracy_eval.errors import Stopped, UsageError
from model_accuracy_eval.ports import Ports, Store
from model_accuracy_eval.records import Exam, Ran, Request, RunPlan, Service
from model_accuracy_eval.records.code import Execution, Program
from model_accuracy_eval.records.judge import Opinion, Question
from model_accuracy_eval.reporting import journal
from model_accuracy_eval.scoring import asks
from model_accuracy_eval.scoring.asks import Ask, Finding
from model_accuracy_eval.scoring.code import circumstances
from model_accuracy_eval.scoring.metrics import metric
from model_accuracy_eval.scoring.scorecard import Scorecard
from model_accuracy_eval.scoring.scorers import asks_judge, measures
from model_accuracy_eval.stages.attended import attended, crowd

Carrier = Callable[[Ask], Awaitable[Finding | str]]
"""Carries an ask out; a sentence says why there is no finding."""


class _Line(msgspec.Struct, omit_defaults=True):
    key: str
    problem: int
    index: int
    question: Question | None = None
    opinion: Opinion | None = None
    execution: Execution | None = None


_encode = msgspec.json.Encoder().encode
_decode = msgspec.json.Decoder(_Line).decode


def file(label: str, dataset: str) -> str:
    return f"predictions/{label}/{dataset}_findings.jsonl"


def find_out(plan: RunPlan, exam: Exam, store: Store, ports: Ports) -> "Inquiry":
    """What is known about a dataset's answers, after asking for all that was not known."""
    inquiry = Inquiry(plan, exam, store)
    if any(metric(measure.name).asks for measure in measures(exam.task)):
        inquiry.carry_out(ports)
    return inquiry


class Inquiry:
    """Everything that was ever found out about the answers to one dataset."""

    def __init__(self, plan: RunPlan, exam: Exam, store: Store) -> None:
        self._plan = plan
        self._exam = exam
        self._store = store
        self._file = file(plan.label, exam.task.name)
        self._judge = f"{plan.judge_model} at {plan.judge_endpoint}"
        self._found: dict[str, Finding] = {}
        for line in map(_decode, store.lines(self._file)):
            finding = line.opinion or line.execution
            if finding is not None:
                self._found[line.key] = finding
        self._begun: set[str] = set()
        self._programs: Counter[str] = Counter()
        """How many samples hold each program."""
        self.troubles: list[str] = []
        """Why asks have no finding, one sentence each."""

    def look_up(self, ask: Ask) -> Finding | None:
        return self._found.get(asks.key(ask, self._judge))

    def begin(self, ask: Ask) -> bool:
        """Whether it is to be carried out now: nothing is known of it, and nobody is about it."""
        return self._begin(asks.key(ask, self._judge))

    def _begin(self, key: str) -> bool:
        unknown = key not in self._found and key not in self._begun
        self._begun.add(key)
        return unknown

    def notes(self) -> tuple[str, ...]:
        """Who judged, and where programs ran: another judge, or another place, is another figure."""
        judged = (f"The answers are judged by {self._judge}.",) if asks_judge(self._exam.task) else ()
        return judged + circumstances.told(self.ran()) + circumstances.shared(self._programs)

    def ran(self) -> tuple[Ran, ...]:
        """Where programs ran, and how they were judged."""
        return circumstances.ran(one for one in self._found.values() if isinstance(one, Execution))

    def carry_out(self, ports: Ports) -> None:
        """Asks whatever is not known. A stop ends it; the run finds that out by itself when it looks at the clock."""
        try:
            ports.clock.check()
            ports.run_async(attended(self._all(self._unknown(), ports), lambda: None, ports.clock))
        except Stopped as stop:
            self.troubles.append(stop.sentence)

    def _unknown(self) -> Iterator[tuple[int, int, Ask]]:
        """Each ask once, however many samples it would judge."""
        card = Scorecard(self._exam.task, 1, (1,), score_reasoning=self._plan.score_reasoning)
        problems = {problem.id: problem for problem in self._exam.problems}
        for line in self._store.lines(journal.file(self._plan.label, self._exam.task.name)):
            attempt = journal.attempt(line)
            if attempt.problem not in problems:
                continue
            held = {asks.key(ask, self._judge): ask for ask in card.asks(problems[attempt.problem], [attempt])}
            self._programs.update(key for key, ask in held.items() if isinstance(ask, Program))
            for key, ask in held.items():
                if self._begin(key):
                    yield attempt.problem, attempt.index, ask

    async def _all(self, todo: Iterator[tuple[int, int, Ask]], ports: Ports) -> None:
        service = Carriers(self._plan, ports)
        try:
            await crowd(lambda: self._worker(todo, service), self._plan.patience.concurrency)
        finally:
            await service.close()

    async def _worker(self, todo: Iterator[tuple[int, int, Ask]], service: "Carriers") -> None:
        for problem, index, ask in todo:
            await self.settle(problem, index, ask, service)

    async def settle(self, problem: int, index: int, ask: Ask, service: "Carriers") -> None:
        """Carries an ask out and keeps what it brought."""
        finding = await service.carry(ask)
        if isinstance(finding, str):
            self.troubles.append(f"problem {problem}, sample {index}: {finding}")
            return
        key = asks.key(ask, self._judge)
        self._found[key] = finding
        self._store.append(self._file, _encode(_line(key, problem, index, ask, finding)) + b"\n")


def _line(key: str, problem: int, index: int, ask: Ask, finding: Finding) -> _Line:
    return _Line(
        key=key,
        problem=problem,
        index=index,
        question=ask if isinstance(ask, Question) else None,
        opinion=finding if isinstance(finding, Opinion) else None,
        execution=finding if isinstance(finding, Execution) else None,
    )


class Carriers:
    """The judge and the sandbox, each opened when something is asked of it. A judge that is gone is not asked again."""

    def __init__(self, plan: RunPlan, ports: Ports) -> None:
        self._plan = plan
        self._ports = ports
        self._open: list[Callable[[], Awaitable[None]]] = []
        self._carriers: dict[type, Carrier] = {}
        self._gone = ""

    async def carry(self, ask: Ask) -> Finding | str:
        if type(ask) not in self._carriers:
            self._carriers[type(ask)] = self._judge() if isinstance(ask, Question) else self._sandbox()
        return await self._carriers[type(ask)](ask)

    async def close(self) -> None:
        for close in self._open:
            await close()

    def _judge(self) -> Carrier:
        plan = self._plan
        if plan.judge_endpoint is None:
            raise UsageError("These answers are judged by a model: name it with --judge-endpoint and --judge-model.")
        chat = self._ports.connect(Service(base_url=plan.judge_endpoint, model=plan.judge_model), plan.patience)
        self._open.append(chat.close)

        async def ask_judge(ask: Ask) -> Finding | str:
            if self._gone or not isinstance(ask, Question):
                return self._gone
            reply = await chat.ask(
                Request(messages=ask.messages, max_tokens=ask.max_tokens, temperature=0.0, seed=plan.sampling.seed)
            )
            if reply.fault is not None:
                if reply.fault.kind == "refused":
                    self._gone = reply.fault.sentence
                return reply.fault.sentence
            return Opinion(text=reply.choices[0].text) if reply.choices else "The judge gave no answer."

        return ask_judge

    def _sandbox(self) -> Carrier:
        if self._ports.open_sandbox is None:
            raise UsageError("These answers are programs, and there is no place to run them.")
        sandbox = self._ports.open_sandbox()
        self._open.append(sandbox.close)

        async def run(ask: Ask) -> Finding | str:
            if not isinstance(ask, Program):
                return ""
            execution = await sandbox.run(ask)
            return execution.detail or "The sandbox failed." if execution.passed is None else execution

        return run
