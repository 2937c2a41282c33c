"""A sandbox that finds out by a task's own solution in which mode the task's programs are to be judged."""

import asyncio
import hashlib
from weakref import WeakValueDictionary

import msgspec

from model_accuracy_eval.errors import BadData
from model_accuracy_eval.records.code import Execution, Isolation, Mode, Program
from model_accuracy_eval.rim.sandbox.pool import Pool
from model_accuracy_eval.rim.sandbox.self_check import settle


class SettlingSandbox:
    """Implements `ports.sandbox.Sandbox` over a pool; each task is settled once, when its first program comes."""

    def __init__(self, pool: Pool) -> None:
        self._pool = pool
        self._modes: dict[str, Mode] = {}
        self._references: dict[str, Execution] = {}
        # Locks belong to the event loop that waited for them, so none outlives those who wait.
        self._settling: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @property
    def isolation(self) -> Isolation:
        return self._pool.isolation

    @property
    def image(self) -> str:
        return self._pool.image

    @property
    def passed_over(self) -> tuple[str, ...]:
        return self._pool.passed_over

    async def run(self, program: Program) -> Execution:
        """Tests that cannot tell the reference from a wrong solution say nothing about a program."""
        if not program.reference:
            return await self._pool.run(program)
        if program.language != "python":
            return await self._foreign(program)
        try:
            mode = await self._mode(program)
        except BadData as error:
            return self._pool.unknown(program, f"{error.sentence} {error.detail}")
        return await self._pool.run(msgspec.structs.replace(program, mode=mode))

    async def close(self) -> None:
        await self._pool.close()

    def end(self) -> None:
        """Blocks until every worker is gone."""
        self._pool.end()

    async def _foreign(self, program: Program) -> Execution:
        """Where not even the reference passes, a failure says nothing; it is looked at when the first program fails."""
        execution = await self._pool.run(program)
        if execution.passed is not False:
            return execution
        right = msgspec.structs.replace(program, code=program.reference)
        key = hashlib.sha256(msgspec.json.encode(right)).hexdigest()
        async with self._settling.setdefault(key, asyncio.Lock()):
            if key not in self._references:
                self._references[key] = await self._pool.run(right)
        found = self._references[key]
        if found.passed:
            return execution
        why = f"The task's own solution does not pass here ({found.verdict}: {found.detail})"
        return self._pool.unknown(program, why)

    async def _mode(self, program: Program) -> Mode:
        right = msgspec.structs.replace(program, code=program.reference, mode="split")
        key = hashlib.sha256(msgspec.json.encode(right)).hexdigest()
        lock = self._settling.setdefault(key, asyncio.Lock())
        async with lock:
            if key not in self._modes:
                self._modes[key] = await settle(self._pool, "this task", right)
        return self._modes[key]
