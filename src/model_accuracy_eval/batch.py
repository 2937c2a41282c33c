"""Answers the prompts of a JSONL file: one line of another JSONL file for each, written as soon as it is known.

In:  {"prompt": "…", "task_id": "HumanEval/0", "max_tokens": 512}
Out: {"task_id", "text", "tokens_generated", "tok_per_sec", "inference_ms", "used_gpu", "error"}
"""

import asyncio
from collections.abc import Callable, Iterator

import msgspec

from model_accuracy_eval.errors import BadData, NoHonestScore
from model_accuracy_eval.ports import Chat
from model_accuracy_eval.records import JSONObject, Message, Reply, Request

WriteLine = Callable[[bytes], object]


class BatchPrompt(msgspec.Struct):
    """One line of input; further fields are ignored."""

    prompt: str
    task_id: str | int
    max_tokens: int | None = None


class BatchResult(msgspec.Struct):
    """One line of output; a field is null if the service does not provide it."""

    task_id: str | int
    text: str = ""
    tokens_generated: int | None = None
    tok_per_sec: float | None = None
    inference_ms: float | None = None
    used_gpu: bool | None = None
    """Always null: no service reports its hardware."""
    error: str | None = None


def read_prompts(name: str, data: bytes) -> list[BatchPrompt]:
    """Every line, checked before the first request is sent. Ids are unique, since results are told apart by them."""
    prompts: dict[str | int, BatchPrompt] = {}
    for number, line in enumerate(data.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            prompt = msgspec.json.decode(line, type=BatchPrompt)
        except msgspec.DecodeError as error:
            raise BadData(f"{name}, line {number}: this is no prompt: {error}.") from error
        if prompt.task_id in prompts:
            raise BadData(f"{name}, line {number}: the task_id '{prompt.task_id}' is there twice.")
        prompts[prompt.task_id] = prompt
    if not prompts:
        raise BadData(f"{name}: there is not a single prompt in it.")
    return list(prompts.values())


def answered_ids(data: bytes) -> set[str | int]:
    """Ids that have an answer from an earlier call; a last line without its line end does not count."""
    complete, _, _ = data.rpartition(b"\n")
    results = (msgspec.json.decode(line, type=BatchResult) for line in complete.split(b"\n") if line.strip())
    return {result.task_id for result in results if result.error is None}


async def answer_all(
    prompts: list[BatchPrompt], chat: Chat, write: WriteLine, *, concurrency: int, sampling: JSONObject
) -> None:
    """Sends every prompt once and writes its result; raises at the end if a prompt has no answer."""
    queue = iter(prompts)
    try:
        failures = await asyncio.gather(*(_worker(queue, chat, write, sampling) for _ in range(concurrency)))
    finally:
        await chat.close()
    if failed := sum(failures):
        raise NoHonestScore(f"{failed} of {len(prompts)} prompts have no answer; ask again, and only these are asked.")


async def _worker(queue: Iterator[BatchPrompt], chat: Chat, write: WriteLine, sampling: JSONObject) -> int:
    """Answers prompts until the queue is empty; returns how many have no answer."""
    failed = 0
    for prompt in queue:
        settings = sampling if prompt.max_tokens is None else {**sampling, "max_tokens": prompt.max_tokens}
        reply = await chat.ask(Request(messages=(Message(role="user", content=prompt.prompt),), **settings))
        result = _result(prompt, reply)
        failed += result.error is not None
        write(msgspec.json.encode(result) + b"\n")
    return failed


def _result(prompt: BatchPrompt, reply: Reply) -> BatchResult:
    if reply.fault is not None or not reply.choices:
        error = reply.fault.sentence if reply.fault else "The service gave no choice."
        return BatchResult(task_id=prompt.task_id, error=error)
    choice = reply.choices[0]
    tokens, seconds = reply.usage.completion_tokens if reply.usage else None, choice.timings.e2e
    return BatchResult(
        task_id=prompt.task_id,
        text=choice.text,
        tokens_generated=tokens,
        tok_per_sec=tokens / seconds if tokens and seconds > 0 else None,
        inference_ms=1000 * seconds,
    )
