"""The model that judges: what it says to a question.

An opinion that never comes is a fault, which is told, and never a bad mark.
"""

from model_accuracy_eval.errors import Refused, UsageError
from model_accuracy_eval.ports import Ports
from model_accuracy_eval.ports.service import API_KEYS
from model_accuracy_eval.records import Fault, Opinion, Problem, Question, Reply, Request, RunPlan, Service, Settings
from model_accuracy_eval.run.cancellable import run_checked
from model_accuracy_eval.run.readiness import PROBE_LIMITS, READINESS_PROBE
from model_accuracy_eval.scoring.filters.filters import strip_thoughts
from model_accuracy_eval.scoring.metrics.metric_table import needs_judge

_OPINION_TOKENS = 2048
"""For one opinion, thoughts included, if the task does not say it."""
_NO_PROBLEM = Problem(id=-1, messages=(), references=())


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
    fault = ports.run_async(run_checked(_fault(settings, ports), ports.clock.check, ports.clock))
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
        text = strip_thoughts(choice.text, _NO_PROBLEM) or ""
        cut = choice.finish_reason == "length"
        if not text.strip():
            return (
                f"The judge used its {tokens} tokens up before it said anything." if cut else "The judge said nothing."
            )
        return Opinion(text=text, cut=cut)
