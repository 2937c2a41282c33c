"""Whether a service is fit to be evaluated: a dozen small requests, and a finding for each ability that runs use.

Only a service that does not answer fails. Everything else that it lacks has a cost, and the finding says which. Whether
what it answers is right in every form and company, `diagnose` finds out.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from model_accuracy_eval.client.chat import StreamingChat
from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.ports import Chat
from model_accuracy_eval.records import ClientLimits, Fault, FaultKind, Message, Reply, Request, Service
from model_accuracy_eval.run import picture_probe
from model_accuracy_eval.run.build import ApiKeys, connect_service
from model_accuracy_eval.run_folder.saved_plan import own_samplers
from model_accuracy_eval.scoring.metrics import metric_table
from model_accuracy_eval.system.clock import run


class Finding(NamedTuple):
    """The result of one check of `doctor`; the sentence says what it means or what to do.

    PASS: it works. WARN: runs work, with a drawback. FAIL: runs will fail. SKIP: it could not be checked, or only some
    runs need it.
    """

    name: str
    state: Literal["PASS", "WARN", "FAIL", "SKIP"]
    sentence: str


_COUNT, _SUM = "Count from one to ten in words.", "17+25="
_SIMPLE_QUESTIONS = (
    (_SUM, "42"),
    ("Repeat this word and say nothing else: marmalade", "marmalade"),
    ("Which of these is a colour: spoon, green, Tuesday? Answer with that word alone.", "green"),
)
_THINKING_TOKENS = 512
"""Room for an answer of a model that thinks first."""
_SAMPLES = 5
"""What a run asks for unless it is told otherwise."""
_EMPTY = "The answer was empty, so nothing can be checked; ask a model that answers in words."


_NEXT_STEP: Mapping[FaultKind, str] = {
    "refused": "Start the service, or name another address.",
    "failed": "Look at the service's log; give it longer with --timeout if it is slow.",
    "rejected": "Name the model with --model-name, or the key in MODEL_ACCURACY_EVAL_API_KEY.",
}


def examine(endpoint: str, model: str | None, seconds: float, environ: Mapping[str, str]) -> tuple[Finding, ...]:
    """What the service can do. Nothing is tried twice, and every answer has `seconds` to come."""
    limits = ClientLimits(
        retries=0,
        gone_after=0.0,
        connect_timeout=min(10.0, seconds),
        first_token_timeout=seconds,
        idle_timeout=seconds,
        total_timeout=seconds,
    )

    def client(name: str | None) -> StreamingChat:
        service = Service(base_url=endpoint, model=name)
        return connect_service(environ, service, limits, keys=ApiKeys(environ, "model"))

    async def ask() -> tuple[Finding, ...]:
        chat = client(model)
        try:
            names = () if model else await chat.models()
            if names:
                await chat.close()
                chat = client(names[0])
            return await _findings(chat)
        finally:
            await chat.close()

    return run(ask())


async def _findings(chat: Chat) -> tuple[Finding, ...]:
    """All findings about the service; only one if it does not answer."""
    probe = await _start(chat)
    fault = probe.first.fault
    if fault is not None:
        sentence = f"{fault.sentence} {_NEXT_STEP[fault.kind]}"
        return (Finding("answers", "FAIL", sentence),)
    return (
        Finding("answers", "PASS", "A chat request gets an answer."),
        await _model(chat),
        await _context(chat),
        _streaming(probe.first),
        _finish_reason(probe.first),
        _usage(probe.first),
        _speed(probe.first),
        await _simple_questions(chat),
        await _samplers(chat),
        await _several_samples(probe),
        await _loglikelihoods(chat),
        await _pictures(chat),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class _Probe:
    """A service, a question, and its first answer at temperature 0."""

    chat: Chat
    text: str
    first: Reply

    async def again(self, **changes: Any) -> Reply:
        return await self.chat.ask(_question(self.text, **changes))


async def _start(chat: Chat) -> _Probe:
    """Asks for a longer answer first. A model without an answer to that may be one that only continues texts."""
    first = await chat.ask(_question(_COUNT))
    if first.fault is None and not _text(first):
        return _Probe(chat=chat, text=_SUM, first=await chat.ask(_question(_SUM)))
    return _Probe(chat=chat, text=_COUNT, first=first)


def _question(
    text: str,
    *,
    temperature: float = 0.0,
    n: int = 1,
    max_tokens: int = 64,
) -> Request:
    return Request(
        messages=(Message(role="user", content=text),),
        temperature=temperature,
        n=n,
        max_tokens=max_tokens,
    )


def _text(reply: Reply) -> str:
    """The whole text of the first choice, reasoning included."""
    return "".join(choice.reasoning + choice.text for choice in reply.choices[:1])


def _pass_or_warn(name: str, passed: bool, sentence: str) -> Finding:
    return Finding(name, "PASS" if passed else "WARN", sentence)


def _unsupported(name: str, fault: Fault, cost: str) -> Finding:
    """The service refuses such requests; `cost` says what that means for a run."""
    return Finding(name, "WARN", f"{fault.sentence} {cost}")


async def _model(chat: Chat) -> Finding:
    names = await chat.models()
    if names:
        return _pass_or_warn("model", True, f"It serves {', '.join(names)}.")
    return Finding("model", "SKIP", "/v1/models lists nothing; name the model with --model-name.")


async def _context(chat: Chat) -> Finding:
    length = await chat.context_length()
    if length is None:
        sentence = (
            "/v1/models does not state it: look it up, because prompts that are too long may be cut without notice."
        )
        return Finding("context", "SKIP", sentence)
    return Finding("context", "PASS", f"It reads and writes up to {length:,} tokens (max_model_len of /v1/models).")


def _streaming(reply: Reply) -> Finding:
    if not _text(reply):
        return Finding("streaming", "SKIP", _EMPTY)
    times = reply.choices[0].timings
    sentence = (
        f"The answer came in {times.chunks} pieces."
        if times.ttft is not None
        else "The answer came in one piece, so the time to the first token is unknown in reports."
    )
    return _pass_or_warn("streaming", times.ttft is not None, sentence)


def _finish_reason(reply: Reply) -> Finding:
    reason = reply.choices[0].finish_reason if reply.choices else None
    sentence = (
        f"Answers end with a finish_reason ({reason}), so one that breaks off is seen and asked for again."
        if reason
        else "Answers end without a finish_reason: one that breaks off without an error is judged as a complete one."
    )
    return _pass_or_warn("finish_reason", reason is not None, sentence)


def _usage(reply: Reply) -> Finding:
    tokens = reply.usage.completion_tokens if reply.usage else None
    sentence = (
        f"Tokens are counted: {tokens} for this answer."
        if tokens is not None
        else "No tokens are counted: reports will not have any."
    )
    return _pass_or_warn("usage", tokens is not None, sentence)


def _speed(reply: Reply) -> Finding:
    """The speed of a single stream: many at once are slower each and faster together."""
    tokens = reply.usage.completion_tokens if reply.usage else None
    seconds = reply.choices[0].timings.e2e if reply.choices else 0.0
    if not tokens or tokens < 2 or seconds <= 0:
        return Finding("speed", "SKIP", "Fewer than two tokens were counted, so tokens a second are unknown.")
    sentence = f"One stream alone: {tokens / seconds:,.1f} tokens a second, {tokens} in {seconds:.2f} s."
    return _pass_or_warn("speed", True, sentence)


async def _simple_questions(chat: Chat) -> Finding:
    """Questions that a working chat model answers at temperature 0, whatever its size or language.

    A wrong answer is only a warning, because small models make mistakes. But a model with a broken chat template,
    tokenizer or weights fails everywhere, and it is cheaper to see that here than after a long run.
    """
    wrong = []
    for question, right in _SIMPLE_QUESTIONS:
        reply = await chat.ask(_question(question, max_tokens=_THINKING_TOKENS))
        if reply.fault is not None:
            return _unsupported("sense", reply.fault, f"This followed the question {question!r}.")
        answer = _text(reply)
        # Reasoning comes first, so only the last line counts.
        if right not in answer.strip().rpartition("\n")[2].lower():
            wrong.append((question, answer))
    if not wrong:
        return _pass_or_warn("sense", True, f"All {len(_SIMPLE_QUESTIONS)} simple questions are answered right.")
    question, answer = wrong[0]
    return _pass_or_warn(
        "sense",
        False,
        f"{len(wrong)} of {len(_SIMPLE_QUESTIONS)} simple questions are answered wrong, such as {question!r} with "
        f"{answer[-60:]!r}: unless the model is not made for chat, look at its chat template, tokenizer and weights.",
    )


async def _samplers(chat: Chat) -> Finding:
    """Which samplers the service applies on its own, and whether `--sampling plain` can neutralise them."""
    found = await chat.samplers((_question(_SUM, temperature=1.0, max_tokens=1),))
    if isinstance(found, Fault):
        return _unsupported("samplers", found, "This followed a request with neutral values of samplers.")
    own = own_samplers(found, without={})
    plain = "sends neutral values"
    if found.refused:
        plain += f", but the service refuses {', '.join(found.refused)}"
    if not own and not found.refused:
        sentence = "It is not known to apply samplers of its own, and accepts neutral values of all"
        return _pass_or_warn("samplers", True, f"{sentence} (--sampling plain).")
    return _pass_or_warn("samplers", False, f"{own or 'Its own samplers are unknown'}; --sampling plain {plain}.")


async def _several_samples(probe: _Probe) -> Finding:
    """As many samples as a run asks for."""
    reply = await probe.again(temperature=1.0, n=_SAMPLES)
    if reply.fault is not None:
        return _unsupported("n", reply.fault, "Samples are requested one by one, and the prompt is read for each.")
    count = len(reply.choices)
    samples = f"{count} {'sample' if count == 1 else 'samples'}"
    if count < _SAMPLES:
        one_by_one = "samples are requested one by one, and the prompt is read for each"
        return _pass_or_warn("n", False, f"{samples} of {_SAMPLES} requested; {one_by_one}.")
    return _pass_or_warn("n", True, f"{samples} a request.")


async def _pictures(chat: Chat) -> Finding:
    """Whether pictures reach the model, which most models are not made for."""
    reading = await picture_probe.read_pictures(chat)
    if reading.objection:
        return Finding("pictures", "SKIP", f"Datasets with pictures would be refused: {reading.objection}")
    return _pass_or_warn("pictures", not picture_probe.misread(reading), picture_probe.describe(reading))


async def _loglikelihoods(chat: Chat) -> Finding:
    """What a run would use, why nothing more exact works, and what cannot be known with it."""
    try:
        client = await chat.loglikelihood_client("auto", {})
    except EvalError as error:
        return Finding("likelihoods", "WARN", error.sentence)
    lost = metric_table.unsupported_metrics(client.method)
    known = "every metric of log-likelihoods is known"
    if lost:
        known = f"it compares the letters of options; unknown are {', '.join(lost)}"
    sentence = f"Runs use {client.method}: {known}. ({'; '.join(client.findings)})"
    return _pass_or_warn("likelihoods", not lost, sentence)
