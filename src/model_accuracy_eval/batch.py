"""Prompts of a JSONL file → one line of a JSONL file for each, written as soon as it is there.

In:  {"prompt": "…", "task_id": "HumanEval/0", "max_tokens": 512}
Out: {"task_id", "text", "tokens_generated", "tok_per_sec", "inference_ms", "used_gpu", "error"}
"""

import asyncio
from collections.abc import Callable, Iterator

import msgspec

from model_accuracy_eval.errors import BadData, NoHonestScore
from model_accuracy_eval.ports import Chat
from model_accuracy_eval.records import JSONObject, Message, Reply, Request

Write = Callable[[bytes], object]


class Prompt(msgspec.Struct):
    """One line that comes in; what else it holds is nobody's business."""

    prompt: str
    task_id: str | int
    max_tokens: int | None = None


class Result(msgspec.Struct):
    """One line that goes out; null is what the service does not say."""

    task_id: str | int
    text: str = ""
    tokens_generated: int | None = None
    tok_per_sec: float | None = None
    inference_ms: float | None = None
    used_gpu: bool | None = None
    """Always null: a service does not say what it runs on."""
    error: str | None = None


def prompts(name: str, data: bytes) -> list[Prompt]:
    """Every line, checked before the first is asked; two lines of one id could not be told apart."""
    found: list[Prompt] = []
    seen: set[str | int] = set()
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            found.append(msgspec.json.decode(line, type=Prompt))
        except msgspec.DecodeError as error:
            raise BadData(f"{name}, line {number}: this is no prompt: {error}.") from error
        if found[-1].task_id in seen:
            raise BadData(f"{name}, line {number}: the task_id '{found[-1].task_id}' is there twice.")
        seen.add(found[-1].task_id)
    if not found:
        raise BadData(f"{name}: there is not a single prompt in it.")
    return found


def answered(data: bytes) -> set[str | int]:
    """Ids that an earlier call has brought answers for; a last line that was cut off is none."""
    whole, _, _ = data.rpartition(b"\n")
    results = (msgspec.json.decode(line, type=Result) for line in whole.split(b"\n") if line.strip())
    return {result.task_id for result in results if result.error is None}


async def answer_all(todo: list[Prompt], chat: Chat, write: Write, *, concurrency: int, sampling: JSONObject) -> None:
    """Every prompt asked once; raises at the end when any has no answer."""
    lines, failed = iter(todo), [0]
    try:
        await asyncio.gather(*(_worker(lines, chat, write, sampling, failed) for _ in range(concurrency)))
    finally:
        await chat.close()
    if failed[0]:
        raise NoHonestScore(f"{failed[0]} of {len(todo)} prompts have no answer; ask again, and only these are asked.")


async def _worker(lines: Iterator[Prompt], chat: Chat, write: Write, sampling: JSONObject, failed: list[int]) -> None:
    for one in lines:
        given = sampling if one.max_tokens is None else {**sampling, "max_tokens": one.max_tokens}
        reply = await chat.ask(Request(messages=(Message(role="user", content=one.prompt),), **given))
        result = _result(one, reply)
        failed[0] += result.error is not None
        write(msgspec.json.encode(result) + b"\n")


def _result(one: Prompt, reply: Reply) -> Result:
    if reply.fault is not None or not reply.choices:
        said = reply.fault.sentence if reply.fault else "The service gave no choice."
        return Result(task_id=one.task_id, error=said)
    choice = reply.choices[0]
    tokens, seconds = reply.usage.completion_tokens if reply.usage else None, choice.timings.e2e
    return Result(
        task_id=one.task_id,
        text=choice.text,
        tokens_generated=tokens,
        tok_per_sec=tokens / seconds if tokens and seconds > 0 else None,
        inference_ms=1000 * seconds,
    )
