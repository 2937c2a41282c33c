"""The `batch` command with a real client and real files."""

from collections.abc import Mapping
from pathlib import Path

from model_accuracy_eval import batch
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.ports import Chat
from model_accuracy_eval.records import ClientLimits, JSONObject, Service
from model_accuracy_eval.run.build import connect_service
from model_accuracy_eval.system.concurrency import run


def answer(
    source: str,
    target: str,
    *,
    endpoint: str,
    model: str | None,
    sampling: JSONObject,
    concurrency: int,
    environment: Mapping[str, str],
) -> tuple[int, int]:
    """Answers the prompts that have no answer yet; returns how many prompts there are, and how many had an answer."""
    prompts = batch.read_prompts(source, _read(source))
    answered = batch.answered_ids(_read(target)) if Path(target).exists() else set()
    open_prompts = [prompt for prompt in prompts if prompt.task_id not in answered]
    limits = ClientLimits(concurrency=concurrency)

    def client(name: str | None) -> Chat:
        return connect_service(environment, Service(base_url=endpoint.rstrip("/"), model=name), limits)

    async def ask(write: batch.WriteLine) -> None:
        chat = client(model or await _first_model(client(None)))
        await batch.answer_all(open_prompts, chat, write, concurrency=concurrency, sampling=sampling)

    try:
        with Path(target).open("ab", buffering=0) as file:
            run(ask(file.write))
    except OSError as error:
        raise BadData(f"{target} cannot be written: {error.strerror or error}.") from error
    return len(prompts), len(prompts) - len(open_prompts)


async def _first_model(chat: Chat) -> str | None:
    try:
        models = await chat.models()
    finally:
        await chat.close()
    return models[0] if models else None


def _read(path: str) -> bytes:
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise BadData(f"{path} cannot be read: {error.strerror or error}.") from error
