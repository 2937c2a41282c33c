"""The sandboxes of a Ray cluster as one: programs go to the least busy node, and from one that is lost to another.

Each node has an actor with a sandbox. Ray starts it again, and repeats its call, where its process alone was lost.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from model_accuracy_eval.cluster import NodeTrouble, SandboxFacts
from model_accuracy_eval.cluster.ray_connection import ActorLost, RayConnection
from model_accuracy_eval.errors import Refused
from model_accuracy_eval.ports import Clock
from model_accuracy_eval.records import RunPlan
from model_accuracy_eval.records.code import Execution, Isolation, Program

_TRIES = 2
"""On nodes that are lost while they run one program: a third one might be lost by it too."""
_CLOSE_SECONDS = 5.0


@dataclass(eq=False, slots=True)
class _NodeSandbox:
    actor: Any
    opening: Any
    cpus: float
    facts: SandboxFacts | None = None
    """None: it is not open yet."""
    in_flight: int = 0


@dataclass(eq=False)
class RaySandbox:
    """Implements `ports.sandbox_port.Sandbox`. It is open when one node's is; those of the others join."""

    ray_connection: RayConnection
    actor: type
    plan: RunPlan
    clock: Clock
    say: Callable[[str], object]
    _sandboxes: list[_NodeSandbox] = field(default_factory=list)
    _troubles: list[str] = field(default_factory=list)
    _first: SandboxFacts | None = None
    # Known when it is open.
    isolation: Isolation = field(init=False)
    image: str = field(init=False)
    passed_over: tuple[str, ...] = field(init=False)

    def open(self) -> "RaySandbox":
        """Blocks until the first node's sandbox is there."""
        self.ray_connection.open()
        for node, cpus in self.ray_connection.nodes_with_cpus().items():
            wanted = int(cpus)
            if wanted:
                actor = self.ray_connection.place_on(node, self.actor, wanted, self.plan, wanted)
                self._sandboxes.append(_NodeSandbox(actor, actor.facts.remote(), wanted))
        if not self._sandboxes:
            raise Refused("No node of the Ray cluster has CPUs: start one with them, or judge with --engine local.")
        try:
            while self._sandboxes and not self._ready():
                self.clock.sleep(0.05)
        except BaseException:
            self._end()
            raise
        if not self._sandboxes:
            raise Refused(f"No node of the Ray cluster can hold code that a model wrote. {self._troubles[0]}")
        return self

    async def run(self, program: Program) -> Execution:
        for _ in range(_TRIES):
            ready = self._ready()
            while not ready and self._sandboxes:
                await asyncio.sleep(0.05)
                ready = self._ready()
            if not ready:
                break
            sandbox = min(ready, key=lambda each: each.in_flight / each.cpus)
            sandbox.in_flight += 1
            try:
                execution: Execution = await self.ray_connection.result_of(sandbox.actor.run.remote(program))
            except ActorLost as error:
                where = sandbox.facts.address if sandbox.facts else "a node"
                self._remove(sandbox, f"The sandbox on {where} is lost ({error}).")
                continue
            finally:
                sandbox.in_flight -= 1
            return execution
        detail = f"{self._troubles[-1]} Judge again with --mode eval --reuse."
        return Execution(
            verdict="harness_error", detail=detail, isolation=self.isolation, integrity=program.mode, image=self.image
        )

    async def close(self) -> None:
        ends = [each.actor.close.remote() for each in self._sandboxes if each.facts is not None]
        self.ray_connection.wait_all(ends, _CLOSE_SECONDS)
        self._end()

    def _ready(self) -> list[_NodeSandbox]:
        """Those that are open; what has been opened since the last call joins them."""
        for each in [*self._sandboxes]:
            if each.facts is not None or not self.ray_connection.is_done(each.opening):
                continue
            try:
                self._add(each, self.ray_connection.result(each.opening))
            except ActorLost as lost:
                self._remove(each, f"A sandbox was lost before it was open ({lost}).")
        return [each for each in self._sandboxes if each.facts is not None]

    def _add(self, sandbox: _NodeSandbox, opened: SandboxFacts | NodeTrouble) -> None:
        if isinstance(opened, NodeTrouble):
            self._remove(sandbox, opened.sentence)
            return
        if self._first is None:
            self.isolation, self.image, self.passed_over = opened.isolation, opened.image, opened.passed_over
        first = self._first = self._first or opened
        if (opened.isolation, opened.image, opened.version) != (first.isolation, first.image, first.version):
            self._remove(
                sandbox,
                f"{opened.address} runs programs on {opened.image} (isolation {opened.isolation}, model-accuracy-eval "
                f"{opened.version}) and {first.address} on {first.image} (isolation {first.isolation}, "
                f"{first.version}), so it judges none: the same program might get two verdicts.",
            )
            return
        sandbox.facts = opened
        self.say(f"Programs are run on {opened.address}, {sandbox.cpus:g} at a time.")

    def _remove(self, sandbox: _NodeSandbox, sentence: str) -> None:
        self._troubles.append(sentence)
        if sandbox in self._sandboxes:  # several programs notice the loss of one
            self._sandboxes.remove(sandbox)
            self.ray_connection.kill(sandbox.actor)
            self.say(sentence)

    def _end(self) -> None:
        for each in self._sandboxes:
            self.ray_connection.kill(each.actor)
        self._sandboxes = []
