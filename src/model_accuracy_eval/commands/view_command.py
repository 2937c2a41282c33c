"""`view` shows the runs of a folder in the browser."""

import contextlib

import click

from model_accuracy_eval import wiring
from model_accuracy_eval.errors import Stopped
from model_accuracy_eval.wiring import view_parts

DEFAULT_PORT = 8765


@click.command()
@click.argument("folder", default="outputs")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=DEFAULT_PORT, show_default=True, help="Port; 0: any that is free."
)
def view(folder: str, port: int) -> None:
    """List, filter, open and compare the runs under FOLDER (default: outputs) in this machine's browsers.

    Nothing is written. The address has a token, without which nobody else on this machine sees a page. Ctrl-C ends it.
    """
    clock = wiring.signal_clock()
    with clock.listening(), view_parts.serving(folder, port) as address:
        click.echo(f"The runs of {folder}: {address}\nCtrl-C ends it.")
        with contextlib.suppress(Stopped):  # that is how it ends
            while True:
                clock.sleep(3600)
