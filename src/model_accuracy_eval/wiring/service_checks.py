"""The checks of `doctor --endpoint` with a real client."""

from collections.abc import Mapping

from model_accuracy_eval import doctor
from model_accuracy_eval.client.chat import StreamingChat
from model_accuracy_eval.records import ClientLimits, DoctorFinding, Service
from model_accuracy_eval.run.build import ApiKeys, connect_service
from model_accuracy_eval.system.concurrency import run


def about_key(endpoint: str, environ: Mapping[str, str]) -> str:
    """What is to be said of the key that the service is sent; empty if it is its own, or none."""
    return ApiKeys(environ, "model").word(endpoint)


def examine(endpoint: str, model: str | None, seconds: float, environ: Mapping[str, str]) -> tuple[DoctorFinding, ...]:
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

    async def examine_service() -> tuple[DoctorFinding, ...]:
        chat = client(model)
        try:
            names = () if model else await chat.models()
            if names:
                await chat.close()
                chat = client(names[0])
            return await doctor.examine(chat)
        finally:
            await chat.close()

    return run(examine_service())
