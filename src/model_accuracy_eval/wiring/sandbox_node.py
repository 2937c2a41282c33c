"""What runs on a node of a Ray cluster: a sandbox for programs that the model wrote."""

import os

from model_accuracy_eval import __version__, extras
from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.ports.sandbox_port import Sandbox
from model_accuracy_eval.records import RunPlan
from model_accuracy_eval.records.cluster import NodeTrouble, SandboxFacts
from model_accuracy_eval.records.code import Execution, Program
from model_accuracy_eval.sandbox.backends import open_sandbox


class SandboxNode:
    """An actor. Its sandbox is opened in the thread of its event loop, which lasts as long as it does."""

    def __init__(self) -> None:
        self._sandbox: Sandbox | None = None

    async def open(self, plan: RunPlan, workers: int) -> SandboxFacts | NodeTrouble:
        ray = extras.load("ray")
        address: str = ray.util.get_node_ip_address()
        settings = plan.settings
        try:
            self._sandbox = open_sandbox(
                settings.sandbox, os.environ, image=settings.sandbox_image or None, workers=workers
            )
        except EvalError as error:
            return NodeTrouble(sentence=f"{address}: {error.sentence}", detail=error.detail)
        return SandboxFacts(
            address=address,
            version=__version__,
            isolation=self._sandbox.isolation,
            image=self._sandbox.image,
            passed_over=self._sandbox.passed_over,
        )

    async def run(self, program: Program) -> Execution:
        if self._sandbox is None:
            raise AssertionError("programs come when the sandbox has said that it is open")
        return await self._sandbox.run(program)

    async def close(self) -> None:
        if self._sandbox is not None:
            await self._sandbox.close()
