"""`doctor` checks this machine, what it reaches, or a service; `selftest` checks the metrics of this program."""

import os
import sys

import click

from model_accuracy_eval.doctor import failed, table
from model_accuracy_eval.scoring.contracts import CONTRACTS
from model_accuracy_eval.scoring.contracts.contract import breaches, listing
from model_accuracy_eval.wiring import machine_checks, network_checks, service_checks

_UNFIT_MACHINE, _UNFIT_SERVICE = 3, 4


@click.command()
@click.option("--endpoint", metavar="URL", help="Look at this service instead of this machine.")
@click.option("--model-name", help="Name of the model there; default: the one that the service lists.")
@click.option("--timeout", metavar="X", type=click.FloatRange(min=0, min_open=True), default=60.0, show_default=True,
              help="Seconds to wait for one answer of the service.")  # fmt: skip
@click.option("--online", is_flag=True, help="Also ask the hubs, and GitHub: what GITHUB_TOKEN may do.")
@click.option("--repository", metavar="OWNER/NAME", envvar="GITHUB_REPOSITORY", default="",
              help="The adapter's repository, for --online; default: GITHUB_REPOSITORY.")  # fmt: skip
@click.option("--port", metavar="N", type=click.IntRange(1, 65535), default=8000, show_default=True,
              help="Port that an adapter is to serve on.")  # fmt: skip
def doctor(
    *,
    endpoint: str | None,
    model_name: str | None,
    timeout: float,
    online: bool,
    repository: str,
    port: int,
) -> None:
    """What works here and what does not, with the next step; 3 when a run would be refused here or its verdict could
    not be told, 4 when a service cannot be used."""
    if endpoint and (word := service_checks.about_key(endpoint, os.environ)):
        click.echo(word, err=True)
    service = service_checks.examine(endpoint, model_name, timeout, os.environ) if endpoint else ()
    machine = () if endpoint else tuple(machine_checks.look(os.environ, port=port))
    network = tuple(network_checks.look(os.environ, repository=repository)) if online else ()
    click.echo(table((*service, *machine, *network)))
    if failed(service):
        sys.exit(_UNFIT_SERVICE)
    sys.exit(_UNFIT_MACHINE if failed((*machine, *network)) else 0)


@click.command()
def selftest() -> None:
    """Hold every metric and estimator to its contract; 1 if one is broken. No network, no model."""
    found = breaches(CONTRACTS)
    click.echo(listing(found, CONTRACTS))
    sys.exit(1 if found else 0)
