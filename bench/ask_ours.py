"""The client under test, called as the package calls it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from asking import Answer, Ask, main
from model_accuracy_eval.client.chat import connect
from model_accuracy_eval.records import ClientLimits, Message, Request, Service


@asynccontextmanager
async def ours(url: str, concurrency: int) -> AsyncIterator[Ask]:
    chat = connect(Service(base_url=url, model="bench"), ClientLimits(concurrency=concurrency))

    async def ask(question: str) -> Answer:
        reply = await chat.ask(Request(messages=(Message(role="user", content=question),), max_tokens=128))
        if reply.fault or not reply.choices:
            raise SystemExit(f"no answer: {reply.fault}")
        choice, used = reply.choices[0], reply.usage.completion_tokens if reply.usage else None
        return Answer(choice.text, choice.finish_reason, used, choice.timings.ttft)

    yield ask
    await chat.close()


if __name__ == "__main__":
    main(ours)
