"""One dataset while it is asked: what is still wanted, where its samples are kept, and how many came.

Seeds: sample `i` of the problem at place `p` of the whole dataset has seed base + p·n + i, and servers give choice
`j` of a request with seed s what a lone request with seed s + j would get. So one request for five choices and five
requests for one bring the same samples, and a run that goes on asks what an undisturbed one would have asked.
"""

from dataclasses import dataclass

import msgspec

from model_accuracy_eval.ports import Ports, Store
from model_accuracy_eval.records import (
    Attempt,
    Ballot,
    Counts,
    Exam,
    Fault,
    Problem,
    Reply,
    Request,
    Rung,
    RunPlan,
    Sampling,
    TaskSpec,
    Weigh,
)
from model_accuracy_eval.reporting import journal
from model_accuracy_eval.scoring import tools
from model_accuracy_eval.stages.alongside import Hear

_LARGEST_SEED = 2**31 - 1


@dataclass(frozen=True, slots=True)
class Wanted:
    """Samples of one problem that are to be asked with one request."""

    desk: "Desk"
    place: int
    indexes: tuple[int, ...]

    @property
    def problem(self) -> Problem:
        return self.desk.exam.problems[self.place]

    @property
    def task(self) -> TaskSpec:
        return self.desk.exam.task.of(self.problem)

    @property
    def weighs(self) -> bool:
        return self.task.kind != "generate"

    @property
    def sampling(self) -> Sampling:
        return self.desk.plan.sampling.of(self.task) if self.problem.part else self.desk.sampling

    @property
    def together(self) -> bool:
        """Whether one request may ask for all: greedy decoding of several choices is an error on some servers, and one
        sample on others. Conversations with tools part after their first replies."""
        consecutive = self.indexes[-1] - self.indexes[0] + 1 == len(self.indexes)
        return consecutive and bool(self.sampling.temperature) and not self.task.tools

    def singles(self, first: int = 0) -> list["Wanted"]:
        return [Wanted(self.desk, self.place, (index,)) for index in self.indexes[first:]]

    @property
    def rung(self) -> Rung:
        return "text" if self.task.mode == "text" else "chat"

    @property
    def seed(self) -> int | None:
        sampling = self.desk.sampling
        if sampling.seed is None:
            return None
        shard = self.desk.plan.shard
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
            tools=tools.offered(task.tools),
            extra=sampling.extra,
        )

    def ballot(self) -> Ballot:
        """Where an answer is all there is, it is the likeliest one, unless somebody wants another temperature."""
        task, problem = self.task, self.problem
        said = (self.desk.plan.sampling.temperature, task.temperature, 0.0)
        temperature = next(one for one in said if one is not None)
        return Ballot(
            request=msgspec.structs.replace(self.request(), text=None, temperature=temperature),
            candidates=problem.candidates,
            options=len(problem.choices) or len(problem.candidates),
            boundary=task.boundary,
            rolling=task.kind == "rolling",
        )


class Desk:
    """Keeps the samples of one dataset: each answered one once in the journal, the others with their reason."""

    def __init__(self, plan: RunPlan, exam: Exam, store: Store, ports: Ports, hear: Hear) -> None:
        self.plan = plan
        self.exam = exam
        self.sampling = plan.sampling.of(exam.task)
        self._store = store
        self._hear = hear
        self._ports = ports
        self._journal = journal.file(plan.label, exam.task.name)
        self._failures = journal.failures_file(plan.label, exam.task.name)
        self.counts = Counts()
        self.began_with: Weigh | None = None
        """How the samples that are kept were weighed."""
        self._began = ports.clock.elapsed()

    def open(self) -> list[Wanted]:
        """What the journal does not hold, problem by problem."""
        n = self.sampling.n
        held = {journal.key(line) for line in self._store.lines(self._journal)}
        if any(task.kind != "generate" for task in tasks_of(self.exam)):
            ways = map(journal.way, self._store.lines(self._journal))
            self.began_with = next((way for way in ways if way), None)
        missing = [
            Wanted(self, place, tuple(index for index in range(n) if (problem.id, index) not in held))
            for place, problem in enumerate(self.exam.problems)
        ]
        wanted = [one for one in missing if one.indexes]
        planned = n * len(self.exam.problems)
        self.counts = Counts(planned=planned, answered=planned - sum(len(one.indexes) for one in wanted))
        self._store.remove(self._failures)
        self.log(f"{planned} samples planned, {self.counts.answered} of them answered before")
        self._ports.screen.begin(self.exam.task.name, self.counts)
        return wanted

    def close(self) -> None:
        counts, seconds = self.counts, self._ports.clock.elapsed() - self._began
        self.log(
            f"{counts.answered} answered, {counts.rejected} rejected, {counts.failed} failed, "
            f"{counts.cut} cut by length, {counts.empty} empty, in {seconds:.1f} s"
        )
        self._ports.screen.end(self.exam.task.name, counts)

    def keep(self, wanted: Wanted, reply: Reply, rung: Rung) -> int:
        """Journals the samples of a reply, all in one append: a kill keeps all of them or none. Says how many."""
        attempts = [_weighed(wanted, reply, rung)] if reply.weighed else _said(wanted, reply, rung)
        lines = b"".join(journal.line(self.exam, wanted.problem, attempt) for attempt in attempts)
        self._store.append(self._journal, lines)
        self._hear(wanted.problem, attempts)
        self._count(
            answered=len(attempts),
            cut=sum(attempt.finish_reason == "length" for attempt in attempts),
            empty=sum(not (attempt.text.strip() or attempt.weighed) for attempt in attempts),
        )
        return len(attempts)

    def give_up(self, wanted: Wanted, fault: Fault, tries: int) -> None:
        """Notes why these samples have no answer."""
        for index in wanted.indexes:
            attempt = Attempt(problem=wanted.problem.id, index=index, tries=tries, fault=fault)
            self._store.append(self._failures, journal.failure_line(self.exam, wanted.problem, attempt, fault))
        self.log(f"problem {wanted.problem.id}, samples {list(wanted.indexes)}: {fault.sentence}")
        self._count(**{"rejected" if fault.kind == "rejected" else "failed": len(wanted.indexes)})

    def _count(self, **more: int) -> None:
        grown = {name: getattr(self.counts, name) + by for name, by in more.items()}
        self.counts = msgspec.structs.replace(self.counts, **grown)
        self._ports.screen.update(self.exam.task.name, self.counts)

    def log(self, sentence: str) -> None:
        if self.plan.debug:
            self._ports.screen.say(f"{self.exam.task.name}: {sentence}")
        else:
            name = f"logs/infer/{self.plan.label}/{self.exam.task.name}.out"
            self._store.append(name, f"{self._ports.clock.local('%Y-%m-%d %H:%M:%S')} {sentence}\n".encode())


def tasks_of(exam: Exam) -> list[TaskSpec]:
    """The tasks whose problems these are: its parts, or the one."""
    return list({problem.part: exam.task.of(problem) for problem in exam.problems}.values())


def _said(wanted: Wanted, reply: Reply, rung: Rung) -> list[Attempt]:
    return [
        Attempt(
            problem=wanted.problem.id,
            index=index,
            text=choice.text,
            reasoning=choice.reasoning,
            finish_reason=choice.finish_reason,
            rounds=choice.rounds,
            rung=rung,
            timings=choice.timings,
            usage=reply.usage,
            request=reply.id,
            seed=None if wanted.seed is None else wanted.seed + offset,
            tries=reply.tries,
        )
        for offset, (index, choice) in enumerate(zip(wanted.indexes, reply.choices, strict=False))
    ]


def _weighed(wanted: Wanted, reply: Reply, rung: Rung) -> Attempt:
    """Its text is what the service would choose, for people to read."""
    choices = wanted.problem.choices
    told = [(one.logprob, -place) for place, one in enumerate(reply.weighed[: len(choices)]) if one is not None]
    return Attempt(
        problem=wanted.problem.id,
        index=wanted.indexes[0],
        text=choices[-max(told)[1]] if told else "",
        rung=rung,
        weighed=reply.weighed,
        request=reply.id,
        tries=reply.tries,
    )
