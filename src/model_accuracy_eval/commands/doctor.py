"""The command that looks at this machine, or at a service: `doctor`."""

import os
import sys
from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from model_accuracy_eval.records.doctor import Finding


@click.command()
@click.option("--endpoint", metavar="URL", help="Look at this service instead of this machine.")
@click.option("--model-name", help="Name of the model there; default: the one that the service lists.")
def doctor(endpoint: str | None, model_name: str | None) -> None:
    """What works here and what does not, with the next command to type; 4 when a service cannot be used."""
    from model_accuracy_eval import doctor as doctoring  # noqa: PLC0415
    from model_accuracy_eval.rim.machine import look  # noqa: PLC0415

    found = _service(endpoint, model_name) if endpoint else tuple(look(os.environ))
    click.echo(doctoring.table(found))
    sys.exit(0 if doctoring.usable(found) else 4)


def _service(endpoint: str, model: str | None) -> "tuple[Finding, ...]":
    from model_accuracy_eval import doctor as doctoring  # noqa: PLC0415
    from model_accuracy_eval.records import Patience, Service  # noqa: PLC0415
    from model_accuracy_eval.rim.loop import run  # noqa: PLC0415
    from model_accuracy_eval.rim.service.chat import connect  # noqa: PLC0415
    from model_accuracy_eval.rim.service.proxy import proxy_for  # noqa: PLC0415
    from model_accuracy_eval.wiring import API_KEY  # noqa: PLC0415

    patience = Patience(retries=0, gone_after=0.0)

    async def look(name: str | None) -> "tuple[Finding, ...] | str":
        """Findings, or, where no name is known yet, the first one that the service lists."""
        service = Service(base_url=endpoint, model=name)
        key, proxy = os.environ.get(API_KEY), proxy_for(endpoint, os.environ)
        chat = connect(service, patience, api_key=key, proxy=proxy)
        try:
            names = () if name else await chat.models()
            return names[0] if names else await doctoring.examine(chat)
        finally:
            await chat.close()

    found = run(look(model))
    return _service(endpoint, found) if isinstance(found, str) else found
