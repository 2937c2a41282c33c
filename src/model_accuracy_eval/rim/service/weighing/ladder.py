"""Which way of weighing a service offers: tried from the most exact one down, each with a small request or two.

Nothing that a server claims is believed: what it says of given tokens must be what it said when it made them, and a
constraint must have been obeyed.
"""

from collections.abc import Awaitable, Callable

from model_accuracy_eval.errors import NoHonestScore
from model_accuracy_eval.records import Ballot, JSONObject, Message, Reply, Request, Weigh
from model_accuracy_eval.rim.service.caller import Caller
from model_accuracy_eval.rim.service.weighing.calls import Calls
from model_accuracy_eval.rim.service.weighing.letters import CONSTRAINTS, ConstrainedScale, ExtractedScale, TopScale
from model_accuracy_eval.rim.service.weighing.probing import Prober, told
from model_accuracy_eval.rim.service.weighing.texts import TextScale

Ask = Callable[[Request], Awaitable[Reply]]
AnyScale = TextScale | TopScale | ConstrainedScale | ExtractedScale
Found = tuple[AnyScale | None, str]
"""A way that works, if it does, and what is to be said about it."""

_TOP = (20, 5)
"""How many likeliest tokens are asked for: OpenAI's limit now, and the one before."""
_LETTERS = (
    "Which letter comes first in the alphabet?\n\nA. A\nB. B\n\nRespond only with the letter of the correct answer."
)
_WORDS = ("amber", "kettle")


async def find(caller: Caller, ask: Ask, wish: Weigh, extra: JSONObject) -> AnyScale:
    """The best scale there is, or the one that is wished for. `extra`: what the user adds to every request."""
    search = _Search(Calls(caller), ask, extra)
    ways: dict[str, Callable[[], Awaitable[Found]]] = {
        "echo": search.echo,
        "prompt-logprobs": search.prompt_logprobs,
        "top-logprobs": search.top,
        "constrained": search.constrained,
        "extracted": search.extracted,
    }
    findings: list[str] = []
    for rung, way in ways.items():
        if wish in ("auto", rung):
            scale, finding = await way()
            findings.append(f"{rung}: {finding}")
            if scale is not None:
                scale.findings = tuple(findings)
                return scale
    raise NoHonestScore(f"Nothing can be weighed by {wish}; {findings[-1]}")


class _Search:
    """One try for each way."""

    def __init__(self, calls: Calls, ask: Ask, extra: JSONObject) -> None:
        self._calls = calls
        self._ask = ask
        self._extra = extra
        self._prober = Prober(calls)

    async def echo(self) -> Found:
        return await self._prober.scale("echo")

    async def prompt_logprobs(self) -> Found:
        return await self._prober.scale("prompt-logprobs")

    async def top(self) -> Found:
        ballot = Ballot(request=self._request(_LETTERS), candidates=(), options=2)
        finding = ""
        for count in _TOP:
            scale = TopScale(self._calls, count)
            reply = await scale.weigh(ballot)
            if any(reply.weighed):
                return scale, f"the {count} likeliest first tokens of an answer are told."
            if reply.fault is None:
                return None, f"no letter is among the {count} likeliest first tokens of an answer."
            finding = told(reply.fault)
        return None, finding

    async def constrained(self) -> Found:
        findings = []
        for name in CONSTRAINTS:
            scale = ConstrainedScale(self._calls, name)
            reply = await scale.choose(self._request("Say hello."), _WORDS)
            if reply.fault is None:
                return scale, f"{name} is obeyed."
            findings.append(f"{name} is not: {told(reply.fault)}")
        return None, " ".join(findings)

    async def extracted(self) -> Found:
        return ExtractedScale(self._ask), "letters are read out of free answers."

    def _request(self, question: str) -> Request:
        return Request(messages=(Message(role="user", content=question),), extra=self._extra)
