"""Whether a service is fit to be evaluated: a handful of small requests, each with a finding.

Only a service that does not answer is unfit. Whatever else is missing costs something, and the finding says what.
"""

from collections.abc import Iterable

from model_accuracy_eval.errors import EvalError
from model_accuracy_eval.ports import Chat
from model_accuracy_eval.records import JSONObject, Message, Reply, Request
from model_accuracy_eval.records.doctor import Finding

_QUESTION = "Count from one to ten in words."


async def examine(chat: Chat) -> tuple[Finding, ...]:
    """All findings about the service; the first one, `answers`, decides whether it can be used."""
    first = await chat.ask(_request())
    if first.fault is not None:
        return (Finding(name="answers", state="FAIL", sentence=first.fault.sentence),)
    return (
        Finding(name="answers", state="PASS", sentence="A chat request gets an answer."),
        await _models(chat),
        _streaming(first),
        _usage(first),
        await _stop(chat, _text(first)),
        await _greedy(chat, _text(first)),
        await _seed(chat),
        await _several(chat),
        await _weighing(chat),
    )


def usable(findings: Iterable[Finding]) -> bool:
    return not any(finding.name == "answers" and finding.state == "FAIL" for finding in findings)


def table(findings: Iterable[Finding]) -> str:
    """One line a finding."""
    rows = tuple(findings)
    width = max((len(row.name) for row in rows), default=0)
    return "\n".join(f"{row.state}  {row.name.ljust(width)}  {row.sentence}" for row in rows)


async def _models(chat: Chat) -> Finding:
    names = await chat.models()
    if names:
        return Finding(name="model", state="PASS", sentence=f"It serves {', '.join(names)}.")
    return Finding(name="model", state="SKIP", sentence="/v1/models lists nothing; name the model with --model-name.")


def _streaming(reply: Reply) -> Finding:
    well = bool(reply.choices) and reply.choices[0].timings.ttft is not None
    sentence = (
        f"The answer came in {reply.choices[0].timings.chunks} pieces."
        if well
        else "The answer came in one piece, so the time to the first token is unknown in reports."
    )
    return _either("streaming", well, sentence)


def _usage(reply: Reply) -> Finding:
    tokens = reply.usage.completion_tokens if reply.usage else None
    told = (
        f"{tokens} tokens were counted." if tokens is not None else "No tokens are counted: reports will not have any."
    )
    return _either("usage", tokens is not None, told)


async def _stop(chat: Chat, text: str) -> Finding:
    """As a field of the user's own, because the client would cut the answer itself at a stop that it knows."""
    mark = text[len(text) // 2 :][:4]
    if not text[: text.find(mark)].strip():
        return Finding(name="stop", state="SKIP", sentence="The answer is too short to be stopped in its middle.")
    reply = await chat.ask(_request(extra={"stop": [mark]}))
    if reply.fault is not None:
        return Finding(name="stop", state="FAIL", sentence=reply.fault.sentence)
    obeyed = mark not in _text(reply)
    told = "is obeyed" if obeyed else "is passed over; answers are cut here, and cost time until then"
    return _either("stop", obeyed, f"A stop string {told}.")


async def _greedy(chat: Chat, text: str) -> Finding:
    reply = await chat.ask(_request())
    if reply.fault is not None:
        return Finding(name="temperature 0", state="FAIL", sentence=reply.fault.sentence)
    same = _text(reply) == text
    return _either("temperature 0", same, f"Two greedy answers are {'the same' if same else 'different'}.")


async def _seed(chat: Chat) -> Finding:
    replies = [await chat.ask(_request(temperature=1.0, seed=seed)) for seed in (7, 7, 8, 9)]
    fault = next((reply.fault for reply in replies if reply.fault is not None), None)
    if fault is not None:
        return Finding(name="seed", state="FAIL", sentence=fault.sentence)
    texts = [_text(reply) for reply in replies]
    if len(set(texts)) == 1:
        told = "Three seeds gave one answer, which says nothing about seeds; samples may all be equal."
        return Finding(name="seed", state="SKIP", sentence=told)
    same = texts[0] == texts[1]
    return _either("seed", same, f"One seed, asked twice, gave {'the same answer' if same else 'two answers'}.")


async def _several(chat: Chat) -> Finding:
    reply = await chat.ask(_request(temperature=1.0, n=2))
    if reply.fault is not None:
        return Finding(name="n", state="FAIL", sentence=f"{reply.fault.sentence} Samples are asked one by one.")
    got = len(reply.choices)
    told = "a request" if got == 2 else "of 2 asked; samples are asked one by one"
    return _either("n", got == 2, f"{got} samples {told}.")


async def _weighing(chat: Chat) -> Finding:
    try:
        scale = await chat.scale("auto", {})
    except EvalError as error:
        return Finding(name="likelihoods", state="FAIL", sentence=error.sentence)
    return _either("likelihoods", scale.rung != "extracted", scale.findings[-1])


def _either(name: str, good: bool, sentence: str) -> Finding:
    return Finding(name=name, state="PASS" if good else "FAIL", sentence=sentence)


def _text(reply: Reply) -> str:
    return "".join(choice.reasoning + choice.text for choice in reply.choices[:1])


def _request(
    *, temperature: float = 0.0, seed: int | None = None, n: int = 1, extra: JSONObject | None = None
) -> Request:
    question = (Message(role="user", content=_QUESTION),)
    return Request(messages=question, temperature=temperature, seed=seed, n=n, max_tokens=64, extra=extra or {})
