"""Whether a service is fit to be evaluated: a dozen small requests, and a finding for each ability that runs use.

Only a service that does not answer fails. Everything else that it lacks has a cost, and the finding says which. Whether
what it answers is right in every form and company, `diagnose` finds out.
"""

from collections.abc import Iterator, Mapping
from typing import Any, Literal, NamedTuple

from model_accuracy_eval.client.chat import StreamingChat
from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.ports import Chat
from model_accuracy_eval.records import ClientLimits, Fault, FaultKind, Message, Reply, Request, Samplers, Service
from model_accuracy_eval.records.plan import THINKING_ROOM
from model_accuracy_eval.run import picture_probe, thinking_probe
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
_THINKING_CONTEXT = THINKING_ROOM + 4096
"""With room for the questions."""
_SAMPLES = 5
"""What a run asks for unless it is told otherwise."""
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
    # A longer answer first. A model without an answer to that may be one that only continues texts.
    question, first = _COUNT, await chat.ask(_question(_COUNT))
    if first.fault is None and not _text(first):
        question, first = _SUM, await chat.ask(_question(_SUM))
    if first.fault is not None:
        return (Finding("answers", "FAIL", f"{first.fault.sentence} {_NEXT_STEP[first.fault.kind]}"),)
    return (
        Finding("answers", "PASS", "A chat request gets an answer."),
        await _model(chat),
        await _context(chat),
        *_of_one_answer(first),
        await _simple_questions(chat),
        await _samplers(chat),
        await _thinking(chat),
        await _several_samples(chat, question),
        await _loglikelihoods(chat),
        await _pictures(chat),
    )


def _question(text: str, **changes: Any) -> Request:
    asked: dict[str, Any] = {"temperature": 0.0, "max_tokens": 64, **changes}
    return Request(messages=(Message(role="user", content=text),), **asked)


def _text(reply: Reply) -> str:
    """The whole text of the first choice, reasoning included."""
    return "".join(choice.reasoning + choice.text for choice in reply.choices[:1])


def _pass_or_warn(name: str, passed: bool, sentence: str) -> Finding:
    return Finding(name, "PASS" if passed else "WARN", sentence)


async def _model(chat: Chat) -> Finding:
    if names := await chat.models():
        return Finding("model", "PASS", f"It serves {', '.join(names)}.")
    return Finding("model", "SKIP", "/v1/models lists nothing; name the model with --model-name.")


async def _context(chat: Chat) -> Finding:
    length = await chat.context_length()
    if length is None:
        sentence = (
            "/v1/models does not state it: look it up, because prompts that are too long may be cut without notice."
        )
        return Finding("context", "SKIP", sentence)
    return Finding("context", "PASS", f"It reads and writes up to {length:,} tokens (max_model_len of /v1/models).")


def _of_one_answer(reply: Reply) -> Iterator[Finding]:
    """What the first answer shows."""
    choice = reply.choices[0] if reply.choices else None
    tokens = reply.usage.completion_tokens if reply.usage else None
    if choice is None or not _text(reply):
        yield Finding("streaming", "SKIP", "The answer was empty, so nothing can be checked; ask a model that answers "
                      "in words.")  # fmt: skip
    elif choice.timings.ttft is not None:
        yield Finding("streaming", "PASS", f"The answer came in {choice.timings.chunks} pieces.")
    else:
        sentence = "The answer came in one piece, so the time to the first token is unknown in reports."
        yield Finding("streaming", "WARN", sentence)
    reason = choice.finish_reason if choice else None
    yield _pass_or_warn(
        "finish_reason",
        reason is not None,
        f"Answers end with a finish_reason ({reason}), so one that breaks off is seen and asked for again."
        if reason
        else "Answers end without a finish_reason: one that breaks off without an error is judged as a complete one.",
    )
    counted = f"Tokens are counted: {tokens} for this answer."
    uncounted = "No tokens are counted: reports will not have any."
    yield _pass_or_warn("usage", tokens is not None, uncounted if tokens is None else counted)
    seconds = choice.timings.e2e if choice else 0.0
    if not tokens or tokens < 2 or seconds <= 0:
        yield Finding("speed", "SKIP", "Fewer than two tokens were counted, so tokens a second are unknown.")
    else:  # many streams at once are slower each and faster together
        sentence = f"One stream alone: {tokens / seconds:,.1f} tokens a second, {tokens} in {seconds:.2f} s."
        yield Finding("speed", "PASS", sentence)


async def _simple_questions(chat: Chat) -> Finding:
    """Questions that a working chat model answers at temperature 0, whatever its size or language.

    A wrong answer is only a warning, because small models make mistakes. But a model with a broken chat template,
    tokenizer or weights fails everywhere, and it is cheaper to see that here than after a long run.
    """
    wrong = []
    for question, right in _SIMPLE_QUESTIONS:
        reply = await chat.ask(_question(question, max_tokens=_THINKING_TOKENS))
        if reply.fault is not None:
            return Finding("sense", "WARN", f"{reply.fault.sentence} This followed the question {question!r}.")
        answer = _text(reply)
        # Reasoning comes first, so only the last line counts.
        if right not in answer.strip().rpartition("\n")[2].lower():
            wrong.append((question, answer))
    if not wrong:
        return Finding("sense", "PASS", f"All {len(_SIMPLE_QUESTIONS)} simple questions are answered right.")
    question, answer = wrong[0]
    return Finding(
        "sense",
        "WARN",
        f"{len(wrong)} of {len(_SIMPLE_QUESTIONS)} simple questions are answered wrong, such as {question!r} with "
        f"{answer[-60:]!r}: unless the model is not made for chat, look at its chat template, tokenizer and weights.",
    )


async def _samplers(chat: Chat) -> Finding:
    """Which samplers the service applies on its own, and whether `--sampling plain` can neutralise them."""
    found = await chat.samplers((_question(_SUM, temperature=1.0, max_tokens=1),))
    if isinstance(found, Fault):
        sentence = f"{found.sentence} This followed a request with neutral values of samplers."
        return Finding("samplers", "WARN", sentence)
    own = own_samplers(found, without={})
    plain = "sends neutral values"
    if found.refused:
        plain += f", but the service refuses {', '.join(found.refused)}"
    if not own and not found.refused:
        sentence = "It is not known to apply samplers of its own, and accepts neutral values of all (--sampling plain)."
        return Finding("samplers", "PASS", sentence)
    return Finding("samplers", "WARN", f"{own or 'Its own samplers are unknown'}; --sampling plain {plain}.")


async def _thinking(chat: Chat) -> Finding:
    """Whether it thinks by itself or when it is asked to, and what has to be raised where it does."""
    reply = await thinking_probe.ask(chat, {})
    by_itself, found = thinking_probe.thought_in(reply), await chat.samplers()
    server = found.server if isinstance(found, Samplers) else ""
    if by_itself.seen is None:
        return Finding(
            "thinking", "SKIP", "Its reply to a question is empty or was cut, so nothing is known of thoughts."
        )
    other = await thinking_probe.find_thinking(chat, "off" if by_itself.seen else "on", server)
    if not by_itself.seen and other.finding.state != "PASS":
        return Finding("thinking", "SKIP", f"It does not think, and nothing asked it to: {other.finding.sentence}")
    length = await chat.context_length()
    short = ""
    if length is not None and length < _THINKING_CONTEXT:
        short = f" Its context has {length:,}: serve it with {_THINKING_CONTEXT:,} or more, or give --max-tokens."
    if not by_itself.seen:
        sentence = (
            f"It thinks if it is asked to. {other.finding.sentence} Answers then get {THINKING_ROOM:,} tokens.{short}"
        )
        return _pass_or_warn("thinking", not short, sentence)
    sentence = (
        f"It thinks by itself: one question got {by_itself}. Datasets such as gsm8k and humaneval ask for 1,024: give "
        f"--thinking on, which asks for {THINKING_ROOM:,}.{short} {other.finding.sentence}"
    )
    return Finding("thinking", "WARN", sentence)


async def _several_samples(chat: Chat, question: str) -> Finding:
    """As many samples as a run asks for."""
    reply = await chat.ask(_question(question, temperature=1.0, n=_SAMPLES))
    if reply.fault is not None:
        cost = "Samples are requested one by one, and the prompt is read for each."
        return Finding("n", "WARN", f"{reply.fault.sentence} {cost}")
    count = len(reply.choices)
    samples = f"{count} {'sample' if count == 1 else 'samples'}"
    if count < _SAMPLES:
        one_by_one = "samples are requested one by one, and the prompt is read for each"
        return Finding("n", "WARN", f"{samples} of {_SAMPLES} requested; {one_by_one}.")
    return Finding("n", "PASS", f"{samples} a request.")


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
    unknown = f"it compares the letters of options; unknown are {', '.join(lost)}"
    known = unknown if lost else "every metric of log-likelihoods is known"
    sentence = f"Runs use {client.method}: {known}. ({'; '.join(client.findings)})"
    return _pass_or_warn("likelihoods", not lost, sentence)
