"""`batch`: answers the prompts of a JSONL file, one line of another for each, written as soon as it is known.

In:  {"prompt": "…", "task_id": "HumanEval/0", "max_tokens": 512}
Out: {"task_id", "text", "tokens_generated", "tok_per_sec", "inference_ms", "used_gpu", "error"}
"""

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import msgspec

from model_accuracy_eval.errors import BadData, NoHonestScore
from model_accuracy_eval.ports import Chat
from model_accuracy_eval.records import ClientLimits, JSONObject, Message, Reply, Request, Service
from model_accuracy_eval.run.build import connect_service
from model_accuracy_eval.system.clock import run
from model_accuracy_eval.system.local_files import read_whole


class _Prompt(msgspec.Struct):
    """One line of input; further fields are ignored."""

    prompt: str
    task_id: str | int
    max_tokens: int | None = None


class _Answer(msgspec.Struct):
    """One line of output; a field is null if the service does not provide it."""

    task_id: str | int
    text: str = ""
    tokens_generated: int | None = None
    tok_per_sec: float | None = None
    inference_ms: float | None = None
    used_gpu: bool | None = None
    """Always null: no service reports its hardware."""
    error: str | None = None


@click.command()
@click.argument("source", metavar="IN.jsonl")
@click.argument("target", metavar="OUT.jsonl")
@click.option("--endpoint", required=True, help="URL of the service.")
@click.option("--model-name", help="Model name to send; default: the first id of /v1/models.")
@click.option("--max-tokens", default=512, show_default=True, help="Longest answer where a line says nothing.")
@click.option("--temperature", default=0.0, show_default=True, help="Sampling temperature.")
@click.option("--concurrency", default=32, show_default=True, help="Requests in flight at once.")
def batch(  # noqa: PLR0917 - click passes them by name
    source: str,
    target: str,
    endpoint: str,
    model_name: str | None,
    max_tokens: int,
    temperature: float,
    concurrency: int,
) -> None:
    """Answer every line of a file of prompts; lines that OUT.jsonl has answers for are not asked again."""
    prompts = _prompts(source)
    answered = _answered_ids(read_whole(target)) if Path(target).exists() else set()
    left = [prompt for prompt in prompts if prompt.task_id not in answered]
    sampling = {"max_tokens": max_tokens, "temperature": temperature}

    def client(name: str | None) -> Chat:
        service = Service(base_url=endpoint.rstrip("/"), model=name)
        return connect_service(os.environ, service, ClientLimits(concurrency=concurrency))

    async def ask(write: Callable[[bytes], object]) -> None:
        chat = client(model_name)
        if not model_name and (names := await chat.models()):
            await chat.close()
            chat = client(names[0])
        queue = iter(left)
        try:
            failures = await asyncio.gather(*(_worker(queue, chat, write, sampling) for _ in range(concurrency)))
        finally:
            await chat.close()
        if failed := sum(failures):
            raise NoHonestScore(f"{failed} of {len(left)} prompts have no answer; ask again, and only these are asked.")

    try:
        with Path(target).open("ab", buffering=0) as file:
            run(ask(file.write))
    except OSError as error:
        raise BadData(f"{target} cannot be written: {error.strerror or error}.") from error
    click.echo(
        f"{len(prompts)} prompts, {len(prompts) - len(left)} of them answered before; the answers are in {target}."
    )


def _prompts(source: str) -> list[_Prompt]:
    """Every line, checked before the first request is sent. Ids are unique, since results are told apart by them."""
    prompts: dict[str | int, _Prompt] = {}
    for number, line in enumerate(read_whole(source).split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            prompt = msgspec.json.decode(line, type=_Prompt)
        except msgspec.DecodeError as error:
            raise BadData(f"{source}, line {number}: this is no prompt: {error}.") from error
        if prompt.task_id in prompts:
            raise BadData(f"{source}, line {number}: the task_id '{prompt.task_id}' is there twice.")
        prompts[prompt.task_id] = prompt
    if not prompts:
        raise BadData(f"{source}: there is not a single prompt in it.")
    return list(prompts.values())


def _answered_ids(data: bytes) -> set[str | int]:
    """Ids that have an answer from an earlier call; a last line without its line end does not count."""
    complete, _, _ = data.rpartition(b"\n")
    answers = (msgspec.json.decode(line, type=_Answer) for line in complete.split(b"\n") if line.strip())
    return {answer.task_id for answer in answers if answer.error is None}


async def _worker(queue: Iterator[_Prompt], chat: Chat, write: Callable[[bytes], object], sampling: JSONObject) -> int:
    """Answers prompts until the queue is empty; returns how many have no answer."""
    failed = 0
    for prompt in queue:
        settings = sampling if prompt.max_tokens is None else {**sampling, "max_tokens": prompt.max_tokens}
        reply = await chat.ask(Request(messages=(Message(role="user", content=prompt.prompt),), **settings))
        answer = _answer(prompt, reply)
        failed += answer.error is not None
        write(msgspec.json.encode(answer) + b"\n")
    return failed


def _answer(prompt: _Prompt, reply: Reply) -> _Answer:
    if reply.fault is not None or not reply.choices:
        error = reply.fault.sentence if reply.fault else "The service gave no choice."
        return _Answer(task_id=prompt.task_id, error=error)
    choice = reply.choices[0]
    tokens, seconds = reply.usage.completion_tokens if reply.usage else None, choice.timings.e2e
    return _Answer(
        task_id=prompt.task_id,
        text=choice.text,
        tokens_generated=tokens,
        tok_per_sec=tokens / seconds if tokens and seconds > 0 else None,
        inference_ms=1000 * seconds,
    )
