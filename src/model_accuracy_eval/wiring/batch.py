"""`batch` with a real client and real files."""

from collections.abc import Mapping
from pathlib import Path

from model_accuracy_eval import batch
from model_accuracy_eval.errors import BadData
from model_accuracy_eval.ports import Chat
from model_accuracy_eval.records import JSONObject, Patience, Service
from model_accuracy_eval.rim.loop import run
from model_accuracy_eval.rim.service.chat import connect
from model_accuracy_eval.rim.service.proxy import proxy_for
from model_accuracy_eval.wiring import API_KEY


def answer(
    source: str,
    target: str,
    *,
    service: Service,
    sampling: JSONObject,
    concurrency: int,
    environment: Mapping[str, str],
) -> tuple[int, int]:
    """How many prompts there are, and how many of them had answers before."""
    prompts = batch.prompts(source, _read(source))
    done = batch.answered(_read(target)) if Path(target).exists() else set()
    todo = [prompt for prompt in prompts if prompt.task_id not in done]
    patience = Patience(concurrency=concurrency)

    def client(model: str | None) -> Chat:
        named = Service(base_url=service.base_url, model=model)
        proxy = proxy_for(service.base_url, environment)
        return connect(named, patience, api_key=environment.get(API_KEY), proxy=proxy)

    async def ask(write: batch.Write) -> None:
        chat = client(service.model or await _served(client(None)))
        await batch.answer_all(todo, chat, write, concurrency=concurrency, sampling=sampling)

    try:
        with Path(target).open("ab", buffering=0) as file:
            run(ask(file.write))
    except OSError as error:
        raise BadData(f"{target} cannot be written: {error.strerror or error}.") from error
    return len(prompts), len(prompts) - len(todo)


async def _served(chat: Chat) -> str | None:
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
