"""The command that looks at this machine, at what it reaches, or at a service: `doctor`."""

import os
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from model_accuracy_eval.records.doctor import Finding

_UNFIT_MACHINE, _UNFIT_SERVICE = 3, 4


@click.command()
@click.option("--endpoint", metavar="URL", help="Look at this service instead of this machine.")
@click.option("--model-name", help="Name of the model there; default: the one that the service lists.")
@click.option("--timeout", metavar="X", type=click.FloatRange(min=0, min_open=True), default=60.0, show_default=True,
              help="Seconds to wait for one answer of the service.")  # fmt: skip
@click.option("--online", is_flag=True, help="Also ask the hubs and GitHub, and what GITHUB_TOKEN may do there.")
@click.option("--port", metavar="N", type=click.IntRange(1, 65535), default=8000, show_default=True,
              help="Port that an adapter is to serve on.")  # fmt: skip
def doctor(endpoint: str | None, model_name: str | None, timeout: float, online: bool, port: int) -> None:
    """What works here and what does not, with the next step; 3 when a run would be refused here or its verdict could
    not be told, 4 when a service cannot be used."""
    from model_accuracy_eval import doctor as doctoring  # noqa: PLC0415

    service = _service(endpoint, model_name, timeout) if endpoint else ()
    here = (*(() if endpoint else _machine(port)), *(_outside() if online else ()))
    click.echo(doctoring.table((*service, *here)))
    sys.exit(_UNFIT_SERVICE if doctoring.failed(service) else _UNFIT_MACHINE if doctoring.failed(here) else 0)


def _machine(port: int) -> "tuple[Finding, ...]":
    from model_accuracy_eval.rim.machine import look  # noqa: PLC0415

    return tuple(look(os.environ, port=port))


def _outside() -> "tuple[Finding, ...]":
    from model_accuracy_eval.rim.outside import look  # noqa: PLC0415

    return tuple(look(os.environ))


def _service(endpoint: str, model: str | None, seconds: float) -> "tuple[Finding, ...]":
    from model_accuracy_eval import doctor as doctoring  # noqa: PLC0415
    from model_accuracy_eval.records import Patience, Service  # noqa: PLC0415
    from model_accuracy_eval.rim.loop import run  # noqa: PLC0415
    from model_accuracy_eval.rim.service.chat import StreamingChat, connect  # noqa: PLC0415
    from model_accuracy_eval.rim.service.proxy import proxy_for  # noqa: PLC0415
    from model_accuracy_eval.wiring import API_KEY  # noqa: PLC0415

    patience = Patience(
        retries=0,
        gone_after=0.0,
        connect_timeout=min(10.0, seconds),
        first_token_timeout=seconds,
        idle_timeout=seconds,
        total_timeout=seconds,
    )

    def client(name: str | None) -> StreamingChat:
        key, proxy = os.environ.get(API_KEY), proxy_for(endpoint, os.environ)
        return connect(Service(base_url=endpoint, model=name), patience, api_key=key, proxy=proxy)

    async def look() -> "tuple[Finding, ...]":
        chat = client(model)
        try:
            names = () if model else await chat.models()
            if names:
                await chat.close()
                chat = client(names[0])
            return await doctoring.examine(chat)
        finally:
            await chat.close()

    return run(look())
